"""Where no terminal is: one line per phase and per decision, in stable columns.

``MARQUEE  PHASE  ACTION  RESULT  SUBJECT  REASON: DETAIL``; lines about a phase, the lock or the
whole cycle have that word as their action. Nothing is wrapped and, unless ``--color always`` asks
for it, nothing is coloured, so that ``awk`` and ``diff`` work.
"""

from __future__ import annotations

from collections.abc import Callable

from mqctl.clock import Clock
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
    MarqueeQuarantined,
    PhaseFinished,
    PhaseStarted,
    RunFinished,
    StepStarted,
)
from mqctl.model import CycleReport, Decision, PhaseReport, Result
from mqctl.report.advice import advice
from mqctl.report.summary import (
    cycle_duration,
    cycle_sentence,
    holder_name,
    holder_times,
    run_sentence,
)
from mqctl.report.text import count, plain, rfc3339, seconds

_PHASE, _ACTION, _RESULT, _SUBJECT = 11, 12, 11, 28
_NO_PHASE = "-"
_GREEN, _RED, _YELLOW = 32, 31, 33
_COLORS = {
    "done": _GREEN,
    "changed": _GREEN,
    "failed": _RED,
    "aborted": _RED,
    "lost": _RED,
    "unreachable": _RED,
    "refused": _RED,
    "planned": _YELLOW,
    "held": _YELLOW,
    "interrupted": _YELLOW,
}


class Lines:
    """Listener: one line per thing worth a line. ``write`` takes a finished line."""

    def __init__(
        self,
        write: Callable[[str], None],
        clock: Clock,
        *,
        width: int = 0,
        verbose: bool = False,
        color: bool = False,
        dry_run: bool = False,
    ) -> None:
        self._write = write
        self._clock = clock
        self._width = width  # of the longest Marquee's name
        self._verbose = verbose
        self._color = color
        self._dry_run = dry_run

    def __call__(self, event: Event) -> None:
        """Print the event, if it is worth a line."""
        match event:
            case CycleStarted():
                mode = " (dry run: no lock, nothing is changed)" if event.dry_run else ""
                self._row(event, "cycle", "started", rfc3339(self._clock.now()) + mode)
            case DecisionMade():
                self._decision(event, event.decision)
            case PhaseFinished():
                self._phase(event, event.report)
            case CycleFinished():
                self._cycle(event, event.report)
            case RunFinished() if len(event.report.cycles) > 1:
                self._write(run_sentence(event.report, dry_run=self._dry_run))
            case HostBusy():
                self._row(event, "host", "busy", plain(event.detail))
            case MarqueeQuarantined():
                text = f"Docker did not answer {event.strikes} times in half an hour"
                self._row(event, "marquee", "quarantined", text)
            case _:
                self._lock(event)
                if self._verbose:
                    self._progress(event)

    def _lock(self, event: Event) -> None:
        match event:
            case LockAcquired():
                text = f"fence {event.fence}, good for {seconds(event.left_s)}"
                self._row(event, "lock", "acquired", text)
            case LockHeld():
                self._row(event, "lock", "held", self._held(event))
            case LockLost():
                self._row(event, "lock", "lost", plain(event.why))
            case LockReleased() if not event.released or self._verbose:
                result = "released" if event.released else "not-ours"
                self._row(event, "lock", result, plain(event.detail))
            case _:
                pass

    def _progress(self, event: Event) -> None:
        match event:
            case LockRenewed():
                text = f"good for {seconds(event.left_s)}"
                self._row(event, "lock", "renewed", text, event.phase)
            case PhaseStarted():
                self._row(event, "phase", "started", phase=event.phase)
            case StepStarted():
                self._row(event, plain(event.step), "started", plain(event.subject), event.phase)
            case _:
                pass

    def _held(self, event: LockHeld) -> str:
        holder = event.holder
        text = f"by {holder_name(holder)} {holder_times(holder, self._clock.now())}".rstrip()
        if event.retry_s is None:
            return text
        return f"{text}; asked again in {seconds(event.retry_s)}"

    def _decision(self, event: Event, decision: Decision) -> None:
        why = plain(decision.reason)
        if decision.detail:
            why = f"{why}: {plain(decision.detail)}"
        if decision.duration_s:
            why = f"{why} ({seconds(decision.duration_s)})"
        if decision.result is Result.FAILED:
            why = f"{why}; fix: {advice(event.marquee, decision)}"
        text = f"{plain(decision.subject):<{_SUBJECT}}  {why}"
        self._row(event, decision.action.value, decision.result.value, text, decision.phase)

    def _phase(self, event: Event, report: PhaseReport) -> None:
        text = seconds(report.duration_s)
        if report.renewed:
            text += ", lock renewed"
        if report.detail:
            text += f": {plain(report.detail)}"
        self._row(event, "phase", report.outcome.value, text, report.name)

    def _cycle(self, event: Event, report: CycleReport) -> None:
        text = cycle_duration(report)
        if report.fence is not None:
            text += f", fence {report.fence}"
        if sentence := cycle_sentence(report):
            text += f": {sentence}"
        if self._verbose:
            cost = report.counters
            parts = (
                count(cost.ssh_connections, "connection"),
                count(cost.ssh_channels, "channel"),
                count(cost.guarded_commands, "guarded command"),
                count(cost.redis_commands, "Redis command"),
            )
            text += f" [{', '.join(parts)}]"
        self._row(event, "cycle", report.outcome.value, text)

    def _row(
        self, event: Event, action: str, result: str, text: str = "", phase: str = _NO_PHASE
    ) -> None:
        columns = (
            f"{plain(event.marquee):<{self._width}}",
            f"{plain(phase):<{_PHASE}}",
            f"{action:<{_ACTION}}",
            self._paint(result),
            text,
        )
        self._write("  ".join(columns).rstrip())

    def _paint(self, result: str) -> str:
        color = _COLORS.get(result) if self._color else None
        padded = f"{result:<{_RESULT}}"
        return padded if color is None else f"\x1b[{color}m{padded}\x1b[0m"
