"""What the tests of the host side share: a Marquee on this machine, and SSH servers on loopback."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mqctl.cancel import CancelToken
from mqctl.clock import Clock
from mqctl.host.gateway import Gateway
from mqctl.host.guard import Builder, Call, Fence, NotAfter, verdict
from mqctl.host.guard.verdict import Answer, Sample
from mqctl.host.local import LocalTransport
from mqctl.host.transport import Transport, connect
from mqctl.model import Marquee, Policy
from tests.bed.keys import known_hosts_lines, make_key, public
from tests.bed.net import free_port

ONE = "one"
SHELLS = {"dash": ["dash"], "bash": ["bash"], "busybox": ["busybox", "sh"]}


def eventually(holds: Callable[[], object], what: str, seconds: float = 10.0) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.01)


@contextmanager
def held(directory: Path) -> Iterator[None]:
    """Have somebody else hold the flock of a directory."""
    holder = subprocess.Popen(["flock", "-o", str(directory), "sleep", "30"])
    test = ["flock", "-n", str(directory), "true"]
    try:
        eventually(lambda: subprocess.run(test, check=False).returncode, "the flock is taken")
        yield
    finally:
        subprocess.run(["pkill", "-P", str(holder.pid)], check=True)
        holder.wait()


def path_with(folder: Path, *programs: str, shell: str | None = None) -> str:
    """A PATH with only these programs, or (none named) all; ``sh`` is the wanted shell."""
    folder.mkdir()
    for program in programs:
        (folder / program).symlink_to(_which(program))
    if shell is not None:
        words = SHELLS[shell]
        (folder / "sh").symlink_to(_which(words[0]))
    return str(folder) if programs else f"{folder}:{os.environ['PATH']}"


def _which(program: str) -> str:
    found = subprocess.run(["which", program], check=True, capture_output=True, text=True)
    return found.stdout.strip()


class Site:
    """One Marquee on this machine, asked verb by verb: the guard without a gateway."""

    def __init__(self, root: Path, *, path: str | None = None, sudo: bool = False) -> None:
        self.marquee = Marquee("east", "acme", host="local", root=str(root), sudo=sudo)
        self.directory = root / "acme" / "east"
        self.environ = {"PATH": path or os.environ["PATH"], "HOME": str(root.parent)}
        self.transport = self.transport_under(CancelToken())
        self.build = Builder(self.marquee)
        self.ttl = 60.0

    def transport_under(self, cancel: CancelToken) -> LocalTransport:
        return LocalTransport(clock=Clock(), cancel=cancel, environ=self.environ)

    def fence(self, number: int, token: str = ONE, authority: str = "redis-a") -> Fence:
        return Fence(number, token, authority, self.ttl)

    def ask(self, call: Call, stdin: bytes = b"", limit: float = 30.0) -> Answer:
        return verdict.read(call.nonce, self.transport.run(call.line, stdin=stdin, limit=limit))

    def raise_(self, number: int, token: str = ONE, authority: str = "redis-a") -> Answer:
        return self.ask(self.build.raise_(self.fence(number, token, authority)))

    def close(self, number: int, token: str = ONE) -> Answer:
        return self.ask(self.build.close(self.fence(number, token)))

    def soon(self, seconds: float = 30.0) -> NotAfter:
        """A NOT_AFTER that many seconds from now."""
        uptime, _ = Path("/proc/uptime").read_text().split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return NotAfter.after(Sample(boot, round(float(uptime) * 100)), seconds)

    def run_call(
        self,
        number: int,
        script: str,
        *args: str,
        token: str = ONE,
        not_after: NotAfter | None = None,
        limit: float = 20.0,
        size: int = 0,
    ) -> Call:
        return self.build.run(
            self.fence(number, token),
            not_after or self.soon(),
            script,
            args,
            limit=limit,
            name="a test",
            size=size,
        )

    def run(
        self,
        number: int,
        script: str,
        *args: str,
        token: str = ONE,
        not_after: NotAfter | None = None,
        limit: float = 20.0,
        stdin: bytes = b"",
    ) -> Answer:
        call = self.run_call(
            number, script, *args, token=token, not_after=not_after, limit=limit, size=len(stdin)
        )
        return self.ask(call, stdin)

    def put(
        self,
        number: int,
        targets: Sequence[str],
        archive: bytes,
        *,
        not_after: NotAfter | None = None,
        size: int | None = None,
    ) -> Answer:
        size = len(archive) if size is None else size
        call = self.build.put(self.fence(number), not_after or self.soon(), targets, size=size)
        return self.ask(call, archive)

    def start(self, call: Call) -> subprocess.Popen[bytes]:
        """A client of its own, which can be killed."""
        return subprocess.Popen(
            ["sh", "-c", call.line],
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def marker(self) -> list[str]:
        """PID, start, number, token, boot id, began, name of the running command."""
        return (self.directory / "running").read_text().split()

    def has(self, name: str) -> bool:
        return (self.directory / name).exists()

    def write(self, name: str, text: str) -> None:
        (self.directory / name).write_text(text)


class Sshd:
    """An SSH server of our own on loopback, for root; its users' home is a folder of the test."""

    def __init__(self, folder: Path, home: Path, *, options: Sequence[str] = ()) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (home / ".ssh").mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder, self.home, self.port = folder, home, free_port()
        self.host_key = make_key(folder / "host_key")
        self.identity = make_key(folder / "identity")
        self._authorized = folder / "authorized_keys"
        self.authorize(self.identity)
        self._log = folder / "log"
        Path("/run/sshd").mkdir(exist_ok=True)
        config = folder / "config"
        config.write_text(
            "\n".join(
                [
                    f"Port {self.port}",
                    "ListenAddress 127.0.0.1",
                    f"HostKey {self.host_key}",
                    f"AuthorizedKeysFile {self._authorized}",
                    f"SetEnv HOME={home}",
                    "StrictModes no",
                    "UsePAM no",
                    "PasswordAuthentication no",
                    "PidFile none",
                    "LogLevel VERBOSE",
                    *options,
                ]
            )
        )
        self._process: subprocess.Popen[bytes] | None = None

    def authorize(self, key: Path) -> None:
        with self._authorized.open("a") as file:
            file.write(public(key).read_text())

    def start(self) -> None:
        config = str(self.folder / "config")
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                ["/usr/sbin/sshd", "-D", "-e", "-f", config], stderr=log, start_new_session=True
            )
        eventually(lambda: "listening" in self.log.split("----")[-1], "sshd listens")

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def sessions(self) -> list[int]:
        """The process ids of the servers of single connections."""
        assert self._process is not None
        listed = subprocess.run(
            ["pgrep", "-P", str(self._process.pid)], capture_output=True, text=True, check=False
        )
        return [int(line) for line in listed.stdout.split()]

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            with self._log.open("a") as log:
                log.write("----\n")

    def known_hosts(self, *names: str) -> str:
        return known_hosts_lines(self.host_key, *(names or [f"[127.0.0.1]:{self.port}"]))

    def marquee(self, root: Path | str = "~/.mqctl", **changes: object) -> Marquee:
        known = self.folder / "known_hosts"
        known.write_text(self.known_hosts())
        values: dict[str, object] = {
            "host": "127.0.0.1",
            "user": "root",
            "port": self.port,
            "identity_file": self.identity,
            "known_hosts_file": known,
            "root": str(root),
        }
        return Marquee("east", "acme", **(values | changes))  # type: ignore[arg-type]  # as named


