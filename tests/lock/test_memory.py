"""What is remembered between cycles, and how little it takes to be right."""

from __future__ import annotations

from tests.lock.conftest import FLEET, MARQUEE
from tests.lock.server import RedisServer


def test_the_history_is_trimmed_and_masked(server: RedisServer) -> None:
    with server.store() as store:
        memory = store.memory(FLEET, MARQUEE)
        for number in range(700):
            memory.history_add({"event": "cycle", "number": str(number)})
        entries = memory.history()
        assert len(entries) == 500
        assert entries[0]["number"] == "699"
        assert int(str(server.hand.xlen(memory.keys.history))) < 700
        assert len(memory.history(3)) == 3


def test_the_last_cycle_never_goes_back_in_fence(server: RedisServer) -> None:
    with server.store() as store:
        memory = store.memory(FLEET, MARQUEE)
        assert memory.last() is None
        assert memory.put_last(9, '{"n":9}')
        assert not memory.put_last(8, '{"n":8}')
        assert memory.put_last(9, '{"n":9.5}')
        assert memory.put_last(10, '{"n":10}')
        assert memory.last() == '{"n":10}'


def test_only_a_larger_fence_clears_a_pending_mark(server: RedisServer) -> None:
    with server.store() as store:
        memory = store.memory(FLEET, MARQUEE)
        assert not memory.clear_pending(9)
        memory.set_pending(5)
        memory.set_pending(4)
        assert memory.pending() == 5
        assert not memory.clear_pending(5)
        assert memory.clear_pending(6)
        assert memory.pending() is None


def test_the_fifth_strike_within_the_window_quarantines_once(server: RedisServer) -> None:
    with server.store() as store:
        memory = store.memory(FLEET, MARQUEE)
        assert [memory.strike(at) for at in (0.0, 1000.0, 2000.0, 2100.0)] == [1, 2, 2, 3]
        assert not memory.quarantined()
        assert [memory.strike(at) for at in (2200.0, 2300.0, 9000.0)] == [4, 5, 6]
        assert memory.quarantined()
        assert memory.clear_strikes()
        assert not memory.clear_strikes()
        assert memory.strike(9001.0) == 1


def test_a_window_opens_once(server: RedisServer) -> None:
    with server.store() as store:
        assert store.dispatch_window("abc", 0.5)
        assert not store.dispatch_window("abc", 600)
        assert store.dispatch_window("def", 600)
        assert 0 < server.hand.ttl("mqctl:window:abc") <= 1
        assert server.hand.ttl("mqctl:window:def") > 590
