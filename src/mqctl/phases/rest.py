"""Which Playgrounds are left in peace this cycle, and why: asked by several phases."""

from __future__ import annotations

from datetime import UTC, datetime

from mqctl.host.facts import Container, Facts, ProjectFacts
from mqctl.host.record import Tombstone
from mqctl.model import Playground, Status
from mqctl.phases.base import View
from mqctl.phases.reasons import Reason


def selected(view: View) -> tuple[Playground, ...]:
    """The declared Playgrounds that this run covers."""
    only = view.select.playground
    return tuple(one for one in view.marquee.playgrounds if only in {None, one.name})


def resting(view: View, playground: Playground) -> Reason | None:
    """Why nothing new may be brought to a Playground, or None if it shall run."""
    project = view.facts.project(playground.project)
    if playground.hold or project.hold is not None:
        return Reason.ON_HOLD
    if is_foreign(view.facts, playground, view):
        return Reason.FOREIGN
    if playground.project in view.facts.unreadable:
        return Reason.UNKNOWN
    if buried(view.facts, playground) or past_due(playground, project, view):
        return Reason.EXPIRED
    if playground.status is Status.STOPPED:
        return Reason.DECLARED_STOPPED
    return None


def is_foreign(facts: Facts, playground: Playground, view: View) -> bool:
    """Whether a project of that name is somebody else's."""
    mine = _lasting(facts, playground.project)
    return foreign_project(facts, playground.project, view.marquee.fleet, view.marquee.name) or any(
        one.playground != playground.name for one in mine
    )


def foreign_project(facts: Facts, project: str, fleet: str, marquee: str) -> bool:
    """Whether a project has containers or a directory that do not say they are ours."""
    seen = facts.project(project)
    if any((one.fleet, one.marquee) != (fleet, marquee) for one in _lasting(facts, project)):
        return True
    if seen.marker is not None:
        owner = (seen.marker.fleet, seen.marker.marquee, seen.marker.project)
        return owner != (fleet, marquee, project)
    # A first upload that was interrupted leaves no more than an empty .mqctl.
    return bool(seen.entries - {".mqctl"}) and not seen.broken


def _lasting(facts: Facts, project: str) -> list[Container]:
    """Without one-offs where mqctl's marker is: `docker compose run` by hand knows no override."""
    marked = facts.project(project).marker is not None
    return [one for one in facts.of_project(project) if not (marked and one.one_off)]


def tombstone_of(playground: Playground, fence: int, at: float) -> Tombstone:
    """The tombstone that an expiry of this Playground writes."""
    return Tombstone(playground.name, playground.ttl, _text(playground.expires_at), fence, at)


def buried(facts: Facts, playground: Playground) -> bool:
    """Whether it was expired before under the same terms; other terms bring it back."""
    stone = facts.tombstones.get(playground.project)
    terms = (playground.ttl, _text(playground.expires_at))
    return stone is not None and (stone.ttl, stone.expires_at) == terms


def past_due(playground: Playground, project: ProjectFacts, view: View) -> bool:
    """Whether its time is over: ``expires_at`` by our clock, ``ttl`` since the first apply."""
    if playground.expires_at is not None and view.now >= playground.expires_at:
        return True
    first = project.record.first_applied_at if project.record else None
    if playground.ttl is None or first is None:
        return False
    return view.facts.host_now - first >= playground.ttl


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat()
