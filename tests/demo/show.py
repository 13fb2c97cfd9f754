"""What the demo needs to tell a story: commands with their output, and expectations."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIMIT = 120.0  # seconds that one command may take


def say(text: str = "") -> None:
    """Print a line at once, whoever reads."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Command:
    """One run of mqctl whose output is printed as it comes."""

    def __init__(self, arguments: tuple[str, ...], environ: Mapping[str, str]) -> None:
        say(f"$ mqctl {' '.join(arguments)}")
        self.output = ""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mqctl", *arguments],
            cwd=ROOT,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def read_until(self, *words: str) -> None:
        """Print its output up to the line that has all these words, or to its end."""
        for line in self._lines():
            if set(words) <= set(line.split()):
                return

    def finish(self) -> int:
        """Print the rest; give the exit status."""
        for _ in self._lines():
            pass
        return self._process.wait(LIMIT)

    def kill(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()

    def _lines(self) -> Iterator[str]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            say(line.rstrip("\n"))
            self.output += line
            yield line


class Show:
    """Runs commands in the demo's environment and counts what came as expected."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = dict(environ)
        self.met = 0
        self.missed: list[str] = []

    def chapter(self, title: str) -> None:
        """Begin a part of the story."""
        say()
        say(f"=== {title}")

    def mqctl(self, *arguments: str, status: int = 0) -> str:
        """Run mqctl, expect its exit status, give what it printed."""
        command = Command(arguments, self.environ)
        ended = command.finish()
        self.expect(f"exit status {status}", ended == status, f"it was {ended}")
        return command.output

    @contextmanager
    def meanwhile(self, *arguments: str) -> Iterator[Command]:
        """Start mqctl, do something else, and read on when that is over."""
        command = Command(arguments, self.environ)
        try:
            yield command
            ended = command.finish()
        except BaseException:
            command.kill()
            raise
        self.expect("exit status 0", ended == 0, f"it was {ended}")

    def expect(self, what: str, met: bool, otherwise: str = "") -> None:
        """Say whether something is as it should be, and remember it if not."""
        if met:
            self.met += 1
            say(f"  ok: {what}")
        else:
            self.missed.append(what)
            say(f"  NOT AS EXPECTED: {what}{f' ({otherwise})' if otherwise else ''}")

    def end(self, shown: str) -> int:
        """Print the last line; give the demo's exit status."""
        say()
        if self.missed:
            total = self.met + len(self.missed)
            say(f"demo: {len(self.missed)} of {total} things were not as expected")
            return 1
        say(f"demo: all {self.met} things were as expected. Shown: {shown}.")
        return 0
