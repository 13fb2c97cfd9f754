"""A cycle may be abandoned anywhere: from whatever it left, the next ones come to the same end.

After Patroni's quorum tests: every case, ended after every prefix of its steps, planned again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from mqctl.model import Decision, Result, Verb
from mqctl.phases.base import Action, Plan, View
from mqctl.phases.reasons import Reason
from tests.phases.imagined import Crash, World
from tests.phases.notation import view_of
from tests.phases.tables import Case, cases_of

ENOUGH = 12  # cycles in which everything must have settled
TICK = 60.0
WAITING = {Reason.GRACE, Reason.COOLDOWN, Reason.BUDGET, Reason.FAILING}
CONTENDED = {Reason.PORT_TAKEN, Reason.NAME_TAKEN}
APPLIES = {Verb.UP, Verb.ROLLOUT, Verb.RECOVER, Verb.RESTART}

# In a dry run nothing is carried out.
CASES = [case for case in cases_of("playgrounds") if case.acts and view_of(case.given).fence]
APPLYING = [
    case
    for case in CASES
    if any(isinstance(one, Action) and one.verb in APPLIES for one in case.plan())
]


def settle(world: World) -> Plan:
    """Go on until nothing is left to do and nothing waits for time to pass; give the last plan."""
    for _ in range(ENOUGH):
        plan = world.cycle(TICK)
        assert_within_budget(world.view, plan)
        if any(isinstance(one, Action) for one in plan):
            continue
        later = world.cycle(world.view.marquee.policy.rollout_cooldown)
        if not any(isinstance(one, Action) for one in later):
            return later
    raise AssertionError(f"not settled in {ENOUGH} cycles: {[one.reason for one in world.plan()]}")


def assert_within_budget(view: View, plan: Plan) -> None:
    rollouts = sum(isinstance(one, Action) and one.verb is Verb.ROLLOUT for one in plan)
    assert view.select.lift or rollouts <= view.marquee.policy.rollout_budget


def end_of(world: World) -> object:
    """What an operator would see: who runs what, what is recorded, what is buried."""
    facts = world.view.facts
    records = {name: one.record for name, one in facts.projects.items()}
    return (
        Counter((one.project, one.service, one.state, one.image_id) for one in facts.containers),
        {
            name: (one.applied and one.applied.digest, one.stopped, one.begun, one.failure)
            for name, one in records.items()
            if one
        },
        set(facts.tombstones),
        {name: one.entries for name, one in facts.projects.items()},
    )


def steps_of(case: Case) -> int:
    """In how many steps the first cycle carries out its plan."""
    world = World(view_of(case.given), steps_left=10_000)
    world.cycle(0)
    return 10_000 - int(world.steps_left)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_wherever_a_cycle_is_abandoned_the_next_ones_end_alike(case: Case) -> None:
    undisturbed = World(view_of(case.given))
    last = settle(undisturbed)
    for steps in range(1, steps_of(case) + 1):
        world = World(view_of(case.given), steps_left=steps)
        with pytest.raises(Crash):
            world.cycle(0)
        world.steps_left = float("inf")
        plan = settle(world)
        # Of two that want the same port one gets it; which of them may depend on the crash.
        if any(one.reason in CONTENDED for one in plan):
            assert Counter(one.reason for one in plan) == Counter(one.reason for one in last)
        else:
            assert end_of(world) == end_of(undisturbed)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_second_run_right_after_a_good_one_does_nothing(case: Case) -> None:
    world = World(view_of(case.given))
    waits = {Reason.BUDGET, Reason.GRACE, Reason.COOLDOWN, Reason.FAILING}
    first = world.cycle(0)
    if not waits & {one.reason for one in first}:
        assert not any(isinstance(one, Action) for one in world.cycle(1))


@pytest.mark.parametrize(("breaks", "sick"), [("up", ""), ("", "exited"), ("", "restarting")])
@pytest.mark.parametrize("case", APPLYING, ids=str)
def test_what_always_fails_is_tried_once_per_cooldown_and_told_every_cycle(
    case: Case, breaks: str, sick: str
) -> None:
    view = view_of(case.given)
    view = replace(view, select=replace(view.select, lift=False))
    world = World(view, breaks=breaks, sick=sick)
    world.cycle(0)
    tried = Counter(world.attempts)
    for _ in range(60):
        plan = world.cycle(TICK)
        assert [one for one in plan if one.subject in tried and not is_told(one)] == []
    for subject, first in tried.items():
        again = world.attempts.count(subject) - first
        assert again <= 60 * TICK / view.marquee.policy.rollout_cooldown


def is_told(one: Action | Decision) -> bool:
    """Whether a decision on something that fails is heard."""
    as_before = one.reason == Reason.CONVERGED  # the repair changed nothing of what runs
    vetoed = one.reason in {Reason.DIRTY, Reason.BUDGET}
    return isinstance(one, Action) or one.result is Result.FAILED or as_before or vetoed


@pytest.mark.parametrize("case", APPLYING, ids=str)
def test_a_build_that_failed_is_not_tried_again(case: Case) -> None:
    world = World(view_of(case.given), breaks="build")
    builds = [
        one.subject
        for one in world.cycle(0)
        if isinstance(one, Action) and one.verb in APPLIES - {Verb.RESTART}
    ]
    tried = len(world.attempts)
    for _ in range(30):
        world.cycle(TICK)
    assert [subject for subject in world.attempts[tried:] if subject in builds] == []
