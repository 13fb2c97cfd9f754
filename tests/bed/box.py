"""A box: a machine of its own as far as the programs in it can tell.

It is the real file system seen from private namespaces. `/etc` and `/usr/local` are overlays
(writes go to the bed's folder), `/run` is empty, and its own are process numbers, host name, boot
id, mounts and, if wanted, the network with all its ports. The clocks (uptime, too) and `/tmp` are
the machine's. Nothing of that is visible on the real machine, and all of it vanishes with the box's
first process (see `agent.py`).
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.bed import keys
from tests.bed.packages import program
from tests.bed.supervisor import AGENT_ARGV, BedError, Process, Supervisor, wait_until

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

SETUP = """\
set -eu
box=$1 name=$2 network=$3
shift 3
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/sshd /run/lock
for top in etc usr/local; do
    mkdir -p "$box/upper/$top" "$box/scratch/$top"
    mount -t overlay -o "lowerdir=/$top,upperdir=$box/upper/$top,workdir=$box/scratch/$top" \\
        overlay "/$top"
done
rm -f /usr/local/bin/docker /usr/local/bin/docker-compose
mount --bind "$box/boot_id" /proc/sys/kernel/random/boot_id
hostname "$name"
[ "$network" = none ] || ip link set lo up
exec "$@"
"""


def new_boot_id() -> str:
    """Make up what the kernel would call this run of the box."""
    return str(uuid.uuid4())


@dataclass(frozen=True)
class User:
    """Someone who can log in to a box."""

    name: str
    home: Path
    uid: int = 0
    shell: str = "/bin/bash"

    @property
    def passwd(self) -> str:
        """Give this user's line of /etc/passwd."""
        return f"{self.name}:x:{self.uid}:{self.uid}:{self.name}:{self.home}:{self.shell}\n"


