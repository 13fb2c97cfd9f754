"""The one that starts, signals and ends the bed's processes. A stand-alone program.

Nothing of a bed may survive its user, not even when the test run is ended by SIGKILL and no
clean-up code runs. So tests never start a server themselves: this little process does, and it
lives only as long as its standard input is open at the other end, which the kernel sees to.

It runs in two places:

* *outside* (the keeper of a bed): ends its children, waits for the boxes, deletes the bed's folder;
* *inside* a box, as process 1 of a private PID namespace: when it goes, the kernel kills
  everything in that namespace, containers included, and drops all its mounts and networks.

One JSON object a line in, one out. See `supervisor.py` for the other end.
"""

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
POLL_SECONDS = 0.1
TERM_GRACE_SECONDS = 3.0

libc = ctypes.CDLL(None)


def die_with_agent() -> None:
    """Ask the kernel to kill the calling (new) process when the agent's only thread ends."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def start_time(pid: int) -> str | None:
    """Give what tells a process from a later one with the same number; None if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


class Agent:
    """The children, what became of them, and what else has to go at the end."""

    def __init__(self) -> None:
        self.children: dict[int, subprocess.Popen[bytes]] = {}
        self.ended: dict[int, int] = {}
        self.watched: dict[int, str] = {}
        self.folders: list[str] = []
        self.cgroups: list[str] = []

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """Do what one message asks."""
        does: dict[str, Callable[..., dict[str, Any]]] = {
            "spawn": self.spawn,
            "signal": self.signal,
            "poll": self.poll,
            "watch": self.watch,
            "tidy": self.tidy,
            "processes": self.processes,
        }
        try:
            return does[message.pop("do")](**message)
        except (OSError, KeyError, TypeError, ValueError) as error:
            return {"error": f"{type(error).__name__}: {error}"}

    def spawn(
        self, argv: list[str], env: dict[str, str] | None, log: str, fds: list[int]
    ) -> dict[str, Any]:
        """Start a process with nothing on its input and both outputs in a log file."""
        with Path(log).open("ab") as output:
            child = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=env,
                cwd="/",
                pass_fds=fds,
                start_new_session=True,
                preexec_fn=die_with_agent,  # noqa: PLW1509 -- this program has one thread
            )
        self.children[child.pid] = child
        return {"pid": child.pid}

    def signal(self, pid: int, number: int) -> dict[str, Any]:
        """Signal a child, or as process 1 anyone in the namespace. A gone process is no error."""
        if pid in self.ended or (pid not in self.children and os.getpid() != 1):
            return {"sent": False}
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return {"sent": False}
        return {"sent": True}

    def poll(self, pid: int) -> dict[str, Any]:
        """Tell whether a child has ended, and how."""
        return {"status": self.ended.get(pid)}

    def watch(self, pid: int) -> dict[str, Any]:
        """Remember a box's outermost process: it must be gone before folders are deleted."""
        started = start_time(pid)
        if started is not None:
            self.watched[pid] = started
        return {}

    def tidy(self, folders: list[str], cgroups: list[str]) -> dict[str, Any]:
        """Remember what to delete at the end."""
        self.folders += folders
        self.cgroups += cgroups
        return {}

    def processes(self) -> dict[str, Any]:
        """List every process that is visible from here as [pid, parent, command line]."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
                found.append([int(entry.name), int(parent), command])
        return {"processes": found}

    def reap(self) -> None:
        """Collect ended children; as process 1 also the orphans that nobody else can collect."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            child = self.children.pop(pid, None)
            if child is not None:
                child.returncode = self.ended[pid] = os.waitstatus_to_exitcode(status)

    def end(self) -> None:
        """End everything that was started from here and delete what was left behind."""
        for number, patience in ((signal.SIGTERM, TERM_GRACE_SECONDS), (signal.SIGKILL, 5.0)):
            for pid in reversed(self.children):
                for each in (number, signal.SIGCONT):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, each)
            self._wait(lambda: not self.children, patience)
        self._wait(lambda: not self._still_there(), TERM_GRACE_SECONDS)
        for pid in self._still_there():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._wait(lambda: not self._still_there(), 10.0)
        for group in self.cgroups:
            remove_cgroup(group)
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)

    def _still_there(self) -> list[int]:
        return [pid for pid, started in self.watched.items() if start_time(pid) == started]

    def _wait(self, done: Callable[[], bool], seconds: float) -> None:
        until = time.monotonic() + seconds
        self.reap()
        while not done() and time.monotonic() < until:
            time.sleep(0.01)
            self.reap()


def remove_cgroup(name: str) -> None:
    """Remove the (empty) control groups that a killed Docker daemon left, in each hierarchy."""
    for hierarchy in [Path("/sys/fs/cgroup"), *Path("/sys/fs/cgroup").iterdir()]:
        top = hierarchy / name
        if top.is_dir():
            for folder, _, _ in os.walk(top, topdown=False):
                with contextlib.suppress(OSError):
                    Path(folder).rmdir()


def main() -> None:
    """Serve until the other end is gone."""
    ending: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: ending.append(number))
    signal.signal(signal.SIGINT, lambda *_: None)  # not SIG_IGN, which children would inherit
    first = os.getpid() == 1
    agent, parent, buffer = Agent(), os.getppid(), b""
    # The parent check covers a forked sibling that still holds our input open.
    while not ending and (first or os.getppid() == parent):
        ready, _, _ = select.select([0], [], [], POLL_SECONDS)
        agent.reap()
        if not ready:
            continue
        data = os.read(0, 65536)
        if not data:
            break
        *lines, buffer = (buffer + data).split(b"\n")
        for line in lines:
            sys.stdout.write(json.dumps(agent.answer(json.loads(line))) + "\n")
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.flush()
    if not first:
        agent.end()


if __name__ == "__main__":
    main()
