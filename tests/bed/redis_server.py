"""A real Redis on a loopback port."""

import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.bed.net import free_port
from tests.bed.packages import program
from tests.bed.supervisor import BedError, Process, Supervisor


class RedisServer:
    """`redis-server` without persistence, unless `args` say otherwise; they come last and win."""

    def __init__(
        self,
        folder: Path,
        *,
        port: int | None = None,
        args: Sequence[str] = (),
        binary: str | None = None,
        keeper: Supervisor | None = None,
    ) -> None:
        """Describe a server; `folder` is where its log and data go."""
        self.folder = folder
        self.port = port or free_port()
        self.args = list(args)
        self.binary = binary or program("redis-server")
        self._keeper = keeper or Supervisor.shared()
        self._process: Process | None = None
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def url(self) -> str:
        """Give the address as a client takes it."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def process(self) -> Process:
        """Give the running server's process."""
        if self._process is None:
            message = "this Redis is not running"
            raise BedError(message)
        return self._process

    def start(self) -> Self:
        """Start it, always on the same port; wait until it takes connections."""
        log = self.folder / "redis.log"
        before = log.stat().st_size if log.exists() else 0
        argv = [self.binary, "--port", str(self.port), "--bind", "127.0.0.1"]
        argv += ["--dir", str(self.folder), "--save", "", "--appendonly", "no", *self.args]
        self._process = self._keeper.spawn(argv, log=log)
        self._process.wait_for("Ready to accept connections", "redis-server", start=before)
        return self

    def stop(self) -> None:
        """End it; without persistence its data is gone."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def kill(self) -> None:
        """End it as a crash does."""
        self.process.end(number=signal.SIGKILL)
        self._process = None

    def pause(self) -> None:
        """Freeze it: connections stay open and get no answer."""
        self.process.send(signal.SIGSTOP)

    def resume(self) -> None:
        """Wake it up again."""
        self.process.send(signal.SIGCONT)

    def cli(self, *args: str) -> str:
        """Run one command through redis-cli and give its plain answer; an error answer raises."""
        argv = [program("redis-cli"), "-p", str(self.port), "-e", "--no-auth-warning", *args]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)
        if done.returncode != 0:
            raise BedError(f"redis-cli {' '.join(args)}: {done.stdout}{done.stderr}".strip())
        return done.stdout.removesuffix("\n")

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
