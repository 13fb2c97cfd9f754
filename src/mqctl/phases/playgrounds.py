"""Phase ``playgrounds``: one decision a Playground, and who carries it out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from mqctl.host.facts import Container, Facts
from mqctl.host.observe import OBSERVE_CONTAINERS, parse_project
from mqctl.model import Decision, Verb
from mqctl.phases import expire, wanted
from mqctl.phases.apply import Mode, apply
from mqctl.phases.base import Action, Hands, Plan, View, one_by_one
from mqctl.phases.condition import YOUNG, looping, suspicious
from mqctl.phases.decisions import decide_all
from mqctl.phases.mend import heal, restart, stop
from mqctl.phases.projects import of_playground
from mqctl.phases.reasons import Reason
from mqctl.phases.rest import selected
from mqctl.phases.rows import NAME
from mqctl.phases.staging import stage
from mqctl.phases.verify import SAMPLE_INTERVAL


class PlaygroundsPhase:
    """See the module."""

    name = NAME
    needs = ("git-state", "images")

    def prepare(self, hands: Hands) -> None:
        """Look twice at what only inspection can judge: a loop needs two samples to be one."""
        stage(wanted.playgrounds(hands.view), hands)
        sample_loops([one.project for one in selected(hands.view)], hands)

    def plan(self, view: View) -> Plan:
        """One decision a Playground, the least recently attempted first."""
        return decide_all(view)

    def perform(self, actions: Sequence[Action], hands: Hands) -> Iterator[Decision]:
        """One after the other; one that fails does not keep the next from its turn."""
        return one_by_one(NAME, actions, lambda action: _perform(action, hands))


def sample_loops(projects: Iterable[str], hands: Hands) -> None:
    """Inspect the projects whose containers may be restarting, all at once; twice if they are."""
    facts = hands.view.facts
    doubtful = {
        project: [one for one in facts.of_project(project) if not one.one_off]
        for project in projects
        if _suspicious(facts, project)
    }
    if not doubtful:
        return
    ids = [one.id for containers in doubtful.values() for one in containers]
    before = _look(ids, hands)
    after = before
    if any(_may_loop(one) for one in before if one.project in doubtful):
        hands.pause(SAMPLE_INTERVAL)
        after = _look(ids, hands)
    loops = looping(before, after)
    for project in doubtful:
        settled = tuple(
            replace(one, state="restarting" if one.id in loops else _calm(one.state))
            for one in after
            if one.project == project
        )
        view = hands.view
        hands.view = view.with_facts(view.facts.with_project_containers(project, settled))


def _suspicious(facts: Facts, project: str) -> bool:
    record = facts.project(project).record
    containers = [one for one in facts.of_project(project) if not one.one_off]
    return suspicious(containers, record.applied if record else None, facts.host_now)


def _look(ids: Sequence[str], hands: Hands) -> tuple[Container, ...]:
    return parse_project(hands.read(OBSERVE_CONTAINERS, *ids).stdout)[1]


def _may_loop(one: Container) -> bool:
    restarted = one.inspection is not None and one.inspection.restart_count > 0
    return one.state == "restarting" or (restarted and (one.up_at_most or 0) < YOUNG)


def _calm(state: str) -> str:
    return "running" if state == "restarting" else state


def _perform(action: Action, hands: Hands) -> Decision:
    marquee = hands.view.marquee
    playground = next(one for one in marquee.playgrounds if one.project == action.key)
    project = of_playground(hands.view.marquee, playground)
    in_place = action.reason in {Reason.SERVICE_MISSING, Reason.WAS_STOPPED, Reason.EXITED}
    seen = hands.view.facts.project(project.name)
    dirty = any(one.dirty for one in seen.checkouts.values())
    match action.verb:
        case Verb.STOP:
            return stop(NAME, action, project, hands)
        case Verb.EXPIRE:
            return expire.perform(NAME, action, playground, hands)
        case Verb.NONE:
            return heal(NAME, action, project, hands)
        case Verb.RESTART:
            return restart(NAME, action, project, hands)
        case Verb.UP if in_place:
            return apply(NAME, action, project, Mode(True, veto=False, build=not dirty), hands)
        case Verb.UP | Verb.RECOVER:
            # Nothing runs that a build could replace, or its interruption must be ended: without
            # a build, uncommitted work in a checkout is not touched by either.
            return apply(NAME, action, project, Mode(veto=False, build=not dirty), hands)
        case _:
            return apply(NAME, action, project, Mode(), hands)
