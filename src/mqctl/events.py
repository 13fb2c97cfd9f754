"""What happens in a run, as values. Who listens (a terminal, a log, a trigger) is not known here.

``name`` is the event's name in ``-o jsonl`` and in triggers; keys are only ever added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from mqctl.model import CycleReport, Decision, ErrorReport, Holder, PhaseReport, RunReport


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened on one Marquee."""

    name: ClassVar[str] = "event"
    marquee: str


@dataclass(frozen=True, slots=True)
class CycleStarted(Event):
    """A cycle begins; it has no lock yet."""

    name: ClassVar[str] = "cycle.started"
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class LockAcquired(Event):
    """The lock is ours. ``ttl_s`` is the lease's length, ``left_s`` what the local clock grants."""

    name: ClassVar[str] = "lock.acquired"
    token: str
    fence: int
    ttl_s: float
    left_s: float


@dataclass(frozen=True, slots=True)
class LockHeld(Event):
    """Somebody else has the lock; with ``--wait`` it is asked again in ``retry_s`` seconds."""

    name: ClassVar[str] = "lock.held"
    holder: Holder
    retry_s: float | None = None


@dataclass(frozen=True, slots=True)
class LockRenewed(Event):
    """The lease was confirmed and is as long as at the start."""

    name: ClassVar[str] = "lock.renewed"
    phase: str
    left_s: float


@dataclass(frozen=True, slots=True)
class LockLost(Event):
    """The lock is not provably ours any more; nothing more is sent."""

    name: ClassVar[str] = "lock.lost"
    why: str


@dataclass(frozen=True, slots=True)
class LockReleased(Event):
    """The lock was given back (``released``), or somebody else has it (then nothing was done)."""

    name: ClassVar[str] = "lock.released"
    released: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class HostBusy(Event):
    """The host still works for an older command; it is asked again."""

    name: ClassVar[str] = "host.busy"
    detail: str


@dataclass(frozen=True, slots=True)
class PhaseStarted(Event):
    """A phase begins."""

    name: ClassVar[str] = "phase.started"
    phase: str


@dataclass(frozen=True, slots=True)
class StepStarted(Event):
    """One step of one action begins: the next thing that is sent to the host."""

    name: ClassVar[str] = "step.started"
    phase: str
    subject: str
    step: str


@dataclass(frozen=True, slots=True)
class StepSending(Event):
    """All local checks of a guarded command have passed; it is sent right after this event."""

    name: ClassVar[str] = "step.sending"
    step: str


@dataclass(frozen=True, slots=True)
class DecisionMade(Event):
    """A subject's fate is known: done, planned, skipped or failed."""

    name: ClassVar[str] = "decision"
    decision: Decision


@dataclass(frozen=True, slots=True)
class PhaseFinished(Event):
    """A phase ended."""

    name: ClassVar[str] = "phase.finished"
    report: PhaseReport


@dataclass(frozen=True, slots=True)
class Warned(Event):
    """Something an operator should know, which ends nothing."""

    name: ClassVar[str] = "warning"
    text: str


@dataclass(frozen=True, slots=True)
class MarqueeQuarantined(Event):
    """Docker there did not answer for the fifth time in half an hour."""

    name: ClassVar[str] = "marquee.quarantined"
    strikes: int


@dataclass(frozen=True, slots=True)
class CycleFinished(Event):
    """A cycle ended, however it ended."""

    name: ClassVar[str] = "cycle.finished"
    report: CycleReport


@dataclass(frozen=True, slots=True)
class RunFailed(Event):
    """A tick of ``--every`` could not begin; the next one tries again. ``marquee`` is empty."""

    name: ClassVar[str] = "run.failed"
    error: ErrorReport


@dataclass(frozen=True, slots=True)
class RunFinished(Event):
    """All cycles of a command ended. ``marquee`` is empty."""

    name: ClassVar[str] = "run.finished"
    report: RunReport


Listener = Callable[[Event], None]


def fan_out(listeners: Iterable[Listener]) -> Listener:
    """One listener that passes each event to all, in order."""
    listeners = tuple(listeners)

    def emit(event: Event) -> None:
        for listener in listeners:
            listener(event)

    return emit
