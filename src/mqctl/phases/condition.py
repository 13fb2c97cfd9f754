"""How a Compose project differs from what it should be. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mqctl.host import docker
from mqctl.host.facts import Container, Facts, ProjectFacts
from mqctl.host.record import Applied, Record, Service
from mqctl.phases.inputs import describe_change
from mqctl.phases.reasons import Reason
from mqctl.phases.staging import chosen

# An interrupted recreate leaves a never-started container of this name, which blocks the real one.
_LEFTOVER = re.compile(r"^[0-9a-f]{12}_")


# The steps that fail when all was applied and does not run well.
AFTER_UP = frozenset({"verify", "restart"})


@dataclass(frozen=True, slots=True)
class Stuck:
    """A service that will not come right by itself, and the containers that show it."""

    service: str
    reason: Reason
    detail: str
    containers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drift:
    """Why a project is not as declared. ``is_input`` drift waits for neither grace nor cooldown."""

    reason: Reason
    detail: str
    is_input: bool


@dataclass(frozen=True, slots=True)
class Condition:
    """One look at one project.

    ``unapplied``: what is in place is not the staged input, so nothing less than a whole apply can
    make it right. ``waiting`` tells of a service that is bad, but not yet for long enough.
    ``done``: nothing is up any more (in the absence of drift: all there is are one-shots).
    """

    absent: bool
    unapplied: bool = False
    missing: tuple[str, ...] = ()
    stuck: tuple[Stuck, ...] = ()
    drift: tuple[Drift, ...] = ()
    waiting: str = ""
    done: bool = False


def examine(
    facts: Facts,
    seen: ProjectFacts,
    record: Record,
    unhealthy_since: Mapping[str, float],
    unhealthy_after: float,
) -> Condition:
    """Compare the containers of a project with its staged input and its record.

    Args:
        facts: the Marquee.
        seen: the project's directory.
        record: its record, with staged input.
        unhealthy_since: container id -> host time at which it was first seen unhealthy.
        unhealthy_after: seconds that a container may be unhealthy.
    """
    containers = [one for one in facts.of_project(seen.name) if not one.one_off]
    staged, applied = record.staged, record.applied
    services = chosen(staged.services) if staged else {}
    one_shots = frozenset(applied.one_shots) if applied else frozenset()
    if not containers and services:
        return Condition(absent=True, unapplied=any(_input_drift(record)))
    present = {one.service for one in containers if not _is_leftover(one)}
    stuck, waiting = _stuck(containers, facts, unhealthy_since, unhealthy_after)
    blocked = {one.service for one in stuck}
    unapplied = tuple(_input_drift(record))
    return Condition(
        absent=False,
        unapplied=bool(unapplied),
        missing=tuple(sorted(set(services) - present - one_shots - blocked)),
        stuck=stuck,
        drift=(
            *unapplied,
            *_image_drift(services, containers, facts, record),
            *_tampered(applied, seen),
            *_exited(containers, one_shots, services, blocked),
        ),
        waiting=waiting,
        done=bool(containers) and not any(one.up for one in containers),
    )


def _is_leftover(one: Container) -> bool:
    return one.state == "created" and bool(_LEFTOVER.match(one.name))


def _stuck(
    containers: Sequence[Container],
    facts: Facts,
    unhealthy_since: Mapping[str, float],
    unhealthy_after: float,
) -> tuple[tuple[Stuck, ...], str]:
    found: list[Stuck] = []
    waiting = ""
    for one in containers:
        if _is_leftover(one):
            detail = f"{one.name} is left of an interrupted recreate"
            found.append(Stuck(one.service, Reason.LEFTOVER, detail, (one.id,)))
        elif one.state == "paused":
            found.append(Stuck(one.service, Reason.PAUSED, f"{one.name} is paused", (one.id,)))
        elif one.state == "created":
            detail = f"{one.name} was never started"
            found.append(Stuck(one.service, Reason.NEVER_STARTED, detail, (one.id,)))
        elif one.state == "restarting":
            detail = f"{one.name}: {one.status}"
            found.append(Stuck(one.service, Reason.CRASH_LOOP, detail, (one.id,)))
        elif one.health == "unhealthy":
            age = facts.host_now - unhealthy_since.get(one.id, facts.host_now)
            if age >= unhealthy_after:
                detail = f"{one.name} has been unhealthy for {age:.0f} s"
                found.append(Stuck(one.service, Reason.UNHEALTHY, detail, (one.id,)))
            else:
                waiting = f"{one.name} is unhealthy for {age:.0f} s of {unhealthy_after:.0f} s"
        elif one.health == "starting":
            waiting = waiting or f"the health of {one.name} is still starting"
    return tuple(found), waiting


def _input_drift(record: Record) -> Iterable[Drift]:
    staged, applied, failure = record.staged, record.applied, record.failure
    if staged is None:
        return
    if applied and applied.digest == staged.digest:
        if failure is not None and failure.digest != staged.digest:
            # What failed may run in part: taking it back is input as new as it was.
            yield Drift(Reason.INPUT_CHANGED, "other input was tried since", is_input=True)
        return
    changed = describe_change(applied.inputs if applied else {}, staged.inputs)
    moved = applied is not None and all(text.startswith("commit of ") for text in changed)
    reason = Reason.COMMIT_MOVED if moved else Reason.INPUT_CHANGED
    detail = ", ".join(changed) if applied else "never applied as a whole"
    if failure is None or failure.digest != staged.digest:
        yield Drift(reason, detail, is_input=True)
    elif failure.step not in AFTER_UP:
        # It did not get as far as running: worth another try, but it is no news.
        yield Drift(reason, f"{detail}; {failure.message}", is_input=False)


def _image_drift(
    services: Mapping[str, Service],
    containers: Sequence[Container],
    facts: Facts,
    record: Record,
) -> Iterable[Drift]:
    # An image that was tried and still does not run is not new input: no endless rollouts.
    tried = [one.images for one in (record.applied, record.failure) if one]
    for one in containers:
        service = services.get(one.service)
        if service is None or not service.image or service.build:
            continue
        pulled = facts.images.get(docker.canonical(service.image), "")
        if not pulled or not one.image_id or pulled == one.image_id:
            continue
        known = any(images.get(one.service) == pulled for images in tried)
        now = pulled.removeprefix("sha256:")[:12]
        detail = f"{one.service} does not run {service.image} as it is now ({now})"
        yield Drift(Reason.IMAGE_MOVED, detail, is_input=not known)


def _tampered(applied: Applied | None, seen: ProjectFacts) -> Iterable[Drift]:
    for path in applied.shipped if applied else ():
        expected = applied.inputs.get(f"file:{path}") if applied else None
        if expected is not None and seen.hashes.get(path) != expected:
            yield Drift(Reason.FILES_CHANGED, f"{path} was changed on the host", is_input=False)


def _exited(
    containers: Sequence[Container],
    one_shots: frozenset[str],
    services: Mapping[str, Service],
    blocked: set[str],
) -> Iterable[Drift]:
    running: dict[str, int] = {}
    for one in containers:
        running[one.service] = running.get(one.service, 0) + one.running
        done = one.service in one_shots and one.exit_code == 0
        if one.state in {"exited", "dead", "removing"} and not done and one.service not in blocked:
            yield Drift(Reason.EXITED, f"{one.name}: {one.status}", is_input=False)
    for name, service in services.items():
        if 0 < running.get(name, 0) < service.scale:
            detail = f"{name} runs {running[name]} of {service.scale}"
            yield Drift(Reason.SERVICE_MISSING, detail, is_input=False)


# Docker restarts a crashed container after a minute at most: one that was up for longer runs.
# Unbounded, every container would be inspected in every cycle from its host's first reboot on.
YOUNG = 61.0  # seconds


def suspicious(containers: Iterable[Container], applied: Applied | None, now: float) -> bool:
    """Whether only ``docker inspect`` can tell that these containers are fine."""
    age = now - applied.at if applied else 0.0
    return any(
        one.state == "restarting"
        or (one.up_at_most is not None and one.up_at_most < min(age, YOUNG))
        for one in containers
    )


def looping(before: Iterable[Container], after: Iterable[Container]) -> frozenset[str]:
    """The ids of containers that restarted between two samples, or wait for their next restart."""
    counts = {one.id: one.inspection.restart_count for one in before if one.inspection}
    return frozenset(
        one.id
        for one in after
        if one.inspection
        and one.id in counts
        and (one.state == "restarting" or one.inspection.restart_count > counts[one.id])
    )
