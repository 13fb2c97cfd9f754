"""Under GitHub Actions: groups, an annotation for each failure, a step summary.

Workflow commands are lines that begin with ``::`` (and, from older runners, ``##[`` anywhere in a
line), so data must never be able to look like one. Escaping as in actions/toolkit's ``command.ts``.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path

from mqctl.events import CycleFinished, CycleStarted, Event, RunFinished
from mqctl.model import CycleReport
from mqctl.report.advice import advice
from mqctl.report.summary import (
    cycle_duration,
    cycle_sentence,
    failure_text,
    failures,
    is_quiet,
    run_sentence,
)
from mqctl.report.text import plain
from mqctl.secret import MASK


def escape_data(text: str) -> str:
    """Escape the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Escape a property (``title=``) of a workflow command."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def defuse(line: str) -> str:
    """Make sure that a line of the log is not taken for a command."""
    line = line.replace("##[", "## [")
    return f" {line}" if line.lstrip().startswith("::") else line


class Annotations:
    """Listener: an ``::error`` for each failed decision and for each cycle that could not run."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write

    def __call__(self, event: Event) -> None:
        """Annotate what failed in a cycle that ended."""
        if isinstance(event, CycleFinished):
            for title, text in failed_of(event.report):
                self._write(f"::error title={escape_property(title)}::{escape_data(text)}")


def failed_of(cycle: CycleReport) -> list[tuple[str, str]]:
    """Title and text of each annotation of a cycle."""
    failed = [
        (
            f"mqctl {plain(cycle.marquee)} {plain(decision.subject)}",
            f"{failure_text(decision)}\n{advice(cycle.marquee, decision)}",
        )
        for decision in failures(cycle)
    ]
    if failed or cycle.exit_code == 0:
        return failed
    text = f"{cycle.outcome.value}: {cycle_sentence(cycle)}"
    if cycle.error is not None:
        parts = (cycle.error.what, cycle.error.why, cycle.error.fix)
        text = "\n".join(plain(part) for part in parts if part)
    return [(f"mqctl {plain(cycle.marquee)}", text)]


class Groups:
    """Listener around :class:`~mqctl.report.lines.Lines`: one foldable group a Marquee.

    Groups cannot interleave, so with several Marquees a group is printed when its cycle has ended.
    """

    def __init__(self, write: Callable[[str], None], *, many: bool) -> None:
        self._write = write
        self._many = many
        self._kept: dict[str, list[str]] = {}
        self._marquee = ""

    def line(self, line: str) -> None:
        """Take a line of the log that belongs to the event being handled."""
        if self._many and self._marquee in self._kept:
            self._kept[self._marquee].append(defuse(line))
        else:
            self._write(defuse(line))

    def wrap(self, lines: Callable[[Event], None]) -> Callable[[Event], None]:
        """Give ``lines`` (which must write to :meth:`line`) with groups around its cycles."""

        def listen(event: Event) -> None:
            self._marquee = event.marquee
            if isinstance(event, CycleStarted):
                self._begin(event.marquee)
            lines(event)
            if isinstance(event, CycleFinished):
                self._end(event.marquee)

        return listen

    def _begin(self, marquee: str) -> None:
        if self._many:
            self._kept[marquee] = []
        else:
            self._write(f"::group::{escape_data(plain(marquee))}")

    def _end(self, marquee: str) -> None:
        if self._many:
            self._write(f"::group::{escape_data(plain(marquee))}")
            for line in self._kept.pop(marquee, []):
                self._write(line)
        self._write("::endgroup::")


class StepSummary:
    """Listener: appends a Markdown table to the file that ``GITHUB_STEP_SUMMARY`` names."""

    def __init__(self, path: Path, *, dry_run: bool = False) -> None:
        self._path = path
        self._dry_run = dry_run

    def __call__(self, event: Event) -> None:
        """Write the summary when the run has ended."""
        if isinstance(event, RunFinished):
            lines = ["## mqctl " + event.report.command, ""]
            lines += [_cell(run_sentence(event.report, dry_run=self._dry_run)), ""]
            lines += ["| Marquee | outcome | time | what happened |", "|---|---|---|---|"]
            for cycle in event.report.cycles:
                lines.append(_cycle_row(cycle))
            lines += _decision_table(event.report.cycles)
            with self._path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(MASK("\n".join(lines)) + "\n")


def _cycle_row(cycle: CycleReport) -> str:
    cells = (cycle.marquee, cycle.outcome.value, cycle_duration(cycle), cycle_sentence(cycle))
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _decision_table(cycles: tuple[CycleReport, ...]) -> list[str]:
    rows = [
        (cycle.marquee, one.subject, one.action.value, one.result.value, one.reason, one.detail)
        for cycle in cycles
        for one in cycle.decisions
        if not is_quiet(one)
    ]
    if not rows:
        return []
    head = [
        "",
        "| Marquee | subject | action | result | reason | detail |",
        "|---|---|---|---|---|---|",
    ]
    return head + ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]


def _cell(text: str) -> str:
    """One cell as literal text: no HTML, no Markdown, no mention of a person, no new column."""
    literal = html.escape(plain(text))
    for char in "\\`*_[]|@~":
        literal = literal.replace(char, f"&#{ord(char)};")
    return literal
