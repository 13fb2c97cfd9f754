"""Stopped as declared and back, on hold, parked and then expired."""

from __future__ import annotations

import time

import pytest

from tests.bed import Host
from tests.states.scenes import compose, cycle, only, states
from tests.support.looks import container_ids, running, volumes
from tests.support.operators import Operator

STORED = {
    "services": {"web": {"image": "nginx:alpine", "volumes": ["data:/data", "./app:/src:ro"]}},
    "volumes": {"data": {}},
}


@pytest.fixture(scope="module")
def settled(resident: Operator) -> Operator:
    """Four Playgrounds that run."""
    shop = resident.bed.git.repo("acme/stopping")
    shop.commit({"README": "one\n"})
    resident.prop("shop", "acme/stopping")
    resident.playspec("plain", compose("nginx:alpine"))
    checkouts = {"app": {"prop": "shop"}}
    resident.playspec("stored", STORED, checkouts=checkouts)
    resident.playspec("lasting", STORED, checkouts=checkouts, persist_volumes=True)
    for name in ("stops", "held"):
        resident.playground(name, "plain")
    for name in ("stored", "lasting"):
        resident.playground(name, name)
    first = cycle(resident)
    assert (first.code, first.outcome()) == (0, "changed"), first
    return resident


def test_stopped_keeps_the_containers_stays_quiet_and_comes_back_even_without_its_network(
    settled: Operator, east: Host
) -> None:
    web = f"{settled.project('stops')}-web-1"
    declared = settled.marquee()["playgrounds"]["stops"]
    before = container_ids(east)
    declared["status"] = "stopped"
    stopped = only(settled, "stops")
    assert stopped.fate("playground/stops") == ("stop", "declared-stopped", "done"), stopped
    assert states(east)[web] == "exited"
    quiet = only(settled, "stops")
    assert quiet.fate("playground/stops") == ("none", "declared-stopped", "done"), quiet

    east.docker("start", web)
    again = only(settled, "stops")
    assert again.fate("playground/stops") == ("stop", "declared-stopped", "done"), again
    assert container_ids(east) == before

    east.docker("network", "prune", "-f")  # takes networks that no running container uses
    declared["status"] = "active"
    back = only(settled, "stops")
    assert back.fate("playground/stops") == ("up", "was-stopped", "done"), back
    assert states(east)[web] == "running"
    assert only(settled, "stops").outcome() == "unchanged"


def test_a_hold_file_on_the_host_keeps_everything_as_it_is_and_its_text_is_the_reason(
    settled: Operator, east: Host
) -> None:
    web = f"{settled.project('held')}-web-1"
    hold = settled.directory("held") / ".mqctl" / "hold"
    hold.write_text("ann looks into \x1b[31mINC-7\n")
    east.docker("stop", "-t", "1", web)
    held = only(settled, "held")
    assert held.fate("playground/held") == ("skip", "on-hold", "skipped"), held
    detail = held.decision("playground/held")["detail"]
    assert "INC-7" in detail
    assert "0 of 1 containers run" in detail
    shown = settled.run("reconcile", "east-1", "-n", "--playground", "east-1/held", "-o", "text")
    assert "INC-7" in shown.text
    assert "\x1b" not in shown.text
    assert states(east)[web] == "exited"
    hold.unlink()
    rolled = only(settled, "held")
    assert rolled.fate("playground/held") == ("rollout", "exited", "done"), rolled


def test_what_is_parked_expires_as_soon_as_it_is_clean_and_keeps_the_volumes_that_persist(
    settled: Operator, east: Host
) -> None:
    work = [settled.directory(name) / "app" / "work.txt" for name in ("stored", "lasting")]
    for one in work:
        one.write_text("somebody's work\n")
    for name in ("stored", "lasting"):
        settled.marquee()["playgrounds"][name]["ttl"] = "1s"
    time.sleep(1)
    parked = cycle(settled, "--skip", "sweep")
    for name in ("stored", "lasting"):
        assert parked.fate(f"playground/{name}") == ("park", "dirty", "skipped"), parked
        assert f"{settled.project(name)}-web-1" in running(east)
    assert all(one.read_text() == "somebody's work\n" for one in work)
    assert (parked.code, parked.outcome()) == (0, "unchanged")

    for one in work:
        one.unlink()
    expired = cycle(settled, "--skip", "sweep")
    for name in ("stored", "lasting"):
        assert expired.fate(f"playground/{name}") == ("expire", "expired", "done"), expired
        assert not settled.directory(name).exists()
    assert {one for one in volumes(east) if one.endswith("_data")} == {
        f"{settled.project('lasting')}_data"
    }
    assert running(east) == {f"{settled.project(name)}-web-1" for name in ("stops", "held")}
