"""Phase ``agent-chats``: keep the agents alive; their data volume outlives everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mqctl.host.facts import Container, ProjectFacts
from mqctl.http import Answer, probe_all
from mqctl.model import AgentChat, Decision, Result, Status, Verb
from mqctl.phases import expire, wanted
from mqctl.phases.apply import Mode, apply
from mqctl.phases.base import Action, Hands, Plan, View, decided, one_by_one
from mqctl.phases.condition import Condition, examine
from mqctl.phases.projects import of_chat
from mqctl.phases.reasons import Reason
from mqctl.phases.rest import foreign_project
from mqctl.phases.staging import stage
from mqctl.phases.wanted import awaited_image, references_of

NAME = "agent-chats"
# What a missed check can mean without the agent being at fault: leave it alone.
_PATIENT = {Answer.TLS_ERROR, Answer.TIMEOUT}
# The reasons for a redeploy that no difference to what is declared shows.
_UNWELL = {Reason.UNHEALTHY, Reason.CRASH_LOOP}


class AgentChatsPhase:
    """See the module."""

    name = NAME
    needs = ("images",)

    def prepare(self, hands: Hands) -> None:
        """Ask all health URLs together, from here."""
        stage(wanted.chats(hands.view), hands)
        urls = {
            one.project: one.health_url
            for one in hands.view.marquee.agent_chats
            if one.health_url
            and one.status is Status.ACTIVE
            and any(seen.running for seen in hands.view.facts.of_project(one.project))
        }
        hands.view = replace(hands.view, health=probe_all(urls))

    def plan(self, view: View) -> Plan:
        """One decision an AgentChat."""
        return [_decide(view, one) for one in view.marquee.agent_chats]

    def perform(self, actions: Sequence[Action], hands: Hands) -> Iterator[Decision]:
        """One after the other."""
        return one_by_one(NAME, actions, lambda action: _perform(action, hands))


def _decide(view: View, chat: AgentChat) -> Action | Decision:
    subject = f"agent-chat/{chat.name}"
    seen = view.facts.project(chat.project)
    containers = view.facts.of_project(chat.project)
    if seen.hold is not None:
        return decided(NAME, subject, Reason.ON_HOLD, seen.hold)
    if foreign_project(view.facts, chat.project, view.marquee.fleet, view.marquee.name):
        detail = f"a project {chat.project} exists that mqctl did not make"
        return decided(NAME, subject, Reason.FOREIGN, detail, result=Result.FAILED)
    if seen.broken:
        return decided(NAME, subject, Reason.UNKNOWN, seen.broken, result=Result.FAILED)
    if chat.status is Status.STOPPED:
        if not containers:
            return decided(
                NAME, subject, Reason.DECLARED_STOPPED, verb=Verb.NONE, result=Result.DONE
            )
        detail = f"{len(containers)} containers go, the data volume stays"
        return Action(subject, Verb.STOP, Reason.DECLARED_STOPPED, detail, chat.project)
    return _alive(view, chat, subject, seen, containers)


def _alive(
    view: View,
    chat: AgentChat,
    subject: str,
    seen: ProjectFacts,
    containers: Sequence[Container],
) -> Action | Decision:
    inputs = view.inputs.get(chat.project)
    staged = seen.record.staged if seen.record else None
    if inputs is None or seen.record is None or staged is None or inputs.error or staged.error:
        told = (inputs.error if inputs else "") or (staged.error if staged else "")
        reason = Reason.FAILING if told else Reason.UNKNOWN
        detail = told or "its input was not staged"
        return decided(NAME, subject, reason, detail, result=Result.FAILED)
    failed = [
        one for one in references_of(view, of_chat(view.marquee, chat)) if one in view.failed_images
    ]
    condition = examine(
        view.facts, seen, seen.record, view.seen, view.marquee.policy.unhealthy_after
    )
    down = condition.absent or not any(one.up for one in containers)
    age = view.facts.host_now - (seen.record.last_attempt_at or 0.0)
    young = age < view.marquee.policy.chat_grace and not view.select.lift
    if down:
        verb, reason = Verb.START, Reason.MISSING if condition.absent else Reason.EXITED
        detail = next((one.status for one in containers), "no containers")
        # A start waits for nothing, unless the last one failed a moment ago.
        if young and seen.record.failure is not None:
            told = f"{seen.record.failure.message}; last tried {age:.0f} s ago"
            return decided(NAME, subject, Reason.FAILING, told, result=Result.FAILED)
        young = False
    else:
        found = _trouble(view, chat, condition, containers)
        awaited = awaited_image(view, of_chat(view.marquee, chat)) if view.dry_run else ""
        if isinstance(found, Decision) and found.action is Verb.NONE and awaited:
            return decided(NAME, subject, Reason.UNKNOWN, f"depends on image/{awaited}")
        if isinstance(found, Decision):
            return found
        verb, (reason, detail) = Verb.REDEPLOY, found
    if failed:
        return decided(
            NAME, subject, Reason.IMAGE_FAILED, f"{failed[0]}: {view.failed_images[failed[0]]}"
        )
    if young:
        return decided(NAME, subject, Reason.GRACE, f"{detail}; last started {age:.0f} s ago")
    return Action(subject, verb, reason, detail, chat.project)


def _trouble(
    view: View, chat: AgentChat, condition: Condition, containers: Sequence[Container]
) -> tuple[Reason, str] | Decision:
    """Why a running agent shall be redeployed, or the decision to leave it."""
    subject = f"agent-chat/{chat.name}"
    if condition.drift:
        return condition.drift[0].reason, "; ".join(one.detail for one in condition.drift)
    if condition.missing:
        return Reason.SERVICE_MISSING, f"no container for {', '.join(condition.missing)}"
    health = view.health.get(chat.project)
    # Where a health URL answers, Docker's word that a container is unhealthy is not enough.
    deaf = health is None
    stuck = [one for one in condition.stuck if deaf or one.reason is not Reason.UNHEALTHY]
    if stuck:
        return stuck[0].reason, "; ".join(one.detail for one in stuck)
    if deaf and condition.waiting:
        return decided(NAME, subject, Reason.GRACE, condition.waiting)
    if health is None or health.answer is Answer.HEALTHY:
        detail = health.detail if health else "running"
        return decided(NAME, subject, Reason.CONVERGED, detail, verb=Verb.NONE, result=Result.DONE)
    told = f"{chat.health_url}: {health.answer}, {health.detail}"
    # "running" without a health check and "healthy" both mean: Docker sees nothing wrong.
    well = all(one.running and one.health in {"", "healthy"} for one in containers)
    if health.answer in _PATIENT or well:
        return decided(NAME, subject, Reason.UNHEALTHY, f"{told}; left as it runs")
    return Reason.UNHEALTHY, told


def _perform(action: Action, hands: Hands) -> Decision:
    chat = next(one for one in hands.view.marquee.agent_chats if one.project == action.key)
    project = of_chat(hands.view.marquee, chat)
    match action.verb:
        case Verb.STOP:
            return expire.down(NAME, action, chat.project, hands)
        case _:
            # An agent that runs as declared and is unwell all the same: Compose sees no difference.
            return apply(NAME, action, project, Mode(anew=action.reason in _UNWELL), hands)
