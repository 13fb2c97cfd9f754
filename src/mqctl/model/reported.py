"""What a cycle decides and reports. Durations are seconds, times are aware UTC datetimes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Verb(StrEnum):
    """What a decision does to its subject."""

    CLONE = "clone"
    FETCH = "fetch"
    FAST_FORWARD = "fast-forward"
    RESET = "reset"
    SWITCH = "switch"
    PULL = "pull"
    UP = "up"
    ROLLOUT = "rollout"
    RESTART = "restart"
    RECOVER = "recover"
    STOP = "stop"
    EXPIRE = "expire"
    PARK = "park"
    START = "start"
    REDEPLOY = "redeploy"
    REMOVE = "remove"
    SKIP = "skip"
    NONE = "none"


class Result(StrEnum):
    """How a decision ended."""

    DONE = "done"
    PLANNED = "planned"
    SKIPPED = "skipped"
    FAILED = "failed"
    ABORTED = "aborted"


@dataclass(frozen=True, slots=True)
class Decision:
    """One subject's fate in one cycle. ``subject`` is ``kind/name``, e.g. ``playground/demo``.

    ``reason`` is one word of :class:`mqctl.phases.reasons.Reason`; ``detail`` is for people, and is
    data: it may hold text from the host.
    """

    phase: str
    subject: str
    action: Verb
    reason: str
    detail: str = ""
    result: Result = Result.SKIPPED
    duration_s: float = 0.0


class PhaseOutcome(StrEnum):
    """How a phase ended."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"
    ABORTED = "aborted"


@dataclass(frozen=True, slots=True)
class PhaseReport:
    """One phase of one cycle. ``renewed`` tells whether the lock was renewed after it."""

    name: str
    outcome: PhaseOutcome
    duration_s: float = 0.0
    renewed: bool = False
    detail: str = ""


class Outcome(StrEnum):
    """How a cycle ended."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    PLANNED = "planned"
    FAILED = "failed"
    HELD = "held"
    LOST = "lost"
    UNREACHABLE = "unreachable"
    REFUSED = "refused"
    NOT_LAUNCHABLE = "not-launchable"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Counters:
    """What a cycle cost."""

    ssh_connections: int = 0
    ssh_channels: int = 0
    guarded_commands: int = 0
    redis_commands: int = 0


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """What ended a run or a cycle, as the user reads it."""

    code: int
    what: str
    why: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True)
class CycleReport:
    """One cycle of one Marquee, whole. ``exit_code`` is its own contribution to the process's."""

    marquee: str
    outcome: Outcome
    reason: str | None = None
    fence: int | None = None
    started_at: datetime | None = None
    duration_s: float = 0.0
    phases: tuple[PhaseReport, ...] = ()
    counters: Counters = field(default_factory=Counters)
    decisions: tuple[Decision, ...] = ()
    warnings: tuple[str, ...] = ()
    error: ErrorReport | None = None
    exit_code: int = 0


@dataclass(frozen=True, slots=True)
class RunReport:
    """What one command did on all its Marquees; the ``-o json`` document."""

    command: str
    exit_code: int
    cycles: tuple[CycleReport, ...] = ()


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock, as far as Redis tells. Times are RFC 3339 texts, as the holder wrote."""

    token: str
    fence: int | None = None
    host: str = ""
    pid: int | None = None
    user: str = ""
    command: str = ""
    version: str = ""
    acquired_at: str = ""
    renewed_at: str = ""
    renewals: int = 0
    phase: str = ""
    ttl_ms: int | None = None
