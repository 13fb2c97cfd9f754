"""The decision table of a Playground that shall run: the first row that matches. Pure.

The rows before these (held, foreign, expired, stopped) need no staged input: ``decisions.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mqctl.host import docker
from mqctl.host.compose import claimed_ports
from mqctl.host.facts import Port, ProjectFacts
from mqctl.host.record import Record, Staged
from mqctl.model import Decision, Playground, Result, Verb
from mqctl.phases.base import Action, View, decided
from mqctl.phases.condition import Condition, examine
from mqctl.phases.projects import of_playground
from mqctl.phases.reasons import Reason
from mqctl.phases.staging import chosen
from mqctl.phases.wanted import awaited_images, references_of

NAME = "playgrounds"


@dataclass(slots=True)
class Shared:
    """What the decisions of one cycle share: who gets which port and name, and the budget left."""

    rollouts_left: int
    ports: dict[Port, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)


def summary(view: View, playground: Playground) -> str:
    """How many of its containers run."""
    containers = [one for one in view.facts.of_project(playground.project) if not one.one_off]
    record = view.facts.project(playground.project).record
    one_shots = record.applied.one_shots if record and record.applied else ()
    done = sum(one.service in one_shots and one.exit_code == 0 for one in containers)
    told = f"{sum(one.running for one in containers)} of {len(containers) - done} containers run"
    return f"{told}, {done} one-shot done" if done else told


@dataclass(frozen=True, slots=True)
class Table:
    """The rows that need the staged input, for one Playground."""

    view: View
    playground: Playground
    seen: ProjectFacts
    record: Record
    staged: Staged
    shared: Shared

    def decide(self) -> Action | Decision:
        """The first row that matches."""
        if self.staged.error:
            return self._say(Reason.FAILING, self.staged.error, result=Result.FAILED)
        if taken := self._taken():
            return taken
        return self._claimed(self._rows())

    def _rows(self) -> Action | Decision:
        policy = self.view.marquee.policy
        condition = examine(
            self.view.facts, self.seen, self.record, self.view.seen, policy.unhealthy_after
        )
        failure = self.record.failure
        tried = failure is not None and failure.digest == self.staged.digest
        begun = self.record.begun
        if begun is not None and (self.view.fence is None or begun.fence < self.view.fence):
            detail = f"the apply that fence {begun.fence} began was not seen to end"
            return self._act(Verb.RECOVER, Reason.INTERRUPTED, detail)
        if failure is not None and tried and failure.final:
            return self._say(Reason.FAILING, failure.message, result=Result.FAILED)
        if broken := self._image_failed(condition):
            return broken
        if condition.absent:
            detail = "no containers"
            return self._unless_cooling(Verb.UP, Reason.MISSING, detail, tried=tried)
        if self.record.stopped:
            reason = Reason.INPUT_CHANGED if condition.unapplied else Reason.WAS_STOPPED
            return self._act(Verb.UP, reason, "was stopped as declared before")
        if condition.missing and not condition.unapplied:
            detail = f"no container for {', '.join(condition.missing)}"
            return self._unless_cooling(Verb.UP, Reason.SERVICE_MISSING, detail, tried=tried)
        if condition.stuck and not condition.unapplied and not self._cure(condition):
            return self._stuck(condition)
        if condition.drift:
            return self._drift(condition)
        if condition.waiting and failure is not None:
            return self._say(Reason.FAILING, failure.message, result=Result.FAILED)
        if condition.waiting:
            return self._say(Reason.GRACE, condition.waiting)
        if failure is not None:
            return self._act(Verb.NONE, Reason.HEALED, f"{failure.step} had failed")
        detail = summary(self.view, self.playground)
        reason = Reason.ONE_SHOT_DONE if condition.done else Reason.CONVERGED
        return self._say(reason, detail, verb=Verb.NONE, result=Result.DONE)

    def _say(self, reason: Reason, detail: str, **how: Verb | Result) -> Decision:
        subject = f"playground/{self.playground.name}"
        return decided(NAME, subject, reason, detail, **how)  # type: ignore[arg-type]  # verb and result by name

    def _act(
        self, verb: Verb, reason: Reason, detail: str, services: tuple[str, ...] = ()
    ) -> Action:
        subject = f"playground/{self.playground.name}"
        return Action(subject, verb, reason, detail, self.playground.project, services)

    def _dirty(self) -> str:
        return "; ".join(
            f"{name}: {state.describe()}"
            for name, state in sorted(self.seen.checkouts.items())
            if state.dirty
        )

    def _taken(self) -> Decision | None:
        mine = self.view.facts.of_project(self.playground.project)
        own_ports = {port for one in mine if one.running for port in one.ports}
        others = [one for one in self.view.facts.containers if one not in mine]
        for port in claimed_ports(chosen(self.staged.services)):
            if any(port.collides(own) for own in own_ports):
                continue
            holder = next(
                (one.name for one in others for used in one.ports if used.collides(port)), None
            ) or next((by for used, by in self.shared.ports.items() if used.collides(port)), None)
            if holder:
                detail = f"port {port} is taken by {holder}"
                return self._say(Reason.PORT_TAKEN, detail, result=Result.FAILED)
        by_name = {one.name: f"a container of {one.project or 'no project'}" for one in others}
        for service in chosen(self.staged.services).values():
            name = service.container_name
            if name and (holder := by_name.get(name) or self.shared.names.get(name)):
                detail = f"the container name {name} is taken by {holder}"
                return self._say(Reason.NAME_TAKEN, detail, result=Result.FAILED)
        return None

    def _claimed(self, verdict: Action | Decision) -> Action | Decision:
        if isinstance(verdict, Action):
            for port in claimed_ports(chosen(self.staged.services)):
                self.shared.ports[port] = verdict.subject
            for service in chosen(self.staged.services).values():
                if service.container_name:
                    self.shared.names[service.container_name] = verdict.subject
        return verdict

    def _image_failed(self, condition: Condition) -> Decision | None:
        """What needs an image that could not be had is left as it runs."""
        needed = references_of(self.view, of_playground(self.view.marquee, self.playground))
        failed = self.view.failed_images
        there = self.view.facts.images
        lacking = [one for one in needed if docker.canonical(one) not in there]
        news = condition.absent or condition.missing or any(one.is_input for one in condition.drift)
        if lacking and lacking[0] not in awaited_images(self.view) and (news or condition.drift):
            why = failed.get(lacking[0], "not on the host, and not pulled")
            return self._say(Reason.IMAGE_FAILED, f"{lacking[0]}: {why}")
        # What ended is started again from what is here: that needs no registry.
        stale = [one for one in needed if one in failed]
        if stale and news:
            return self._say(Reason.IMAGE_FAILED, f"{stale[0]}: {failed[stale[0]]}")
        return None

    def _since(self, moment: float | None) -> float:
        return float("inf") if moment is None else self.view.facts.host_now - moment

    def _cooling(self, moment: float | None) -> str:
        left = self.view.marquee.policy.rollout_cooldown - self._since(moment)
        if left <= 0 or self.view.select.lift:
            return ""
        return f"again in {left:.0f} s"

    def _unless_cooling(
        self, verb: Verb, reason: Reason, detail: str, *, tried: bool
    ) -> Action | Decision:
        """A creation waits for nothing, unless the same input failed a moment ago."""
        wait = self._cooling(self.record.last_attempt_at) if tried else ""
        if wait and self.record.failure:
            told = f"{self.record.failure.message}; {wait}"
            return self._say(Reason.FAILING, told, result=Result.FAILED)
        return self._act(verb, reason, detail)

    def _cure(self, condition: Condition) -> bool:
        """Whether an image arrived that was never tried: it waits for no cooldown, but for work."""
        return any(one.is_input for one in condition.drift) and not self._dirty()

    def _stuck(self, condition: Condition) -> Action | Decision:
        detail = "; ".join(one.detail for one in condition.stuck)
        if waits := self._waits(detail):
            return waits
        # A paused container only has to go on; the others are made anew.
        broken = [one for one in condition.stuck if one.reason is not Reason.PAUSED]
        services = tuple(dict.fromkeys(one.service for one in broken))
        return self._act(Verb.RESTART, condition.stuck[0].reason, detail, services)

    def _grace(self) -> str:
        applied = self.record.applied
        left = self.view.marquee.policy.apply_grace - self._since(applied.at if applied else None)
        if left <= 0 or self.view.select.lift:
            return ""
        return f"the apply is young, again in {left:.0f} s"

    def _drift(self, condition: Condition) -> Action | Decision:
        news = [one for one in condition.drift if one.is_input]
        shown = news or list(condition.drift)
        detail = "; ".join(one.detail for one in shown)
        dirty = self._dirty()
        if dirty and all(one.reason is Reason.EXITED for one in condition.drift):
            # Nothing new has to come: starting again what ended leaves the work as it is.
            return self._waits(detail) or self._act(Verb.UP, Reason.EXITED, detail)
        if dirty:
            return self._say(Reason.DIRTY, f"{dirty}; waits: {detail}")
        if not news and (waits := self._waits(detail)):
            return waits
        if self.shared.rollouts_left <= 0 and not self.view.select.lift:
            budget = self.view.marquee.policy.rollout_budget
            return self._say(Reason.BUDGET, f"{detail}; {budget} rollouts a cycle, next cycle")
        self.shared.rollouts_left -= 1
        return self._act(Verb.ROLLOUT, shown[0].reason, detail)

    def _waits(self, detail: str) -> Decision | None:
        """Why a repair has to wait: the last apply or repair was a moment ago."""
        grace, failure = self._grace(), self.record.failure
        wait = grace or self._cooling(self.record.last_repair_at)
        if not wait:
            return None
        if failure is not None and failure.digest == self.staged.digest:
            return self._say(Reason.FAILING, f"{failure.message}; {wait}", result=Result.FAILED)
        return self._say(Reason.GRACE if grace else Reason.COOLDOWN, f"{detail}; {wait}")
