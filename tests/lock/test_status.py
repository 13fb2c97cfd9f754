"""Every state of a lock, whatever stands in whichever key; and the proof that a holder is dead."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from mqctl.lock import LockStatus, Machine, Owner, State, break_lock, look, proven_dead, status
from mqctl.lock.owner import start_of
from mqctl.store import Keys, Store
from tests.lock.conftest import FLEET, KEYS, MARQUEE, TTL, take
from tests.lock.server import RedisServer

TOKEN = "11111111-1111-4111-8111-111111111111"
HERE = Machine("boot-1", "pid:[1]")
GARBAGE: dict[str, str | bytes] = {
    "token": TOKEN,
    "host": b"\xff\xff",
    "pid": "-",
    "fence": "x",
    "renewals": "nan",
}
OWNER = {"token": TOKEN, "boot_id": "boot-1", "pid_ns": "pid:[1]", "pid": "4711", "start": "100"}


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


# --------------------------------------------------------------------------- proof of death


def test_a_holder_that_was_killed_is_stale_and_can_be_broken(
    server: RedisServer, store: Store
) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, server.url], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    token = holder.stdout.readline().strip()
    assert seen(store).state is State.HELD
    holder.kill()
    holder.wait()
    holder.stdout.close()
    one = seen(store)
    assert (one.state, one.token) == (State.STALE, token)
    assert break_lock(store, FLEET, one, who="me", reason="it crashed")


HOLD = f"""
import sys, time
from mqctl.cancel import CancelToken
from mqctl.clock import Clock
from mqctl.lock import Owner, acquire
from mqctl.model import RedisSettings
from mqctl.store import Store
store = Store.open(RedisSettings(sys.argv[1]), clock=Clock())
lease = acquire(store, {FLEET!r}, {MARQUEE!r}, Owner.here("x"), ttl=60, clock=Clock(),
                cancel=CancelToken())
print(lease.token, flush=True)
time.sleep(60)
"""


def gone(_pid: int) -> str | None:
    return None


def another(_pid: int) -> str | None:
    return "101"


def the_same(_pid: int) -> str | None:
    return "100"


def hidden(_pid: int) -> str | None:
    return ""


@pytest.mark.parametrize("process", [gone, another])
def test_no_such_process_or_another_one_proves_it(process: Callable[[int], str | None]) -> None:
    assert proven_dead(TOKEN, OWNER, HERE, process)


@pytest.mark.parametrize("process", [the_same, hidden])
def test_the_same_process_or_a_hidden_one_is_alive(process: Callable[[int], str | None]) -> None:
    assert not proven_dead(TOKEN, OWNER, HERE, process)


@pytest.mark.parametrize(
    "change",
    [
        {"token": "another"},
        {"boot_id": "boot-2"},
        {"boot_id": ""},
        {"pid_ns": "pid:[2]"},
        {"pid_ns": ""},
        {"pid": ""},
        {"pid": "0"},
        {"pid": "-1"},
        {"pid": "9" * 30},
        {"start": ""},
        {"start": "x"},
    ],
    ids=str,
)
def test_whatever_cannot_be_told_is_alive(change: dict[str, str]) -> None:
    assert not proven_dead(TOKEN, OWNER | change, HERE, gone)


def test_a_machine_that_does_not_know_itself_proves_nothing() -> None:
    assert not proven_dead(TOKEN, OWNER | {"boot_id": "", "pid_ns": ""}, Machine(), gone)
    assert not proven_dead("", OWNER | {"token": ""}, HERE, gone)


def test_this_process_knows_itself() -> None:
    owner = Owner.here("mqctl")
    assert owner.machine == Machine.here() != Machine()
    assert owner.start == start_of(os.getpid()) != ""
    assert not proven_dead(TOKEN, owner.fields() | {"token": TOKEN}, Machine.here())


def test_a_name_with_parentheses_does_not_confuse_the_start_time() -> None:
    code = "open('/proc/self/comm','w').write(') 1 2 3 ('); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        start = start_of(child.pid)
        assert start is not None
        assert int(start) >= int(start_of(os.getpid()) or 0)
        child.communicate(b"\n")
    assert start_of(child.pid) is None


def test_two_marquees_do_not_share_a_key() -> None:
    assert not set(Keys("a", "b").locking) & set(Keys("a", "c").locking)
    assert Keys("a", "b").lock == "mqctl:{a/b}:lock"
