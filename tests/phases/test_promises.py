"""What holds for every decision, whatever the facts: asked of all cases at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from mqctl.host import docker
from mqctl.model import PullPolicy, Verb
from mqctl.phases import wanted
from mqctl.phases.base import Action, Plan, View
from mqctl.phases.reasons import Reason
from mqctl.phases.sweep import proofs_missing
from mqctl.phases.wanted import references_of
from tests.phases.notation import view_of
from tests.phases.tables import PHASES, every_case

LATER = 1000  # a fence larger than any that a record names
MOVES = {Verb.FAST_FORWARD, Verb.RESET, Verb.SWITCH}
REPLACES = {Verb.ROLLOUT, Verb.EXPIRE}
VIEWS = [replace(view_of(case.given), fence=LATER) for case in every_case()]
Change = Callable[[View], View]


def plans(phase: str, change: Change = replace) -> Iterator[tuple[View, Plan]]:
    """Each case's view, changed, and what a phase makes of it; every phase sees every case."""
    for view in map(change, VIEWS):
        yield view, PHASES[phase].plan(view)


def with_work_in_every_checkout(view: View) -> View:
    projects = {
        name: replace(
            seen,
            checkouts={key: replace(state, changes=1) for key, state in seen.checkouts.items()},
        )
        for name, seen in view.facts.projects.items()
    }
    lifted = replace(view.select, lift=True, at_once=True, allow_empty=True, allow_many=True)
    return replace(view, facts=replace(view.facts, projects=projects), select=lifted)


def actions(plan: Plan) -> list[Action]:
    return [one for one in plan if isinstance(one, Action)]


def test_no_automatic_path_leads_from_uncommitted_work_to_its_loss() -> None:
    seen = 0
    for phase in ("branches", "playgrounds", "sweep"):
        for view, plan in plans(phase, with_work_in_every_checkout):
            for one in actions(plan):
                if one.verb in MOVES | REPLACES or one.subject.startswith("orphan/"):
                    project = one.key.removeprefix("projects/").partition("/")[0]
                    assert not view.facts.project(project).checkouts
                    seen += 1
    assert seen  # of those without checkouts


def test_what_is_held_is_left_in_peace() -> None:
    def held(view: View) -> View:
        marquee = view.marquee
        playgrounds = tuple(replace(one, hold=True) for one in marquee.playgrounds)
        return replace(view, marquee=replace(marquee, playgrounds=playgrounds, agent_chats=()))

    for phase in ("git-state", "branches", "images", "playgrounds"):
        assert all(actions(plan) == [] for _, plan in plans(phase, held))


def test_what_another_fleet_made_is_not_touched() -> None:
    def of_another(view: View) -> View:
        return replace(view, marquee=replace(view.marquee, fleet="somebody"))

    for phase in ("git-state", "branches", "playgrounds", "agent-chats", "sweep"):
        for view, plan in plans(phase, of_another):
            marked = {name for name, seen in view.facts.projects.items() if seen.marker}
            there = {one.project for one in view.facts.containers} | marked
            touched = {one.key.removeprefix("projects/").partition("/")[0] for one in actions(plan)}
            orphans = {one.key for one in actions(plan) if one.subject.startswith("tombstone/")}
            assert not (touched - orphans) & there


def test_only_what_carries_all_three_proofs_is_swept() -> None:
    for view, plan in plans("sweep", with_work_in_every_checkout):
        for one in actions(plan):
            if one.subject.startswith("orphan/"):
                assert proofs_missing(view, one.key) == []


def test_every_subject_has_one_decision_with_a_reason() -> None:
    for phase in PHASES:
        for _, plan in plans(phase):
            subjects = [one.subject for one in plan]
            assert len(subjects) == len(set(subjects))
            assert all(isinstance(one.reason, Reason) for one in plan)


def test_every_declared_playground_and_chat_is_spoken_of() -> None:
    for view, plan in plans("playgrounds"):
        only = view.select.playground
        names = {one.name for one in view.marquee.playgrounds if only in {None, one.name}}
        assert {one.subject for one in plan} == {f"playground/{name}" for name in names}
    for view, plan in plans("agent-chats"):
        names = {one.name for one in view.marquee.agent_chats}
        assert {one.subject for one in plan} == {f"agent-chat/{name}" for name in names}


@pytest.mark.parametrize("phase", PHASES)
def test_a_run_right_after_a_dry_run_performs_what_that_printed(phase: str) -> None:
    def dry(view: View) -> View:
        return replace(view, fence=None, tips={}, failed_images={})

    def without_failures(view: View) -> View:
        """The images phase, which comes before, went well: what it may pull is there."""
        if phase not in {"playgrounds", "agent-chats"}:
            return replace(view, failed_images={})
        pulled = {
            docker.canonical(reference): "sha256:pulled"
            for project in wanted.projects(view)
            if project.pull_policy is not PullPolicy.NEVER
            for reference in references_of(view, project)
        }
        there = {**pulled, **view.facts.images}
        return replace(view, failed_images={}, facts=view.facts.with_images(there))

    promised = [plan for _, plan in plans(phase, dry)]
    performed = [plan for _, plan in plans(phase, without_failures)]
    for before, after in zip(promised, performed, strict=True):
        # The same act may have one more reason by then: the image that was pulled is a new one.
        real = {(one.subject, one.verb) for one in actions(after)}
        said = {(one.subject, one.verb) for one in actions(before)}
        assert said <= real
        unknown = {one.subject for one in before if one.reason == Reason.UNKNOWN}
        assert {subject for subject, _ in real - said} <= unknown


def test_rollouts_keep_to_the_budget() -> None:
    for view, plan in plans("playgrounds"):
        rollouts = sum(one.verb is Verb.ROLLOUT for one in actions(plan))
        assert view.select.lift or rollouts <= view.marquee.policy.rollout_budget
