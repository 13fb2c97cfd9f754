"""Somebody removes, stops or runs what mqctl made: what comes back, and what is left alone."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.bed import Host
from tests.states.scenes import compose, cycle, only, states
from tests.support.looks import container_ids, volumes
from tests.support.operators import Operator
from tests.support.ran import Ran

STORED = {
    "services": {"web": {"image": "nginx:alpine", "volumes": ["data:/data"]}},
    "volumes": {"data": {}},
}
ONE_SHOT = {
    "services": {
        "job": {"image": "acme/oneshot:1"},
        "web": {
            "image": "nginx:alpine",
            "depends_on": {"job": {"condition": "service_completed_successfully"}},
        },
    }
}


@dataclass
class Story:
    """The cycle after the disturbance, and the containers before and after it."""

    operator: Operator
    ran: Ran
    before: dict[str, str]
    after: dict[str, str]
    started_before: str
    started_after: str

    def container(self, playground: str, service: str = "web", number: int = 1) -> str:
        return f"{self.operator.project(playground)}-{service}-{number}"


def job_started(operator: Operator) -> str:
    name = f"{operator.project('shot')}-job-1"
    return operator.hosts["east-1"].docker("inspect", "--format", "{{.State.StartedAt}}", name)


@pytest.fixture(scope="module")
def story(resident: Operator) -> Story:
    """Six Playgrounds run well; then each loses something."""
    east = resident.hosts["east-1"]
    resident.bed.registry.push("acme/oneshot:1", "oneshot")
    resident.bed.registry.push("acme/untagged:1", marker="untagged")
    resident.declared["policy"]["rollout_budget"] = 10
    resident.playspec("network", compose("nginx:alpine"))
    resident.playspec("volume", STORED)
    resident.playspec("image", compose("acme/untagged:1"))
    resident.playspec("scale", compose("nginx:alpine", scale=2))
    resident.playspec("shot", ONE_SHOT)
    resident.playspec("runs", compose("nginx:alpine"))
    for name in ("network", "volume", "image", "scale", "shot", "runs"):
        resident.playground(name, name)
    first = cycle(resident)
    assert (first.code, first.outcome()) == (0, "changed"), first
    disturb(resident, east)
    before, started = container_ids(east), job_started(resident)
    ran = cycle(resident)
    return Story(resident, ran, before, container_ids(east), started, job_started(resident))


def disturb(operator: Operator, east: Host) -> None:
    project = operator.project
    east.docker("stop", "-t", "1", f"{project('network')}-web-1")
    east.docker("network", "rm", f"{project('network')}_default")
    east.docker("rm", "-f", f"{project('volume')}-web-1")
    east.docker("volume", "rm", f"{project('volume')}_data")
    east.docker("rmi", "-f", "acme/untagged:1")
    east.docker("rm", "-f", f"{project('scale')}-web-2")
    place = operator.directory("runs")
    run = "docker compose -f compose.yaml -f .mqctl/override.yaml run -d"
    east.sh(f"cd {place} && {run} --name still-runs web && {run} --name has-ended web")
    east.docker("stop", "-t", "1", "has-ended")


def test_a_stopped_container_whose_network_is_gone_is_made_anew(story: Story) -> None:
    assert story.ran.fate("playground/network") == ("rollout", "exited", "done"), story.ran
    name = story.container("network")
    assert story.after[name] != story.before[name]


def test_a_removed_volume_is_made_again(story: Story, east: Host) -> None:
    assert story.ran.fate("playground/volume") == ("up", "missing", "done")
    assert f"{story.operator.project('volume')}_data" in volumes(east)


def test_an_image_that_lost_its_name_is_pulled_and_what_runs_is_left_alone(story: Story) -> None:
    assert story.ran.fate("image/acme/untagged:1") == ("pull", "missing", "done")
    assert story.ran.fate("playground/image") == ("none", "converged", "done")
    assert story.after[story.container("image")] == story.before[story.container("image")]


def test_a_missing_replica_is_added_beside_the_one_that_runs(story: Story) -> None:
    assert story.ran.fate("playground/scale") == ("rollout", "service-missing", "done")
    assert "web runs 1 of 2" in story.ran.decision("playground/scale")["detail"]
    assert story.container("scale", number=2) in story.after
    assert story.after[story.container("scale")] == story.before[story.container("scale")]


def test_a_one_shot_that_succeeded_is_not_started_again(story: Story) -> None:
    assert story.ran.fate("playground/shot") == ("none", "converged", "done")
    assert "1 one-shot done" in story.ran.decision("playground/shot")["detail"]
    assert story.started_after == story.started_before


def test_one_offs_of_compose_run_are_no_drift_and_no_litter_while_young(story: Story) -> None:
    assert story.ran.fate("playground/runs") == ("none", "converged", "done")
    for name in ("still-runs", "has-ended", story.container("runs")):
        assert story.after[name] == story.before[name]
    assert not any(subject.startswith("one-off/") for _, subject in story.ran.done())


def test_a_one_off_survives_the_rollout_of_its_project_and_a_sweep(
    story: Story, east: Host
) -> None:
    operator, web = story.operator, story.container("runs")
    operator.playspec("runs", compose("nginx:alpine", environment={"LEVEL": "2"}))
    rolled = only(operator, "runs")
    assert rolled.fate("playground/runs") == ("rollout", "input-changed", "done"), rolled
    swept = operator.run("sweep", "east-1", "--yes")
    assert (swept.code, swept.outcome()) == (0, "unchanged"), swept
    now = container_ids(east)
    assert now[web] != story.after[web]
    assert now["still-runs"] == story.after["still-runs"]
    assert states(east)["still-runs"] == "running"


def test_the_next_cycle_finds_nothing_to_do(story: Story) -> None:
    quiet = cycle(story.operator)
    assert (quiet.code, quiet.outcome()) == (0, "unchanged"), quiet
