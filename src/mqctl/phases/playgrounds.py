"""Phase ``playgrounds``: one decision a Playground, and who carries it out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mqctl.errors import ActionFailed
from mqctl.host.observe import OBSERVE_PROJECT, parse_project
from mqctl.model import Decision, Playground, Result, Status, Verb
from mqctl.phases import expire, wanted
from mqctl.phases.apply import Mode, apply, heal, restart, stop
from mqctl.phases.base import Action, Hands, Plan, View, decided
from mqctl.phases.condition import looping, suspicious
from mqctl.phases.images import references_of
from mqctl.phases.projects import Project, of_playground
from mqctl.phases.reasons import Reason
from mqctl.phases.rest import buried, is_foreign, past_due, selected
from mqctl.phases.staging import stage
from mqctl.phases.table import NAME, Shared, Table, summary
from mqctl.phases.verify import SAMPLE_INTERVAL


class PlaygroundsPhase:
    """See the module."""

    name = NAME
    needs = ("git-state", "images")

    def prepare(self, hands: Hands) -> None:
        """Look twice at what only inspection can judge: a loop needs two samples to be one."""
        stage(wanted.playgrounds(hands.view), hands)
        for playground in selected(hands.view):
            sample_loops(playground.project, hands)

    def plan(self, view: View) -> Plan:
        """One decision a Playground, the least recently attempted first."""
        shared = Shared(view.marquee.policy.rollout_budget)
        return [
            _look_ahead(view, one, _decide(view, one, shared))
            for one in sorted(selected(view), key=lambda one: _attempted(view, one))
        ]

    def perform(self, actions: Sequence[Action], hands: Hands) -> Iterator[Decision]:
        """One after the other; one that fails does not keep the next from its turn."""
        for action in actions:
            playground = next(
                one for one in hands.view.marquee.playgrounds if one.project == action.key
            )
            try:
                yield _perform(action, playground, hands)
            except ActionFailed as error:
                why = f"{error.what}: {error.why}" if error.why else error.what
                yield action.decided(NAME, Result.FAILED, detail=why)


def sample_loops(project: str, hands: Hands) -> None:
    """Inspect a project whose containers may be restarting, twice if they are."""
    facts = hands.view.facts
    containers = [one for one in facts.of_project(project) if not one.one_off]
    record = facts.project(project).record
    if not suspicious(containers, record.applied if record else None, facts.host_now):
        return
    _, before = parse_project(hands.read(OBSERVE_PROJECT, project).stdout)
    doubtful = any(
        one.state == "restarting"
        or (one.inspection and one.inspection.restart_count and (one.up_at_most or 0) <= 60)  # noqa: PLR2004 - seconds
        for one in before
    )
    after = before
    if doubtful:
        hands.pause(SAMPLE_INTERVAL)
        _, after = parse_project(hands.read(OBSERVE_PROJECT, project).stdout)
    loops = looping(before, after)
    settled = tuple(
        replace(one, state="restarting" if one.id in loops else _calm(one.state)) for one in after
    )
    hands.view = hands.view.with_facts(hands.view.facts.with_project_containers(project, settled))


def _calm(state: str) -> str:
    return "running" if state == "restarting" else state


def _attempted(view: View, playground: Playground) -> tuple[float, str]:
    record = view.facts.project(playground.project).record
    return (record.last_attempt_at or 0.0 if record else 0.0, playground.name)


def _decide(view: View, playground: Playground, shared: Shared) -> Action | Decision:
    """The table of the README, "What a cycle decides": the first row that matches."""
    seen = view.facts.project(playground.project)
    subject = f"playground/{playground.name}"
    if playground.hold or seen.hold is not None:
        detail = seen.hold or "hold is true in the declared file"
        return decided(NAME, subject, Reason.ON_HOLD, f"{detail}; {summary(view, playground)}")
    if is_foreign(view.facts, playground, view):
        detail = f"a project {playground.project} exists that mqctl did not make"
        return decided(NAME, subject, Reason.FOREIGN, detail, result=Result.FAILED)
    if seen.broken:
        return decided(NAME, subject, Reason.UNKNOWN, seen.broken, result=Result.FAILED)
    if buried(view.facts, playground) or past_due(playground, seen, view):
        return expire.decide(view, playground, subject)
    if playground.status is Status.STOPPED:
        return _stop(view, playground, subject)
    inputs = view.inputs.get(playground.project)
    if inputs is None or inputs.unknown:
        detail = inputs.unknown if inputs else "its input was not looked at"
        return decided(NAME, subject, Reason.UNKNOWN, detail)
    if inputs.error:
        return decided(NAME, subject, Reason.FAILING, inputs.error, result=Result.FAILED)
    if seen.record is None or seen.record.staged is None:
        return decided(NAME, subject, Reason.UNKNOWN, "its input was not staged")
    return Table(view, playground, seen, seen.record, seen.record.staged, shared).decide()


def _stop(view: View, playground: Playground, subject: str) -> Action | Decision:
    up = [one for one in view.facts.of_project(playground.project) if one.up]
    if not up:
        return decided(NAME, subject, Reason.DECLARED_STOPPED, verb=Verb.NONE, result=Result.DONE)
    detail = f"{len(up)} containers are up"
    return Action(subject, Verb.STOP, Reason.DECLARED_STOPPED, detail, playground.project)


def _look_ahead(
    view: View, playground: Playground, verdict: Action | Decision
) -> Action | Decision:
    """In a dry run a Playground is not "converged" while what it depends on is unknown."""
    if not view.dry_run or isinstance(verdict, Action) or verdict.action is not Verb.NONE:
        return verdict
    if verdict.reason != Reason.CONVERGED:
        return verdict
    project = of_playground(view.marquee, playground)
    if waits := _depends_on(view, playground, project):
        return decided(NAME, verdict.subject, Reason.UNKNOWN, f"depends on {waits}")
    return verdict


def _depends_on(view: View, playground: Playground, project: Project) -> str:
    for checkout in playground.checkouts:
        if checkout.prop.active and checkout.follow:
            return f"checkout/{playground.name}/{checkout.name}"
    if project.pull_policy == "always":
        return next((f"image/{one}" for one in references_of(view, project)), "")
    return ""


def _perform(action: Action, playground: Playground, hands: Hands) -> Decision:
    project = of_playground(hands.view.marquee, playground)
    in_place = action.reason in {Reason.SERVICE_MISSING, Reason.WAS_STOPPED}
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
