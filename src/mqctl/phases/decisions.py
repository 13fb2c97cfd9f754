"""What happens to each Playground: the first row of the table that matches. Pure.

The rows that need no staged input are here; those of one that shall run are in ``rows.py``.
"""

from __future__ import annotations

from mqctl.model import Decision, Playground, Result, Status, Verb
from mqctl.phases import expire
from mqctl.phases.base import Action, Plan, View, decided
from mqctl.phases.projects import Project, of_playground
from mqctl.phases.reasons import Reason
from mqctl.phases.rest import buried, is_foreign, past_due, selected
from mqctl.phases.rows import NAME, Shared, Table, summary
from mqctl.phases.wanted import awaited_image


def decide_all(view: View) -> Plan:
    """One decision a Playground, the least recently attempted first."""
    shared = Shared(view.marquee.policy.rollout_budget)
    return [
        _look_ahead(view, one, _decide(view, one, shared))
        for one in sorted(selected(view), key=lambda one: _attempted(view, one))
    ]


def refused(view: View) -> frozenset[str]:
    """The Playgrounds that need a port or a container name which another one has."""
    taken = {Reason.PORT_TAKEN, Reason.NAME_TAKEN}
    return frozenset(one.subject for one in decide_all(view) if one.reason in taken)


def _attempted(view: View, playground: Playground) -> tuple[float, str]:
    record = view.facts.project(playground.project).record
    return (record.last_attempt_at or 0.0 if record else 0.0, playground.name)


def _decide(view: View, playground: Playground, shared: Shared) -> Action | Decision:
    """The table of the README, "What a cycle decides": the first row that matches."""
    seen = view.facts.project(playground.project)
    subject = f"playground/{playground.name}"
    if playground.hold or seen.hold is not None:
        on_host = seen.hold or "the file .mqctl/hold is on the host"
        detail = "hold is true in the declared file" if playground.hold else on_host
        return decided(NAME, subject, Reason.ON_HOLD, f"{detail}; {summary(view, playground)}")
    if is_foreign(view.facts, playground, view):
        detail = f"a project {playground.project} exists that mqctl did not make"
        return decided(NAME, subject, Reason.FOREIGN, detail, result=Result.FAILED)
    if seen.broken:
        return decided(NAME, subject, Reason.UNKNOWN, seen.broken, result=Result.FAILED)
    if playground.project in view.facts.unreadable:
        detail = f"tombstones/{playground.project} on the host cannot be read"
        return decided(NAME, subject, Reason.UNKNOWN, detail, result=Result.FAILED)
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
    if verdict.reason not in {Reason.CONVERGED, Reason.ONE_SHOT_DONE}:
        return verdict
    project = of_playground(view.marquee, playground)
    if waits := _depends_on(view, playground, project):
        return decided(NAME, verdict.subject, Reason.UNKNOWN, f"depends on {waits}")
    return verdict


def _depends_on(view: View, playground: Playground, project: Project) -> str:
    for checkout in playground.checkouts:
        if checkout.prop.active and checkout.follow:
            return f"checkout/{playground.name}/{checkout.name}"
    image = awaited_image(view, project)
    return f"image/{image}" if image else ""
