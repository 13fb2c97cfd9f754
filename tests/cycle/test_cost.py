"""What a cycle costs that finds nothing to do."""

from __future__ import annotations

from tests.bed import Host
from tests.support.clones import clone
from tests.support.looks import mutating_calls, running
from tests.support.operators import Operator
from tests.support.witness import witness

MANY = 30


def test_a_no_op_cycle_of_thirty_playgrounds_asks_few_and_large_questions_and_never_compose(
    operator: Operator, east: Host
) -> None:
    operator.playspec("plain", {"services": {"web": {"image": "nginx:alpine"}}})
    operator.playground("demo", "plain")
    first = operator.reconcile()
    assert (first.code, first.outcome()) == (0, "changed"), first
    others = [f"copy{number}" for number in range(1, MANY)]
    clone(operator, east, "demo", others)
    for name in others:
        operator.playground(name, "plain")
    assert len(running(east)) == MANY

    with witness(east) as compose:
        east.reset_counts()
        idle = operator.reconcile()
        assert (idle.code, idle.outcome()) == (0, "unchanged"), idle
        assert idle.cycle()["tally"]["evaluated"] == MANY
        assert east.connections() == 1
        assert east.channels() <= 8
        assert len(east.api_calls()) <= 8
        assert mutating_calls(east) == []
        assert compose.commands() == []
    counters = idle.cycle()["counters"]
    assert counters["ssh_connections"] == east.connections()
    assert counters["ssh_channels"] == east.channels()
    assert counters["guarded_commands"] == 0
