"""mqctl dies before one step after the other; what comes of it is the same as if it had lived."""

from __future__ import annotations

import signal

import pytest

from tests.bed import Host
from tests.states.scenes import cycle
from tests.states.shape import shape
from tests.support.looks import container_ids, volumes
from tests.support.operators import Operator

COMPOSE = {
    "services": {
        "web": {
            "image": "acme/killed:1",
            "volumes": ["./app:/src:ro", "./site.conf:/site.conf:ro", "data:/data"],
        }
    },
    "volumes": {"data": {}},
}


@pytest.fixture(scope="module")
def owner(resident: Operator) -> Operator:
    """Somebody with a Playground that needs every step there is to come up."""
    resident.bed.registry.push("acme/killed:1", marker="killed")
    resident.bed.git.repo("acme/killed").commit({"README": "one\n"})
    resident.prop("shop", "acme/killed")
    checkouts = {"app": {"prop": "shop"}}
    resident.playspec("site", COMPOSE, {"site.conf": "one\n"}, checkouts=checkouts)
    resident.playground("demo", "site")
    resident.hosts["east-1"].docker("rmi", "-f", "acme/killed:1", check=False)
    return resident


def die_before(operator: Operator, step: str) -> None:
    """A cycle that is killed when all checks of a step have passed, and its lease that runs out."""
    hook = f"step.sending/{step}=KILL"
    killed = operator.start("reconcile", "east-1", hooks=[hook]).wait()
    assert killed.code == -signal.SIGKILL, killed
    assert killed.steps()[-1] == step
    operator.bed.redis.cli("DEL", operator.key("lock"), operator.key("owner"))


def nothing_is_left_over(operator: Operator) -> None:
    """No temporary file, no credential, no unfinished command."""
    assert not list((operator.place() / ".trash").iterdir())
    assert not list(operator.place().glob("projects/*/.mqctl/next"))


def ends_well(operator: Operator) -> None:
    """The next cycle finishes the work, and the one after it finds nothing to do."""
    finished = cycle(operator)
    assert (finished.code, finished.outcome()) == (0, "changed"), finished
    quiet = cycle(operator)
    assert (quiet.code, quiet.outcome()) == (0, "unchanged"), quiet
    nothing_is_left_over(operator)


@pytest.mark.timeout(400)
def test_killed_before_each_step_of_coming_up(owner: Operator, east: Host) -> None:
    # The first record is that of the staged input, the second that of the apply.
    for step in ("clone", "record", "pull", "begin", "up", "record"):
        die_before(owner, step)
    ends_well(owner)
    owner.playground("calm", "site")
    calm = cycle(owner)
    assert calm.fate("playground/calm") == ("up", "missing", "done"), calm
    assert shape(owner, east, "demo") == shape(owner, east, "calm")


@pytest.mark.timeout(400)
def test_killed_before_each_step_of_moving_to_a_new_commit(owner: Operator, east: Host) -> None:
    before = container_ids(east)
    # Only the Playground whose turn comes first meets its death; the other one comes after it.
    owner.bed.git.repo("acme/killed").commit({"README": "two\n"})
    for step in ("fetch and move", "begin", "up", "record"):
        die_before(owner, step)
    ends_well(owner)
    assert (owner.directory("demo") / "app" / "README").read_text() == "two\n"
    assert shape(owner, east, "demo") == shape(owner, east, "calm")
    after = container_ids(east)
    assert after.keys() == before.keys()
    assert not set(after.values()) & set(before.values())


@pytest.mark.timeout(400)
def test_killed_before_each_step_of_going(owner: Operator, east: Host) -> None:
    name = owner.project("demo")
    for one in owner.marquee()["playgrounds"].values():
        one["expires_at"] = "2024-01-01T00:00:00Z"
    owner.marquee()["playgrounds"]["calm"]["hold"] = True
    for step in ("tombstone", "down", "remove directory"):
        die_before(owner, step)
    ends_well(owner)
    assert not owner.directory("demo").exists()
    assert (owner.place() / "tombstones" / name).exists()
    assert not [one for one in container_ids(east) if one.startswith(name)]
    assert f"{name}_data" not in volumes(east)
    assert f"{name}_default" not in east.docker("network", "ls", "--format", "{{.Name}}")
    assert f"{owner.project('calm')}-web-1" in container_ids(east)
