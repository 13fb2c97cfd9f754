"""Uncommitted work of every kind survives every decision, byte for byte."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.bed import Host
from tests.support.looks import container_ids, running, tree
from tests.support.operators import Operator
from tests.support.ran import Ran

COMPOSE = {
    "services": {
        "web": {
            "image": "nginx:alpine",
            "volumes": ["./app:/src:ro"],
            "environment": {"LEVEL": "${LEVEL}"},
        }
    }
}
# Run in the checkout, on main, whose last two commits both wrote README.
WORK = {
    "tracked": "echo changed >>README",
    "untracked": "echo new >new.txt",
    "staged": "echo staged >staged.txt && git add staged.txt",
    "stashed": "echo stashed >>README && git stash -q",
    "committed": "echo mine >mine.txt && git add mine.txt && git commit -qm mine",
    "rebasing": "git checkout -qb mine HEAD~1 && echo other >README && git commit -qam other"
    " && ! git rebase -q main 2>/dev/null",
}
IDENTITY = "export GIT_AUTHOR_NAME=me GIT_AUTHOR_EMAIL=me@example.com"
IDENTITY += " GIT_COMMITTER_NAME=me GIT_COMMITTER_EMAIL=me@example.com"


@pytest.fixture(scope="module")
def at_work(resident: Operator) -> Operator:
    """A Playground for each kind of work, all running, and somebody at work in each checkout."""
    repo = resident.bed.git.repo("acme/dirty")
    repo.commit({"README": "one\n"})
    repo.commit({"README": "two\n"})
    repo.branch("feature")
    repo.commit({"FEATURE": "yes\n"}, "feature")
    resident.prop("shop", "acme/dirty")
    env = {"LEVEL": "1"}
    resident.playspec("site", COMPOSE, checkouts={"app": {"prop": "shop"}}, env=env)
    resident.declared["policy"]["rollout_budget"] = 10
    for name in WORK:
        resident.playground(name, "site")
    first = resident.reconcile()
    assert (first.code, first.outcome()) == (0, "changed"), first
    host = resident.hosts["east-1"]
    for name, work in WORK.items():
        host.sh(f"cd {resident.directory(name)}/app && {IDENTITY} && {work}")
    return resident


def playgrounds(operator: Operator) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = operator.marquee()["playgrounds"]
    return found


def force_push(operator: Operator) -> Ran:
    operator.bed.git.repo("acme/dirty").force_push({"README": "rewritten\n"})
    ran = operator.reconcile()
    for name in WORK:
        assert ran.fate(f"checkout/{name}/app", "branches") == ("skip", "dirty", "skipped")
    return ran


def declare_another_branch(operator: Operator) -> Ran:
    for one in playgrounds(operator).values():
        one["branches"] = {"app": "feature"}
    ran = operator.reconcile()
    for name in WORK:
        assert ran.fate(f"checkout/{name}/app", "branches") == ("skip", "dirty", "skipped")
    return ran


def change_the_env(operator: Operator) -> Ran:
    operator.declared["playspecs"]["site"]["env"] = {"LEVEL": "2"}
    ran = operator.reconcile("--now")
    for name in WORK:
        assert ran.fate(f"playground/{name}") == ("skip", "dirty", "skipped")
    return ran


def let_them_expire(operator: Operator) -> Ran:
    for one in playgrounds(operator).values():
        one["expires_at"] = "2024-01-01T00:00:00Z"
    ran = operator.reconcile()
    for one in playgrounds(operator).values():
        del one["expires_at"]
    for name in WORK:
        assert ran.fate(f"playground/{name}") == ("park", "dirty", "skipped")
    return ran


def declare_them_stopped(operator: Operator) -> Ran:
    for one in playgrounds(operator).values():
        one["status"] = "stopped"
    ran = operator.reconcile()
    for name in WORK:
        assert ran.fate(f"playground/{name}") == ("stop", "declared-stopped", "done")
    assert running(operator.hosts["east-1"]) == set()
    return ran


def declare_them_no_more(operator: Operator) -> Ran:
    operator.marquee()["playgrounds"] = {}
    ran = operator.run("sweep", "east-1", "--yes", "--allow-empty", "--allow-many", "--volumes")
    for name in WORK:
        fate = ran.fate(f"orphan/{operator.project(name)}")
        assert fate == ("skip", "dirty", "skipped")
    return ran


@pytest.mark.parametrize(
    "decide",
    [
        force_push,
        declare_another_branch,
        change_the_env,
        let_them_expire,
        declare_them_stopped,
        declare_them_no_more,
    ],
)
def test_a_dirty_checkout_survives_every_decision_byte_for_byte(
    at_work: Operator, east: Host, decide: Callable[[Operator], Ran]
) -> None:
    before = {name: tree(at_work.directory(name) / "app") for name in WORK}
    containers = container_ids(east)
    ran = decide(at_work)
    assert ran.code == 0, ran
    assert {name: tree(at_work.directory(name) / "app") for name in WORK} == before
    assert container_ids(east) == containers
