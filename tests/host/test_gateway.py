"""The gateway: nothing on a lease that cannot cover it, and nothing after a loss."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Timer

import pytest

from mqctl.cancel import CancelToken
from mqctl.errors import Cancelled, ExitCode, LockLost, MqctlError, Refused
from mqctl.events import StepSending
from mqctl.host.completed import Completed
from mqctl.host.gateway import Busy, Gateway, OtherAuthority, Raised, Settling, Stale
from mqctl.host.transport import TransportBroken
from tests.host.support import Lease, Site, eventually, gateway


@pytest.fixture
def lease() -> Lease:
    return Lease()


@pytest.fixture
def gate(plain: Site, lease: Lease) -> Gateway:
    gate = gateway(plain.transport, plain.marquee, lease)
    raised = gate.raise_fence(7, "one", "redis-a", 60.0, "cat fence")
    assert isinstance(raised, Raised)
    assert raised.output.text.startswith("mqctl-fence 1 7 one")
    return gate


def test_every_verdict_of_a_raise_has_its_value(plain: Site, gate: Gateway) -> None:
    other = gateway(plain.transport, plain.marquee, Lease())
    assert other.raise_fence(6, "six", "redis-a", 60.0, "true") == Stale(7)
    assert other.raise_fence(8, "b", "redis-b", 60.0, "true") == OtherAuthority(60)
    client = plain.start(plain.run_call(7, "touch began; sleep 0.5; kill -9 $$"))
    eventually(lambda: plain.has("began"), "the command runs")
    busy = other.raise_fence(8, "two", "redis-a", 60.0, "true")
    assert isinstance(busy, Busy)
    assert busy.command == "a_test"
    client.communicate()
    assert other.raise_fence(8, "two", "redis-a", 60.0, "true") == Settling(15)
    assert gate.read("echo fine").text == "fine\n"


def test_a_break_closes_the_fence(plain: Site, gate: Gateway) -> None:
    breaker = gateway(plain.transport, plain.marquee, Lease())
    assert isinstance(breaker.raise_closed(8, "breaker", "redis-a", 60.0), Raised)
    assert breaker.raise_closed(7, "late", "redis-a", 60.0) == Stale(8)
    with pytest.raises(LockLost, match="fence is 8, not 7"):
        gate.mutate("true", limit=5, step="x")


def test_a_mutation_asks_the_lease_announces_itself_and_runs(plain: Site) -> None:
    lease, events = Lease(), list[object]()
    gate = gateway(plain.transport, plain.marquee, lease, events=events)
    gate.raise_fence(7, "one", "redis-a", 60.0, "true")
    output = gate.mutate(
        "cat; echo $1; exit 4", "arg", stdin=b"in ", limit=5, step="up playground/x"
    )
    assert output == Completed(b"in arg\n", b"", 4)
    assert lease.wanted == [5]
    assert events == [StepSending("east", "up playground/x")]
    gate.put({"projects/p": {"a": b"1"}}, limit=6, step="stage")
    assert lease.wanted == [5, 6]
    assert gate.read("cat projects/p/a").stdout == b"1"
    assert gate.guarded_commands == 2


def test_nothing_is_sent_when_the_lease_is_over(plain: Site, gate: Gateway, lease: Lease) -> None:
    lease.seconds = 0.0
    with pytest.raises(LockLost, match="local clock"):
        gate.mutate("touch ran", limit=5, step="x")
    lease.seconds = 60.0
    with pytest.raises(LockLost):
        gate.mutate("touch ran", limit=5, step="x")
    with pytest.raises(LockLost):
        gate.read("true")
    assert not plain.has("ran")
    assert gate.close_fence()  # this one passes


def test_the_checkpoint_may_end_it(plain: Site, gate: Gateway, lease: Lease) -> None:
    lease.ends = LockLost("another token")
    with pytest.raises(LockLost, match="another token"):
        gate.mutate("touch ran", limit=5, step="x")
    lease.ends = None
    with pytest.raises(LockLost, match="another token"):
        gate.put({"projects/p": b""}, limit=5, step="x")
    assert not plain.has("ran")


def test_what_sleeps_after_the_last_check_is_late(plain: Site, lease: Lease) -> None:
    # The process is paused right after it announced the step, for longer than its lease.
    gate = Gateway(
        plain.transport,
        plain.marquee,
        checkpoint=lease.checkpoint,
        left=lease.left,
        emit=lambda _: time.sleep(1.0),
        clock=plain.transport._clock,
        cancel=CancelToken(),
    )
    gate.raise_fence(7, "one", "redis-a", 60.0, "true")
    lease.seconds = 0.6
    with pytest.raises(LockLost, match="after the lease's end"):
        gate.mutate("touch ran", limit=5, step="x")
    assert not plain.has("ran")


def test_the_lease_cuts_the_limit(plain: Site, gate: Gateway, lease: Lease) -> None:
    lease.seconds = 2.5
    began = time.monotonic()
    assert gate.mutate("sleep 30", limit=20, step="x").timed_out
    assert time.monotonic() - began < 10
    assert plain.has("settling")


def test_after_a_time_out_the_next_command_waits_until_it_settled(
    plain: Site, gate: Gateway, lease: Lease
) -> None:
    plain.write("stop-grace", "0\n")  # with the 5 s that are always added
    assert gate.mutate("sleep 30", limit=0.2, step="x").timed_out
    left = float((plain.directory / "settling").read_text().split()[1]) / 100
    before = len(lease.wanted)
    assert float(gate.mutate("cat /proc/uptime", limit=5, step="y").text.split()[0]) >= left
    assert len(lease.wanted) > before + 3  # it asked for the lease while it waited


def test_a_foreign_fence_is_a_loss(plain: Site, gate: Gateway) -> None:
    plain.raise_(9, "nine")
    with pytest.raises(LockLost, match="fence is 9, not 7"):
        gate.put({"projects/p": b"1"}, limit=5, step="x")
    with pytest.raises(LockLost):
        gate.raise_fence(10, "ten", "redis-a", 60.0, "true")


def test_a_closed_fence_is_a_loss(gate: Gateway) -> None:
    assert gate.close_fence()
    with pytest.raises(LockLost, match="closed"):
        gate.mutate("true", limit=5, step="x")


def test_a_broken_fence_is_refused_and_says_why(plain: Site, gate: Gateway) -> None:
    plain.write("fence", "")
    with pytest.raises(Refused) as caught:
        gate.mutate("true", limit=5, step="x")
    assert "damaged" in caught.value.why
    plain.write("fence", "mqctl-fence 2 x\n")
    with pytest.raises(Refused, match="refuses") as caught:
        gate.raise_fence(8, "two", "redis-a", 60.0, "true")
    assert "format 2" in caught.value.why


def test_cancellation_stops_what_runs_and_closes_the_door(plain: Site, lease: Lease) -> None:
    cancel = CancelToken()
    gate = gateway(plain.transport_under(cancel), plain.marquee, lease, cancel=cancel)
    gate.raise_fence(7, "one", "redis-a", 60.0, "true")
    Timer(0.5, cancel.cancel, [ExitCode.SIGTERM]).start()
    began = time.monotonic()
    with pytest.raises(Cancelled) as caught:
        gate.mutate("echo $$ >pid; sleep 60", limit=30, step="x")
    assert time.monotonic() - began < 10
    assert caught.value.status is ExitCode.SIGTERM
    pid = (plain.directory / "pid").read_text().strip()
    assert not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text()
    with pytest.raises(Cancelled):
        gate.read("true")
    assert gate.close_fence()
    assert Site(plain.directory.parent.parent).raise_(8, "two").word == "settling"


def test_input_that_the_guard_cannot_keep_is_refused_here(gate: Gateway) -> None:
    for stdin in (b"x" * (1024 * 1024 + 1), b"a\0b"):
        with pytest.raises(MqctlError, match="text"):
            gate.mutate("true", stdin=stdin, limit=5, step="x")
    with pytest.raises(MqctlError, match="too long"):
        gate.mutate("true", "x" * 130_000, limit=5, step="x")


def test_too_large_an_answer_is_an_error_not_a_memory_hog(
    plain: Site, gate: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mqctl.host.local.MAX_OUTPUT", 1024 * 1024)
    plain.write("stop-grace", "0\n")
    with pytest.raises(TransportBroken, match="1048576 bytes"):
        gate.read("head -c 3000000 /dev/zero")


def test_a_gateway_without_a_fence_is_a_bug(plain: Site, lease: Lease) -> None:
    with pytest.raises(RuntimeError):
        gateway(plain.transport, plain.marquee, lease).mutate("true", limit=5, step="x")
