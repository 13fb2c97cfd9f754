"""One holder at a time, who knows for how long, and loses the lock at the first doubt."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from mqctl.cancel import CancelToken
from mqctl.errors import Cancelled, LockLost, MqctlError
from mqctl.lock import HeldBy, Lease, margin
from mqctl.secret import Secret
from mqctl.store import Store
from tests.lock.conftest import KEYS, TTL, JumpingClock, take
from tests.lock.server import RedisServer

# --------------------------------------------------------------------------- acquire


def test_a_free_lock_is_taken_with_everything_that_belongs_to_it(
    server: RedisServer, store: Store
) -> None:
    lease = take(store)
    assert server.hand.get(KEYS.lock) == lease.token
    assert 0 < server.hand.pttl(KEYS.lock) <= TTL * 1000
    assert 0 < server.hand.pttl(KEYS.owner) <= TTL * 1000
    assert (server.hand.get(KEYS.fence), lease.fence) == ("1", 1)
    assert server.hand.get(KEYS.authority) == lease.authority
    owner = server.hand.hgetall(KEYS.owner)
    assert owner["token"] == lease.token
    assert owner["fence"] == "1"
    assert owner["command"] == "mqctl reconcile east-1"
    assert TTL - margin(TTL) - 0.5 < lease.left() <= TTL - margin(TTL)


def test_the_second_one_learns_who_the_first_one_is(store: Store) -> None:
    lease = take(store, command="mqctl sweep")
    with pytest.raises(HeldBy) as held, store.fresh() as other:
        take(other)
    assert held.value.holder.token == lease.token
    assert held.value.holder.command == "mqctl sweep"
    assert 0 < (held.value.holder.ttl_ms or 0) <= TTL * 1000
    assert "mqctl sweep" in held.value.why


def test_of_many_at_once_exactly_one_gets_it(store: Store) -> None:
    outcomes: list[Lease | HeldBy] = []
    start = threading.Barrier(8)

    def contend() -> None:
        with store.fresh() as mine:
            start.wait()
            try:
                outcomes.append(take(mine))
            except HeldBy as held:
                outcomes.append(held)

    threads = [threading.Thread(target=contend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winners = [one for one in outcomes if isinstance(one, Lease)]
    losers = [one for one in outcomes if isinstance(one, HeldBy)]
    assert len(winners) == 1
    assert {one.holder.token for one in losers} == {winners[0].token}


def test_fences_only_grow_and_the_authority_stays(store: Store) -> None:
    first = take(store)
    first.release()
    second = take(store)
    assert (first.fence, second.fence) == (1, 2)
    assert first.authority == second.authority


def test_a_lock_that_ran_out_can_be_taken(store: Store) -> None:
    first = take(store, ttl=0.2)
    time.sleep(0.25)
    second = take(store)
    assert second.fence == first.fence + 1
    with pytest.raises(LockLost):
        first.renew("images")


@pytest.mark.parametrize("damage", ["minus", "text", "list", "too long"])
def test_a_damaged_fence_is_named_and_nothing_is_taken(
    server: RedisServer, store: Store, damage: str
) -> None:
    match damage:
        case "minus":
            server.hand.set(KEYS.fence, "-1")
        case "text":
            server.hand.set(KEYS.fence, "many")
        case "too long":
            server.hand.set(KEYS.fence, "9" * 19)
        case "list":
            server.hand.rpush(KEYS.fence, "1")
    before = set(server.hand.keys("*"))
    with pytest.raises(MqctlError, match="damaged") as error:
        take(store)
    assert KEYS.fence in error.value.why
    assert set(server.hand.keys("*")) == before


def test_a_damaged_authority_is_named_and_nothing_is_taken(
    server: RedisServer, store: Store
) -> None:
    server.hand.set(KEYS.authority, "two\nlines")
    with pytest.raises(MqctlError, match="damaged"):
        take(store)
    assert server.hand.keys("*") == [KEYS.authority]


@pytest.mark.parametrize("key", [KEYS.owner, KEYS.history])
def test_damaged_notes_do_not_stand_in_the_way(server: RedisServer, store: Store, key: str) -> None:
    server.hand.rpush(key, "garbage")
    lease = take(store)
    lease.renew("images")
    assert server.hand.hget(KEYS.owner, "phase") == "images"


def test_a_secret_in_the_command_line_is_masked(server: RedisServer, store: Store) -> None:
    Secret("hunter2-hunter2")
    take(store, command="mqctl reconcile --x hunter2-hunter2")
    assert server.hand.hget(KEYS.owner, "command") == "mqctl reconcile --x ***"


def test_who_is_cancelled_before_takes_nothing(server: RedisServer, store: Store) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        take(store, cancel=cancel)
    assert server.hand.keys("*") == []


# --------------------------------------------------------------------------- renew


def test_a_renewal_lengthens_the_lease_and_tells_the_phase(
    server: RedisServer, store: Store
) -> None:
    lease = take(store, ttl=1)
    time.sleep(0.3)
    lease.renew("images")
    assert server.hand.pttl(KEYS.lock) > 950
    assert server.hand.pttl(KEYS.owner) > 950
    assert lease.left() > 0.7
    owner = server.hand.hgetall(KEYS.owner)
    assert (owner["phase"], owner["renewals"], owner["fence"]) == ("images", "1", "1")
    assert str(owner["renewed_at"]) > str(owner["acquired_at"])


def test_a_floor_lifts_the_fence_above_it(server: RedisServer, store: Store) -> None:
    lease = take(store)
    lease.renew("raise", floor=41)
    assert lease.fence == 42
    assert server.hand.get(KEYS.fence) == "42"
    assert server.hand.hget(KEYS.owner, "fence") == "42"
    lease.renew("raise", floor=7)
    assert lease.fence == 43


def test_a_fence_that_was_lost_under_a_lock_comes_back(server: RedisServer, store: Store) -> None:
    lease = take(store)
    lease.renew("raise", floor=41)
    server.hand.delete(KEYS.fence)
    lease.renew("images")
    assert server.hand.get(KEYS.fence) == "42"


def overwritten(server: RedisServer) -> None:
    server.hand.set(KEYS.lock, "somebody else", px=3000)


def retyped(server: RedisServer) -> None:
    server.hand.delete(KEYS.lock)
    server.hand.rpush(KEYS.lock, "x")


def deleted(server: RedisServer) -> None:
    server.hand.delete(KEYS.lock)


def flushed(server: RedisServer) -> None:
    server.hand.flushall()


def fence_damaged(server: RedisServer) -> None:
    server.hand.set(KEYS.fence, "garbage")


@pytest.mark.parametrize("harm", [overwritten, retyped, deleted, flushed, fence_damaged])
def test_whatever_happened_to_the_lock_is_a_loss_and_stays_one(
    server: RedisServer, store: Store, harm: Callable[[RedisServer], None]
) -> None:
    lease = take(store)
    harm(server)
    before = _dump(server)
    with pytest.raises(LockLost) as lost:
        lease.renew("images")
    assert _dump(server) == before, "a renewal touched a lock that is not its own"
    asked = store.commands
    with pytest.raises(LockLost, match="^" + lost.value.why.split("(")[0]):
        lease.renew("images")
    assert store.commands == asked
    assert lease.left() <= 0


def test_a_loss_is_written_into_the_history(server: RedisServer, store: Store) -> None:
    lease = take(store)
    overwritten(server)
    with pytest.raises(LockLost):
        lease.renew("images")
    entry = store.memory(KEYS.fleet, KEYS.marquee).history()[0]
    assert entry["event"] == "lock.lost"
    assert (entry["token"], entry["fence"], entry["phase"]) == (lease.token, "1", "images")
    assert entry["found"] == "somebody else"


def test_a_lock_that_somebody_made_eternal_gets_its_expiry_back(
    server: RedisServer, store: Store
) -> None:
    lease = take(store)
    server.hand.persist(KEYS.lock)
    lease.renew("images")
    assert 0 < server.hand.pttl(KEYS.lock) <= TTL * 1000


def test_time_that_was_slept_away_is_gone(store: Store) -> None:
    clock = JumpingClock()
    lease = take(store, ttl=900, clock=clock)
    assert lease.left() > 880
    clock.slept = 3600
    assert lease.left() < 0
    asked = store.commands
    with pytest.raises(LockLost, match="ran out"):
        lease.renew("images")
    assert store.commands == asked, "a lease that ran out is not asked for"


@pytest.mark.parametrize("floor", [-1, 10**15])
def test_a_floor_that_no_fence_can_pass_is_a_loss(store: Store, floor: int) -> None:
    lease = take(store)
    with pytest.raises(LockLost, match="out of range"):
        lease.renew("raise", floor=floor)


# --------------------------------------------------------------------------- release


def test_a_release_leaves_nothing_of_the_lock(server: RedisServer, store: Store) -> None:
    lease = take(store)
    assert lease.release().released
    assert lease.release().released, "safe to repeat"
    assert sorted(server.hand.keys("*")) == sorted([KEYS.fence, KEYS.authority])
    with pytest.raises(LockLost, match="released"):
        lease.renew("images")


def test_a_release_after_a_takeover_touches_nothing(server: RedisServer, store: Store) -> None:
    first = take(store, ttl=0.2)
    time.sleep(0.25)
    second = take(store)
    before = _dump(server)
    released = first.release()
    assert not released.released
    assert "someone else" in released.detail
    assert _dump(server) == before
    second.renew("images")


def test_a_release_after_expiry_says_so(store: Store) -> None:
    lease = take(store, ttl=0.2)
    time.sleep(0.25)
    assert lease.release().detail == "the lock was gone already"


def test_the_margin_is_what_the_design_says() -> None:
    assert margin(900) == pytest.approx(9 + 0.05 + 5)
    assert margin(2) == pytest.approx(0.02 + 0.05 + 0.2)


def _dump(server: RedisServer) -> dict[str, object]:
    """All of the lock's keys but the history, bytes and all."""
    raw = server.hand
    return {
        str(key): (raw.type(key), raw.get(key) if raw.type(key) == "string" else raw.exists(key))
        for key in raw.keys("*")
        if key != KEYS.history
    }
