"""Who holds a lock, and the proof that a holder is dead."""

from __future__ import annotations

import os
import platform
import pwd
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import mqctl
from mqctl.secret import MASK

LONGEST_COMMAND = 300
_START_TIME = 22  # the field of /proc/PID/stat, counted from 1 as in proc(5)


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a process id means something. Empty texts mean: it cannot be told."""

    boot_id: str = ""
    pid_ns: str = ""

    @classmethod
    def here(cls) -> Machine:
        """This boot of this kernel, and the pid namespace that we are in."""
        return cls(_read("/proc/sys/kernel/random/boot_id"), _link("/proc/self/ns/pid"))


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that takes locks, as it introduces itself in the owner hash."""

    host: str
    machine: Machine
    pid: int
    start: str
    user: str
    command: str
    version: str = mqctl.__version__

    @classmethod
    def here(cls, command: str) -> Owner:
        """This process. Secrets in ``command`` are masked."""
        return cls(
            host=platform.node(),
            machine=Machine.here(),
            pid=os.getpid(),
            start=start_of(os.getpid()) or "",
            user=_user(),
            command=MASK(command)[:LONGEST_COMMAND],
        )

    def fields(self) -> dict[str, str]:
        """As it stands in the owner hash."""
        return {
            "host": self.host,
            "boot_id": self.machine.boot_id,
            "pid_ns": self.machine.pid_ns,
            "pid": str(self.pid),
            "start": self.start,
            "user": self.user,
            "command": self.command,
            "version": self.version,
        }


def start_of(pid: int) -> str | None:
    """When a process started, in clock ticks since boot; empty if it exists but hides that.

    None is the proof that there is no such process in this pid namespace.
    """
    try:
        os.kill(pid, 0)  # asks the kernel: with hidepid, /proc shows only our own processes
    except ProcessLookupError:
        return None
    except OSError:
        pass  # not ours to signal, so it exists
    # The name, in parentheses, may itself hold spaces and parentheses: count behind the last one.
    after_name = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    position = _START_TIME - 3  # the state is field 3
    return after_name[position] if len(after_name) > position else ""


def proven_dead(
    token: str,
    owner: Mapping[str, str],
    machine: Machine,
    start_of: Callable[[int], str | None] = start_of,
) -> bool:
    """Whether the process that wrote ``owner`` under the lock ``token`` cannot be alive.

    Only a process of this boot and this pid namespace can be proven dead: either nobody has its
    pid, or somebody who started at another time. Whatever cannot be told counts as alive.
    """
    same_machine = (
        machine.boot_id != ""
        and machine.pid_ns != ""
        and owner.get("boot_id") == machine.boot_id
        and owner.get("pid_ns") == machine.pid_ns
    )
    pid, start = owner.get("pid", ""), owner.get("start", "")
    known = pid.isascii() and pid.isdigit() and len(pid) < 10 and int(pid) > 0 and start.isdigit()  # noqa: PLR2004 - fits pid_t
    if not (token and owner.get("token") == token and same_machine and known):
        return False
    now = start_of(int(pid))
    return now is None or now not in ("", start)


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _link(path: str) -> str:
    try:
        return str(Path(path).readlink())
    except OSError:
        return ""
