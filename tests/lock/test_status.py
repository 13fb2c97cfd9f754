"""Every state of a lock, whatever stands in whichever key; and the proof that a holder is dead."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable

import pytest

from mqctl.lock import LockStatus, State, break_lock, look, status
from mqctl.store import Keys, Store
from tests.lock.conftest import FLEET, KEYS, MARQUEE, TTL, take
from tests.lock.server import RedisServer

TOKEN = "11111111-1111-4111-8111-111111111111"
GARBAGE: dict[str, str | bytes] = {
    "token": TOKEN,
    "host": b"\xff\xff",
    "pid": "-",
    "fence": "x",
    "renewals": "nan",
}


def seen(store: Store) -> LockStatus:
    return look(store, FLEET, MARQUEE)


def test_nothing_there_is_free(store: Store) -> None:
    assert seen(store) == LockStatus(MARQUEE, KEYS.lock, State.FREE)


def test_a_lock_of_a_living_process_is_held_and_described(store: Store) -> None:
    lease = take(store)
    lease.renew("images", floor=4)
    one = seen(store)
    assert one.state is State.HELD
    assert (one.token, one.fence) == (lease.token, 5)
    assert one.owner is not None
    assert (one.owner.pid, one.owner.phase, one.owner.renewals) == (os.getpid(), "images", 1)
    assert 0 < (one.ttl_ms or 0) <= TTL * 1000


def test_the_json_has_the_documented_keys(store: Store) -> None:
    take(store)
    document = seen(store).as_json()
    assert list(document) == [
        *("marquee", "key", "state", "token", "fence", "ttl_ms", "owner"),
        *("pending", "quarantined", "last_cycle"),
    ]
    owner = document["owner"]
    assert isinstance(owner, dict)
    assert list(owner) == [
        *("host", "pid", "user", "command", "version"),
        *("acquired_at", "renewed_at", "renewals", "phase"),
    ]
    json.dumps(document)


def test_many_marquees_are_one_round_trip_and_keep_their_order(store: Store) -> None:
    take(store)
    before = store.commands
    names = [f"m-{number}" for number in range(50)] + [MARQUEE]
    found = status(store, FLEET, names)
    assert [one.marquee for one in found] == names
    assert [one.state for one in found] == [State.FREE] * 50 + [State.HELD]
    assert store.commands - before == len(names)


def test_what_is_remembered_is_shown(store: Store) -> None:
    memory = store.memory(FLEET, MARQUEE)
    memory.set_pending(7)
    memory.put_last(7, '{"outcome": "changed"}')
    for _ in range(5):
        memory.strike(time.time())
    one = seen(store)
    assert (one.pending, one.quarantined) == (7, True)
    assert one.last_cycle == {"outcome": "changed"}


def foreign(server: RedisServer) -> None:
    server.hand.set(KEYS.lock, "deploy in progress", px=3000)


def foreign_for_ever(server: RedisServer) -> None:
    server.hand.set(KEYS.lock, "deploy in progress")


def foreign_bytes(server: RedisServer) -> None:
    server.hand.set(KEYS.lock, b"\xff\xfe\x00", px=3000)


def foreign_and_long(server: RedisServer) -> None:
    server.hand.set(KEYS.lock, "x" * 100_000, px=3000)


def no_expiry(server: RedisServer) -> None:
    server.hand.set(KEYS.lock, TOKEN)


def a_list(server: RedisServer) -> None:
    server.hand.rpush(KEYS.lock, TOKEN)


def a_stream(server: RedisServer) -> None:
    server.hand.xadd(KEYS.lock, {"a": "b"})


def owner_missing(server: RedisServer) -> None:
    server.hand.set(KEYS.lock, TOKEN, px=3000)


def owner_of_another_token(server: RedisServer) -> None:
    server.hand.set(KEYS.lock, TOKEN, px=3000)
    server.hand.hset(KEYS.owner, mapping={"token": "another", "host": "elsewhere"})


def owner_is_a_string(server: RedisServer) -> None:
    server.hand.set(KEYS.lock, TOKEN, px=3000)
    server.hand.set(KEYS.owner, "me")


def owner_is_garbage(server: RedisServer) -> None:
    server.hand.set(KEYS.lock, TOKEN, px=3000)
    for field, value in GARBAGE.items():
        server.hand.hset(KEYS.owner, field, value)


Harm = Callable[[RedisServer], None]
CASES: list[tuple[Harm, State]] = [
    (foreign, State.FOREIGN),
    (foreign_for_ever, State.FOREIGN),
    (foreign_bytes, State.FOREIGN),
    (foreign_and_long, State.FOREIGN),
    (no_expiry, State.NO_EXPIRY),
    (a_list, State.WRONG_TYPE),
    (a_stream, State.WRONG_TYPE),
    (owner_missing, State.HELD),
    (owner_of_another_token, State.HELD),
    (owner_is_a_string, State.HELD),
    (owner_is_garbage, State.HELD),
]


@pytest.mark.parametrize(("harm", "state"), CASES, ids=[harm.__name__ for harm, _ in CASES])
def test_whatever_stands_there_has_a_state_is_not_taken_and_can_be_broken(
    server: RedisServer, store: Store, harm: Harm, state: State
) -> None:
    harm(server)
    one = seen(store)
    assert one.state is state
    json.dumps(one.as_json())
    with pytest.raises(Exception, match="is locked by someone else"):
        take(store)
    assert break_lock(store, FLEET, one, who="me", reason="test", force=True)
    assert seen(store).state is State.FREE
    assert take(store).fence == 2


@pytest.mark.parametrize("key", ["owner", "fence", "pending", "probe", "last", "history", "seen"])
@pytest.mark.parametrize("kind", ["list", "set", "hash", "bytes", "stream"])
def test_garbage_in_any_key_breaks_no_status_and_no_memory(
    server: RedisServer, store: Store, key: str, kind: str
) -> None:
    name = getattr(KEYS, key)
    put: dict[str, Callable[[], object]] = {
        "list": lambda: server.hand.rpush(name, "x"),
        "set": lambda: server.hand.sadd(name, "x"),
        "hash": lambda: server.hand.hset(name, "token", "x"),
        "bytes": lambda: server.hand.set(name, b'\xff\xfe["'),
        "stream": lambda: server.hand.xadd(name, {"a": "b"}),
    }
    put[kind]()
    assert seen(store).state is State.FREE
    memory = store.memory(FLEET, MARQUEE)
    memory.history()
    assert memory.seen() == {}
    assert memory.last() is None
    assert memory.fence() is None
    assert not memory.quarantined()
    memory.history_add({"event": "x"})
    memory.set_pending(3)
    memory.put_last(3, "{}")
    memory.put_seen({"a": 1.0})
    memory.strike(1.0)
    assert (memory.pending(), memory.last(), memory.seen()) == (3, "{}", {"a": 1.0})
    assert memory.history()[0]["event"] == "x"


def test_two_marquees_do_not_share_a_key() -> None:
    assert not set(Keys("a", "b").locking) & set(Keys("a", "c").locking)
    assert Keys("a", "b").lock == "mqctl:{a/b}:lock"
