"""What a phase is, what it sees, and the hands that carry out what it planned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from mqctl.errors import MqctlError, Refused, Unreachable
from mqctl.host.completed import Completed
from mqctl.host.facts import Facts
from mqctl.host.git import Tips
from mqctl.host.record import Marker
from mqctl.host.upload import Target
from mqctl.http import Health
from mqctl.model import Decision, Marquee, Result, Verb
from mqctl.phases.inputs import Inputs
from mqctl.phases.reasons import Reason


@dataclass(frozen=True, slots=True)
class Action:
    """Something that a plan wants done to one subject. ``key`` finds it again in the phase's data.

    ``services`` narrows it to some of a project's services.
    """

    subject: str
    verb: Verb
    reason: Reason
    detail: str = ""
    key: str = ""
    services: tuple[str, ...] = ()

    def decided(self, phase: str, result: Result, **changes: object) -> Decision:
        """The decision that reports it."""
        decision = Decision(phase, self.subject, self.verb, self.reason, self.detail, result)
        return replace(decision, **changes)  # type: ignore[arg-type]  # fields of Decision


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a Marquee this run covers, and which bounds it lifts.

    ``playground`` names the only one to look at; ``lift`` ignores grace, cooldown and budget.
    """

    playground: str | None = None
    lift: bool = False
    volumes: bool = False
    allow_empty: bool = False
    allow_many: bool = False
    at_once: bool = False  # a sweep by hand does not wait for orphan_grace
    approved: frozenset[str] | None = None  # the subjects that a sweep by hand was allowed


@dataclass(frozen=True, slots=True)
class View:
    """All that a plan may look at. Plans are pure functions of it.

    ``inputs`` and ``tips`` are by Compose project and by repository key, ``seen`` tells since when
    (seconds since the epoch, host's clock) something has been as it is, ``failed_images`` why a
    reference could not be pulled.
    """

    marquee: Marquee
    facts: Facts
    now: datetime
    fence: int | None = None  # None in a dry run
    select: Selection = field(default_factory=Selection)
    inputs: Mapping[str, Inputs] = field(default_factory=dict)
    tips: Mapping[str, Tips] = field(default_factory=dict)
    failed_images: Mapping[str, str] = field(default_factory=dict)
    health: Mapping[str, Health] = field(default_factory=dict)  # by project, asked from here
    seen: Mapping[str, float] = field(default_factory=dict)

    @property
    def dry_run(self) -> bool:
        """Whether nothing may be changed."""
        return self.fence is None

    def marker(self, project: str) -> Marker:
        """Whose directory a project's is: the proof that a sweep asks for."""
        return Marker(self.marquee.fleet, self.marquee.name, project)

    def with_failed_image(self, reference: str, why: str) -> View:
        """This view, with one reference that could not be pulled."""
        return replace(self, failed_images={**self.failed_images, reference: why})

    def with_facts(self, facts: Facts) -> View:
        """This view of other facts."""
        return replace(self, facts=facts)

    def with_tips(self, tips: Mapping[str, Tips]) -> View:
        """This view, with the tips of some repositories known."""
        return replace(self, tips={**self.tips, **tips})


Plan = Sequence[Action | Decision]


class Hands(Protocol):
    """What a phase gets from the runner to ask and to act. The only way to the host."""

    view: View

    def read(self, script: str, *args: str, stdin: bytes = b"") -> Completed:
        """Run a script that changes nothing."""

    def mutate(
        self, step: str, script: str, *args: str, subject: str, stdin: bytes = b"", limit: float
    ) -> Completed:
        """Run one guarded command; ``limit`` is in seconds and is cut to what the lease covers."""

    def put(self, step: str, targets: Mapping[str, Target], *, subject: str) -> None:
        """Replace files and directories on the host, guarded and by rename."""

    def pause(self, seconds: float) -> None:
        """Wait; the lock is kept, a cancellation ends it."""

    def warn(self, text: str) -> None:
        """Tell the operator something that ends nothing."""

    def now_on_host(self) -> float:
        """Seconds since the epoch by the host's clock."""

    def fresh_salt(self) -> str:
        """Random hexadecimal digits."""


class Phase(Protocol):
    """One phase: being in a tuple of ``phases/__init__.py`` is being registered."""

    @property
    def name(self) -> str:
        """Its name in output and options."""

    @property
    def needs(self) -> tuple[str, ...]:
        """The phases without which this one would act on half the truth."""

    def prepare(self, hands: Hands) -> None:
        """Ask what the first look did not tell; only this phase's own questions."""

    def plan(self, view: View) -> Plan:
        """Decide, purely."""

    def perform(self, actions: Sequence[Action], hands: Hands) -> Iterator[Decision]:
        """Carry out, giving each decision as it is made."""


def decided(
    phase: str,
    subject: str,
    reason: Reason,
    detail: str = "",
    *,
    verb: Verb = Verb.SKIP,
    result: Result = Result.SKIPPED,
) -> Decision:
    """A decision that needs no action."""
    return Decision(phase, subject, verb, reason, detail, result)


def one_by_one(
    phase: str, actions: Iterable[Action], perform: Callable[[Action], Decision]
) -> Iterator[Decision]:
    """Carry out actions in order; one that fails does not keep the next from its turn.

    Raises:
        Unreachable, Refused: the host itself is out of reach, so the next one cannot work either.
    """
    for action in actions:
        try:
            yield perform(action)
        except (Unreachable, Refused):
            raise
        except MqctlError as error:
            yield action.decided(phase, Result.FAILED, detail=error.told)


def split(plan: Iterable[Action | Decision]) -> tuple[list[Decision], list[Action]]:
    """The decisions that stand already, and the actions still to be performed."""
    ready: list[Decision] = []
    actions: list[Action] = []
    for one in plan:
        if isinstance(one, Decision):
            ready.append(one)
        else:
            actions.append(one)
    return ready, actions