@contextmanager
def running(*servers: Sshd) -> Iterator[None]:
    """Have SSH servers run for a while."""
    try:
        for server in servers:
            server.start()
        yield
    finally:
        for server in servers:
            server.stop()


class Lease:
    """A lease that a test holds in its hand."""

    def __init__(self, seconds: float = 60.0) -> None:
        self.seconds = seconds
        self.wanted: list[float] = []
        self.ends: BaseException | None = None

    def left(self) -> float:
        return self.seconds

    def checkpoint(self, seconds: float) -> None:
        self.wanted.append(seconds)
        if self.ends is not None:
            raise self.ends


def gateway(
    transport: Transport,
    marquee: Marquee,
    lease: Lease,
    *,
    cancel: CancelToken | None = None,
    events: list[object] | None = None,
) -> Gateway:
    return Gateway(
        transport,
        marquee,
        checkpoint=lease.checkpoint,
        left=lease.left,
        emit=(events if events is not None else []).append,
        clock=Clock(),
        cancel=cancel or CancelToken(),
    )


QUICK = Policy(connect_timeout=4.0, command_timeout=20.0)


@contextmanager
def connected(marquee: Marquee, cancel: CancelToken | None = None) -> Iterator[Transport]:
    way = connect(marquee, clock=Clock(), cancel=cancel or CancelToken())
    try:
        yield way
    finally:
        way.close()