class Box:
    """A private machine with an SSH server, from which hosts and the Git server are made."""

    own_network = True
    sshd_options = ""

    def __init__(self, folder: Path, name: str, users: Sequence[User], keeper: Supervisor) -> None:
        """Describe a box; everything that it writes goes into `folder`."""
        self.folder, self.name, self.users = folder, name, list(users)
        self.keeper = keeper
        self.ssh_port = 22
        self.boot_id = new_boot_id()
        self.sshd_log = folder / "sshd.log"
        self.host_key = folder / "host_key"
        self.authorized_keys = folder / "authorized_keys"
        self._agent: Supervisor | None = None
        self._init_pid = 0
        self._sshd: Process | None = None
        self._mark = 0
        folder.mkdir(parents=True, exist_ok=True)
        keys.make_key(self.host_key)
        self.sshd_log.touch()
        self.authorized_keys.touch(mode=0o644)  # read by sshd as the user who logs in

    @property
    def agent(self) -> Supervisor:
        """Give the agent inside the box."""
        if self._agent is None:
            raise BedError(f"{self.name} is not running")
        return self._agent

    @property
    def etc(self) -> Path:
        """Give the folder whose files lie over /etc; write to it before the start only."""
        return self.folder / "upper" / "etc"

    def launch(self) -> None:
        """Start the box and what runs in it, without waiting for it to be ready."""
        self._write_etc()
        machine = os.open("/proc/self/ns/net", os.O_RDONLY)
        network = "own" if self.own_network else "none"
        argv = [program("unshare"), "--mount", "--pid", "--ipc", "--uts"]
        argv += ["--net"] if self.own_network else []
        argv += ["--fork", "--kill-child=SIGKILL", "--propagation", "private", "--mount-proc"]
        argv += ["sh", "-c", SETUP, "box", str(self.folder), self.name, network, *AGENT_ARGV]
        try:
            self._agent = Supervisor(argv, log=self.folder / "box.log", fds=[machine])
        finally:
            os.close(machine)
        self.machine_network = machine  # the same number inside, where it stays open
        self.keeper.watch(self._agent)
        self._spawn_sshd()

    def wait_ready(self) -> None:
        """Wait until SSH answers."""
        self._wait_sshd()

    def start(self) -> Self:
        """Start the box and wait until it is ready."""
        self.launch()
        self.wait_ready()
        return self

    def stop(self) -> None:
        """End the box and everything in it at once, as pulling the plug does."""
        if self._agent is not None:
            self._agent.close()
            self._agent = self._sshd = None
            self._init_pid = 0

    def authorize(self, key: Path) -> None:
        """Let the owner of a key log in, as any user of the box."""
        with self.authorized_keys.open("a") as lines:
            lines.write(keys.public(key).read_text())

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        check: bool = True,
        text_input: str | None = None,
        timeout: float = 120,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program inside the box as its first user, with that user's environment."""
        user = self.users[0]
        own = {"HOME": str(user.home), "USER": user.name, "LOGNAME": user.name, "PATH": PATH}
        done = subprocess.run(
            [*self._enter(), "env", "--chdir", str(user.home), *argv],
            env={**own, "SHELL": user.shell, **(env or {})},
            input=text_input or "",
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
        if check and done.returncode != 0:
            told = f"{done.stdout}{done.stderr}".strip()
            raise BedError(f"{self.name}: {shlex.join(argv)}: status {done.returncode}\n{told}")
        return done

    def sh(self, script: str, *, check: bool = True, timeout: float = 120) -> str:
        """Run a shell script inside the box and give what it printed."""
        return self.run(["sh", "-c", script], check=check, timeout=timeout).stdout

    def stop_sshd(self) -> None:
        """End the SSH server; sessions that are open go on."""
        if self._sshd is not None:
            self._sshd.end()
            self._sshd = None

    def start_sshd(self) -> None:
        """Start the SSH server again."""
        self._spawn_sshd()
        self._wait_sshd()

    def kill_sessions(self) -> int:
        """Kill the SSH server's session processes: connections drop, remote commands live on."""
        table = self.agent.processes()
        listener = self._sshd.pid if self._sshd else -1
        first = {pid for pid, parent, _ in table if parent == listener}
        victims = [pid for pid, parent, text in table if "sshd" in text and parent in first]
        for pid in [*victims, *first]:
            self.agent.request("signal", pid=pid, number=int(signal.SIGKILL))
        return len(first)

    def rotate_host_key(self) -> None:
        """Give the SSH server another host key, as a machine that was set up anew has."""
        self.stop_sshd()
        keys.make_key(self.host_key)
        self.start_sshd()

    def connections(self) -> int:
        """Count the SSH connections since the last `reset_counts()`."""
        return len(re.findall(r"^Connection from ", self._sshd_text(), re.MULTILINE))

    def channels(self) -> int:
        """Count the sessions (commands, shells, subsystems) opened over those connections."""
        return len(re.findall(r"^Starting session: ", self._sshd_text(), re.MULTILINE))

    def reset_counts(self) -> None:
        """Count from here on."""
        self._mark = self.sshd_log.stat().st_size

    def _enter(self) -> list[str]:
        if not self._init_pid:
            outer = self.agent.pid
            children = Path(f"/proc/{outer}/task/{outer}/children")
            wait_until(lambda: bool(children.read_text().split()), f"{self.name}'s first process")
            self._init_pid = int(children.read_text().split()[0])
        spaces = ["-m", "-p", "-i", "-u"] + (["-n"] if self.own_network else [])
        return [program("nsenter"), "-t", str(self._init_pid), *spaces, "--"]

    def _write_etc(self) -> None:
        self.etc.mkdir(parents=True, exist_ok=True)
        # First, because programs that ask who user 0 is (git's ssh) take the first answer.
        own = "".join(user.passwd for user in self.users)
        (self.etc / "passwd").write_text(own + Path("/etc/passwd").read_text())
        shadow = self.etc / "shadow"
        shadow.write_text("".join(f"{user.name}:*:19000::::::\n" for user in self.users))
        shadow.chmod(0o600)
        (self.folder / "boot_id").write_text(f"{self.boot_id}\n")
        (self.etc / "hostname").write_text(f"{self.name}\n")
        (self.etc / "hosts").write_text(f"127.0.0.1 localhost {self.name}\n")
        for user in self.users:
            user.home.mkdir(parents=True, exist_ok=True, mode=0o755)
            shutil.chown(user.home, user.uid, user.uid)

    def _spawn_sshd(self) -> None:
        config = self.folder / "sshd_config"
        config.write_text(
            f"Port {self.ssh_port}\nListenAddress 127.0.0.1\nHostKey {self.host_key}\n"
            f"AuthorizedKeysFile {self.authorized_keys}\nPidFile none\nLogLevel VERBOSE\n"
            "StrictModes no\nUsePAM no\nPermitRootLogin yes\nPasswordAuthentication no\n"
            "KbdInteractiveAuthentication no\nPrintMotd no\nUseDNS no\n"
            f"Subsystem sftp internal-sftp\n{self.sshd_options}"
        )
        self._sshd_start = self.sshd_log.stat().st_size
        self._sshd = self.agent.spawn(
            [program("sshd"), "-D", "-e", "-f", str(config)],
            log=self.sshd_log,
            env={"PATH": PATH},
        )

    def _wait_sshd(self) -> None:
        assert self._sshd is not None
        start = self._sshd_start
        self._sshd.wait_for("Server listening on", f"{self.name}'s sshd", start=start)

    def _sshd_text(self) -> str:
        with self.sshd_log.open("rb") as log:
            log.seek(self._mark)
            return log.read().decode(errors="replace").replace("\r", "")

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
