"""A Docker host to drive: one `dockerd` and one `sshd` in a box with a network of its own.

`deploy` (user 0, home in the bed's folder) is the one who logs in; `ops` has no rights but may
use `sudo -n`. Names that the host knows: `git.example.com` (the bed's Git server, port 22) and
`registry.example.com:5001` (the bed's registry that asks for a password).
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.bed.box import PATH, Box, User, new_boot_id
from tests.bed.net import free_port, unix_answers
from tests.bed.packages import program
from tests.bed.supervisor import BedError, Process, Supervisor, wait_until

MIRROR = "127.0.0.2:50500"
NAMES = {"git.example.com": "127.0.0.2", "registry.example.com": "127.0.0.3"}
SOCKET = "/run/docker.sock"


class Host(Box):
    """One Marquee. Its published ports are its own; `forward()` makes one reachable from here."""

    def __init__(
        self,
        folder: Path,
        name: str,
        keeper: Supervisor,
        *,
        plugin: Path,
        identity: Path,
        services: Mapping[str, int],
        trusted: Path | None = None,
        shell: str = "/bin/bash",
    ) -> None:
        """Describe a host; `services` maps addresses inside it to ports of this machine."""
        users = [
            User("deploy", folder / "home", shell=shell),
            User("ops", folder / "ops", uid=2000, shell=shell),
        ]
        super().__init__(folder, name, users, keeper)
        self.host, self.user, self.sudo_user = "127.0.0.1", "deploy", "ops"
        self.port = free_port()
        self.home, self.sudo_home = users[0].home, users[1].home
        self.identity_file = identity
        self.known_hosts_file = folder / "known_hosts"  # what a client should know of this host
        self.docker_log = folder / "docker.log"
        self.docker_socket = folder / "docker.sock"
        self.docker_host = f"unix://{self.docker_socket}"
        self.services = dict(services)
        self._plugin, self._trusted = plugin, trusted
        self._docker: Process | None = None
        self._wire: Process | None = None
        self._docker_mark = 0
        self.authorize(identity)
        keeper.tidy(cgroups=[self.cgroup])

    @property
    def cgroup(self) -> str:
        """Give the name under which this daemon's control groups are made."""
        return f"mqctl-bed-{self.folder.parent.parent.name}-{self.name}"

    @property
    def address(self) -> str:
        """Give `[host]:port` as known_hosts has it."""
        return f"[{self.host}]:{self.port}"

    def launch(self) -> None:
        """Start the box, its cables and its daemon."""
        super().launch()
        self._start_wires()
        self._spawn_docker()

    def wait_ready(self) -> None:
        """Wait until SSH and Docker answer."""
        super().wait_ready()
        self._wait_docker()
        self.reset_counts()

    def docker(self, *args: str, check: bool = True, timeout: float = 120) -> str:
        """Run the Docker client on this machine against this host's daemon."""
        done = subprocess.run(
            [program("docker"), *args],
            env={"DOCKER_HOST": self.docker_host, "HOME": str(self.folder), "PATH": os.defpath},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        if check and done.returncode != 0:
            raise BedError(f"{self.name}: docker {' '.join(args)}: {done.stderr.strip()}")
        return done.stdout

    def api_calls(self) -> list[str]:
        """List the daemon's API requests since the last `reset_counts()`: `GET /v1.41/...`."""
        with self.docker_log.open("rb") as log:
            log.seek(self._docker_mark)
            text = log.read().decode(errors="replace")
        return re.findall(r'msg="Calling ([A-Z]+ [^"]*)"', text)

    def reset_counts(self) -> None:
        """Count connections, channels and API requests from here on."""
        super().reset_counts()
        self._docker_mark = self.docker_log.stat().st_size

    def stop_docker(self, *, kill: bool = False) -> None:
        """End the daemon; with `kill` as a crash does, which leaves its containers running."""
        if self._docker is not None:
            self._docker.end(60, number=signal.SIGKILL if kill else signal.SIGTERM)
            self._docker = None

    def start_docker(self) -> None:
        """Start the daemon again on the same data."""
        self._spawn_docker()
        self._wait_docker()

    def pause_docker(self) -> None:
        """Freeze the daemon: its socket takes connections and never answers."""
        if self._docker is not None:
            self._docker.send(signal.SIGSTOP)

    def resume_docker(self) -> None:
        """Wake the daemon up again."""
        if self._docker is not None:
            self._docker.send(signal.SIGCONT)

    def reboot(self) -> None:
        """Pull the plug and put it back: everything running is gone, the disks are as they were."""
        self.stop()
        self.boot_id = new_boot_id()
        self.start()

    def partition(self) -> None:
        """Have the network between here and the host swallow everything."""
        if self._wire is not None:
            self._wire.send(signal.SIGSTOP)

    def heal(self) -> None:
        """End the partition; what was sent meanwhile arrives late."""
        if self._wire is not None:
            self._wire.send(signal.SIGCONT)

    def cut(self) -> None:
        """Drop all connections to the host at once and take new ones again."""
        if self._wire is not None:
            self._wire.end(number=signal.SIGKILL)
        self._wire = self._wire_in(self.port, 22)

    def forward(self, port: int, *, local: int | None = None) -> int:
        """Make a TCP port of the host reachable on this machine's loopback; give that port."""
        local = local or free_port()
        self._wire_in(local, port)
        return local

    def reach(self, port: int, at: str | None = None) -> None:
        """Make a loopback port of this machine reachable from inside the host."""
        self._wire_out({at or f"127.0.0.1:{port}": port})

    def set_shell(self, shell: str) -> None:
        """Change the login shell of both users."""
        self.sh(f"sed -i -E '1,2s#[^:]*$#{shell}#' /etc/passwd")

    def _start_wires(self) -> None:
        self._wire = self._wire_in(self.port, 22)
        self._wire_out(self.services)

    def _wire_in(self, local: int, port: int) -> Process:
        return self._spawn_wire("in", [f"127.0.0.1:{local}=127.0.0.1:{port}"])

    def _wire_out(self, services: Mapping[str, int]) -> None:
        self._spawn_wire("out", [f"{at}=127.0.0.1:{port}" for at, port in services.items()])

    def _spawn_wire(self, direction: str, rules: list[str]) -> Process:
        log = self.folder / f"wire-{direction}-{free_port()}.log"
        wire = Path(__file__).with_name("wire.py")
        machine = self.machine_network
        argv = [sys.executable, "-I", "-S", str(wire), direction, str(machine), *rules]
        process = self.agent.spawn(argv, log=log, fds=[machine])
        process.wait_for("ready", f"{self.name}'s network")
        return process

    def _write_etc(self) -> None:
        super()._write_etc()
        with (self.etc / "hosts").open("a") as hosts:
            hosts.writelines(f"{address} {name}\n" for name, address in NAMES.items())
        # No name server: an image that is not in the bed is an error at once, not a time-out.
        resolver = self.etc / "resolv.conf"
        resolver.unlink(missing_ok=True)
        resolver.write_text("nameserver 127.0.0.1\n")
        certificates = Path("ssl/certs/ca-certificates.crt")
        if self._trusted is not None:
            every = self.etc / certificates
            every.parent.mkdir(parents=True, exist_ok=True)
            real = Path("/etc") / certificates
            known = real.read_bytes() if real.exists() else b""
            every.write_bytes(known + self._trusted.read_bytes())
        sudoers = self.etc / "sudoers.d" / self.sudo_user
        sudoers.parent.mkdir(mode=0o755, exist_ok=True)
        may = (f"{user.name} ALL=(ALL) NOPASSWD: ALL\n" for user in self.users)
        sudoers.write_text("".join(may))
        sudoers.chmod(0o440)
        plugins = self.folder / "upper" / "usr" / "local" / "lib" / "docker" / "cli-plugins"
        plugins.mkdir(parents=True, exist_ok=True)
        link = plugins / "docker-compose"
        link.unlink(missing_ok=True)
        link.symlink_to(self._plugin)

    def _spawn_docker(self) -> None:
        argv = [program("dockerd"), "--debug"]
        argv += ["--data-root", str(self.folder / "docker"), "--exec-root", "/run/docker"]
        argv += ["--pidfile", "/run/docker.pid"]
        argv += ["--host", f"unix://{SOCKET}", "--host", self.docker_host]
        argv += ["--registry-mirror", f"http://{MIRROR}"]
        argv += ["--iptables=false", "--ip-masq=false", "--ip6tables=false"]
        argv += ["--cgroup-parent", f"/{self.cgroup}"]
        argv += ["--exec-opt", "native.cgroupdriver=cgroupfs"]
        self._docker = self.agent.spawn(argv, log=self.docker_log, env={"PATH": PATH})

    def _wait_docker(self) -> None:
        docker = self._docker
        assert docker is not None

        def answers() -> bool:
            if docker.poll() is not None:
                raise BedError(f"{self.name}'s dockerd ended: see {self.docker_log}")
            ask = b"GET /_ping HTTP/1.0\r\nHost: docker\r\n\r\n"
            return unix_answers(self.docker_socket, ask, b"HTTP/1.0 200")

        wait_until(answers, f"{self.name}'s dockerd", 30)
