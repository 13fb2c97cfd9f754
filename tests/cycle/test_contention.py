"""Two runs at the same time."""

from __future__ import annotations

from tests.bed import Host
from tests.support.gate import Gate
from tests.support.operators import Operator


def test_of_two_runs_on_one_marquee_one_works_and_the_other_names_the_holder(
    operator: Operator, east: Host
) -> None:
    gate = Gate(operator, east)
    east.reset_counts()
    both = [operator.start("reconcile", "east-1") for _ in range(2)]
    both[0].wait_until(lambda: any(one.seen("lock.held") for one in both), "a loser")
    loser = next(one for one in both if one.seen("lock.held"))
    winner = next(one for one in both if one is not loser)
    left = loser.wait()
    assert (left.code, left.outcome()) == (75, "held"), left
    (holder,) = [one["holder"] for one in left.events if one["event"] == "lock.held"]
    assert holder["pid"] == winner.process.pid
    assert holder["token"] == winner.seen("lock.acquired")[0]["token"]
    assert str(winner.process.pid) in left.errors
    assert left.cycle()["counters"]["ssh_connections"] == 0
    gate.wait_reached(winner)
    gate.open()
    won = winner.wait()
    assert (won.code, won.outcome()) == (0, "changed"), won
    assert east.connections() == 1


def test_different_marquees_run_side_by_side(operator: Operator, east: Host) -> None:
    gate = Gate(operator, east)
    operator.playspec("plain", {"services": {"web": {"image": "nginx:alpine"}}})
    operator.playground("demo", "plain", on="west-1")
    slow = operator.start("reconcile", "east-1")
    gate.wait_reached(slow)
    other = operator.run("reconcile", "west-1")
    assert (other.code, other.outcome("west-1")) == (0, "changed"), other
    assert slow.process.poll() is None
    gate.open()
    assert slow.wait().code == 0
