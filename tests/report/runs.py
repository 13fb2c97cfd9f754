"""Runs as lists of events, written by hand: what the reports are fed with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from mqctl.clock import Clock, Instant
from mqctl.errors import ExitCode
from mqctl.events import (
    CycleFinished,
    CycleStarted,
    DecisionMade,
    Event,
    HostBusy,
    LockAcquired,
    LockHeld,
    LockLost,
    LockReleased,
    LockRenewed,
    PhaseFinished,
    PhaseStarted,
    RunFinished,
    StepStarted,
    Warned,
)
from mqctl.model import (
    Counters,
    CycleReport,
    Decision,
    ErrorReport,
    Holder,
    Outcome,
    PhaseOutcome,
    PhaseReport,
    Result,
    RunReport,
    Verb,
)

NOON = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
TOKEN = "1f0c9a3e-6a51-4c1e-9b1a-0d5f6c7e8a90"

HOLDER = Holder(
    token=TOKEN,
    fence=41,
    host="ci-7",
    pid=4711,
    user="deploy",
    command="mqctl reconcile --all",
    version="0.1.0",
    acquired_at="2026-11-30T11:57:00.000Z",
    renewed_at="2026-11-30T11:59:00.000Z",
    renewals=3,
    phase="playgrounds",
    ttl_ms=840_000,
)


class FixedClock(Clock):
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.passed = 0.0

    def instant(self) -> Instant:
        return Instant(self.passed, self.passed, self.passed)

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.passed)


UP = Decision(
    "playgrounds", "playground/demo", Verb.UP, "missing", "no containers", Result.DONE, 3.2
)
PULL = Decision("images", "image/nginx:1.27", Verb.PULL, "missing", "", Result.DONE, 1.8)
NOTHING = Decision("playgrounds", "playground/docs", Verb.NONE, "converged")
DIRTY = Decision(
    "branches", "checkout/demo/app", Verb.SKIP, "dirty", "2 tracked changes", Result.SKIPPED
)
FAILED = Decision(
    "playgrounds",
    "playground/shop",
    Verb.ROLLOUT,
    "port-taken",
    "port 80 is taken by legacy-web",
    Result.FAILED,
    0.4,
)
GIT = PhaseReport("git-state", PhaseOutcome.OK, 0.41, renewed=True)
IMAGES = PhaseReport("images", PhaseOutcome.OK, 1.9, renewed=True)
PLAYGROUNDS = PhaseReport("playgrounds", PhaseOutcome.OK, 4.0, renewed=True)


def changed(marquee: str = "east-1") -> list[Event]:
    """A cycle that changed something, and all of what it says on its way."""
    decisions = (PULL, UP, NOTHING, DIRTY)
    report = CycleReport(
        marquee,
        Outcome.CHANGED,
        fence=42,
        started_at=NOON,
        duration_s=7.314,
        phases=(GIT, IMAGES, PLAYGROUNDS),
        counters=Counters(1, 9, 2, 12),
        decisions=decisions,
    )
    return [
        CycleStarted(marquee),
        LockAcquired(marquee, TOKEN, 42, 900.0, 885.9),
        PhaseStarted(marquee, "git-state"),
        PhaseFinished(marquee, GIT),
        LockRenewed(marquee, "git-state", 885.9),
        DecisionMade(marquee, DIRTY),
        PhaseStarted(marquee, "images"),
        StepStarted(marquee, "images", "image/nginx:1.27", "pull"),
        DecisionMade(marquee, PULL),
        PhaseFinished(marquee, IMAGES),
        PhaseStarted(marquee, "playgrounds"),
        StepStarted(marquee, "playgrounds", "playground/demo", "up"),
        DecisionMade(marquee, UP),
        DecisionMade(marquee, NOTHING),
        PhaseFinished(marquee, PLAYGROUNDS),
        LockReleased(marquee, released=True),
        CycleFinished(marquee, report),
    ]


def failed(marquee: str = "east-1", decision: Decision = FAILED) -> list[Event]:
    """A cycle in which one Playground failed."""
    report = CycleReport(
        marquee,
        Outcome.FAILED,
        fence=43,
        started_at=NOON,
        duration_s=2.0,
        decisions=(decision, NOTHING),
        exit_code=ExitCode.FAILED,
    )
    return [
        CycleStarted(marquee),
        LockAcquired(marquee, TOKEN, 43, 900.0, 885.9),
        DecisionMade(marquee, decision),
        DecisionMade(marquee, NOTHING),
        LockReleased(marquee, released=True),
        CycleFinished(marquee, report),
    ]


def held(marquee: str = "east-1", *, exit_code: int = ExitCode.HELD) -> list[Event]:
    """A cycle that found the lock taken."""
    report = CycleReport(marquee, Outcome.HELD, duration_s=0.02, exit_code=exit_code)
    return [
        CycleStarted(marquee),
        LockHeld(marquee, HOLDER),
        CycleFinished(marquee, report),
    ]


def lost(marquee: str = "east-1") -> list[Event]:
    """A cycle that lost its lock."""
    why = "the renewal found another token"
    error = ErrorReport(ExitCode.LOST, f"the lock of {marquee} was lost", why)
    report = CycleReport(
        marquee, Outcome.LOST, fence=44, duration_s=30.0, error=error, exit_code=ExitCode.LOST
    )
    return [
        CycleStarted(marquee),
        LockAcquired(marquee, TOKEN, 44, 900.0, 885.9),
        HostBusy(marquee, "pid 77 since 3 s: docker compose up"),
        LockLost(marquee, why),
        LockReleased(marquee, released=False, detail="it is somebody else's"),
        CycleFinished(marquee, report),
    ]


def unreachable(marquee: str = "west-1") -> list[Event]:
    """A cycle that found nobody at home."""
    error = ErrorReport(
        ExitCode.UNREACHABLE,
        f"{marquee} cannot be reached",
        "timed out after 8 s",
        "check the host",
    )
    report = CycleReport(
        marquee,
        Outcome.UNREACHABLE,
        duration_s=8.0,
        warnings=("3 strikes",),
        error=error,
        exit_code=ExitCode.UNREACHABLE,
    )
    return [
        CycleStarted(marquee),
        Warned(marquee, "3 strikes"),
        CycleFinished(marquee, report),
    ]


def run(*cycles: list[Event], command: str = "reconcile") -> list[Event]:
    """Cycles one after the other, and the end of the run."""
    events = [event for cycle in cycles for event in cycle]
    reports = tuple(event.report for event in events if isinstance(event, CycleFinished))
    code = max((report.exit_code for report in reports), default=0)
    return [*events, RunFinished("", RunReport(command, code, reports))]
