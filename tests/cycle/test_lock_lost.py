"""Whatever makes the lock doubtful while a step runs ends the cycle after that step."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.bed import Host
from tests.support.gate import Gate
from tests.support.operators import Operator

OTHER = "00000000-0000-4000-8000-000000000000"


def delete_the_key(operator: Operator) -> None:
    operator.bed.redis.cli("DEL", operator.key("lock"))


def give_the_key_to_another(operator: Operator) -> None:
    operator.bed.redis.cli("SET", operator.key("lock"), OTHER, "PX", "60000")


def stop_redis(operator: Operator) -> None:
    operator.bed.redis.kill()


def start_redis(operator: Operator) -> None:
    operator.bed.redis.start()


def freeze_redis(operator: Operator) -> None:
    operator.bed.redis.pause()


def thaw_redis(operator: Operator) -> None:
    operator.bed.redis.resume()


def make_redis_a_replica(operator: Operator) -> None:
    operator.bed.redis.cli("REPLICAOF", "127.0.0.1", "1")


def make_redis_a_primary(operator: Operator) -> None:
    operator.bed.redis.cli("REPLICAOF", "NO", "ONE")


def nothing(operator: Operator) -> None:
    del operator


@pytest.mark.parametrize(
    ("disturb", "restore"),
    [
        (delete_the_key, nothing),
        (give_the_key_to_another, nothing),
        (stop_redis, start_redis),
        (freeze_redis, thaw_redis),
        (make_redis_a_replica, make_redis_a_primary),
    ],
)
def test_a_doubtful_lock_ends_the_cycle_with_status_4_and_nothing_more_is_sent(
    operator: Operator,
    east: Host,
    disturb: Callable[[Operator], None],
    restore: Callable[[Operator], None],
) -> None:
    gate = Gate(operator, east)
    operator.declared["lock"]["ttl"] = "8s"  # the step outlasts the share that needs no renewal
    running = operator.start("reconcile", "east-1")
    gate.wait_reached(running)
    disturb(operator)
    try:
        gate.open()
        ended = running.wait()
    finally:
        restore(operator)
    assert (ended.code, ended.outcome()) == (4, "lost"), ended
    assert ended.steps()[-1] == "up"
    assert [one for one in ended.events if one["event"] == "lock.lost"]
    record = json.loads((operator.directory("slow") / ".mqctl" / "record.json").read_text())
    assert record["begun"] is not None
    assert record["applied"] is None
    ours = ended.events[1]["token"]
    expected = {delete_the_key: "", give_the_key_to_another: OTHER, stop_redis: ""}
    assert operator.bed.redis.cli("GET", operator.key("lock")) in {expected.get(disturb, ours), ""}
