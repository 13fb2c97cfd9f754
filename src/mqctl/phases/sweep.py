"""Phase ``sweep``: remove what carries all proofs of being ours and that nothing declares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from mqctl.host import docker
from mqctl.host.facts import Container
from mqctl.host.scripts import script
from mqctl.model import Decision, Result, Verb
from mqctl.phases import expire
from mqctl.phases.base import Action, Hands, Plan, View, decided, one_by_one
from mqctl.phases.reasons import Reason
from mqctl.phases.rest import buried

NAME = "sweep"
REMOVE_CONTAINER = script("sweep_container")
REMOVE_NETWORK = script("sweep_network")
REMOVE_IMAGE = script("sweep_image")
REMOVE_TOMBSTONE = script("sweep_tombstone")
ONE_OFF_AGE = 86400.0  # seconds after which an exited one-off of `compose run` goes
MANY = 3  # projects that may go without being asked about, whatever their share


class SweepPhase:
    """See the module."""

    name = NAME
    needs: tuple[str, ...] = ()

    def prepare(self, hands: Hands) -> None:
        """The first look has told all."""

    def plan(self, view: View) -> Plan:
        """One decision a thing that nothing declares."""
        orphans = [_orphan(view, project) for project in undeclared(view)]
        rest = [*_one_offs(view), *_networks(view), *_images(view), *_tombstones(view)]
        return _unless_grown(view, [*_refuse(view, orphans), *rest])

    def perform(self, actions: Sequence[Action], hands: Hands) -> Iterator[Decision]:
        """One after the other."""
        return one_by_one(NAME, actions, lambda action: _perform(action, hands))


def declared(view: View) -> frozenset[str]:
    """The Compose projects that the file declares for this Marquee."""
    marquee = view.marquee
    playgrounds = {one.project for one in marquee.playgrounds}
    return frozenset(playgrounds | {one.project for one in marquee.agent_chats})


def undeclared(view: View) -> list[str]:
    """Compose projects of any proof of ours that nothing declares."""
    marquee = view.marquee
    shape = _shape(view)
    claimed = {
        one.project
        for one in view.facts.containers
        if (one.project and (one.fleet, one.marquee) == (marquee.fleet, marquee.name))
        or shape.fullmatch(one.project)
    }
    return sorted((claimed | view.facts.projects.keys()) - declared(view))


def _shape(view: View) -> re.Pattern[str]:
    fleet, marquee = re.escape(view.marquee.fleet), re.escape(view.marquee.name)
    return re.compile(rf"{fleet}_{marquee}_(chat_)?[a-z0-9][a-z0-9-]*")


def proofs_missing(view: View, project: str) -> list[str]:
    """Which of the three proofs a project lacks: labels, a name of our shape, the marker."""
    marquee = view.marquee
    seen = view.facts.project(project)
    containers = view.facts.of_project(project)
    labelled = all((one.fleet, one.marquee) == (marquee.fleet, marquee.name) for one in containers)
    marker = seen.marker
    ours = (marquee.fleet, marquee.name, project)
    marked = marker is not None and (marker.fleet, marker.marquee, marker.project) == ours
    checks = (
        (labelled, "labels"),
        (_shape(view).fullmatch(project) is not None, "name"),
        (marked, "owner marker"),
    )
    return [what for fine, what in checks if not fine]


def _orphan(view: View, project: str) -> Action | Decision:
    subject = f"orphan/{project}"
    seen = view.facts.project(project)
    containers = view.facts.of_project(project)
    if missing := proofs_missing(view, project):
        detail = f"without {', '.join(missing)}; not touched"
        return decided(NAME, subject, Reason.NOT_PROVEN, detail)
    if seen.hold is not None:
        return decided(NAME, subject, Reason.ON_HOLD, seen.hold)
    dirty = [f"{n}: {one.describe()}" for n, one in sorted(seen.checkouts.items()) if one.dirty]
    if dirty:
        return decided(NAME, subject, Reason.DIRTY, "; ".join(dirty))
    kept = sorted(seen.entries - {".mqctl"})
    if not containers and kept and not expire.removable(seen):
        return decided(NAME, subject, Reason.FOREIGN_FILES, f"kept: {', '.join(kept[:3])}")
    age = view.facts.host_now - view.seen.get(subject, view.facts.host_now)
    left = view.marquee.policy.orphan_grace - age
    if left > 0 and not view.select.at_once:
        detail = f"nothing declares it; removed in {left:.0f} s"
        return decided(NAME, subject, Reason.GRACE, detail)
    detail = f"nothing declares it; {len(containers)} containers"
    return Action(subject, Verb.REMOVE, Reason.ORPHAN, detail, project)


def _refuse(view: View, orphans: Plan) -> Plan:
    """What keeps a mistake in the file from becoming a removal of everything."""
    going = [one for one in orphans if isinstance(one, Action)]
    if not going:
        return orphans
    select = view.select
    if not declared(view) and not select.allow_empty:
        detail = "the file declares nothing for this Marquee"
        return _refused(orphans, Reason.NOTHING_DECLARED, detail)
    there = {one.project for one in view.facts.containers if one.project in declared(view)}
    total = len(there) + sum(one.reason != Reason.NOT_PROVEN for one in orphans)
    if len(going) > MANY and 2 * len(going) > total and not select.allow_many:
        detail = f"{len(going)} of {total} projects would go"
        return _refused(orphans, Reason.TOO_MANY, detail)
    return orphans


def _unless_grown(view: View, plan: Plan) -> Plan:
    """A sweep by hand removes what it has shown, or nothing."""
    approved = view.select.approved
    if approved is None:
        return plan
    grown = [one.subject for one in plan if isinstance(one, Action) and one.subject not in approved]
    if not grown:
        return plan
    return _refused(plan, Reason.PLAN_GREW, f"{grown[0]} was not shown before; look again")


def _refused(plan: Plan, reason: Reason, detail: str) -> Plan:
    """The plan without its actions."""
    return [
        decided(NAME, one.subject, reason, detail, result=Result.FAILED)
        if isinstance(one, Action)
        else one
        for one in plan
    ]


def _ours(view: View, one: Container) -> bool:
    return (one.fleet, one.marquee) == (view.marquee.fleet, view.marquee.name)


def _one_offs(view: View) -> Iterator[Action]:
    for one in view.facts.containers:
        finished = one.one_off and one.state in {"exited", "dead"} and _ours(view, one)
        if finished and one.project in declared(view) and _age(one, view) >= ONE_OFF_AGE:
            detail = f"a `compose run` that ended: {one.status}"
            yield Action(f"one-off/{one.name}", Verb.REMOVE, Reason.ONE_OFF, detail, one.id)


def _age(one: Container, view: View) -> float:
    """Seconds since the container was made; docker prints ``2026-11-30 14:31:42 +0000 UTC``."""
    try:
        made = datetime.strptime(" ".join(one.created.split()[:3]), "%Y-%m-%d %H:%M:%S %z")
    except ValueError:
        return 0.0
    return view.facts.host_now - made.astimezone(UTC).timestamp()


def _networks(view: View) -> Iterator[Action]:
    used = {one.project for one in view.facts.containers} | declared(view)
    orphans = set(undeclared(view))
    for one in view.facts.networks:
        ours = (one.fleet, one.marquee) == (view.marquee.fleet, view.marquee.name)
        if ours and one.project not in used and one.project not in orphans:
            detail = f"of {one.project}, which is gone"
            yield Action(f"network/{one.name}", Verb.REMOVE, Reason.ORPHAN, detail, one.id)


def _images(view: View) -> Iterator[Action]:
    named = named_images(view)
    for identity, since in sorted(unused_images(view, named).items()):
        age = view.facts.host_now - since
        if age >= view.marquee.policy.image_retention:
            detail = f"unused for {age:.0f} s"
            subject = f"image/{identity.removeprefix('sha256:')[:12]}"
            yield Action(subject, Verb.REMOVE, Reason.ORPHAN, detail, identity)


def named_images(view: View) -> frozenset[str]:
    """The ids of images that some project on this Marquee names."""
    staged = (one.record.staged for one in view.facts.projects.values() if one.record)
    references = {service.image for one in staged if one for service in one.services.values()}
    return frozenset(view.facts.images.get(docker.canonical(one), "") for one in references if one)


def unused_images(view: View, named: frozenset[str]) -> dict[str, float]:
    """Images that mqctl pulled and nothing uses: id -> first seen so, or just now."""
    there = frozenset(view.facts.images.values())
    in_use = {one.image_id for one in view.facts.containers} | named
    return {
        identity: view.seen.get(f"unused/{identity}", view.facts.host_now)
        for identity in view.facts.pulled
        if identity in there and identity not in in_use
    }


def _tombstones(view: View) -> Iterator[Action]:
    by_project = {one.project: one for one in view.marquee.playgrounds}
    for project in sorted(view.facts.tombstones):
        playground = by_project.get(project)
        gone = playground is None and project not in view.facts.projects
        extended = playground is not None and not buried(view.facts, playground)
        if gone or extended:
            reason = Reason.REVIVED if extended else Reason.LEFTOVER
            yield Action(f"tombstone/{project}", Verb.REMOVE, reason, "", project)


def _perform(action: Action, hands: Hands) -> Decision:
    kind = action.subject.partition("/")[0]
    marquee = hands.view.marquee
    if kind == "orphan":
        chat = action.key.startswith(f"{marquee.fleet}_{marquee.name}_chat_")
        volumes = hands.view.select.volumes and not chat
        return expire.remove(NAME, action, action.key, hands, volumes=volumes)
    text = {
        "one-off": REMOVE_CONTAINER,
        "network": REMOVE_NETWORK,
        "image": REMOVE_IMAGE,
        "tombstone": REMOVE_TOMBSTONE,
    }[kind]
    done = hands.mutate(
        "remove",
        text,
        action.key,
        marquee.fleet,
        marquee.name,
        subject=action.subject,
        limit=marquee.policy.command_timeout,
    )
    if done.status != 0 or done.timed_out:
        return action.decided(NAME, Result.FAILED, detail=done.last_words)
    return action.decided(NAME, Result.DONE)
