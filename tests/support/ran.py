"""A run of mqctl: while it goes on, and when it has ended."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.bed import BedError, wait_until

Json = dict[str, Any]
PATIENCE = 60.0  # seconds: more than a slow machine needs, less than a test may take


@dataclass
class Ran:
    """What a run left: its exit status, its answer and what it said beside it."""

    code: int
    text: str
    errors: str

    def __str__(self) -> str:
        return f"exit {self.code}\n{self.text}\n{self.errors}"

    @cached_property
    def document(self) -> Json:
        """The answer of ``-o json``."""
        found: Json = json.loads(self.text)
        return found

    @cached_property
    def events(self) -> list[Json]:
        """The answer of ``-o jsonl``; a last line that was cut is left out."""
        return parse_events(self.text)

    def cycle(self, marquee: str = "east-1") -> Json:
        """What was done on one Marquee."""
        cycles: list[Json] = (
            [one["report"] for one in self.events if one["event"] == "cycle.finished"]
            if self.text.startswith('{"event"')
            else self.document["cycles"]
        )
        return next(one for one in cycles if one["marquee"] == marquee)

    def outcome(self, marquee: str = "east-1") -> str:
        """How the cycle ended."""
        return str(self.cycle(marquee)["outcome"])

    def decision(self, subject: str, phase: str = "", marquee: str = "east-1") -> Json:
        """What was decided about a subject, in a phase if several look at it."""
        found = [
            one
            for one in self.cycle(marquee)["decisions"]
            if one["subject"] == subject and phase in {"", one["phase"]}
        ]
        assert found, f"no decision about {subject}: {self}"
        decision: Json = found[-1]
        return decision

    def fate(self, subject: str, phase: str = "", marquee: str = "east-1") -> tuple[str, str, str]:
        """Action, reason and result of that decision."""
        one = self.decision(subject, phase, marquee)
        return one["action"], one["reason"], one["result"]

    def done(self, marquee: str = "east-1") -> set[tuple[str, str]]:
        """Each (action, subject) that changed something, or tried to."""
        return {
            (one["action"], one["subject"])
            for one in self.cycle(marquee)["decisions"]
            if one["action"] not in {"none", "skip", "park"}
        }

    def steps(self) -> list[str]:
        """The guarded commands that were sent, in order (of ``-o jsonl``)."""
        return [one["step"] for one in self.events if one["event"] == "step.sending"]


@dataclass
class Running:
    """A run in the background."""

    process: subprocess.Popen[bytes]
    out: Path

    @property
    def text(self) -> str:
        """What it has answered up to now."""
        return self.out.read_text()

    def seen(self, event: str, **fields: object) -> list[Json]:
        """The events of that name and with those fields, up to now."""
        return [
            one
            for one in parse_events(self.text)
            if one["event"] == event and all(one.get(key) == fields[key] for key in fields)
        ]

    def wait_for(self, event: str, **fields: object) -> Json:
        """Wait until an event was told."""
        self.wait_until(lambda: bool(self.seen(event, **fields)), f"{event} {fields}")
        return self.seen(event, **fields)[0]

    def wait_until(self, done: Callable[[], bool], what: str) -> None:
        """Wait until something has become true; raise if the run ends before."""

        def there() -> bool:
            over = self.process.poll() is not None  # asked first: it may do it and end
            if done():
                return True
            if over:
                raise BedError(f"it ended before {what}: {self.wait()}")
            return False

        wait_until(there, what, PATIENCE)

    def wait_stopped(self) -> None:
        """Wait until the process has been stopped by a signal."""
        stat = Path(f"/proc/{self.process.pid}/stat")
        self.wait_until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T", "stopping")

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def wait(self, seconds: float = PATIENCE) -> Ran:
        """Wait for its end."""
        code = self.process.wait(seconds)
        return Ran(code, self.text, self.out.with_suffix(".err").read_text())


def parse_events(text: str) -> list[Json]:
    """The complete lines of ``-o jsonl``."""
    lines = text.splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n") and line.startswith("{")]
