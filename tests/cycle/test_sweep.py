"""What nothing declares any more goes, if it is proven to be ours; nothing else does."""

from __future__ import annotations

import time

from tests.bed import Host
from tests.support.looks import container_ids, running, volumes
from tests.support.operators import Operator
from tests.support.orphans import leave

COMPOSE = {
    "services": {"web": {"image": "nginx:alpine", "volumes": ["data:/data"]}},
    "volumes": {"data": {}},
}


def test_an_orphan_goes_in_a_cycle_after_its_grace_and_its_volumes_stay(
    operator: Operator, east: Host
) -> None:
    operator.playspec("web", COMPOSE)
    for name in ("kept", "old"):
        operator.playground(name, "web")
    assert operator.reconcile().code == 0
    operator.declared["policy"]["orphan_grace"] = "30s"
    del operator.marquee()["playgrounds"]["old"]
    subject = f"orphan/{operator.project('old')}"

    waits = operator.reconcile()
    assert (waits.code, waits.outcome()) == (0, "unchanged"), waits
    assert waits.fate(subject) == ("skip", "grace", "skipped")

    operator.declared["policy"]["orphan_grace"] = "1s"
    time.sleep(1)
    swept = operator.reconcile()
    assert (swept.code, swept.outcome()) == (0, "changed"), swept
    assert swept.fate(subject) == ("remove", "orphan", "done")
    assert running(east) == {f"{operator.project('kept')}-web-1"}
    assert volumes(east) == {operator.project(name) + "_data" for name in ("kept", "old")}
    assert not operator.directory("old").exists()


def test_a_sweep_asks_for_a_word_keeps_foreign_files_and_takes_volumes_only_when_told(
    operator: Operator, east: Host
) -> None:
    operator.declared["policy"]["orphan_grace"] = "10m"  # a sweep by hand does not wait for it
    operator.playspec("web", COMPOSE)
    for name in ("kept", "old", "older"):
        operator.playground(name, "web")
    assert operator.reconcile().code == 0
    before = container_ids(east)
    del operator.marquee()["playgrounds"]["old"]
    (operator.directory("old") / "database").mkdir()
    (operator.directory("old") / "database" / "rows").write_text("precious")

    silent = operator.run("sweep", "east-1")
    assert silent.code == 2, silent
    planned = operator.run("sweep", "east-1", "--dry-run")
    subject = f"orphan/{operator.project('old')}"
    assert planned.fate(subject) == ("remove", "orphan", "planned")
    assert container_ids(east) == before

    swept = operator.run("sweep", "east-1", "--yes")
    assert swept.code == 0, swept
    assert swept.fate(subject) == ("remove", "foreign-files", "done")
    assert "database" in swept.decision(subject)["detail"]
    assert (operator.directory("old") / "database" / "rows").read_text() == "precious"
    assert f"{operator.project('old')}-web-1" not in container_ids(east)
    assert f"{operator.project('old')}_data" in volumes(east)

    del operator.marquee()["playgrounds"]["older"]
    swept = operator.run("sweep", "east-1", "--yes", "--volumes")
    assert swept.code == 0, swept
    assert not operator.directory("older").exists()
    assert f"{operator.project('older')}_data" not in volumes(east)
    assert running(east) == {f"{operator.project('kept')}-web-1"}


def test_fewer_than_three_proofs_are_listed_and_another_fleet_is_not_even_that(
    operator: Operator, east: Host
) -> None:
    operator.playspec("web", COMPOSE)
    operator.playground("kept", "web")
    assert operator.reconcile().code == 0
    unmarked, misnamed = operator.project("unmarked"), "somebody-elses"
    other = "other_east-1_demo"
    leave(operator, east, unmarked, marker=False)
    leave(operator, east, misnamed)
    leave(operator, east, other, fleet="other")
    before = container_ids(east)
    for ran in (operator.run("sweep", "east-1", "--yes", "--allow-many"), operator.reconcile()):
        assert ran.code == 0, ran
        for project, missing in ((unmarked, "owner marker"), (misnamed, "name")):
            assert ran.fate(f"orphan/{project}") == ("skip", "not-proven", "skipped")
            assert missing in ran.decision(f"orphan/{project}")["detail"]
        assert other not in ran.text
    assert container_ids(east) == before
    assert set(before) <= running(east)


def test_a_sweep_of_everything_is_refused_until_it_is_said_to_be_meant(
    operator: Operator, east: Host
) -> None:
    assert operator.reconcile().code == 0  # makes the root
    for number in range(4):
        leave(operator, east, operator.project(f"old{number}"))
    before = container_ids(east)
    empty = operator.run("sweep", "east-1", "--yes")
    assert empty.code == 1, empty
    assert {one["reason"] for one in empty.cycle()["decisions"]} == {"nothing-declared"}
    many = operator.run("sweep", "east-1", "--yes", "--allow-empty")
    assert many.code == 1, many
    assert {one["reason"] for one in many.cycle()["decisions"]} == {"too-many"}
    assert container_ids(east) == before
    meant = operator.run("sweep", "east-1", "--yes", "--allow-empty", "--allow-many")
    assert meant.code == 0, meant
    assert container_ids(east) == {}
