"""What goes to standard error."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mqctl.events import Event, LockHeld
from mqctl.model import CycleReport, Decision, ErrorReport, Holder, Outcome, Result, Verb
from mqctl.phases.reasons import Reason
from mqctl.report import advice as advices
from mqctl.report.advice import advice
from mqctl.report.problems import Problems
from mqctl.report.summary import held as held_problem
from mqctl.report.summary import holder_name, problem_lines
from tests.report.runs import NOON, FixedClock, changed, failed, held, lost, run, unreachable

SINCE = "since 11:57:00Z (3m ago), until 12:14:00Z unless renewed, in phase playgrounds"


def problems_of(events: Sequence[Event]) -> list[str]:
    written: list[str] = []
    listener = Problems(written.append, FixedClock())
    for event in events:
        listener(event)
    return written


def test_a_taken_lock_with_the_two_next_steps() -> None:
    assert problems_of(run(held())) == [
        "mqctl: error: east-1 is held by deploy@ci-7 (pid 4711)",
        f"  why: {SINCE}; it runs: mqctl reconcile --all",
        "  fix: wait for it: mqctl reconcile east-1 --wait 10m",
        "       or, if that process is dead: mqctl lock break east-1",
    ]


def test_a_taken_lock_is_no_problem_when_that_was_said_to_be_fine() -> None:
    assert problems_of(run(held(exit_code=0))) == []


def test_a_problem_has_what_why_and_fix() -> None:
    assert problems_of(run(unreachable())) == [
        "mqctl: warning: west-1: 3 strikes",
        "mqctl: error: west-1 cannot be reached",
        "  why: timed out after 8 s",
        "  fix: check the host",
    ]
    assert problems_of(run(lost())) == [
        "mqctl: error: the lock of east-1 was lost",
        "  why: the renewal found another token",
    ]


def test_a_failed_decision_is_part_of_the_answer_instead() -> None:
    assert problems_of(run(changed(), failed())) == []


def test_many_reasons_stand_below_each_other() -> None:
    problem = ErrorReport(
        78, "2 errors in x.yaml", "x.yaml:3:1: a: b\nx.yaml:4:2: \x1b[2J", "fix it"
    )
    assert problem_lines(problem) == [
        "mqctl: error: 2 errors in x.yaml",
        "  why: x.yaml:3:1: a: b",
        "       x.yaml:4:2: \\x1b[2J",
        "  fix: fix it",
    ]


@pytest.mark.parametrize(
    ("holder", "name"),
    [
        (Holder(token="1f0c9a3e-xyz"), "an unknown client (token 1f0c9a3e...)"),
        (Holder(token="t", host="h"), "h"),
        (Holder(token="t", host="h\x1b", user="u", pid=1), "u@h\\x1b (pid 1)"),
    ],
)
def test_what_redis_holds_about_a_holder_may_be_anything(holder: Holder, name: str) -> None:
    assert holder_name(holder) == name
    odd = Holder(token="t", acquired_at="yesterday", command="a\nb", phase="\x1b")
    problem = held_problem(CycleReport("m", Outcome.HELD), odd, NOON)
    assert problem.why == "in phase \\x1b; it runs: a ⏎ b"
    assert problems_of([LockHeld("m", holder)]) == []


def test_every_failed_decision_has_a_next_step() -> None:
    for reason in Reason:
        decision = Decision("p", "playground/x", Verb.UP, reason, result=Result.FAILED)
        assert advice("east-1", decision)
    unknown = Decision("p", "playground/x", Verb.UP, "never-heard-of", result=Result.FAILED)
    assert "mqctl reconcile east-1 --verbose" in advice("east-1", unknown)


def test_advice_is_about_reasons_that_exist() -> None:
    assert set(advices._ADVICE) <= {reason.value for reason in Reason}
