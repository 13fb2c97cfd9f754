"""Lines, as a log or a pipe gets them."""

from __future__ import annotations

from collections.abc import Sequence

from mqctl.events import CycleStarted, Event
from mqctl.model import Decision, Result, Verb
from mqctl.report.lines import Lines
from tests.report.golden import assert_golden
from tests.report.runs import FixedClock, changed, failed, held, lost, run


def lines_of(events: Sequence[Event], **options: bool | int) -> str:
    written: list[str] = []
    listener = Lines(written.append, FixedClock(), **options)  # type: ignore[arg-type] # flags only
    for event in events:
        listener(event)
    return "\n".join(written) + "\n"


def test_a_cycle_that_changed_something() -> None:
    assert_golden(__file__, "lines-changed.txt", lines_of(run(changed())))


def test_a_failed_decision_says_what_to_do() -> None:
    (line,) = [line for line in lines_of(run(failed())).splitlines() if "shop" in line]
    assert line == (
        "east-1  playgrounds  rollout       failed       playground/shop               "
        "port-taken: port 80 is taken by legacy-web (0.4s); "
        "fix: free the port on the host, or publish another one in the Compose file"
    )


def test_a_taken_lock_says_who_since_when_until_when_and_where() -> None:
    assert (
        "held         by deploy@ci-7 (pid 4711) since 11:57:00Z (3m ago), "
        "until 12:14:00Z unless renewed, in phase playgrounds\n"
    ) in lines_of(run(held()))


def test_a_lost_lock() -> None:
    text = lines_of(run(lost()))
    assert "lock          lost         the renewal found another token\n" in text
    assert "lock          not-ours     it is somebody else's\n" in text
    assert "host          busy         pid 77 since 3 s: docker compose up\n" in text


def test_verbose_adds_steps_renewals_and_costs() -> None:
    text = lines_of(run(changed()), verbose=True)
    assert "git-state    phase         started\n" in text
    assert "git-state    lock          renewed      good for 14m 46s\n" in text
    assert "playgrounds  up            started      playground/demo\n" in text
    assert text.splitlines()[-1].endswith(
        "[1 connection, 9 channels, 2 guarded commands, 12 Redis commands]"
    )


def test_several_marquees_end_with_their_sum() -> None:
    text = lines_of(run(changed("east-1"), held("west-12")), width=7)
    assert text.splitlines()[-1] == "2 Marquees: 1 changed, 1 held"
    assert "\neast-1   -  " in text
    assert "\nwest-12  -  " in text


def test_a_dry_run_says_so() -> None:
    text = lines_of([CycleStarted("east-1", dry_run=True)], dry_run=True)
    assert text.endswith("2026-11-30T12:00:00Z (dry run: no lock, nothing is changed)\n")


def test_colours_only_when_asked_for() -> None:
    assert "\x1b" not in lines_of(run(changed()))
    assert "\x1b[32mdone       \x1b[0m" in lines_of(run(changed()), color=True)


def test_the_host_cannot_write_lines_of_its_own() -> None:
    evil = Decision(
        "playgrounds",
        "playground/a\nb",
        Verb.UP,
        "failed",
        "\x1b[2Jlog\neast-9  -  cycle  changed",
        Result.FAILED,
    )
    (line,) = [line for line in lines_of(run(failed(decision=evil))).splitlines() if "log" in line]
    assert "\x1b" not in line
    assert "playground/a ⏎ b" in line
