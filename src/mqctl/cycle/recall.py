"""What one cycle remembers for the next in Redis: first sights, strikes, pending, last, history.

None of it is needed to be right, only to be patient: a memory that cannot be read or written is a
warning, and its graces start anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from mqctl.errors import MqctlError, Unreachable
from mqctl.model import CycleReport, Outcome
from mqctl.phases.base import View
from mqctl.phases.sweep import named_images, undeclared, unused_images
from mqctl.store import Memory
from mqctl.store.memory import STRIKES

T = TypeVar("T")


@dataclass(slots=True)
class Recall:
    """The memory of one Marquee, for one cycle."""

    memory: Memory
    warn: Callable[[str], None]
    _seen: Mapping[str, float] = field(default_factory=dict)
    _silent: bool = False  # Redis did not answer: asking again only costs its timeout

    def first_sights(self) -> Mapping[str, float]:
        """Since when (seconds since the epoch, host's clock) something has been as it is."""
        self._seen = self._try(self.memory.seen, {}, "the first sights cannot be read")
        return self._seen

    def keep_sights(self, view: View) -> Mapping[str, float]:
        """Add what is seen for the first time, forget what is seen no more."""
        current = {
            subject: self._seen.get(subject, view.facts.host_now) for subject in _sights(view)
        }
        if current != dict(self._seen) and not view.dry_run:
            self._try(lambda: self.memory.put_seen(current), None, "first sights are not kept")
        return current

    def strike(self, now: float) -> int:
        """Docker did not answer: the number of strikes; 5 means quarantined just now."""
        return self._try(lambda: self.memory.strike(now), 0, "the strike is not counted")

    def answered(self) -> None:
        """Docker answered: no strikes."""
        self._try(self.memory.clear_strikes, False, "old strikes stay")

    def interrupted(self, fence: int) -> None:
        """Mark the Marquee: the next reconcile takes it first."""
        self._try(lambda: self.memory.set_pending(fence), None, "the pending mark is not set")

    def finished(self, report: CycleReport, *, whole: bool) -> None:
        """Keep the summary, the history entry, and clear the mark of an interrupted cycle."""
        if report.fence is None:
            return
        fence = report.fence
        summary = _summary(report)
        self._try(lambda: self.memory.put_last(fence, summary), False, "the last cycle is not kept")
        if report.outcome is not Outcome.UNCHANGED:
            entry = _entry(report)
            self._try(lambda: self.memory.history_add(entry), None, "the history is not kept")
        if whole and report.outcome in {Outcome.UNCHANGED, Outcome.CHANGED}:
            self._try(lambda: self.memory.clear_pending(fence), False, "the pending mark stays")

    def _try(self, ask: Callable[[], T], otherwise: T, what: str) -> T:
        if self._silent:
            return otherwise
        try:
            return ask()
        except MqctlError as error:
            self._silent = isinstance(error, Unreachable)
            self.warn(f"{what}: {error.what}")
            return otherwise


def quarantined(strikes: int) -> bool:
    """Whether this strike is the one that makes a Marquee quarantined."""
    return strikes == STRIKES


def _sights(view: View) -> set[str]:
    unhealthy = {one.id for one in view.facts.containers if one.health == "unhealthy"}
    orphans = {f"orphan/{project}" for project in undeclared(view)}
    unused = {f"unused/{one}" for one in unused_images(view, named_images(view))}
    return unhealthy | orphans | unused


def _summary(report: CycleReport) -> str:
    return json.dumps(
        {
            "outcome": report.outcome,
            "reason": report.reason,
            "started_at": report.started_at.isoformat() if report.started_at else None,
            "duration_s": round(report.duration_s, 3),
            "fence": report.fence,
        }
    )


def _entry(report: CycleReport) -> dict[str, str]:
    done = [one for one in report.decisions if one.result in {"done", "failed"}]
    told = [
        f"{one.action} {one.subject} ({one.reason}): {one.result}"
        for one in done
        if one.action != "none"
    ]
    return {
        "event": f"cycle.{report.outcome}",
        "fence": str(report.fence or ""),
        "duration_s": f"{report.duration_s:.1f}",
        "reason": report.reason or "",
        "what": "; ".join(told)[:1000] or (report.error.what if report.error else ""),
    }
