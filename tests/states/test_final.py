"""Input that cannot work is tried once, reported every cycle, and tried again when it changes."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.bed import Host
from tests.states.scenes import compose, cycle, states
from tests.support.looks import running
from tests.support.operators import Operator
from tests.support.ran import Ran

UNKNOWN = "registry.example.com:5001/acme/unknown:1"
BUILT = {"services": {"web": {"build": {"context": ".", "network": "host"}}}}
NAMES = ("invalid", "unknown", "broken", "secret")


@dataclass
class Story:
    """Two cycles on input that cannot work, and one after it was corrected."""

    operator: Operator
    tried: Ran
    again: Ran
    running_meanwhile: set[str]
    corrected: Ran


@pytest.fixture(scope="module")
def story(resident: Operator) -> Story:
    """Declare four ways to be wrong beside one that is right; then correct them."""
    east = resident.hosts["east-1"]
    private = resident.bed.private_registry
    resident.environ["PW"] = "pw"
    account = {"username": "acme", "password": {"env": "PW"}}
    resident.declared["registries"] = {"private": {"host": "registry.example.com:5001"} | account}
    resident.playspec("good", compose("nginx:alpine"))
    resident.playspec("invalid", "services: {web: {image: [1]}}\n")
    resident.playspec("unknown", compose(UNKNOWN), registries=["private"])
    resident.playspec("broken", BUILT, {"Dockerfile": "FROM nginx:alpine\nRUN exit 7\n"})
    resident.playspec("secret", compose("nginx:alpine"), env={"TOKEN": {"env": "NO_SUCH"}})
    for name in ("good", *NAMES):
        resident.playground(name, name)
    tried = cycle(resident)
    again = cycle(resident)
    meanwhile = running(east)
    resident.playspec("invalid", compose("nginx:alpine"))
    private.push("acme/unknown:1", marker="unknown")
    resident.playspec("broken", BUILT, {"Dockerfile": "FROM nginx:alpine\nRUN exit 0\n"})
    resident.environ["NO_SUCH"] = "there now"
    return Story(resident, tried, again, meanwhile, cycle(resident))


@pytest.mark.parametrize(
    ("name", "action", "reason", "told"),
    [
        ("invalid", "skip", "failing", "services.web.image must be a string"),
        ("unknown", "skip", "image-failed", "acme/unknown"),
        ("broken", "up", "missing", "build: "),
        ("secret", "skip", "failing", "NO_SUCH"),
    ],
)
def test_what_cannot_work_is_said_with_its_cause(
    story: Story, name: str, action: str, reason: str, told: str
) -> None:
    assert story.tried.fate(f"playground/{name}")[:2] == (action, reason), story.tried
    assert told in story.tried.decision(f"playground/{name}")["detail"]
    assert (story.tried.code, story.tried.outcome()) == (1, "failed")


def test_the_others_come_up_beside_it(story: Story) -> None:
    assert story.tried.fate("playground/good") == ("up", "missing", "done")
    assert story.running_meanwhile == {f"{story.operator.project('good')}-web-1"}


@pytest.mark.parametrize("name", NAMES)
def test_it_is_reported_every_cycle_and_no_step_is_sent_for_it(story: Story, name: str) -> None:
    expected = "image-failed" if name == "unknown" else "failing"
    assert story.again.fate(f"playground/{name}")[:2] == ("skip", expected), story.again
    assert (story.again.code, story.again.outcome()) == (1, "failed")
    started = [one for one in story.again.events if one["event"] == "step.started"]
    assert not [one for one in started if one["subject"] == f"playground/{name}"]


@pytest.mark.parametrize("name", NAMES)
def test_corrected_it_comes_up_in_the_next_cycle(story: Story, east: Host, name: str) -> None:
    assert story.corrected.fate(f"playground/{name}")[0] in {"up", "rollout"}, story.corrected
    assert story.corrected.fate(f"playground/{name}")[2] == "done"
    assert states(east)[f"{story.operator.project(name)}-web-1"] == "running"
