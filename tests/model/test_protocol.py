"""The protocol is safe in every interleaving, and no rule of it is there for nothing."""

from __future__ import annotations

import pytest

from tests.model.explore import SCENARIOS, Scenario, explore, first_violation, mutations
from tests.model.state import Rules


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
def test_no_interleaving_of_the_protocol_breaks_a_property(scenario: Scenario) -> None:
    verdict = explore("the protocol", Rules(), scenario)
    assert not verdict.violation
    assert verdict.states > 100


@pytest.mark.parametrize("variant", mutations())
def test_each_rule_is_needed(variant: str) -> None:
    verdict = first_violation(variant, mutations()[variant])
    assert verdict.violation, f"{variant} was not caught in {verdict.states} states"
