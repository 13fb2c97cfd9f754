"""Each script sent twice, sent late, and sent by a user who may not run all of it."""

from __future__ import annotations

import time

import pytest

from mqctl.clock import Clock
from mqctl.errors import LockLost, MqctlError, Refused
from mqctl.lock import break_lock, look, status
from mqctl.lock.answers import Answer
from mqctl.lock.scripts import ACQUIRE, BREAK, RELEASE, RENEW
from mqctl.model import RedisSettings
from mqctl.secret import SecretRef
from mqctl.store import ACL_COMMANDS, Store
from tests.lock.conftest import FLEET, KEYS, MARQUEE, take
from tests.lock.server import RedisServer

TOKEN = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"
NAME = "33333333-3333-4333-8333-333333333333"


def ask(store: Store, script: str, *args: str | int) -> Answer:
    return Answer.read(store.eval(script, KEYS.locking, args))


def acquire_once(store: Store, token: str = TOKEN, *, late_by_ms: int = -5000) -> Answer:
    not_after = store.time_ms() - late_by_ms
    return ask(store, ACQUIRE, token, 3000, not_after, NAME, "token", token, "renewals", "0")


def renew_once(store: Store, count: int, floor: str = "") -> Answer:
    owner = ("token", TOKEN, "renewals", str(count))
    return ask(store, RENEW, TOKEN, 3000, count, 1, floor, "images", "now", *owner)


def test_acquire_twice_is_acquired_once(server: RedisServer, store: Store) -> None:
    first, second = acquire_once(store), acquire_once(store)
    assert first.word == second.word == "acquired"
    assert first.rest == second.rest == (b"1", NAME.encode())
    assert server.hand.get(KEYS.fence) == "1"


def test_an_acquisition_whose_owner_was_deleted_is_still_found(
    server: RedisServer, store: Store
) -> None:
    acquire_once(store)
    server.hand.delete(KEYS.owner)
    answer = acquire_once(store)
    assert (answer.word, answer.rest[0]) == ("acquired", b"2")
    assert server.hand.hget(KEYS.owner, "fence") == "2"


def test_acquire_too_late_takes_nothing(server: RedisServer, store: Store) -> None:
    assert acquire_once(store, late_by_ms=1).word == "late"
    assert server.hand.keys("*") == []


def test_acquire_too_late_still_finds_its_own_token(store: Store) -> None:
    acquire_once(store)
    assert acquire_once(store, late_by_ms=1).word == "acquired"
    assert acquire_once(store, OTHER, late_by_ms=1).word == "held"


@pytest.mark.parametrize("floor", ["", "41"])
def test_renew_twice_is_renewed_once(server: RedisServer, store: Store, floor: str) -> None:
    acquire_once(store)
    first, second = renew_once(store, 1, floor), renew_once(store, 1, floor)
    assert first.word == second.word == "renewed"
    assert first.rest == second.rest
    assert server.hand.get(KEYS.fence) == ("42" if floor else "1")


def test_a_renewal_without_a_time_to_live_would_delete_the_lock_and_is_refused(
    server: RedisServer, store: Store
) -> None:
    acquire_once(store)
    with pytest.raises(MqctlError):
        ask(store, RENEW, TOKEN, 0, 1, 1, "", "images", "now", "token", TOKEN)
    assert server.hand.get(KEYS.lock) == TOKEN


def test_release_twice_is_released_once_and_touches_no_successor(
    server: RedisServer, store: Store
) -> None:
    acquire_once(store)
    assert ask(store, RELEASE, TOKEN).word == "released"
    assert ask(store, RELEASE, TOKEN).word == "gone"
    acquire_once(store, OTHER)
    assert ask(store, RELEASE, TOKEN).word == "gone"
    assert server.hand.get(KEYS.lock) == OTHER


def test_break_twice_breaks_once(server: RedisServer, store: Store) -> None:
    acquire_once(store)
    seen = look(store, FLEET, MARQUEE)
    again = (seen.mark, seen.renewals_text, NAME, "by", "me")
    assert ask(store, BREAK, *again).word == "cleared"
    assert ask(store, BREAK, *again).word == "free"
    acquire_once(store, OTHER)
    assert ask(store, BREAK, *again).word == "changed"
    assert server.hand.get(KEYS.lock) == OTHER
    assert server.hand.get(KEYS.fence) == "3"


# --------------------------------------------------------------------------- the ACL user


def acl_store(server: RedisServer, commands: tuple[str, ...]) -> Store:
    rules = ["reset", "on", ">opensesame", "resetchannels", "~mqctl:*", "-@all"]
    with server.store() as operator:
        operator.call("ACL", "SETUSER", "mq", *rules, *(f"+{one}" for one in commands))
    settings = RedisSettings(
        f"redis://mq@127.0.0.1:{server.port}/0", password=SecretRef(env="MQ_PASSWORD")
    )
    return Store.open(settings, clock=Clock(), environ={"MQ_PASSWORD": "opensesame"})


def test_the_documented_acl_user_can_do_everything(server: RedisServer) -> None:
    with acl_store(server, ACL_COMMANDS) as store:
        lease = take(store)
        lease.renew("images", floor=41)
        assert status(store, FLEET, [MARQUEE])[0].fence == 42
        assert lease.release().released
        lease = take(store)
        seen = look(store, FLEET, MARQUEE)
        assert break_lock(store, FLEET, seen, who="me", reason="test", force=True)
        with pytest.raises(LockLost):
            lease.renew("images")
        memory = store.memory(FLEET, MARQUEE)
        memory.history_add({"event": "cycle"})
        assert len(memory.history()) == 3
        memory.set_pending(1)
        memory.put_seen({"a": 1.0})
        memory.put_last(1, "{}")
        memory.strike(time.time())
        assert (memory.pending(), memory.seen(), memory.last()) == (1, {"a": 1.0}, "{}")
        assert memory.clear_pending(2)
        memory.clear_strikes()
        assert store.dispatch_window("abc", 1)


@pytest.mark.parametrize("missing", ["eval", "time", "type", "set", "del", "hset", "pexpire"])
def test_a_permission_that_is_missing_half_way_leaves_no_lock(
    server: RedisServer, missing: str
) -> None:
    with acl_store(server, tuple(one for one in ACL_COMMANDS if one != missing)) as store:
        with pytest.raises(Refused) as refused:
            take(store)
        assert "+" + missing in refused.value.fix
    assert server.hand.get(KEYS.lock) is None


def test_other_keys_are_out_of_reach(server: RedisServer) -> None:
    with acl_store(server, ACL_COMMANDS) as store, pytest.raises(Refused):
        store.call("GET", "somebody:elses")
