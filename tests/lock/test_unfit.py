"""A Redis that answers, and says no."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from mqctl.errors import LockLost
from mqctl.lock import break_lock, look
from mqctl.store import Unfit
from tests.lock.conftest import FLEET, KEYS, MARQUEE, take
from tests.lock.server import RedisServer


def test_a_primary_that_became_a_replica_is_a_loss(
    server: RedisServer, own_server: RedisServer
) -> None:
    with own_server.store() as store:
        lease = take(store)
        store.call("REPLICAOF", "127.0.0.1", server.port)
        with pytest.raises(LockLost):
            lease.renew("images")


def test_a_replica_gives_no_lock(server: RedisServer, own_server: RedisServer) -> None:
    with own_server.store() as store:
        store.call("REPLICAOF", "127.0.0.1", server.port)
        _until(lambda: own_server.hand.info("replication")["master_link_status"] == "up")
        with pytest.raises(Unfit, match="read-only replica"):
            take(store)
        assert look(store, FLEET, MARQUEE).state == "free", "looking works there"


def test_out_of_memory_gives_no_lock_but_lets_its_holder_go_on(own_server: RedisServer) -> None:
    with own_server.store() as store:
        lease = take(store)
        own_server.hand.config_set("maxmemory-policy", "noeviction")
        own_server.hand.config_set("maxmemory", 1)
        lease.renew("images")
        lease.renew("raise", floor=9)
        assert lease.release().released
        with pytest.raises(Unfit, match="out of memory"):
            take(store)
        assert own_server.hand.get(KEYS.lock) is None
        assert own_server.hand.get(KEYS.fence) == "10"


def test_a_lock_can_be_broken_when_memory_is_out(own_server: RedisServer) -> None:
    with own_server.store() as store:
        take(store)
        own_server.hand.config_set("maxmemory-policy", "noeviction")
        own_server.hand.config_set("maxmemory", 1)
        broken = break_lock(
            store, FLEET, look(store, FLEET, MARQUEE), who="me", reason="", force=True
        )
        assert broken is not None
        assert broken.number == 2


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
