"""At a terminal: a live line per running Marquee, finished decisions above, a summary at the end.

``east-1  playgrounds  playground/demo: verify   ━━━━━━━━━─────  11m 20s``: phase, step, and what is
left of the lease as a bar that counts down. Works from 60 columns and follows a resize.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.text import Text

from mqctl.clock import Clock, Instant
from mqctl.events import (
    CycleFinished,
    CycleStarted,
    DecisionMade,
    Event,
    HostBusy,
    LockAcquired,
    LockHeld,
    LockLost,
    LockRenewed,
    MarqueeQuarantined,
    PhaseFinished,
    PhaseStarted,
    RunFinished,
    StepStarted,
)
from mqctl.model import CycleReport, Decision, Outcome, PhaseOutcome, PhaseReport, Result
from mqctl.report.advice import advice
from mqctl.report.summary import (
    cycle_duration,
    cycle_sentence,
    failures,
    holder_name,
    is_quiet,
    run_sentence,
)
from mqctl.report.text import plain, seconds

_STYLES = {
    Result.DONE: "green",
    Result.PLANNED: "cyan",
    Result.SKIPPED: "yellow",
    Result.FAILED: "red",
    Result.ABORTED: "red",
}
_OUTCOME_STYLES = {
    Outcome.UNCHANGED: "green",
    Outcome.CHANGED: "green",
    Outcome.PLANNED: "cyan",
    Outcome.HELD: "yellow",
    Outcome.NOT_LAUNCHABLE: "yellow",
    Outcome.INTERRUPTED: "yellow",
}
_BAD_PHASES = (PhaseOutcome.FAILED, PhaseOutcome.ABORTED)
_PHASE_WIDTH = 11
_LEFT_WIDTH = 7
_LOW = 0.25  # below this share of the lease the bar warns
_ROWS_KEPT_FREE = 2


@dataclass
class _Running:
    """One Marquee's line, as far as it is known."""

    phase: str = "starting"
    step: str = ""
    ttl_s: float = 0.0
    left_s: float = 0.0
    at: Instant | None = None  # when left_s was true; None: there is no lease (yet)
    problem: str = ""

    def follow(self, event: Event, clock: Clock) -> None:
        """Take over what the event says."""
        match event:
            case LockAcquired():
                self.phase, self.step = "locked", f"fence {event.fence}"
                self.ttl_s, self.left_s, self.at = event.ttl_s, event.left_s, clock.instant()
            case LockRenewed():
                self.left_s, self.at = event.left_s, clock.instant()
            case LockHeld():
                self.phase = "waiting" if event.retry_s is not None else "held"
                self.step = f"held by {holder_name(event.holder)}"
            case LockLost():
                self.at, self.problem = None, "lock lost"
            case HostBusy():
                self.step = f"the host is busy: {plain(event.detail)}"
            case PhaseStarted():
                self.phase, self.step = event.phase, ""
            case StepStarted():
                name = event.subject.partition("/")[2] or event.subject  # the phase tells the kind
                self.step = f"{plain(name)}: {plain(event.step)}"
            case DecisionMade():
                self.step = ""
            case _:
                pass


