"""A fleet that is disturbed at random comes right again within its bounds, each time.

``MQCTL_SEED=N`` plays a run again; a failure prints it.
"""

from __future__ import annotations

import math
import os
import random

import pytest

from tests.soak.hand import BUDGET, Hand
from tests.soak.rules import check, last_repairs, settled
from tests.support.looks import running
from tests.support.operators import Operator

A_CYCLE = 170.0  # seconds; after a restart of the daemon on a slow machine


def chaos(operator: Operator, playgrounds: int, cycles: int) -> None:
    """Disturb, let it come right, again and again."""
    seed = int(os.environ.get("MQCTL_SEED") or random.randrange(10**6))  # noqa: S311 - no secret
    print(f"MQCTL_SEED={seed}")  # noqa: T201 - shown when the test fails
    hand = Hand(operator, playgrounds, seed)
    left = cycles - come_right(hand)
    while left > 0:
        hand.disturb()
        left -= come_right(hand)
    hand.finish_all_work()
    come_right(hand)
    assert {hand.container(name) for name in hand.names} <= running(hand.host), hand.history


def come_right(hand: Hand) -> int:
    """Run cycles until nothing is left to do; give how many it took."""
    # Each rollout that is due, once more for what had to wait for a cooldown, and the last look.
    bound = 2 * math.ceil(len(hand.names) / BUDGET) + 2
    for number in range(1, bound + 1):
        before = last_repairs(hand)
        ran = hand.operator.start("reconcile", "east-1").wait(A_CYCLE)
        check(ran, hand, before)
        if settled(ran):
            hand.touched.clear()
            return number
    raise AssertionError(f"it does not come right: {hand.history}; the last cycle: {ran}")


@pytest.mark.timeout(600)
def test_twenty_cycles_of_chaos_end_as_declared(operator: Operator) -> None:
    chaos(operator, playgrounds=4, cycles=20)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_two_hundred_cycles_of_chaos_end_as_declared(operator: Operator) -> None:
    chaos(operator, playgrounds=10, cycles=200)
