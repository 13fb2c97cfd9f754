"""Answers that get lost, requests that come late, servers that freeze, fill up or say no."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

import pytest

from mqctl.cancel import CancelToken
from mqctl.errors import Cancelled, LockLost, Unreachable
from mqctl.lock import HeldBy
from mqctl.store import AnswerLost
from tests.lock.conftest import KEYS, JumpingClock, take
from tests.lock.proxy import Proxy
from tests.lock.server import RedisServer

TIMEOUT = 0.4
ACQUIRE = b"local token, ttl, not_after"
RENEW = b"local mine, floor"
RELEASE = b"'released'"


# --------------------------------------------------------------------------- acquire


def test_a_lock_whose_answer_was_lost_is_ours_and_counts_from_the_first_request(
    server: RedisServer,
) -> None:
    with (
        Proxy(server.port, ACQUIRE, lose_reply=True) as proxy,
        server.store(proxy.url, timeout=TIMEOUT) as store,
    ):
        before = time.monotonic()
        lease = take(store, ttl=5)
        took = time.monotonic() - before
        assert server.hand.get(KEYS.lock) == lease.token
        assert server.hand.get(KEYS.fence) == "1", "it was looked for, not asked for again"
        assert lease.left() <= 5 - took
        lease.renew("images")


def test_a_request_that_is_delivered_late_takes_nothing(server: RedisServer) -> None:
    with (
        Proxy(server.port, ACQUIRE, delay=True) as proxy,
        server.store(proxy.url, timeout=TIMEOUT) as store,
    ):
        with pytest.raises(Unreachable):
            take(store)
        proxy.let_go.set()
        assert proxy.delivered.wait(5)
        time.sleep(0.1)
        assert server.hand.keys("*") == []


def test_a_request_on_its_way_is_waited_for(server: RedisServer) -> None:
    with (
        Proxy(server.port, ACQUIRE, delay=True) as proxy,
        server.store(proxy.url, timeout=TIMEOUT) as store,
    ):
        threading.Timer(TIMEOUT / 2, proxy.let_go.set).start()
        lease = take(store, ttl=5)
        assert server.hand.get(KEYS.lock) == lease.token


def test_a_request_that_overtakes_a_release_is_not_reported_as_somebody_elses(
    server: RedisServer,
) -> None:
    with (
        server.store() as direct,
        Proxy(server.port, ACQUIRE, delay=True) as proxy,
        server.store(proxy.url, timeout=TIMEOUT) as store,
    ):
        other = take(direct)

        def release_then_deliver() -> None:
            other.release()
            proxy.let_go.set()

        threading.Timer(TIMEOUT / 2, release_then_deliver).start()
        lease = take(store, ttl=5)
        assert server.hand.get(KEYS.lock) == lease.token


def test_somebody_elses_lock_is_told_when_that_is_certain(server: RedisServer) -> None:
    with (
        server.store() as direct,
        Proxy(server.port, ACQUIRE, lose_reply=True) as proxy,
        server.store(proxy.url, timeout=TIMEOUT) as store,
    ):
        other = take(direct)
        with pytest.raises(HeldBy) as held:
            take(store)
        assert held.value.holder.token == other.token


def test_cancelled_while_settling_leaves_no_lock(server: RedisServer) -> None:
    cancel = CancelToken()
    with (
        Proxy(server.port, ACQUIRE, lose_reply=True, before=cancel.cancel) as proxy,
        server.store(proxy.url, timeout=TIMEOUT) as store,
        pytest.raises(Cancelled),
    ):
        take(store, cancel=cancel)
    assert server.hand.get(KEYS.lock) is None
    assert server.hand.get(KEYS.fence) == "1", "it was taken, and given back"


def test_cancelled_while_the_request_is_on_its_way_leaves_no_lock(server: RedisServer) -> None:
    cancel = CancelToken()
    with (
        Proxy(server.port, ACQUIRE, delay=True, before=cancel.cancel) as proxy,
        server.store(proxy.url, timeout=TIMEOUT) as store,
    ):
        threading.Timer(TIMEOUT / 2, proxy.let_go.set).start()
        with pytest.raises(Cancelled):
            take(store, cancel=cancel)
        time.sleep(0.1)
    assert server.hand.get(KEYS.lock) is None


def test_a_lease_that_is_over_when_it_is_found_is_given_back(server: RedisServer) -> None:
    with (
        Proxy(server.port, ACQUIRE, lose_reply=True) as proxy,
        server.store(proxy.url, timeout=1.0) as store,
    ):
        with pytest.raises(Unreachable, match="longer"):
            take(store, ttl=1.17)  # covers 0.99 s, and the answer was waited for for 1 s
        assert server.hand.get(KEYS.lock) is None


def test_a_frozen_redis_ends_the_attempt_in_time_and_takes_nothing_afterwards(
    own_server: RedisServer,
) -> None:
    with (
        Proxy(own_server.port, ACQUIRE, before=own_server.freeze) as proxy,
        own_server.store(proxy.url, timeout=TIMEOUT) as store,
    ):
        before = time.monotonic()
        with pytest.raises(AnswerLost, match="in time") as lost:
            take(store)
        assert time.monotonic() - before < 5 * TIMEOUT
        assert "ends by itself" in lost.value.why
        own_server.thaw()
        time.sleep(0.1)
        assert own_server.hand.get(KEYS.lock) is None


def test_the_whole_acquisition_ends_when_nothing_answers_any_more(tmp_path: Path) -> None:
    server = RedisServer(tmp_path)
    with Proxy(server.port, ACQUIRE, before=server.stop) as proxy:
        store = server.store(proxy.url, timeout=TIMEOUT)
        before = time.monotonic()
        with pytest.raises(Unreachable):
            take(store)
        assert time.monotonic() - before < 5 * TIMEOUT


# --------------------------------------------------------------------------- renew and release


def test_a_renewal_without_an_answer_is_a_loss_and_the_lock_is_still_given_back(
    server: RedisServer,
) -> None:
    with (
        Proxy(server.port, RENEW, lose_reply=True) as proxy,
        server.store(proxy.url, timeout=TIMEOUT) as store,
    ):
        lease = take(store)
        with pytest.raises(LockLost):
            lease.renew("images")
        with pytest.raises(LockLost):
            lease.renew("images")
        assert lease.left() <= 0
        assert lease.release().released
    assert server.hand.get(KEYS.lock) is None


def test_a_renewal_that_arrives_after_the_release_revives_nothing(server: RedisServer) -> None:
    with (
        Proxy(server.port, RENEW, delay=True) as proxy,
        server.store(proxy.url, timeout=TIMEOUT) as store,
    ):
        lease = take(store)
        with pytest.raises(LockLost):
            lease.renew("images")
        assert lease.release().released
        proxy.let_go.set()
        assert proxy.delivered.wait(5)
        time.sleep(0.1)
    assert server.hand.get(KEYS.lock) is None
    assert server.hand.get(KEYS.owner) is None


def test_a_confirmation_that_comes_when_the_lease_is_over_is_a_loss(server: RedisServer) -> None:
    clock = JumpingClock()

    def sleep_on_it() -> None:
        clock.slept = 3600

    with (
        Proxy(server.port, RENEW, before=sleep_on_it) as proxy,
        server.store(proxy.url) as store,
    ):
        lease = take(store, ttl=900, clock=clock)
        with pytest.raises(LockLost, match="too late"):
            lease.renew("images")
        assert lease.release().released


def test_an_interrupted_renewal_is_a_loss(server: RedisServer) -> None:
    me = threading.get_ident()
    with (
        Proxy(
            server.port,
            RENEW,
            lose_reply=True,
            before=lambda: signal.pthread_kill(me, signal.SIGINT),
        ) as proxy,
        server.store(proxy.url) as store,
    ):
        lease = take(store)
        with pytest.raises(KeyboardInterrupt):
            lease.renew("images")
        with pytest.raises(LockLost, match="interrupted"):
            lease.renew("images")
        assert lease.release().released


def test_a_release_without_an_answer_is_confirmed_over_a_second_connection(
    server: RedisServer,
) -> None:
    with (
        Proxy(server.port, RELEASE, lose_reply=True) as proxy,
        server.store(proxy.url, timeout=TIMEOUT) as store,
    ):
        released = take(store).release()
        assert released.released
        assert "second connection" in released.detail


def test_a_frozen_redis_is_a_loss_within_the_timeout(own_server: RedisServer) -> None:
    with own_server.store(timeout=TIMEOUT) as store:
        lease = take(store)
        own_server.freeze()
        before = time.monotonic()
        with pytest.raises(LockLost, match="in time"):
            lease.renew("images")
        assert time.monotonic() - before < 2 * TIMEOUT
        released = lease.release()
        assert not released.released
        assert "ends by itself" in released.detail
        assert time.monotonic() - before < 4 * TIMEOUT
        own_server.thaw()
        time.sleep(0.2)
        assert own_server.hand.get(KEYS.lock) is None, "the release that was on its way came"


def test_an_idle_connection_that_redis_closed_is_no_doubt(server: RedisServer) -> None:
    with server.store() as store:
        lease = take(store)
        server.hand.client_kill_filter(_type="normal", skipme=True)
        lease.renew("images")
        assert lease.release().released


def test_a_redis_that_is_gone_is_a_loss(tmp_path: Path) -> None:
    with RedisServer(tmp_path) as server:
        store = server.store()
        lease = take(store)
    with pytest.raises(LockLost, match="cannot be reached"):
        lease.renew("images")
    assert not lease.release().released
