"""Other people's Compose projects as Playgrounds of one Marquee."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.bed import Host
from tests.support.looks import container_ids, mutating_calls, running
from tests.support.operators import Operator

CASES = Path(__file__).parents[1] / "cases" / "compose"


def declare_case(operator: Operator, name: str, case: str, *files: str) -> None:
    shutil.copytree(CASES / case, operator.folder / case)
    spec = {"compose_file": f"{case}/compose.yaml"} | ({"files": list(files)} if files else {})
    operator.declared["playspecs"][case] = spec
    operator.playground(name, case)


def test_two_projects_run_and_the_two_that_need_their_ports_are_refused_alone(
    operator: Operator, east: Host
) -> None:
    declare_case(operator, "forge", "gitea-postgres")
    declare_case(operator, "cloud", "nextcloud-redis-mariadb")

    first = operator.reconcile()
    assert (first.code, first.outcome()) == (0, "changed"), first
    assert first.fate("playground/forge") == ("up", "missing", "done")
    assert first.fate("playground/cloud") == ("up", "missing", "done")
    assert len(running(east)) == 5

    east.reset_counts()
    second = operator.reconcile()
    assert (second.code, second.outcome()) == (0, "unchanged"), second
    assert second.cycle()["counters"]["guarded_commands"] == 0
    assert mutating_calls(east) == []

    declare_case(operator, "board", "prometheus-grafana", "prometheus", "grafana")
    declare_case(operator, "blog", "wordpress-mysql")
    before = container_ids(east)
    for cycle in ("the one that stages them", "each later one"):
        east.reset_counts()
        refused = operator.reconcile()
        assert refused.code == 1, refused
        for name, port, holder in (("board", 3000, "forge-gitea"), ("blog", 80, "cloud-nc")):
            assert refused.fate(f"playground/{name}") == ("skip", "port-taken", "failed")
            detail = refused.decision(f"playground/{name}")["detail"]
            assert f"port {port}/tcp is taken by {operator.project(holder)}-1" in detail
        assert refused.done() == set()
        assert mutating_calls(east) == [], cycle
        assert container_ids(east) == before
    assert refused.cycle()["counters"]["guarded_commands"] == 0
