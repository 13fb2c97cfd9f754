"""``mqctl lock break`` against a cycle that lives."""

from __future__ import annotations

import signal

from tests.bed import Host
from tests.support.gate import Gate
from tests.support.operators import Operator
from tests.support.ran import Ran, Running


def break_lock(operator: Operator, *arguments: str) -> Ran:
    return operator.run("lock", "break", "east-1", "--yes", "--reason", "a test", *arguments)


def started(operator: Operator, gate: Gate) -> tuple[Running, str]:
    running = operator.start("reconcile", "east-1")
    gate.wait_reached(running)
    return running, str(running.seen("lock.acquired")[0]["token"])


def test_a_wrong_token_and_a_living_holder_are_refused_and_force_makes_the_holder_lose(
    operator: Operator, east: Host
) -> None:
    gate = Gate(operator, east)
    running, token = started(operator, gate)

    wrong = break_lock(operator, "--token", "ffffffff", "--force")
    assert wrong.code == 75, wrong
    alive = break_lock(operator, "--token", token[:8])
    assert alive.code == 75, alive
    assert operator.bed.redis.cli("GET", operator.key("lock")) == token
    assert operator.bed.redis.cli("GET", operator.key("fence")) == "1"
    assert running.process.poll() is None

    forced = break_lock(operator, "--token", token[:8], "--force")
    assert forced.code == 0, forced
    assert forced.document["host"] == "busy"  # it may finish the step that it is at
    assert operator.bed.redis.cli("EXISTS", operator.key("lock")) == "0"
    gate.open()
    ended = running.wait()
    assert (ended.code, ended.outcome()) == (4, "lost"), ended
    told = operator.run("history", "east-1").text
    assert "a test" in told


def test_a_broken_lock_is_refused_by_the_host_before_redis_is_asked_again(
    operator: Operator, east: Host
) -> None:
    operator.playspec("plain", {"services": {"web": {"image": "nginx:alpine"}}})
    operator.playground("demo", "plain")
    running = operator.start("reconcile", "east-1", hooks=["step.sending/up=STOP"])
    running.wait_stopped()
    token = str(running.seen("lock.acquired")[0]["token"])
    forced = break_lock(operator, "--token", token[:8], "--force")
    assert (forced.code, forced.document["host"]) == (0, "closed"), forced
    running.send(signal.SIGCONT)
    ended = running.wait()
    assert (ended.code, ended.outcome()) == (4, "lost"), ended
    assert east.docker("ps", "-aq") == ""
    again = operator.reconcile()
    assert again.cycle()["fence"] == forced.document["fence"] + 1
    assert again.code == 0, again
