"""A Docker registry on a loopback port, filled from Python without any daemon."""

import base64
import ctypes
import http.client
import re
import signal
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from tests.bed import images
from tests.bed.images import Image, Kind
from tests.bed.net import free_port
from tests.bed.packages import program
from tests.bed.supervisor import BedError, Process, Supervisor

OK, CREATED, ACCEPTED = 200, 201, 202


def split_name(name: str) -> tuple[str, str]:
    """Split an image name into the registry's repository and tag, as Docker would."""
    first, _, rest = name.partition("/")
    if rest and ("." in first or ":" in first or first == "localhost"):
        name = rest
    elif not rest:
        name = f"library/{name}"
    repository, _, tag = name.partition(":")
    return repository, tag or "latest"


def bcrypt(password: str) -> str:
    """Hash a password in the only form that the registry accepts."""
    crypt = ctypes.CDLL("libcrypt.so.1").crypt
    crypt.restype = ctypes.c_char_p
    hashed = crypt(password.encode(), b"$2y$05$abcdefghijklmnopqrstuu")
    return str(hashed.decode())


class Registry:
    """`docker-registry`; with `user` and `password` it asks for them."""

    def __init__(
        self,
        folder: Path,
        *,
        port: int | None = None,
        user: str | None = None,
        password: str | None = None,
        keeper: Supervisor | None = None,
    ) -> None:
        """Describe a registry; its blobs and log go into `folder`."""
        self.folder = folder
        self.port = port or free_port()
        self.user, self.password = user, password
        self._keeper = keeper or Supervisor.shared()
        self._process: Process | None = None
        self._log = folder / "registry.log"
        self._mark = 0
        self._homes: dict[str, str] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def start(self) -> Self:
        """Start it, always on the same port and with the images that it has."""
        before = self._log.stat().st_size if self._log.exists() else 0
        config = self.folder / "config.yml"
        config.write_text(self._config())
        self._process = self._keeper.spawn(
            [program("docker-registry"), "serve", str(config)], log=self._log
        )
        self._process.wait_for("listening on", "docker-registry", start=before)
        return self

    def stop(self) -> None:
        """End it; its images stay."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def pause(self) -> None:
        """Freeze it."""
        if self._process is not None:
            self._process.send(signal.SIGSTOP)

    def resume(self) -> None:
        """Wake it up again."""
        if self._process is not None:
            self._process.send(signal.SIGCONT)

    def push(self, name: str, kind: Kind = "server", *, marker: str = "1") -> str:
        """Put an image under a name (`nginx:alpine`); pushing again moves the tag. Give its id."""
        image = images.build(kind, marker)
        self.put(name, image)
        return image.id

    def put(self, name: str, image: Image) -> None:
        """Upload an image's blobs, unless they are there, and point the tag at it."""
        repository, tag = split_name(name)
        for address, blob in image.blobs.items():
            if self._ask("HEAD", f"/v2/{repository}/blobs/{address}")[0] == OK:
                continue
            uploads = f"/v2/{repository}/blobs/uploads/"
            if address in self._homes:  # another repository has it: no second upload
                uploads += f"?mount={address}&from={self._homes[address]}"
            status, headers = self._ask("POST", uploads)
            if status == CREATED:
                continue
            self._expect(status, ACCEPTED, name)
            place = urlsplit(headers["location"])
            target = f"{place.path}?{place.query}&digest={address}"
            self._expect(self._ask("PUT", target, blob)[0], CREATED, name)
            self._homes[address] = repository
        target = f"/v2/{repository}/manifests/{tag}"
        status, _ = self._ask("PUT", target, image.manifest, Image.media_type)
        self._expect(status, CREATED, name)

    def remove(self, name: str) -> None:
        """Take an image away, with all tags that point at the same manifest."""
        repository, tag = split_name(name)
        status, headers = self._ask("HEAD", f"/v2/{repository}/manifests/{tag}")
        self._expect(status, OK, name)
        target = f"/v2/{repository}/manifests/{headers['docker-content-digest']}"
        self._expect(self._ask("DELETE", target)[0], ACCEPTED, name)

    def requests(self) -> list[str]:
        """List Docker's requests since the last `reset_counts()`, as `GET /v2/...`."""
        with self._log.open("rb") as log:
            log.seek(self._mark)
            text = log.read().decode(errors="replace")
        return re.findall(r'"([A-Z]+ /v2/\S*) HTTP/1\.1" \d+ \d+ "[^"]*" "docker/', text)

    def pulls(self) -> list[str]:
        """List the manifests that were asked for by tag, as `library/nginx:alpine`."""
        found = (
            re.fullmatch(r"(?:GET|HEAD) /v2/(\S+)/manifests/(?!sha256:)(\S+)", each)
            for each in self.requests()
        )
        return [f"{match[1]}:{match[2]}" for match in found if match]

    def reset_counts(self) -> None:
        """Count requests from here on."""
        self._mark = self._log.stat().st_size

    def _config(self) -> str:
        text = (
            "version: 0.1\nlog: {level: info, accesslog: {disabled: false}}\n"
            f"storage: {{filesystem: {{rootdirectory: {self.folder}/blobs}},"
            " delete: {enabled: true}}\n"
            f"http: {{addr: '127.0.0.1:{self.port}', secret: bed}}\n"
        )
        if self.user and self.password:
            users = self.folder / "htpasswd"
            users.write_text(f"{self.user}:{bcrypt(self.password)}\n")
            text += f"auth: {{htpasswd: {{realm: bed, path: {users}}}}}\n"
        return text

    def _ask(
        self, method: str, target: str, body: bytes = b"", kind: str = "application/octet-stream"
    ) -> tuple[int, dict[str, str]]:
        headers = {"Content-Type": kind, "Accept": Image.media_type}
        if self.user and self.password:
            pair = f"{self.user}:{self.password}".encode()
            headers["Authorization"] = "Basic " + base64.b64encode(pair).decode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, target, body, headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status, {key.lower(): value for key, value in answer.getheaders()}
        finally:
            connection.close()

    @staticmethod
    def _expect(status: int, expected: int, name: str) -> None:
        if status != expected:
            raise BedError(f"the registry answered {status} (not {expected}) for {name}")

    def __enter__(self) -> Self:
        """Start it."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop it."""
        self.stop()
