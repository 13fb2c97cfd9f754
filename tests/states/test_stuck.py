"""Services that will not come right by themselves: repaired once, then reported, never hammered."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.bed import Host
from tests.states.scenes import LONG, compose, cycle, labels, only, states, wait_for_health
from tests.support.looks import container_ids
from tests.support.operators import Operator
from tests.support.ran import Ran

LEFT = "0123456789ab_"
IMAGE = "nginx:alpine"
SEVERAL = ("dead-end", "leftover", "paused", "stopped", "undisturbed")


@dataclass
class Story:
    """Two cycles, and the containers before and after the second."""

    operator: Operator
    first: Ran
    before: dict[str, str]
    second: Ran
    after: dict[str, str]
    states: dict[str, str]

    def container(self, playground: str, service: str = "web") -> str:
        return f"{self.operator.project(playground)}-{service}-1"

    def kept(self, playground: str, service: str = "web") -> bool:
        """Whether the second cycle left the container as it was."""
        name = self.container(playground, service)
        return self.after[name] == self.before[name]


@pytest.fixture(scope="module")
def story(resident: Operator) -> Story:
    """Five Playgrounds come up, three of them badly; then the two others are disturbed."""
    east, push = resident.hosts["east-1"], resident.bed.registry.push
    push("acme/crash:1", "crash")
    push("acme/unhealthy:1", "unhealthy")
    push("acme/healthy:1", "healthy")
    resident.declared["policy"] |= {"rollout_cooldown": LONG, "unhealthy_after": LONG}
    resident.declared["policy"]["health_wait"] = "3s"
    crash = compose("acme/crash:1", restart="always")
    checked = {"test": ["CMD", "true"], "interval": "1s"}
    resident.playspec("crash", crash, pull_policy="always")
    resident.playspec("checked", compose("acme/crash:1", restart="always", healthcheck=checked))
    resident.playspec("sickly", compose("acme/unhealthy:1"))
    resident.playspec("well", compose("acme/healthy:1"))
    resident.playspec("several", {"services": {one: {"image": IMAGE} for one in SEVERAL}})
    for name in resident.declared["playspecs"]:
        resident.playground(name, name)
    first = cycle(resident)
    disturb(resident, east)
    before = container_ids(east)
    second = cycle(resident)
    return Story(resident, first, before, second, container_ids(east), states(east))


def disturb(operator: Operator, east: Host) -> None:
    several = f"{operator.project('several')}-"
    east.docker("pause", f"{several}paused-1")
    east.docker("stop", f"{several}stopped-1")
    same = labels(east, f"{several}dead-end-1")
    east.docker("rm", "-f", f"{several}dead-end-1")
    east.docker("create", "--name", f"{several}dead-end-1", *same, IMAGE)
    same = labels(east, f"{several}leftover-1")
    east.docker("create", "--name", f"{LEFT}{several}leftover-1", *same, IMAGE)
    sick = f"{operator.project('well')}-web-1"
    east.docker("exec", sick, "touch", "/sick")
    wait_for_health(east, sick, "unhealthy")


@pytest.mark.parametrize("name", ["crash", "checked"])
def test_a_crash_loop_is_seen_at_once_with_and_without_a_health_check(
    story: Story, name: str
) -> None:
    assert story.first.fate(f"playground/{name}") == ("up", "missing", "failed")
    detail = story.first.decision(f"playground/{name}")["detail"]
    assert "it does not run well" in detail
    assert "its log ends: crashing | crashing" in detail


def test_a_service_that_never_becomes_healthy_is_no_success(story: Story) -> None:
    assert story.first.fate("playground/sickly") == ("up", "missing", "failed")
    assert "unhealthy" in story.first.decision("playground/sickly")["detail"]


def test_one_that_fails_does_not_keep_the_next_from_its_turn(story: Story) -> None:
    assert (story.first.code, story.first.outcome()) == (1, "failed")
    for name in ("well", "several"):
        assert story.first.fate(f"playground/{name}") == ("up", "missing", "done")


@pytest.mark.parametrize("name", ["crash", "checked", "sickly"])
def test_what_failed_is_left_alone_within_the_cooldown_and_said_to_fail_each_cycle(
    story: Story, name: str
) -> None:
    assert story.second.fate(f"playground/{name}") == ("skip", "failing", "failed")
    assert "it does not run well" in story.second.decision(f"playground/{name}")["detail"]
    assert story.kept(name)


def test_a_service_that_has_only_just_become_unhealthy_is_given_time(story: Story) -> None:
    assert story.second.fate("playground/well") == ("skip", "grace", "skipped")
    assert story.kept("well")


def test_what_is_stuck_in_several_ways_is_brought_back_by_one_restart(story: Story) -> None:
    assert story.second.fate("playground/several")[::2] == ("restart", "done"), story.second
    detail = story.second.decision("playground/several")["detail"]
    for told in ("paused-1 is paused", "was never started", "left of an interrupted recreate"):
        assert told in detail
    for service in SEVERAL:
        alive = "exited" if service == "stopped" else "running"
        assert story.states[story.container("several", service)] == alive


def test_a_paused_container_goes_on_as_the_one_it_was(story: Story) -> None:
    assert story.kept("several", "paused")


def test_a_container_that_was_never_started_is_made_anew(story: Story) -> None:
    assert not story.kept("several", "dead-end")


def test_the_leftover_of_an_interrupted_recreate_is_removed(story: Story) -> None:
    assert f"{LEFT}{story.container('several', 'leftover')}" in story.before
    assert f"{LEFT}{story.container('several', 'leftover')}" not in story.after


def test_services_beside_it_are_left_alone(story: Story) -> None:
    assert story.kept("several", "undisturbed")


def test_one_that_was_stopped_meanwhile_is_not_taken_for_a_one_shot_that_is_done(
    story: Story, east: Host
) -> None:
    assert story.kept("several", "stopped")
    cooling = only(story.operator, "several")
    assert cooling.fate("playground/several") == ("skip", "cooldown", "skipped"), cooling
    rolled = only(story.operator, "several", "--now")
    assert rolled.fate("playground/several") == ("rollout", "exited", "done"), rolled
    assert states(east)[story.container("several", "stopped")] == "running"


def test_unhealthy_for_too_long_means_one_restart_and_then_the_cooldown(
    story: Story, east: Host
) -> None:
    operator, sick = story.operator, story.container("well")
    operator.declared["policy"]["unhealthy_after"] = "0s"
    restarted = only(operator, "well")
    assert restarted.fate("playground/well") == ("restart", "unhealthy", "done"), restarted
    again = container_ids(east)[sick]
    assert again != story.after[sick]
    east.docker("exec", sick, "touch", "/sick")
    wait_for_health(east, sick, "unhealthy")
    cooling = only(operator, "well")
    assert cooling.fate("playground/well") == ("skip", "cooldown", "skipped"), cooling
    assert container_ids(east)[sick] == again


def test_a_restart_that_cures_nothing_is_reported_with_the_last_log_lines(
    story: Story, east: Host
) -> None:
    operator, name = story.operator, story.container("crash")
    restarted = only(operator, "crash", "--now")
    assert restarted.fate("playground/crash") == ("restart", "crash-loop", "failed"), restarted
    again = container_ids(east)[name]
    assert again != story.after[name]
    failing = only(operator, "crash")
    assert failing.fate("playground/crash") == ("skip", "failing", "failed"), failing
    assert "its log ends: crashing" in failing.decision("playground/crash")["detail"]
    assert container_ids(east)[name] == again


def test_a_corrected_image_under_the_same_name_waits_for_no_cooldown(
    story: Story, east: Host
) -> None:
    story.operator.bed.registry.push("acme/crash:1", "server", marker="corrected")
    cured = only(story.operator, "crash")
    assert cured.fate("playground/crash") == ("rollout", "image-moved", "done"), cured
    assert states(east)[story.container("crash")] == "running"


def test_what_crashed_and_now_runs_is_healed(story: Story, east: Host) -> None:
    """Somebody repairs the cause outside: here, what the container would have needed."""
    operator, name = story.operator, story.container("sickly")
    healthy = ("--health-cmd", "true", "--health-interval", "1s")
    same = labels(east, name)
    east.docker("rm", "-f", name)
    east.docker("run", "-d", "--name", name, *same, *healthy, "acme/unhealthy:1")
    wait_for_health(east, name, "healthy")
    healed = only(operator, "sickly")
    assert healed.fate("playground/sickly") == ("none", "healed", "done"), healed
    assert only(operator, "sickly").fate("playground/sickly") == ("none", "converged", "done")
