"""Real servers, and short words for what every test of the lock does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mqctl.cancel import CancelToken
from mqctl.clock import Clock, Instant
from mqctl.lock import Lease, Owner, acquire
from mqctl.store import Keys, Store
from tests.lock.server import RedisServer

FLEET, MARQUEE = "acme", "east-1"
KEYS = Keys(FLEET, MARQUEE)
TTL = 3.0


@pytest.fixture(scope="session")
def _shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def server(_shared_server: RedisServer) -> RedisServer:
    """An empty Redis. Tests that break it use ``own_server``."""
    _shared_server.hand.flushall()
    return _shared_server


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis that a test may stop, fill up or turn into a replica."""
    with RedisServer(tmp_path) as server:
        yield server


@pytest.fixture
def store(server: RedisServer) -> Iterator[Store]:
    with server.store() as store:
        yield store


class JumpingClock(Clock):
    """The real clock of a laptop that slept for ``slept`` seconds."""

    slept = 0.0

    def instant(self) -> Instant:
        now = super().instant()
        return Instant(now.boot + self.slept, now.monotonic, now.wall + self.slept)


def take(
    store: Store,
    *,
    ttl: float = TTL,
    clock: Clock | None = None,
    cancel: CancelToken | None = None,
    command: str = "mqctl reconcile east-1",
) -> Lease:
    """Acquire the lock of the one Marquee that the tests know."""
    return acquire(
        store,
        FLEET,
        MARQUEE,
        Owner.here(command),
        ttl=ttl,
        clock=clock or Clock(),
        cancel=cancel or CancelToken(),
    )
