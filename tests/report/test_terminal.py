"""The live view: what is drawn at each width, and a real terminal around it."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from rich.cells import cell_len
from rich.console import Console

from mqctl.events import (
    CycleStarted,
    DecisionMade,
    Event,
    HostBusy,
    LockAcquired,
    LockHeld,
    LockLost,
    LockRenewed,
    PhaseStarted,
    StepStarted,
)
from mqctl.model import Decision, Result, Verb
from mqctl.report.terminal import Terminal
from tests.report.emulator import shown
from tests.report.golden import assert_golden
from tests.report.runs import (
    HOLDER,
    TOKEN,
    FixedClock,
    changed,
    failed,
    held,
    lost,
    run,
    unreachable,
)

BUSY = [
    CycleStarted("east-1"),
    LockAcquired("east-1", TOKEN, 42, 900.0, 885.9),
    PhaseStarted("east-1", "playgrounds"),
    StepStarted("east-1", "playgrounds", "playground/demo", "verify"),
    CycleStarted("a-marquee-with-quite-a-long-name-that-goes-on"),
    LockHeld("a-marquee-with-quite-a-long-name-that-goes-on", HOLDER, retry_s=5.0),
    CycleStarted("west-1"),
    LockAcquired("west-1", TOKEN, 7, 900.0, 885.9),
    HostBusy("west-1", "pid 77 since 3 s: docker compose up"),
    CycleStarted("west-2"),
    LockAcquired("west-2", TOKEN, 7, 900.0, 885.9),
    LockLost("west-2", "the renewal timed out"),
    CycleStarted("west-3"),
]


class Screen:
    """A Terminal on a stream in memory."""

    def __init__(self, *, verbose: bool = False, ascii_only: bool = False) -> None:
        self.out = io.StringIO()
        self.clock = FixedClock()
        console = Console(file=self.out, force_terminal=True, width=80, color_system=None)
        self.terminal = Terminal(console, self.clock, verbose=verbose, ascii_only=ascii_only)

    def plays(self, events: Sequence[Event]) -> Screen:
        try:
            for event in events:
                self.terminal(event)
        finally:
            self.terminal.close()
        return self

    def picture(self, width: int = 80, height: int = 24) -> str:
        return "".join(f"{line.plain}\n" for line in self.terminal._draw(width, height))

    def printed(self) -> str:
        """What is on the screen now."""
        return shown(self.out.getvalue())


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_picture_fits_any_width(width: int) -> None:
    screen = Screen().plays(BUSY)
    screen.clock.passed = 205
    picture = screen.picture(width)
    assert all(cell_len(line) < width for line in picture.splitlines())
    assert_golden(__file__, f"live-{width}.txt", picture)


def test_the_lease_counts_down_and_a_renewal_fills_it() -> None:
    screen = Screen().plays(BUSY[:4])
    seen = []
    for passed in (0, 443, 800, 2000):
        screen.clock.passed = passed
        words = screen.picture().split()
        seen.append((words[4].count("━"), " ".join(words[5:])))
    assert seen == [(11, "14m 46s"), (5, "7m 23s"), (1, "1m 26s"), (0, "0.0s")]
    screen.terminal(LockRenewed("east-1", "playgrounds", 885.9))
    assert "14m 46s" in screen.picture()


def test_a_short_terminal_shows_what_fits_and_says_that_there_is_more() -> None:
    screen = Screen().plays(BUSY)
    assert screen.picture(height=5).splitlines()[-1] == "... and 3 more"
    assert len(screen.picture(height=1).splitlines()) == 1


def test_ascii_terminals_get_ascii_bars() -> None:
    screen = Screen(ascii_only=True).plays(BUSY[:4])
    screen.clock.passed = 400
    assert "#####" in screen.picture()
    assert "-----" in screen.picture()


def test_what_stays_is_every_decision_and_the_sum() -> None:
    cycles = (changed(), failed("west-1"), held("west-2"), lost("west-3"), unreachable("west-4"))
    screen = Screen()
    screen.terminal.expect(["east-1", "west-1"])
    assert_golden(__file__, "stays.txt", screen.plays(run(*cycles)).printed())


def test_one_marquee_is_not_repeated_on_every_line() -> None:
    assert_golden(__file__, "stays-one.txt", Screen().plays(run(failed())).printed())


def test_what_is_as_declared_is_counted_unless_verbose() -> None:
    assert "playground/docs" not in Screen().plays(run(changed())).printed()
    assert "playground/docs" in Screen(verbose=True).plays(run(changed())).printed()


def test_data_is_neither_markup_nor_control() -> None:
    evil = Decision(
        "playgrounds",
        "playground/[red]x[/red]",
        Verb.UP,
        "failed",
        "[link=http://evil]a[/link] :skull: \x1b[2J\x1b]52;c;cm0=\x07 a\nb",
        Result.FAILED,
    )
    screen = Screen()
    screen.plays([CycleStarted("m"), DecisionMade("m", evil)])
    out = screen.out.getvalue()
    assert "[red]x[/red]" in out
    assert "[link=http://evil]a[/link] :skull:" in out
    assert "\x1b[2J" not in out
    assert "\x1b]52" not in out
    assert "a ⏎ b" in out


def test_the_cursor_comes_back_also_when_a_cycle_raises() -> None:
    screen = Screen()
    screen.terminal(CycleStarted("m"))
    assert "\x1b[?25l" in screen.out.getvalue()
    screen.terminal.close()
    screen.terminal.close()
    assert "\x1b[?25h" in screen.out.getvalue().rpartition("\x1b[?25l")[2]
