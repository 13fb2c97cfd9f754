"""What each phase decides, case by case."""

from __future__ import annotations

import pytest

from tests.phases.notation import compare
from tests.phases.tables import Case, cases_of


@pytest.mark.parametrize("case", cases_of("git-state"), ids=str)
def test_the_state_of_checkouts(case: Case) -> None:
    compare(case.plan(), list(case.expected))


@pytest.mark.parametrize("case", cases_of("branches"), ids=str)
def test_where_checkouts_are_moved(case: Case) -> None:
    compare(case.plan(), list(case.expected))


@pytest.mark.parametrize("case", cases_of("images"), ids=str)
def test_what_is_pulled(case: Case) -> None:
    compare(case.plan(), list(case.expected))


@pytest.mark.parametrize("case", cases_of("playgrounds"), ids=str)
def test_what_happens_to_playgrounds(case: Case) -> None:
    compare(case.plan(), list(case.expected))


@pytest.mark.parametrize("case", cases_of("agent-chats"), ids=str)
def test_what_happens_to_agent_chats(case: Case) -> None:
    compare(case.plan(), list(case.expected))


@pytest.mark.parametrize("case", cases_of("sweep"), ids=str)
def test_what_is_swept(case: Case) -> None:
    compare(case.plan(), list(case.expected))
