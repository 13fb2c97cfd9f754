"""A host in memory: what an action does to it, one step after the other, as the real one would.

It knows no command and no Compose, only what is to be seen afterwards, so that a cycle can be ended
between any two steps and the next one planned from what was left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from mqctl.host import docker
from mqctl.host.facts import Container, Port, ProjectFacts
from mqctl.host.record import Applied, Attempt, Failure, Record, Service, Staged
from mqctl.model import Playground, Verb
from mqctl.phases.base import Action, Plan, View
from mqctl.phases.decisions import decide_all
from mqctl.phases.expire import shipped
from mqctl.phases.reasons import Reason
from mqctl.phases.rest import tombstone_of
from mqctl.phases.staging import chosen


class Crash(Exception):
    """The cycle ends here, as by ``kill -9``."""


@dataclass
class World:
    """One Marquee, from cycle to cycle.

    ``breaks`` is the step of an apply that goes wrong each time; ``sick`` is what becomes of the
    containers that are made, if they do not run well.
    """

    view: View
    breaks: str = ""
    sick: str = ""
    steps_left: float = float("inf")
    attempts: list[str] = field(default_factory=list)
    names: int = 0

    def plan(self) -> Plan:
        """What the next cycle would do, under the next fence."""
        return decide_all(self.view)

    def cycle(self, seconds: float) -> Plan:
        """Plan, carry out, and let some time pass. Raises Crash when its steps are used up."""
        fence = (self.view.fence or 0) + 1
        facts = replace(self.view.facts, host_now=self.view.facts.host_now + seconds)
        self.view = replace(self.view, fence=fence, facts=facts)
        plan = self.plan()
        for action in plan:
            if isinstance(action, Action):
                self.attempts.append(action.subject)
                for _ in self._perform(action):
                    self.steps_left -= 1
                    if self.steps_left <= 0:
                        raise Crash
        return plan

    # ------------------------------------------------------------------- what actions do

    def _perform(self, action: Action) -> Iterator[None]:
        playground = next(one for one in self.view.marquee.playgrounds if one.project == action.key)
        match action.verb:
            case Verb.STOP:
                yield from self._stop(playground)
            case Verb.EXPIRE:
                yield from self._expire(playground)
            case Verb.NONE:
                yield from self._finish(action)
            case Verb.RESTART:
                yield from self._restart(action)
            case _:
                yield from self._apply(action)

    def _apply(self, action: Action) -> Iterator[None]:
        record = self._record(action.key)
        staged = _staged(record)
        begun = Attempt(staged.digest, self.view.fence or 0, self._now)
        self._keep(action.key, begun=begun, last_attempt_at=self._now, stopped=False)
        yield
        for step in ("build", "up"):
            if self.breaks == step:
                yield from self._fail(action, step)
                return
        in_place = action.verb is Verb.UP and action.reason in _IN_PLACE
        self._unblock(action.key)
        for name, service in chosen(staged.services).items():
            there = [one for one in self._containers(action.key) if one.service == name]
            if in_place and there:
                self._replace(action.key, name, [self._started(one) for one in there])
            else:
                yield from self._recreate(action.key, name, service, there)
            yield
        if not in_place:
            known = set(chosen(staged.services))
            kept = [one for one in self._all(action.key) if one.service in known or one.one_off]
            self._set(action.key, kept)
            yield
        yield from self._finish(action)

    def _recreate(
        self, project: str, name: str, service: Service, there: list[Container]
    ) -> Iterator[None]:
        """Compose makes the new one under another name, then removes the old one and renames."""
        fresh = [self._new(project, name, service) for _ in range(service.scale)]
        if there:
            blocked = replace(
                fresh[0], name=f"0123456789ab_{project}-{name}-1", state="created", ports=()
            )
            self._replace(project, name, [*there, blocked])
            yield
        self._replace(project, name, fresh)

    def _restart(self, action: Action) -> Iterator[None]:
        services = chosen(_staged(self._record(action.key)).services)
        self._unblock(action.key)
        yield
        if self.breaks == "up":
            yield from self._fail(action, "restart")
            return
        for name in action.services:
            there = [one for one in self._containers(action.key) if one.service == name]
            yield from self._recreate(action.key, name, services[name], there)
            yield
        yield from self._finish(action)

    def _finish(self, action: Action) -> Iterator[None]:
        if self.sick:
            yield from self._fail(action, "verify")
            return
        record, facts = self._record(action.key), self.view.facts
        staged = _staged(record)
        images = self._images(staged)
        applied = Applied(
            staged.digest, staged.inputs, staged.services, images,
            record.applied.one_shots if record.applied else (),
            ("compose.yaml",), self.view.fence or 0, self._now,
        )  # fmt: skip
        repair = action.verb in {Verb.ROLLOUT, Verb.RESTART, Verb.RECOVER}
        self._keep(
            action.key,
            begun=None,
            failure=None,
            applied=applied,
            stopped=False,
            first_applied_at=record.first_applied_at or self._now,
            last_attempt_at=self._now,
            last_repair_at=self._now if repair else record.last_repair_at,
        )
        seen = facts.project(action.key)
        hashes = {"compose.yaml": staged.inputs["file:compose.yaml"]}
        self._directory(replace(self.view.facts.project(seen.name), hashes=hashes))
        yield

    def _fail(self, action: Action, step: str) -> Iterator[None]:
        staged = _staged(self._record(action.key))
        failure = Failure(
            staged.digest, step, f"{step} broke", self._now, step == "build", self._images(staged)
        )
        now = self._now
        self._keep(action.key, begun=None, failure=failure, last_attempt_at=now, last_repair_at=now)
        yield

    def _stop(self, playground: Playground) -> Iterator[None]:
        self._keep(playground.project, stopped=True)
        yield
        for one in self._all(playground.project):
            if one.up:
                ended = replace(one, state="exited", exit_code=0, ports=(), health="")
                kept = [ended if other.id == one.id else other for other in self._all(one.project)]
                self._set(playground.project, kept)
                yield

    def _expire(self, playground: Playground) -> Iterator[None]:
        project, facts = playground.project, self.view.facts
        stone = tombstone_of(playground, self.view.fence or 0, self._now)
        self.view = self.view.with_facts(
            replace(facts, tombstones={**facts.tombstones, project: stone})
        )
        yield
        for one in self._all(project):
            self._set(project, [other for other in self._all(project) if other.id != one.id])
            yield
        seen = self.view.facts.project(project)
        ours = {path.partition("/")[0] for path in shipped(seen)} | seen.checkouts.keys()
        rest = seen.entries - ours
        self._directory(replace(seen, entries=rest, checkouts={}))
        yield
        if rest <= {".mqctl"}:
            left = {name: one for name, one in self.view.facts.projects.items() if name != project}
            self.view = self.view.with_facts(replace(self.view.facts, projects=left))
            yield

    # ------------------------------------------------------------------- what is there

    @property
    def _now(self) -> float:
        return self.view.facts.host_now

    def _record(self, project: str) -> Record:
        return self.view.facts.project(project).record or Record(salt="5a17")

    def _keep(self, project: str, **changes: object) -> None:
        seen = self.view.facts.project(project)
        record = replace(self._record(project), **changes)  # type: ignore[arg-type]  # fields of Record
        self._directory(replace(seen, record=record))

    def _directory(self, seen: ProjectFacts) -> None:
        self.view = self.view.with_facts(self.view.facts.with_project(seen))

    def _all(self, project: str) -> list[Container]:
        return list(self.view.facts.of_project(project))

    def _containers(self, project: str) -> list[Container]:
        return [one for one in self._all(project) if not one.one_off]

    def _set(self, project: str, containers: list[Container]) -> None:
        facts = self.view.facts.with_project_containers(project, tuple(containers))
        self.view = self.view.with_facts(facts)

    def _replace(self, project: str, service: str, fresh: list[Container]) -> None:
        others = [one for one in self._all(project) if one.one_off or one.service != service]
        self._set(project, [*others, *fresh])

    def _unblock(self, project: str) -> None:
        kept = [one for one in self._all(project) if one.state != "created"]
        freed = [self._started(one) if one.state == "paused" else one for one in kept]
        self._set(project, freed)

    def _images(self, staged: Staged) -> dict[str, str]:
        there = self.view.facts.images
        return {
            name: there.get(docker.canonical(one.image), "")
            for name, one in staged.services.items()
            if one.image
        }

    def _new(self, project: str, name: str, service: Service) -> Container:
        self.names += 1
        marquee, record = self.view.marquee, self._record(project)
        done = record.applied is not None and name in record.applied.one_shots
        fresh = Container(
            id=f"{self.names:064x}",
            name=service.container_name or f"{project}-{name}-{self.names}",
            image=service.image,
            state="exited" if done else "running",
            status="Exited (0) 1 second ago" if done else "Up 1 second",
            ports=() if done else tuple(Port(*port) for port in service.ports),
            project=project,
            service=name,
            fleet=marquee.fleet,
            marquee=marquee.name,
            playground=next(
                one.name for one in marquee.playgrounds if one.project == project
            ),
            image_id=self.view.facts.images.get(docker.canonical(service.image), ""),
            exit_code=0 if done else None,
        )  # fmt: skip
        return fresh if done and not self.sick else self._started(fresh)

    def _started(self, one: Container) -> Container:
        match self.sick:
            case "exited":
                return replace(one, state="exited", exit_code=1, status="Exited (1)", ports=())
            case "restarting":
                return replace(one, state="restarting", exit_code=1, status="Restarting", ports=())
            case _:
                return replace(one, state="running", exit_code=None, status="Up 1 second")


_IN_PLACE = {Reason.SERVICE_MISSING, Reason.WAS_STOPPED}


def _staged(record: Record) -> Staged:
    assert record.staged is not None
    return record.staged
