"""Expiry: the tombstone first, then the containers, the directory last. Dirty work parks it."""

from __future__ import annotations

from dataclasses import replace

from mqctl.host import record
from mqctl.host.completed import Completed
from mqctl.host.facts import ProjectFacts
from mqctl.host.scripts import script
from mqctl.model import Decision, Playground, Result, Verb
from mqctl.phases.base import Action, Hands, View, decided
from mqctl.phases.reasons import Reason
from mqctl.phases.rest import buried, tombstone_of

NAME = "playgrounds"
DOWN = script("compose_down", "git", "veto")
REMOVE = script("directory_remove", "git")


def decide(view: View, playground: Playground, subject: str) -> Action | Decision:
    """Rows 3 to 5 of the table: what is past its time, or was begun to be removed."""
    seen = view.facts.project(playground.project)
    containers = view.facts.of_project(playground.project)
    dirty = {name: one for name, one in sorted(seen.checkouts.items()) if one.dirty}
    stone = view.facts.tombstones.get(playground.project)
    if dirty and (containers or seen.entries):
        detail = "; ".join(f"{name}: {one.describe()}" for name, one in dirty.items())
        return Decision(NAME, subject, Verb.PARK, Reason.DIRTY, f"expired, but {detail}")
    if stone is not None and not containers and not removable(seen):
        kept = sorted(seen.entries - {".mqctl"})
        if kept:
            detail = f"expired; kept: {', '.join(kept[:3])}"
            return decided(NAME, subject, Reason.FOREIGN_FILES, detail, verb=Verb.NONE)
        if not seen.entries:
            return decided(NAME, subject, Reason.EXPIRED, verb=Verb.NONE, result=Result.DONE)
    detail = "finishing the removal" if stone is not None else _why(playground, seen)
    return Action(subject, Verb.EXPIRE, Reason.EXPIRED, detail, playground.project)


def _why(playground: Playground, seen: ProjectFacts) -> str:
    first = seen.record.first_applied_at if seen.record else None
    if playground.ttl is not None and first is not None:
        return f"older than its ttl of {playground.ttl:.0f} s"
    return f"past {playground.expires_at}"


def removable(seen: ProjectFacts) -> bool:
    """Whether a removal would find anything in the directory that it may take."""
    known = {path.partition("/")[0] for path in shipped(seen)} | seen.checkouts.keys()
    return bool(seen.entries & known)


def shipped(seen: ProjectFacts) -> tuple[str, ...]:
    """The files that mqctl put into a project's directory, by the record."""
    kept = seen.record
    if kept is None:
        return ()
    applied = set(kept.applied.shipped) if kept.applied else set()
    staged = kept.staged.inputs if kept.staged else {}
    applied |= {name.partition(":")[2] for name in staged if name.startswith("file:")}
    return tuple(sorted(applied))


def perform(phase: str, action: Action, playground: Playground, hands: Hands) -> Decision:
    """Remove an expired Playground; each part may have been done by an earlier cycle."""
    view = hands.view
    stone = tombstone_of(playground, view.fence or 0, view.facts.host_now)
    if not buried(view.facts, playground):
        path = f"tombstones/{playground.project}"
        hands.put("tombstone", {path: record.dump(stone)}, subject=action.subject)
        stones = {**view.facts.tombstones, playground.project: stone}
        hands.view = view.with_facts(replace(view.facts, tombstones=stones))
    return remove(
        phase,
        action,
        playground.project,
        hands,
        volumes=not playground.playspec.persist_volumes,
    )


def down(
    phase: str, action: Action, project: str, hands: Hands, *, volumes: bool = False
) -> Decision:
    """Remove a project's containers and networks; volumes only if asked for."""
    marquee = hands.view.marquee
    seen = hands.view.facts.project(project)
    checkouts = " ".join(f"projects/{project}/{name}" for name in sorted(seen.checkouts))
    done = hands.mutate(
        "down",
        DOWN,
        project,
        marquee.fleet,
        marquee.name,
        "volumes" if volumes else "",
        checkouts,
        subject=action.subject,
        limit=marquee.policy.apply_timeout,
    )
    if stopped := _vetoed(phase, action, done):
        return stopped
    hands.view = hands.view.with_facts(hands.view.facts.with_project_containers(project, ()))
    return action.decided(phase, Result.DONE)


def remove(phase: str, action: Action, project: str, hands: Hands, *, volumes: bool) -> Decision:
    """Take a project down and remove its directory, unless something of value is in the way."""
    taken = down(phase, action, project, hands, volumes=volumes)
    if taken.result is not Result.DONE:
        return taken
    seen = hands.view.facts.project(project)
    done = hands.mutate(
        "remove directory",
        REMOVE,
        project,
        "\n".join(shipped(seen)),
        subject=action.subject,
        limit=hands.view.marquee.policy.command_timeout,
    )
    if stopped := _vetoed(phase, action, done):
        return stopped
    facts = hands.view.facts
    projects = {name: one for name, one in facts.projects.items() if name != project}
    hands.view = hands.view.with_facts(replace(facts, projects=projects))
    return action.decided(phase, Result.DONE)


def _vetoed(phase: str, action: Action, done: Completed) -> Decision | None:
    if done.timed_out:
        return action.decided(phase, Result.FAILED, reason=Reason.TIMED_OUT)
    if done.status != 0:
        return action.decided(phase, Result.FAILED, detail=done.last_words)
    for line in done.text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "veto":
            reason, _, detail = rest.partition(" ")
            if reason == Reason.FOREIGN_FILES:
                # Its containers are gone; what is not ours stays where it is.
                return action.decided(phase, Result.DONE, reason=reason, detail=f"kept: {detail}")
            return decided(phase, action.subject, Reason(reason), detail or "became so meanwhile")
    return None
