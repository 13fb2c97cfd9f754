"""The whole bed: a folder and what lives in it, made on first use and gone at the end."""

import contextlib
import os
import shutil
import tempfile
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.bed import keys, packages
from tests.bed.box import Box
from tests.bed.git_server import HOST as GIT_HOST
from tests.bed.git_server import HTTPS_PORT, GitServer
from tests.bed.host import MIRROR, Host
from tests.bed.redis_server import RedisServer
from tests.bed.registry import Registry
from tests.bed.supervisor import Supervisor

SEEDS = (
    "nginx:alpine",
    "gitea/gitea:latest",
    "postgres:alpine",
    "nextcloud:apache",
    "redis:alpine",
    "mariadb:10.5",
    "mariadb:10.6.4-focal",
    "wordpress:latest",
    "prom/prometheus:latest",
    "grafana/grafana:latest",
    "acme/agent:1",
)
PRIVATE = "registry.example.com:5001"


class Bed:
    """Use it as a context manager; everything ends with the `with` block or with the process."""

    def __init__(self) -> None:
        """Make the folder. Servers are started when they are first asked for."""
        self._plugin = packages.ensure()
        self.folder = Path(tempfile.mkdtemp(prefix="mqbed-"))
        self.folder.chmod(0o755)  # users of the hosts have their homes below
        self._keeper = Supervisor()
        self._keeper.tidy(self.folder)
        self._boxes: list[Box] = []
        self._hosts: dict[str, Host] = {}
        self.client_key = keys.make_key(self.folder / "keys" / "id_ed25519", "client")

    @cached_property
    def redis(self) -> RedisServer:
        """Give the lock store, running."""
        return RedisServer(self.folder / "redis", keeper=self._keeper).start()

    @cached_property
    def registry(self) -> Registry:
        """Give the registry from which all hosts get the images of public names, running."""
        return Registry(self.folder / "registry", keeper=self._keeper).start()

    @cached_property
    def private_registry(self) -> Registry:
        """Give the one that hosts know as `registry.example.com:5001`: user acme, password pw."""
        return Registry(
            self.folder / "private", user="acme", password="pw", keeper=self._keeper
        ).start()

    @cached_property
    def git(self) -> GitServer:
        """Give the Git server, running."""
        server = GitServer(self.folder / "git", self._keeper)
        self._boxes.append(server)
        return server.start()

    def host(self, name: str) -> Host:
        """Give the host of that name, running."""
        return self.hosts(name)[0]

    def hosts(self, *names: str) -> list[Host]:
        """Give several hosts, running; new ones are started side by side."""
        fresh = [self._new_host(name) for name in names if name not in self._hosts]
        for host in fresh:
            host.launch()
        for host in fresh:
            host.wait_ready()
        return [self._hosts[name] for name in names]

    def redis_server(self, name: str, *args: str, binary: str | None = None) -> RedisServer:
        """Give one more Redis, not running: with other arguments, or of another version."""
        return RedisServer(self.folder / name, args=args, binary=binary, keeper=self._keeper)

    def seed_images(self) -> None:
        """Push the names that the demo's and the tests' projects use."""
        for name in SEEDS:
            self.registry.push(name)

    def client_home(self, name: str = "client") -> Path:
        """Give a home folder for a client that knows all hosts that there are now.

        `docker1.example.com` is the first host that was made, and so on; each host's own name
        is an alias of it.
        """
        home = self.folder / name
        ssh = home / ".ssh"
        ssh.mkdir(parents=True, exist_ok=True, mode=0o700)
        for part in (self.client_key, keys.public(self.client_key)):
            shutil.copy(part, ssh / part.name)
        config, known = "", ""
        for number, host in enumerate(self._hosts.values(), 1):
            aliases = (f"docker{number}.example.com", host.name)
            config += (
                f"Host {' '.join(aliases)}\n  HostName {host.host}\n  Port {host.port}\n"
                f"  User {host.user}\n  IdentityFile {ssh / self.client_key.name}\n"
            )
            numbered = (f"[{alias}]:{host.port}" for alias in aliases)
            known += keys.known_hosts_lines(host.host_key, host.address, *aliases, *numbered)
        (ssh / "config").write_text(config)
        (ssh / "known_hosts").write_text(known)
        if "git" in self.__dict__:
            (ssh / "git_known_hosts").write_text(self.git.known_hosts)
            shutil.copy(self.git.ssh_key, ssh / "shop")
        return home

    def env(self, name: str = "client") -> dict[str, str]:
        """Give the environment for a client process, with nothing of ours but the path."""
        return {
            "HOME": str(self.client_home(name)),
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "MQCTL_REDIS_URL": self.redis.url,
        }

    def close(self) -> None:
        """End everything and delete the folder."""
        for box in self._boxes:
            with contextlib.suppress(Exception):  # the keeper gets what we could not end
                box.stop()
        self._keeper.close()

    def _new_host(self, name: str) -> Host:
        services = {
            MIRROR: self.registry.port,
            "127.0.0.2:22": self.git.ssh_port,
            f"127.0.0.2:{HTTPS_PORT}": self.git.https_port,
            "127.0.0.3:5001": self.private_registry.port,
        }
        host = Host(
            self.folder / "hosts" / name,
            name,
            self._keeper,
            plugin=self._plugin,
            identity=self.client_key,
            services=services,
            trusted=self.git.certificate,
        )
        for user in host.users:
            known = user.home / ".ssh" / "known_hosts"
            known.parent.mkdir(parents=True)
            known.write_text(self.git.known_hosts)
        host.known_hosts_file.write_text(keys.known_hosts_lines(host.host_key, host.address))
        self._hosts[name] = host
        self._boxes.append(host)
        return host

    def __enter__(self) -> Self:
        """Give the bed."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it."""
        self.close()


__all__ = ["GIT_HOST", "PRIVATE", "SEEDS", "Bed"]
