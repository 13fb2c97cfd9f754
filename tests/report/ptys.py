"""A process with a terminal of its own, by the :mod:`pty` module."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from typing import Self


class Terminal:
    """Runs Python with ``arguments`` on a terminal; ``stdout`` and ``stderr`` may go elsewhere."""

    def __init__(
        self,
        arguments: Sequence[str],
        environ: Mapping[str, str],
        *,
        columns: int = 100,
        stdout: int | None = None,
        stderr: int | None = None,
        cwd: str | None = None,
    ) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=slave,
            stdout=slave if stdout is None else stdout,
            stderr=slave if stderr is None else stderr,
            env={**environ, "TERM": environ.get("TERM", "xterm-256color")},
            cwd=cwd,
            start_new_session=True,
            # Ctrl-C is a signal only at the terminal that controls the session.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
        )
        os.close(slave)
        self.output = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)

    def expect(self, pattern: str, seconds: float = 60.0) -> str:
        """Read until the output matches ``pattern``."""
        until = time.monotonic() + seconds
        while not re.search(pattern, self.output):
            assert time.monotonic() < until, f"no {pattern!r} in {self.output!r}"
            assert self._read(0.2) or self.process.poll() is None, self.output
        return self.output

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._master, text.encode())

    def end(self, seconds: float = 60.0) -> int:
        """Read to the end; give the exit status."""
        until = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < until, self.output
            self._read(0.1)
        while self._read(0.1):
            pass
        return self.process.returncode

    def _read(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:  # EIO: nobody has the terminal open any more
            return False
        self.output += data.decode("utf-8", "replace")
        return bool(data)
