"""What a person must know at once goes to standard error: warnings, and why a cycle could not run.

It goes with every form of the answer, so that ``-o json > file`` still says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable

from mqctl.clock import Clock
from mqctl.events import CycleFinished, Event, LockHeld, RunFailed, Warned
from mqctl.model import CycleReport, ErrorReport, Holder, Outcome
from mqctl.report.summary import held, of_marquee, problem_lines
from mqctl.report.text import plain


class Problems:
    """Listener: prints warnings and the problem that ended a cycle, with the next step."""

    def __init__(self, write: Callable[[str], None], clock: Clock) -> None:
        self._write = write
        self._clock = clock
        self._holders: dict[str, Holder] = {}

    def __call__(self, event: Event) -> None:
        """Print what the event says, if it is a problem."""
        match event:
            case Warned():
                where = f"{plain(event.marquee)}: " if event.marquee else ""
                self._write(f"mqctl: warning: {where}{plain(event.text)}")
            case LockHeld():
                self._holders[event.marquee] = event.holder
            case CycleFinished():
                problem = self._problem(event.report)
                for line in problem_lines(problem) if problem else ():
                    self._write(line)
            case RunFailed():
                for line in problem_lines(event.error):
                    self._write(line)
            case _:
                pass

    def _problem(self, cycle: CycleReport) -> ErrorReport | None:
        holder = self._holders.pop(cycle.marquee, None)
        if cycle.exit_code == 0:  # also a lock that is held, with --held-ok
            return None
        if cycle.outcome is Outcome.HELD and holder is not None and cycle.reason != "host-busy":
            return held(cycle, holder, self._clock.now())
        return of_marquee(cycle, cycle.error) if cycle.error else None
