"""Whether an apply worked.

Compose's own ``up --wait`` calls a crash loop healthy and a finished one-shot failed, so the
containers are looked at twice instead. :func:`judge` is pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mqctl.host.facts import Container
from mqctl.host.observe import OBSERVE_PROJECT, parse_project
from mqctl.host.record import Service
from mqctl.phases.base import Hands
from mqctl.phases.projects import Project
from mqctl.phases.reasons import Reason

SAMPLE_INTERVAL = 1.5  # seconds; Docker restarts a crashed container after 0.1 s, then doubles it
_LOGS = 'timeout -k 2 10 docker logs --tail 5 "$1" 2>&1 </dev/null | tail -n 3'


@dataclass(frozen=True, slots=True)
class Verdict:
    """``settled``: no later sample will change it. ``reason`` None: all is well."""

    settled: bool
    reason: Reason | None = None
    detail: str = ""
    culprit: str = ""  # a container id
    one_shots: tuple[str, ...] = ()


def judge(
    services: Mapping[str, Service],
    before: Sequence[Container],
    after: Sequence[Container],
) -> Verdict:
    """Compare two samples of a project's containers with the services that shall run."""
    earlier = {one.id: one for one in before}
    one_shots = []
    doubt = Verdict(settled=True)
    for name, service in services.items():
        mine = [one for one in after if one.service == name and not one.one_off]
        if len(mine) < service.scale:
            detail = f"{name} has {len(mine)} of {service.scale} containers"
            doubt = Verdict(settled=False, reason=Reason.SERVICE_MISSING, detail=detail)
        for one in mine:
            reason = _complaint(one, earlier.get(one.id))
            if reason is not None:
                # A crashed or unhealthy service may still come up: its database may be slow.
                # One that exited will not: Docker shows it as restarting as long as it tries.
                given_up = reason is Reason.EXITED
                doubt = Verdict(given_up, reason, f"{one.name}: {one.status}", one.id)
            elif one.state == "exited":
                one_shots.append(name)
    if doubt.reason is not None:
        return doubt
    return Verdict(settled=True, one_shots=tuple(sorted(set(one_shots))))


def _complaint(one: Container, before: Container | None) -> Reason | None:
    if one.state == "exited":
        return None if one.exit_code == 0 else Reason.EXITED
    if one.state == "created":
        return Reason.NEVER_STARTED
    if one.state == "paused":
        return Reason.PAUSED
    if not one.running:
        return Reason.CRASH_LOOP
    if one.health == "unhealthy":
        return Reason.UNHEALTHY
    if one.health == "starting":
        return Reason.UNHEALTHY
    if before is None:
        return Reason.CRASH_LOOP
    if before.inspection and one.inspection:
        restarted = one.inspection.restart_count != before.inspection.restart_count
        if restarted or one.inspection.started_at != before.inspection.started_at:
            return Reason.CRASH_LOOP
    return None


def look(project: str, hands: Hands) -> tuple[Container, ...]:
    """Observe one project again, and keep it in the facts."""
    _, containers = parse_project(hands.read(OBSERVE_PROJECT, project).stdout)
    view = hands.view
    hands.view = view.with_facts(view.facts.with_project_containers(project, containers))
    return containers


def verify(project: Project, services: Mapping[str, Service], hands: Hands) -> Verdict:
    """Sample until all is well or ``health_wait`` is over, then say what is wrong, with its log."""
    left = hands.view.marquee.policy.health_wait
    before = look(project.name, hands)
    while True:
        hands.pause(SAMPLE_INTERVAL)
        left -= SAMPLE_INTERVAL
        after = look(project.name, hands)
        verdict = judge(services, before, after)
        if verdict.settled or left <= 0:
            break
        before = after
    if verdict.culprit:
        log = hands.read(_LOGS, verdict.culprit).text.strip()
        said = f"; its log ends: {' | '.join(log.splitlines())}" if log else ""
        return Verdict(verdict.settled, verdict.reason, verdict.detail + said, verdict.culprit)
    return verdict
