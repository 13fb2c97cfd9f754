"""What the README says about the costs of a cycle, with the means of `make bench`."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.fleet import Fleet

from tests.bed import Bed


def test_a_cycle_that_finds_nothing_costs_the_same_for_three_playgrounds_as_for_one() -> None:
    with Bed() as bed:
        fleet = Fleet(bed, 1)
        first = fleet.costs()
        assert first.outcome == "changed"
        assert first.compose_processes > 0, "the counter counts"
        one = fleet.costs()
        fleet.declare(3)
        assert fleet.costs().outcome == "changed"
        three = fleet.costs()
        assert replace(three, redis_commands=one.redis_commands) == one
        assert one.outcome == "unchanged"
        assert (one.ssh_connections, one.compose_processes) == (1, 0)
        assert one.ssh_channels <= 8
        assert one.docker_api_requests <= 8
        fleet.ask_one_by_one()
