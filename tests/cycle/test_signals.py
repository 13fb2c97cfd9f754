"""Ctrl-C and its relatives in the middle of a long remote command."""

from __future__ import annotations

import signal
import time

import pytest

from tests.bed import Host
from tests.support.gate import Gate
from tests.support.operators import Operator
from tests.support.witness import witness


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)],
)
def test_a_signal_ends_the_cycle_in_time_and_cleans_up(
    operator: Operator, east: Host, number: signal.Signals, status: int
) -> None:
    gate = Gate(operator, east)
    grace = 10.0
    operator.declared["policy"]["shutdown_grace"] = f"{grace:.0f}s"
    with witness(east) as compose:
        running = operator.start("reconcile", "east-1")
        gate.wait_reached(running)
        began = time.monotonic()
        running.send(number)
        ended = running.wait()
        assert (ended.code, ended.outcome()) == (status, "interrupted"), ended
        assert time.monotonic() - began < grace  # the contract, not a matter of speed
        assert compose.unfinished() == 0
        assert not (operator.place() / "running").exists()
    assert operator.bed.redis.cli("EXISTS", operator.key("lock")) == "0"
    (shown,) = operator.run("lock", "status", "east-1").document["locks"]
    assert shown["state"] == "free"
    assert shown["pending"] == ended.cycle()["fence"]
    subject = "playground/slow"
    assert ended.fate(subject) == ("up", "missing", "aborted")


def test_the_next_run_takes_an_interrupted_marquee_first_and_clears_its_mark(
    operator: Operator,
) -> None:
    hooks = ["phase.started/playgrounds=TERM"]
    assert operator.start("reconcile", "east-1", hooks=hooks).wait().code == 143
    assert operator.bed.redis.cli("GET", operator.key("pending")) == "1"
    resumed = operator.start("reconcile", "west-1", "east-1", "--jobs", "1").wait()
    assert resumed.code == 0, resumed
    started = [one["marquee"] for one in resumed.events if one["event"] == "cycle.started"]
    assert started == ["east-1", "west-1"]
    assert operator.bed.redis.cli("EXISTS", operator.key("pending")) == "0"
