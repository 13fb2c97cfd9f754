"""The case files as a whole: nothing that can be decided is left out."""

from __future__ import annotations

import pytest

from mqctl.phases.reasons import Reason
from tests.phases.notation import NotationError, compare, view_of
from tests.phases.tables import TWIN, every_case

EVERY = {(case.phase, str(case)): case for case in every_case()}

# What only the host's answer to a command can say, never a plan; the tests of whole cycles have it.
ANSWERED = {Reason.FORCE_PUSHED, Reason.PULL_FAILED, Reason.FAILED, Reason.TIMED_OUT}


def test_each_case_that_acts_has_a_twin_that_does_not() -> None:
    acting = {key: case for key, case in EVERY.items() if case.acts}
    twins = {key: EVERY.get((key[0], key[1] + TWIN)) for key in acting}
    assert [key for key, twin in twins.items() if twin is None or twin.acts] == []


def test_each_twin_differs_from_its_acting_case_in_the_facts() -> None:
    twins = {key: case for key, case in EVERY.items() if case.name.endswith(TWIN)}
    acting = {key: EVERY[key[0], key[1].removesuffix(TWIN)] for key in twins}
    assert [key for key, twin in twins.items() if twin.given == acting[key].given] == []
    assert all(case.acts for case in acting.values())


def test_each_row_of_the_decision_table_is_shown() -> None:
    shown = {spec for case in EVERY.values() if case.phase == "playgrounds" for spec in case.spec}
    assert {f"row {number}" for number in range(1, 15)} - shown == set()


def test_each_other_part_of_the_contract_is_shown() -> None:
    shown = {spec for case in EVERY.values() for spec in case.spec}
    parts = {"rule 8", "rule 9", "git-state", "branches", "images", "agent-chats", "sweep"}
    assert parts - shown == set()


def test_each_reason_is_given_by_some_plan_or_only_by_the_hosts_answer() -> None:
    given = {one.reason for case in EVERY.values() for one in case.plan()}
    assert set(Reason) - given == ANSWERED


def test_a_plan_depends_on_nothing_but_its_view() -> None:
    assert [key for key, case in EVERY.items() if case.plan() != case.plan()] == []


@pytest.mark.parametrize(
    "given",
    [
        {"playground": {}},
        {"playgrounds": {"demo": {"container": {}}}},
        {"playgrounds": {"demo": {"containers": {"web": "sleeping"}}}},
        {"playgrounds": {"demo": {"marker": "theirs"}}},
        {"playgrounds": {"demo": {"tombstone": "new"}}},
        {"playgrounds": {"demo": {"services": {"web": {"port": 80}}}}},
        {"chats": {"helper": {"hold": True}}},
    ],
    ids=str,
)
def test_a_typing_error_in_a_case_is_not_taken_for_a_fact(given: dict[str, object]) -> None:
    with pytest.raises(NotationError):
        view_of(given)


def test_a_line_that_is_no_decision_is_refused() -> None:
    with pytest.raises(NotationError):
        compare([], ["up playground/demo missing"])
