"""The test process's end of an agent: start, signal and end the bed's processes through it."""

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

AGENT = Path(__file__).with_name("agent.py")
AGENT_ARGV = (sys.executable, "-I", "-S", str(AGENT))


class BedError(RuntimeError):
    """The bed could not do what a test asked of it."""


def wait_until(done: Callable[[], bool], what: str, seconds: float = 20.0) -> None:
    """Wait for something to become true; raise with its description if it does not."""
    until = time.monotonic() + seconds
    while not done():
        if time.monotonic() > until:
            message = f"{what}: not within {seconds:g} s"
            raise BedError(message)
        time.sleep(0.01)


def tail(log: Path, lines: int = 15) -> str:
    """Give the end of a log file, for an error message."""
    if not log.exists():
        return ""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


class Supervisor:
    """An agent process, by default outside of any box (then it is a *keeper*)."""

    _shared: ClassVar["dict[int, Supervisor]"] = {}

    def __init__(
        self, argv: Sequence[str] = AGENT_ARGV, *, log: Path | None = None, fds: Sequence[int] = ()
    ) -> None:
        """Start the agent. `argv` may put it into namespaces of its own."""
        self.log = log
        self._lock = threading.Lock()
        with (log or Path(os.devnull)).open("ab") as errors:
            # Its own session: Ctrl-C at a terminal is for the test run, which then ends us.
            self._agent = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors if log else None,
                pass_fds=fds,
                start_new_session=True,
            )
        self.pid = self._agent.pid

    @classmethod
    def shared(cls) -> "Supervisor":
        """Give the keeper of this test process, for servers that belong to no bed."""
        pid = os.getpid()  # a forked child must not share its parent's
        if pid not in cls._shared:
            cls._shared[pid] = cls()
            atexit.register(cls._shared[pid].close)
        return cls._shared[pid]

    def request(self, do: str, **arguments: object) -> dict[str, Any]:
        """Send one message and give the answer to it."""
        assert self._agent.stdin is not None
        assert self._agent.stdout is not None
        with self._lock:
            try:
                self._agent.stdin.write(json.dumps({"do": do, **arguments}).encode() + b"\n")
                self._agent.stdin.flush()
                line = self._agent.stdout.readline()
            except (OSError, ValueError):
                line = b""
        if not line:
            message = f"the bed's agent is gone ({do}): {tail(self.log) if self.log else ''}"
            raise BedError(message)
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise BedError(f"{do}: {answer['error']}")
        return answer

    def spawn(
        self,
        argv: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str] | None = None,
        fds: Sequence[int] = (),
    ) -> "Process":
        """Start a process that ends with the agent."""
        answer = self.request(
            "spawn", argv=list(argv), log=str(log), env=dict(env) if env else None, fds=list(fds)
        )
        return Process(self, answer["pid"], log)

    def watch(self, other: "Supervisor") -> None:
        """Have the keeper end a box, should we not live to do it."""
        self.request("watch", pid=other.pid)

    def tidy(self, *folders: Path, cgroups: Sequence[str] = ()) -> None:
        """Have the keeper delete folders and control groups at the end."""
        self.request("tidy", folders=[str(folder) for folder in folders], cgroups=list(cgroups))

    def processes(self) -> list[tuple[int, int, str]]:
        """List pid, parent and command line of all processes that the agent sees."""
        return [tuple(row) for row in self.request("processes")["processes"]]

    def close(self) -> None:
        """End everything that was started here; return when it is gone."""
        assert self._agent.stdin is not None
        assert self._agent.stdout is not None
        self._agent.stdin.close()
        self._agent.wait(60)
        self._agent.stdout.close()


@dataclass(frozen=True)
class Process:
    """A process that an agent started. Its number is the one that the agent sees."""

    supervisor: Supervisor
    pid: int
    log: Path

    def poll(self) -> int | None:
        """Give the exit status, None while it runs (a signal's number as a negative status)."""
        status: int | None = self.supervisor.request("poll", pid=self.pid)["status"]
        return status

    def send(self, number: int) -> None:
        """Send a signal; nothing happens if the process is gone."""
        self.supervisor.request("signal", pid=self.pid, number=int(number))

    def end(self, seconds: float = 20.0, *, number: int = signal.SIGTERM) -> None:
        """End the process, politely at first, and wait until it is gone."""
        self.send(number)
        self.send(signal.SIGCONT)
        try:
            wait_until(lambda: self.poll() is not None, f"end of process {self.pid}", seconds)
        except BedError:
            self.send(signal.SIGKILL)
            wait_until(lambda: self.poll() is not None, f"end of process {self.pid}", seconds)

    def wait_for(self, text: str, what: str, seconds: float = 20.0, *, start: int = 0) -> None:
        """Wait until the log, from an offset on, has a text; give the log's end if it does not."""

        def there() -> bool:
            if self.poll() is not None:
                raise BedError(f"{what} ended with status {self.poll()}:\n{tail(self.log)}")
            with self.log.open("rb") as log:
                log.seek(start)
                return text.encode() in log.read()

        try:
            wait_until(there, what, seconds)
        except BedError as error:
            if "ended with" in str(error):
                raise
            raise BedError(f"{error}\n{tail(self.log)}") from None
