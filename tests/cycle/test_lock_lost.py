"""Whatever makes the lock doubtful while a step runs ends the cycle after that step."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

import pytest

from tests.bed import Bed, Host
from tests.support.gate import Gate
from tests.support.operators import Operator

OTHER = "00000000-0000-4000-8000-000000000000"


class Trouble(NamedTuple):
    """What happens to the lock, how it is made good again, and whose the key is then.

    ``after`` None: whatever the end of the lease has left, but nobody else's.
    """

    name: str
    begin: Callable[[Bed, str], object]
    end: Callable[[Bed, str], object]
    after: str | None


def nothing(bed: Bed, key: str) -> None:
    del bed, key


TROUBLES = [
    Trouble("the key deleted", lambda bed, key: bed.redis.cli("DEL", key), nothing, ""),
    Trouble(
        "the key overwritten",
        lambda bed, key: bed.redis.cli("SET", key, OTHER, "PX", "60000"),
        nothing,
        OTHER,
    ),
    Trouble("Redis stopped", lambda bed, _: bed.redis.kill(), lambda bed, _: bed.redis.start(), ""),
    Trouble(
        "Redis not answering",
        lambda bed, _: bed.redis.pause(),
        lambda bed, _: bed.redis.resume(),
        None,
    ),
    Trouble(
        "Redis read-only",
        lambda bed, _: bed.redis.cli("REPLICAOF", "127.0.0.1", "1"),
        lambda bed, _: bed.redis.cli("REPLICAOF", "NO", "ONE"),
        None,
    ),
]


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda one: one.name)
def test_a_doubtful_lock_ends_the_cycle_with_status_4_and_nothing_more_is_sent(
    operator: Operator, east: Host, trouble: Trouble
) -> None:
    gate, bed, key = Gate(operator, east), operator.bed, operator.key("lock")
    operator.declared["lock"]["ttl"] = "8s"  # the step outlasts the share that needs no renewal
    running = operator.start("reconcile", "east-1")
    gate.wait_reached(running)
    trouble.begin(bed, key)
    try:
        gate.open()
        ended = running.wait()
    finally:
        trouble.end(bed, key)
    assert (ended.code, ended.outcome()) == (4, "lost"), ended
    assert ended.steps()[-1] == "up"
    names = [one["event"] for one in ended.events]
    assert "lock.lost" in names
    assert "step.started" not in names[names.index("lock.lost") :]
    record = json.loads((operator.directory("slow") / ".mqctl" / "record.json").read_text())
    assert record["begun"] is not None
    assert record["applied"] is None
    (acquired,) = [one for one in ended.events if one["event"] == "lock.acquired"]
    holder = bed.redis.cli("GET", key)
    assert holder == trouble.after or (trouble.after is None and holder in {"", acquired["token"]})
