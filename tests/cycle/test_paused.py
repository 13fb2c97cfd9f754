"""A process or a delivery that sleeps past the lease wakes up to a world that is not its own."""

from __future__ import annotations

import signal

from tests.bed import Host, wait_until
from tests.support.looks import guard_runs, mutating_calls, running
from tests.support.operators import Operator

PLAIN = {"services": {"web": {"image": "nginx:alpine"}}}


def gone(operator: Operator) -> bool:
    return operator.bed.redis.cli("EXISTS", operator.key("lock")) == "0"


def test_a_cycle_stopped_past_its_lease_sends_nothing_when_it_goes_on(
    operator: Operator, east: Host
) -> None:
    operator.playspec("plain", PLAIN)
    operator.playground("demo", "plain")
    operator.declared["lock"]["ttl"] = "6s"
    paused = operator.start("reconcile", "east-1", hooks=["phase.started/playgrounds=STOP"])
    paused.wait_stopped()
    wait_until(lambda: gone(operator), "the end of the lease")
    other = operator.reconcile()
    assert (other.code, other.outcome()) == (0, "changed"), other
    sent = paused.seen("step.sending")
    east.reset_counts()
    paused.send(signal.SIGCONT)
    ended = paused.wait()
    assert (ended.code, ended.outcome()) == (4, "lost"), ended
    assert [one for one in ended.events if one["event"] == "step.sending"] == sent
    assert mutating_calls(east) == []
    assert east.channels() == 0


def test_the_host_refuses_what_was_checked_before_the_pause_and_sent_after_it(
    operator: Operator, east: Host
) -> None:
    operator.playspec("plain", PLAIN)
    operator.playground("demo", "plain")
    paused = operator.start("reconcile", "east-1", hooks=["step.sending/up=STOP"])
    paused.wait_stopped()
    # Only Redis thinks that the lease is over, so that nothing but the host's fence is in the way.
    operator.bed.redis.cli("PEXPIRE", operator.key("lock"), "1")
    other = operator.reconcile()
    assert (other.code, other.outcome()) == (0, "changed"), other
    assert other.fate("playground/demo") == ("recover", "interrupted", "done")
    east.reset_counts()
    paused.send(signal.SIGCONT)
    ended = paused.wait()
    assert (ended.code, ended.outcome()) == (4, "lost"), ended
    fence = other.cycle()["fence"]
    (lost,) = [one for one in ended.events if one["event"] == "lock.lost"]
    assert f"the host's fence is {fence}" in lost["why"]
    assert east.channels() == 1
    assert mutating_calls(east) == []


def test_a_command_delivered_after_its_time_runs_nothing(operator: Operator, east: Host) -> None:
    operator.playspec("plain", PLAIN)
    operator.playground("demo", "plain")
    operator.declared["lock"]["ttl"] = "6s"
    late = operator.start("reconcile", "east-1", hooks=["step.sending/up=STOP"])
    late.wait_stopped()
    hold, bashrc = east.home / "hold", east.home / ".bashrc"
    hold.touch()
    bashrc.write_text("while [ -e ~/hold ]; do sleep 0.1; done\n")  # each command starts here
    try:
        east.reset_counts()
        late.send(signal.SIGCONT)
        ended = late.wait()
        assert (ended.code, ended.outcome()) == (4, "lost"), ended
        wait_until(lambda: gone(operator), "the end of the lease")
        assert east.channels() >= 1
        assert guard_runs(east)  # it waits to be delivered
        hold.unlink()
        wait_until(lambda: not guard_runs(east), "the end of what came late")
    finally:
        hold.unlink(missing_ok=True)
        bashrc.unlink()
    assert mutating_calls(east) == []
    assert running(east) == set()
    assert not (operator.place() / "running").exists()
