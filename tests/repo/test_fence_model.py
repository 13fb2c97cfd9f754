"""Token, number and file lock: with all three nothing overlaps, without any one of them it does."""

from __future__ import annotations

import pytest

from tests.repo.fence_model import At, Client, Rules, World, events, overlaps


@pytest.mark.parametrize("clients", [2, 3])
def test_nothing_overlaps_in_any_order_of_events(clients: int) -> None:
    assert not overlaps(Rules(), clients)


@pytest.mark.parametrize(
    "rules",
    [Rules(fence=False, token=False, flock=False), Rules(flock=False), Rules(token=False)],
    ids=["a lock alone", "a number checked outside the file lock", "a number without the token"],
)
def test_each_half_measure_lets_two_cycles_overlap(rules: Rules) -> None:
    assert overlaps(rules, clients=2)


def test_without_a_loss_of_data_the_number_is_enough() -> None:
    assert not overlaps(Rules(token=False), clients=3, losses=0)


def test_work_gets_done_at_all() -> None:
    """A protocol under which nobody ever works would be safe, too."""
    reached, left = set[World](), [World((Client(), Client()))]
    while left:
        for after in events(Rules(), left.pop()):
            if after not in reached:
                reached.add(after)
                left.append(after)
    finished = [
        all(one.at is At.GONE and one.commands == 0 for one in world.clients) for world in reached
    ]
    assert any(finished)
