"""A Playground past its time goes; what shall stay, stays; and longer terms bring it back."""

from __future__ import annotations

import time

from tests.bed import Host
from tests.support.looks import running, volumes
from tests.support.operators import Operator

COMPOSE = {
    "services": {"db": {"image": "nginx:alpine", "volumes": ["data:/data"]}},
    "volumes": {"data": {}},
}


def test_an_expired_playground_goes_and_its_volumes_unless_they_persist_until_a_longer_ttl(
    operator: Operator, east: Host
) -> None:
    operator.playspec("fleeting", COMPOSE)
    operator.playspec("lasting", COMPOSE, persist_volumes=True)
    short, kept = (operator.playground(name, name, ttl="1s") for name in ("fleeting", "lasting"))
    first = operator.reconcile()
    assert (first.code, first.outcome()) == (0, "changed"), first
    time.sleep(1)

    expired = operator.reconcile()
    assert expired.code == 0, expired
    for name in ("fleeting", "lasting"):
        assert expired.fate(f"playground/{name}") == ("expire", "expired", "done")
        assert (operator.place() / "tombstones" / operator.project(name)).exists()
        assert not operator.directory(name).exists()
    assert running(east) == set()
    assert volumes(east) == {f"{operator.project('lasting')}_data"}

    later = operator.reconcile()
    assert (later.code, later.outcome()) == (0, "unchanged"), later
    assert later.fate("playground/fleeting") == ("none", "expired", "done")
    assert later.cycle()["counters"]["guarded_commands"] == 0

    short["ttl"] = "8h"
    revived = operator.reconcile()
    assert (revived.code, revived.outcome()) == (0, "changed"), revived
    assert revived.fate("playground/fleeting") == ("up", "missing", "done")
    assert not (operator.place() / "tombstones" / operator.project("fleeting")).exists()
    assert kept["ttl"] == "1s"
    assert running(east) == {f"{operator.project('fleeting')}-db-1"}