class Terminal:
    """Listener: the live view. ``close`` must be called, it gives the terminal back.

    ``answer`` False means that another listener gives the answer (JSON, or lines into a file): then
    only the live lines are shown.
    """

    def __init__(
        self,
        console: Console,
        clock: Clock,
        *,
        verbose: bool = False,
        dry_run: bool = False,
        answer: bool = True,
        ascii_only: bool = False,
    ) -> None:
        self._console = console
        self._clock = clock
        self._verbose = verbose
        self._dry_run = dry_run
        self._answer = answer
        self._glyphs = ("#", "-") if ascii_only else ("━", "─")
        self._running: dict[str, _Running] = {}
        self._many = False
        self._lock = threading.Lock()
        self._live = Live(
            console=console,
            get_renderable=self._picture,
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def expect(self, marquees: Sequence[str]) -> None:
        """Tell how many Marquees there will be: with one, its name is not repeated everywhere."""
        self._many = len(marquees) > 1

    def close(self) -> None:
        """Take the live lines away and show the cursor again. Safe twice."""
        self._live.stop()

    def say(self, line: str) -> None:
        """Print a line above the live view."""
        self._print(Text(line))

    def __call__(self, event: Event) -> None:
        """Follow the event."""
        if isinstance(event, RunFinished):
            self.close()
            if self._answer and len(event.report.cycles) > 1:
                self.say(run_sentence(event.report, dry_run=self._dry_run))
            return
        if isinstance(event, CycleStarted) and not self._live.is_started:
            self._live.start()
        with self._lock:
            self._follow(event)
        for line in self._above(event) if self._answer else ():
            self._print(line)

    def _print(self, line: RenderableType) -> None:
        # The terminal wraps it: then a resize reflows it, and what is copied has no line ends.
        self._console.print(line, soft_wrap=True)

    # ------------------------------------------------------------------ what happened

    def _follow(self, event: Event) -> None:
        """Update the Marquee's live line."""
        if isinstance(event, CycleStarted):
            self._running[event.marquee] = _Running()
        elif isinstance(event, CycleFinished):
            self._running.pop(event.marquee, None)
        elif event.marquee in self._running:
            self._running[event.marquee].follow(event, self._clock)

    def _above(self, event: Event) -> list[Text]:
        """What is printed above the live lines."""
        match event:
            case DecisionMade() if self._verbose or not is_quiet(event.decision):
                text = _decision(event.decision)
            case PhaseFinished() if self._verbose or event.report.outcome in _BAD_PHASES:
                text = _phase(event.report)
            case LockLost():
                text = Text(f"lock lost: {plain(event.why)}", "red")
            case MarqueeQuarantined():
                text = Text("quarantined: Docker does not answer there", "red")
            case CycleFinished():
                return self._cycle(event.report)
            case _:
                return []
        return [Text.assemble(plain(event.marquee), "  ", text) if self._many else text]

    def _cycle(self, report: CycleReport) -> list[Text]:
        head = Text(plain(report.marquee))
        head.append("  ")
        head.append(report.outcome.value, _OUTCOME_STYLES.get(report.outcome, "red"))
        sentence = cycle_sentence(report)
        head.append(f" in {cycle_duration(report)}" + (f": {sentence}" if sentence else ""))
        steps = [
            Text(f"  {plain(decision.subject)}: {advice(report.marquee, decision)}")
            for decision in failures(report)
        ]
        return [head, *steps]

    # ------------------------------------------------------------------ the live picture

    def _picture(self) -> RenderableType:
        return _Picture(self._draw)

    def _draw(self, width: int, height: int) -> list[Text]:
        with self._lock:
            rows = list(self._running.items())
        room = max(1, height - _ROWS_KEPT_FREE)
        shown = rows if len(rows) <= room else rows[: room - 1]
        name_width = max((len(plain(name)) for name, _ in shown), default=0)
        name_width = min(name_width, max(8, width // 6))
        lines = [self._line(name, state, name_width, width - 1) for name, state in shown]
        if len(shown) < len(rows):
            lines.append(Text(f"... and {len(rows) - len(shown)} more"))
        return lines

    def _line(self, name: str, state: _Running, name_width: int, width: int) -> Text:
        bar_width = min(30, max(6, width // 7))
        tail = self._lease(state, bar_width)
        step_width = width - name_width - _PHASE_WIDTH - bar_width - _LEFT_WIDTH - 8
        return Text.assemble(
            _fit(plain(name), name_width),
            "  ",
            _fit(plain(state.phase), _PHASE_WIDTH),
            "  ",
            _fit(state.step, max(0, step_width)),
            "  ",
            tail,
            no_wrap=True,
        )

    def _lease(self, state: _Running, width: int) -> Text:
        """The bar and the time left; empty while there is no lease."""
        if state.at is None:
            return _fit(state.problem, width + 2 + _LEFT_WIDTH)
        left = max(0.0, state.left_s - self._clock.since(state.at))
        share = min(1.0, left / state.ttl_s) if state.ttl_s > 0 else 0.0
        full = round(share * width)
        style = "red" if share < _LOW else "green"
        bar = Text(self._glyphs[0] * full, style)
        bar.append(self._glyphs[1] * (width - full), "")
        bar.append(f"  {seconds(left):>{_LEFT_WIDTH}}", "")
        return bar


@dataclass(frozen=True)
class _Picture:
    """Drawn anew at each refresh, at the width that the terminal has then."""

    draw: Callable[[int, int], list[Text]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Group(*self.draw(options.max_width, console.size.height))


def _phase(report: PhaseReport) -> Text:
    text = Text(f"phase {plain(report.name)}: ")
    text.append(report.outcome.value, "red" if report.outcome in _BAD_PHASES else "green")
    text.append(f" ({seconds(report.duration_s)})")
    if report.detail:
        text.append(f": {plain(report.detail)}")
    return text


def _decision(decision: Decision) -> Text:
    text = Text()
    text.append(f"{decision.result.value:<8}", _STYLES[decision.result])
    text.append(f"{decision.action.value:<13}{plain(decision.subject)}  {plain(decision.reason)}")
    if decision.detail:
        text.append(f": {plain(decision.detail)}")
    if decision.duration_s:
        text.append(f" ({seconds(decision.duration_s)})")
    return text


def _fit(text: str, width: int) -> Text:
    """Exactly ``width`` cells, cut with an ellipsis or filled."""
    fitted = Text(text, no_wrap=True)
    fitted.truncate(width, overflow="ellipsis", pad=True)
    return fitted
