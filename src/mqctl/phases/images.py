"""Phase ``images``: stage new input, then pull what the services name, each reference once."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mqctl.errors import ConfigError
from mqctl.host import docker
from mqctl.host.bundle import bundle
from mqctl.host.completed import Completed
from mqctl.host.scripts import script
from mqctl.model import Decision, PullPolicy, Registry, Result, Verb
from mqctl.phases import wanted
from mqctl.phases.base import Action, Hands, Plan, View, decided
from mqctl.phases.decisions import refused
from mqctl.phases.reasons import Reason
from mqctl.phases.staging import stage
from mqctl.phases.wanted import references_of

NAME = "images"
PULL = script("images_pull", "private", "compose")
_LITTLE = 0.02  # of a filesystem: a pull onto less would end with a full disk


@dataclass(slots=True)
class _Wish:
    """What all projects together want of one reference."""

    policies: set[PullPolicy] = field(default_factory=set)
    registries: set[Registry] = field(default_factory=set)


class ImagesPhase:
    """See the module."""

    name = NAME
    needs = ("git-state",)

    def prepare(self, hands: Hands) -> None:
        """Stage what is new: only Compose knows which images a file names."""
        stage(wanted.projects(hands.view), hands)

    def plan(self, view: View) -> Plan:
        """One decision a reference; one a project whose images cannot be known."""
        plan: list[Action | Decision] = [
            decided(NAME, project.subject, Reason.UNKNOWN, inputs.unknown)
            for project in wanted.projects(view)
            if (inputs := view.inputs.get(project.name)) and inputs.unknown
        ]
        for reference, wish in sorted(_wishes(view).items()):
            plan.append(_decide(view, reference, wish.policies))
        return plan

    def perform(self, actions: Sequence[Action], hands: Hands) -> Iterator[Decision]:
        """Pull all in one guarded command, side by side."""
        wishes = _wishes(hands.view)
        references = [action.key for action in actions]
        registries = {one for name in references for one in wishes[name].registries}
        try:
            files = {"docker.json": accounts(registries)}
        except ConfigError as error:
            for action in actions:
                hands.view = hands.view.with_failed_image(action.key, error.what)
                yield action.decided(NAME, Result.FAILED, detail=error.told)
            return
        limit = hands.view.marquee.policy.apply_timeout
        done = hands.mutate(
            "pull",
            PULL,
            str(max(1, int(limit) - 5)),
            *references,
            subject=actions[0].subject if len(actions) == 1 else f"{len(actions)} images",
            stdin=bundle(files),
            limit=limit,
        )
        answers = _answers(done)
        for action in actions:
            yield _settle(action, answers.get(action.key), done, hands)


def accounts(registries: set[Registry]) -> str:
    """The text of a Docker ``config.json`` with these accounts. Raises ConfigError."""
    auths = {}
    for one in registries:
        pair = f"{one.username}:{one.password.read().reveal()}"
        host = "https://index.docker.io/v1/" if one.host == "docker.io" else one.host
        auths[host] = {"auth": base64.b64encode(pair.encode()).decode()}
    return json.dumps({"auths": auths})


def _wishes(view: View) -> dict[str, _Wish]:
    """What to pull, but nothing for a Playground that will be refused: nothing is sent for it."""
    wishes: dict[str, _Wish] = {}
    left_out = refused(view)
    for project in wanted.projects(view):
        if project.subject in left_out:
            continue
        for reference in references_of(view, project):
            wish = wishes.setdefault(reference, _Wish())
            wish.policies.add(project.pull_policy)
            wish.registries.update(project.registries)
    return wishes


def _decide(view: View, reference: str, policies: set[PullPolicy]) -> Action | Decision:
    subject = f"image/{reference}"
    present = docker.canonical(reference) in view.facts.images
    if PullPolicy.ALWAYS in policies:
        if view.dry_run:
            return decided(NAME, subject, Reason.UNKNOWN, "depends on the registry")
        if present and _disk_is_full(view):
            return decided(NAME, subject, Reason.DISK_FULL, _free(view))
        return Action(subject, Verb.PULL, Reason.ALWAYS, "pull_policy is always", reference)
    if present:
        return decided(NAME, subject, Reason.PRESENT, verb=Verb.NONE, result=Result.DONE)
    if policies == {PullPolicy.NEVER}:
        detail = "not on the host, and pull_policy is never"
        return decided(NAME, subject, Reason.ABSENT, detail)
    if _disk_is_full(view):
        return decided(NAME, subject, Reason.DISK_FULL, _free(view), result=Result.FAILED)
    return Action(subject, Verb.PULL, Reason.MISSING, "not on the host", reference)


def _disk_is_full(view: View) -> bool:
    return view.facts.disk_free is not None and view.facts.disk_free < _LITTLE


def _free(view: View) -> str:
    return f"{(view.facts.disk_free or 0) * 100:.1f} % of the host's disk is free"


@dataclass(frozen=True, slots=True)
class _Answer:
    """``before`` and ``after`` are image ids ("none" if there was none), or ``error`` is set."""

    before: str = ""
    after: str = ""
    error: str = ""


def _answers(done: Completed) -> dict[str, _Answer]:
    found = {}
    for line in done.text.splitlines():
        match line.split(" ", 3):
            case ["pulled", reference, before, after]:
                found[reference] = _Answer(before, after)
            case ["failed", reference, *words]:
                found[reference] = _Answer(error=" ".join(words) or "docker gave no reason")
    return found


def _settle(action: Action, answer: _Answer | None, done: Completed, hands: Hands) -> Decision:
    if answer is None:
        answer = _Answer(error="no answer in time" if done.timed_out else done.last_words)
    view = hands.view
    if answer.error:
        hands.view = view.with_failed_image(action.key, answer.error)
        return action.decided(NAME, Result.FAILED, reason=Reason.PULL_FAILED, detail=answer.error)
    hands.view = view.with_facts(
        view.facts.with_images({docker.canonical(action.key): answer.after})
    )
    if answer.before == answer.after:
        return action.decided(
            NAME, Result.DONE, action=Verb.NONE, reason=Reason.UP_TO_DATE, detail="pulled again"
        )
    moved = answer.before != "none"
    return action.decided(
        NAME,
        Result.DONE,
        reason=Reason.IMAGE_MOVED if moved else Reason.MISSING,
        detail=f"now {answer.after.removeprefix('sha256:')[:12]}",
    )
