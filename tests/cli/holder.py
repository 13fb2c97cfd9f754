"""Holds a lock until its standard input ends: ``python -m tests.cli.holder REDIS-URL MARQUEE``."""

from __future__ import annotations

import sys

from mqctl.cancel import CancelToken
from mqctl.clock import Clock
from mqctl.lock import Owner, acquire
from mqctl.model import RedisSettings
from mqctl.store import Store


def main(url: str, marquee: str) -> None:
    clock = Clock()
    with Store.open(RedisSettings(url), clock=clock) as store:
        owner = Owner.here("mqctl reconcile --all")
        lease = acquire(store, "acme", marquee, owner, ttl=60.0, clock=clock, cancel=CancelToken())
        lease.renew("playgrounds")
        sys.stdout.write(f"{lease.token}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
