"""Breaking a lock clears exactly what was shown, or nothing."""

from __future__ import annotations

import pytest

from mqctl.errors import Held, LockLost, MqctlError
from mqctl.lock import Broken, LockStatus, break_lock, look
from mqctl.store import Store
from tests.lock.conftest import FLEET, KEYS, MARQUEE, take
from tests.lock.server import RedisServer


def broken(store: Store, seen: LockStatus, *, force: bool = True) -> Broken | None:
    return break_lock(store, FLEET, seen, who="ann@desk", reason="host burned", force=force)


def test_a_free_lock_needs_no_breaking(store: Store) -> None:
    assert broken(store, look(store, FLEET, MARQUEE), force=False) is None


def test_a_living_holder_is_left_alone_without_force(store: Store) -> None:
    lease = take(store)
    with pytest.raises(Held) as held:
        broken(store, look(store, FLEET, MARQUEE), force=False)
    assert held.value.why == "its holder is not proven dead"
    lease.renew("images")


def test_force_clears_it_mints_the_next_number_and_writes_it_down(
    server: RedisServer, store: Store
) -> None:
    lease = take(store)
    lease.renew("raise", floor=41)
    done = broken(store, look(store, FLEET, MARQUEE))
    assert done is not None
    assert (done.number, done.authority) == (43, lease.authority)
    assert done.token != lease.token
    assert not server.hand.exists(KEYS.lock, KEYS.owner)
    entry = store.memory(FLEET, MARQUEE).history()[0]
    assert entry["event"] == "lock.broken"
    assert (entry["by"], entry["reason"], entry["forced"]) == ("ann@desk", "host burned", "yes")
    assert (entry["token"], entry["fence"], entry["number"]) == (lease.token, "42", "43")
    with pytest.raises(LockLost):
        lease.renew("images")
    assert take(store).fence == 44, "the next one gets N+1"


def test_a_renewal_after_the_look_keeps_the_lock(store: Store) -> None:
    lease = take(store)
    seen = look(store, FLEET, MARQUEE)
    lease.renew("images")
    with pytest.raises(Held) as held:
        broken(store, seen)
    assert held.value.why == "its holder renewed it"
    lease.renew("branches")


def test_a_successor_after_the_look_keeps_the_lock(store: Store) -> None:
    first = take(store)
    seen = look(store, FLEET, MARQUEE)
    first.release()
    second = take(store)
    with pytest.raises(Held) as held:
        broken(store, seen)
    assert held.value.why == "its holder changed"
    second.renew("images")


def test_a_release_after_the_look_is_as_good(store: Store) -> None:
    lease = take(store)
    seen = look(store, FLEET, MARQUEE)
    lease.release()
    assert broken(store, seen) is None


def test_a_wrong_type_is_compared_too(server: RedisServer, store: Store) -> None:
    server.hand.rpush(KEYS.lock, "x")
    seen = look(store, FLEET, MARQUEE)
    server.hand.delete(KEYS.lock)
    lease = take(store)
    with pytest.raises(Held):
        broken(store, seen)
    lease.renew("images")


def test_a_lost_fence_does_not_bring_an_old_number_back(server: RedisServer, store: Store) -> None:
    lease = take(store)
    lease.renew("raise", floor=41)
    server.hand.delete(KEYS.fence)
    done = broken(store, look(store, FLEET, MARQUEE))
    assert done is not None
    assert done.number == 43


def test_a_damaged_fence_is_named_and_nothing_is_cleared(server: RedisServer, store: Store) -> None:
    lease = take(store)
    server.hand.set(KEYS.fence, "garbage")
    with pytest.raises(MqctlError, match="damaged"):
        broken(store, look(store, FLEET, MARQUEE))
    assert server.hand.get(KEYS.lock) == lease.token
