"""``-q``: nothing but failures, each when it changes and then once an hour.

What was told, and when, is kept in ``$XDG_STATE_HOME/mqctl/told.json``, so that a job that runs
every minute mails a new failure once and a lasting one hourly. At a terminal nothing is held back.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from mqctl.clock import Clock
from mqctl.events import CycleFinished, Event, LockHeld, MarqueeQuarantined, RunFailed
from mqctl.model import CycleReport, Holder, Outcome
from mqctl.report.advice import advice
from mqctl.report.summary import failure_text, failures, held, of_marquee, problem_lines
from mqctl.report.text import plain

AGAIN_S = 3600.0
_FORGET_S = 30 * 86400.0
_NUMBER = re.compile(r"\d+")


def state_directory(environ: Mapping[str, str]) -> Path:
    """``$XDG_STATE_HOME/mqctl``; the XDG rules say to ignore a relative value."""
    base = environ.get("XDG_STATE_HOME", "")
    if base.startswith("/"):
        return Path(base) / "mqctl"
    home = environ.get("HOME", "")
    return (Path(home) if home.startswith("/") else Path.home()) / ".local" / "state" / "mqctl"


def told_path(environ: Mapping[str, str]) -> Path:
    """The file of :class:`Told`."""
    return state_directory(environ) / "told.json"


class Told:
    """The memory of what was told. Losing it, or failing to write it, tells something twice."""

    def __init__(self, path: Path | None, clock: Clock) -> None:
        self._path = path  # None: remember nothing, hold nothing back
        self._clock = clock

    def news(self, key: str, text: str) -> bool:
        """Whether ``text`` about ``key`` is new or an hour old; remembers that it is told now.

        Numbers do not make a text new: a duration or a process id differs every time.
        """
        if self._path is None:
            return True
        now = self._clock.now().timestamp()
        entries = self._read()
        print_of = _NUMBER.sub("#", text)
        before = entries.get(key)
        if before is not None and before[0] == print_of and 0 <= now - before[1] < AGAIN_S:
            return False
        entries[key] = (print_of, now)
        self._write({name: entry for name, entry in entries.items() if now - entry[1] < _FORGET_S})
        return True

    def over(self, prefix: str, *, but: frozenset[str] = frozenset()) -> None:
        """Forget what was told about everything under ``prefix``, except ``but``: it is over."""
        if self._path is None:
            return
        entries = self._read()
        kept = {
            key: one for key, one in entries.items() if not key.startswith(prefix) or key in but
        }
        if kept != entries:
            self._write(kept)

    def _read(self) -> dict[str, tuple[str, float]]:
        assert self._path is not None  # noqa: S101 - asked by the callers
        try:
            loaded = json.loads(self._path.read_text(encoding="utf-8"))
            return {str(key): (str(text), float(at)) for key, (text, at) in loaded.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def _write(self, entries: Mapping[str, tuple[str, float]]) -> None:
        assert self._path is not None  # noqa: S101 - asked by the callers
        beside = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            beside.touch(mode=0o600)
            beside.write_text(json.dumps(entries), encoding="utf-8")
            beside.replace(self._path)
        except OSError:
            with suppress(OSError):
                beside.unlink(missing_ok=True)


class Quiet:
    """Listener: failures only. ``scope`` keeps two fleets on one machine apart."""

    def __init__(
        self, write: Callable[[str], None], told: Told, clock: Clock, *, scope: str
    ) -> None:
        self._write = write
        self._told = told
        self._clock = clock
        self._scope = scope
        self._holders: dict[str, Holder] = {}

    def __call__(self, event: Event) -> None:
        """Tell the failures of a cycle that ended."""
        match event:
            case LockHeld():
                self._holders[event.marquee] = event.holder
            case MarqueeQuarantined():
                what = f"{plain(event.marquee)} is quarantined: Docker there does not answer"
                key = f"{self._scope}/{event.marquee} quarantined"
                self._tell(key, what, [f"mqctl: error: {what}"])
            case CycleFinished():
                self._cycle(event.report)
            case RunFailed():
                lines = problem_lines(event.error)
                self._tell(f"{self._scope} run", "\n".join(lines), lines)
            case _:
                pass

    def _cycle(self, cycle: CycleReport) -> None:
        prefix = f"{self._scope}/{cycle.marquee} "
        holder = self._holders.pop(cycle.marquee, None)
        failed = {f"{prefix}{one.subject}": one for one in failures(cycle)}
        lasting = set(failed)
        for key, decision in failed.items():
            what = f"mqctl: error: {cycle.marquee}: {failure_text(decision)}"
            self._tell(key, what, [what, f"  fix: {advice(cycle.marquee, decision)}"])
        if cycle.exit_code != 0 and not failed:
            lasting.add(key := f"{prefix}cycle")
            lines = self._cycle_lines(cycle, holder)
            # Another holder each time is no news: the lock being taken is.
            held = cycle.outcome is Outcome.HELD
            self._tell(key, cycle.outcome.value if held else "\n".join(lines), lines)
        if cycle.outcome in (Outcome.CHANGED, Outcome.UNCHANGED, Outcome.FAILED):
            # Only a cycle that looked at everything can say that a failure is over.
            self._told.over(prefix, but=frozenset(lasting))

    def _cycle_lines(self, cycle: CycleReport, holder: Holder | None) -> list[str]:
        if cycle.outcome is Outcome.HELD and holder is not None:
            return problem_lines(held(cycle, holder, self._clock.now()))
        if cycle.error is not None:
            return problem_lines(of_marquee(cycle, cycle.error))
        reason = f": {plain(cycle.reason)}" if cycle.reason else ""
        return [f"mqctl: error: {cycle.marquee}: {cycle.outcome.value}{reason}"]

    def _tell(self, key: str, text: str, lines: list[str]) -> None:
        if self._told.news(key, text):
            for line in lines:
                self._write(line)
