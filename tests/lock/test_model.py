"""Three clients, any order of operations, against a model of three lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from mqctl.errors import Held, LockLost
from mqctl.lock import Broken, HeldBy, Lease, LockStatus, break_lock, look
from mqctl.store import Store
from tests.lock.conftest import FLEET, KEYS, MARQUEE, take
from tests.lock.server import RedisServer

CLIENTS = st.sampled_from(["ann", "bob", "cid"])
FLOORS = st.one_of(st.none(), st.integers(0, 100))


class Lock(RuleBasedStateMachine):
    """``holder`` and ``fence`` are the model; ``leases`` is what each client believes."""

    server: ClassVar[RedisServer]
    stores: ClassVar[dict[str, Store]]

    @initialize()
    def empty(self) -> None:
        self.server.hand.flushall()
        self.holder: str | None = None
        self.fence = 0
        self.renewals = 0
        self.leases: dict[str, Lease] = {}
        self.shown: tuple[LockStatus, str | None, int] | None = None

    @rule(client=CLIENTS)
    def acquire(self, client: str) -> None:
        if client in self.leases:
            return
        if self.holder is not None:
            with pytest.raises(HeldBy) as held:
                take(self.stores[client], ttl=60)
            assert held.value.holder.token == self.leases[self.holder].token
            return
        lease = take(self.stores[client], ttl=60)
        self.leases[client], self.holder, self.renewals = lease, client, 0
        self.fence += 1
        assert lease.fence == self.fence

    @rule(client=CLIENTS, floor=FLOORS)
    def renew(self, client: str, floor: int | None) -> None:
        if client not in self.leases:
            return
        lease = self.leases[client]
        if self.holder == client:
            lease.renew("images", floor=floor)
            self.renewals += 1
            if floor is not None:
                self.fence = max(self.fence, floor) + 1
            assert lease.fence == self.fence
        else:
            with pytest.raises(LockLost):
                lease.renew("images", floor=floor)

    @rule(client=CLIENTS)
    def release(self, client: str) -> None:
        if client not in self.leases:
            return
        assert self.leases.pop(client).release().released == (self.holder == client)
        if self.holder == client:
            self.holder = None

    @precondition(lambda self: self.holder is not None)
    @rule()
    def expire(self) -> None:
        for key in (KEYS.lock, KEYS.owner):
            self.server.hand.pexpire(key, -1)
        self.holder = None

    @rule(client=CLIENTS)
    def look(self, client: str) -> None:
        seen = look(self.stores[client], FLEET, MARQUEE)
        self.shown = (seen, self.holder and self.leases[self.holder].token, self.renewals)

    @precondition(lambda self: self.shown is not None)
    @rule(client=CLIENTS)
    def break_what_was_shown(self, client: str) -> None:
        assert self.shown is not None
        seen, token, renewals = self.shown
        now = self.holder and self.leases[self.holder].token

        def attempt() -> Broken | None:
            store = self.stores[client]
            return break_lock(store, FLEET, seen, who=client, reason="", force=True)

        if token is None or now is None:
            assert attempt() is None
        elif (token, renewals) == (now, self.renewals):
            self.fence += 1
            done = attempt()
            assert done is not None
            assert done.number == self.fence
            self.holder = None
        else:
            with pytest.raises(Held):
                attempt()

    @invariant()
    def redis_agrees_with_the_model(self) -> None:
        hand = self.server.hand
        token = self.leases[self.holder].token if self.holder else None
        assert hand.get(KEYS.lock) == token
        assert hand.hget(KEYS.owner, "token") == token
        assert int(hand.get(KEYS.fence) or 0) == self.fence
        if self.holder:
            assert hand.hget(KEYS.owner, "fence") == str(self.fence)
            assert hand.hget(KEYS.owner, "renewals") == str(self.renewals)
            assert 0 < hand.pttl(KEYS.lock) <= 60_000

    @invariant()
    def the_holder_knows_it(self) -> None:
        assert self.holder is None or self.leases[self.holder].left() > 0


@pytest.fixture
def machine(server: RedisServer) -> Iterator[type[Lock]]:
    Lock.server = server
    Lock.stores = {name: server.store() for name in ("ann", "bob", "cid")}
    yield Lock
    for store in Lock.stores.values():
        store.close()


def test_any_order_of_operations_agrees_with_the_model(machine: type[Lock]) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=60,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
