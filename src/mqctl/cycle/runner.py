"""THE phase runner: lock, phases, renewals, release. A dry run is this loop without a gateway.

    load file -> acquire -> load file again -> raise the host's fence and look ->
    (phase -> renew)* -> close the fence -> release

Whatever ends it, the lock is released by compare-and-delete, and a failed release never hides what
ended the cycle.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from mqctl import events
from mqctl.clock import Instant
from mqctl.cycle.entry import Tools, raise_and_look, read_again
from mqctl.cycle.hands import Checkpoint, RunnerHands
from mqctl.cycle.loop import Loop
from mqctl.cycle.outcome import report_of
from mqctl.cycle.recall import Recall, quarantined
from mqctl.errors import Cancelled, HostBusy, LockLost, MqctlError, Unreachable
from mqctl.host import gateway as host
from mqctl.host.facts import Facts
from mqctl.host.observe import OBSERVE, arguments, parse
from mqctl.host.reader import Reader
from mqctl.host.transport import Transport, connect
from mqctl.lock import HeldBy, Lease, State, acquire, status
from mqctl.model import (
    Counters,
    CycleReport,
    Fleet,
    Holder,
    Marquee,
    Outcome,
)
from mqctl.phases.base import Phase, Selection, View
from mqctl.store import Store


@dataclass(frozen=True, slots=True)
class Order:
    """What one cycle shall do.

    ``whole``: all phases on everything, so it may clear a mark. ``again``: an earlier try found the
    lock held. ``retry_s``: should it be held now, it is tried again in so many seconds.
    """

    fleet: Fleet
    marquee: Marquee
    phases: tuple[Phase, ...]
    select: Selection
    whole: bool
    dry_run: bool = False
    held_ok: bool = False
    again: bool = False
    retry_s: float | None = None


class Cycle:
    """One cycle of one Marquee; :meth:`run` gives its report and raises nothing but bugs."""

    def __init__(self, order: Order, store: Store, tools: Tools) -> None:
        self.order = order
        self.marquee = order.marquee
        self.store = store
        self.tools = tools
        self.lease: Lease | None = None
        self.loop = Loop(self.marquee.name, tools.emit, tools.clock, tools.cancel)
        self.warnings: list[str] = []
        self._transport: Transport | None = None
        self._gateway: host.Gateway | None = None
        self._started = tools.clock.instant()
        self._commands_before = store.commands
        self._recall = Recall(store.memory(order.fleet.name, self.marquee.name), self.warn)

    # ----------------------------------------------------------------------- the frame

    def run(self) -> CycleReport:
        """Run the cycle, however it ends."""
        started_at = self.tools.clock.now()
        if not self.order.again:
            self.tools.emit(events.CycleStarted(self.marquee.name, self.order.dry_run))
        ended: BaseException | None = None
        reason: str | None = None
        if not self.marquee.launchable:
            report = self._report(started_at, None, None)
        else:
            try:
                self._dry_run() if self.order.dry_run else self._locked()
            except (MqctlError, LockLost, Cancelled) as error:
                ended = self._what_ended(error)
                reason = _reason(ended)
                self._note_end(ended)
            finally:
                fence = self.lease.fence if self.lease else None
                self._hang_up(ended)
            report = self._report(started_at, ended, reason, fence)
            if not self.order.dry_run:
                self._recall.finished(report, whole=self.order.whole)
                report = self._report(started_at, ended, reason, fence)
        if report.outcome is not Outcome.HELD or self.order.retry_s is None:
            self.tools.emit(events.CycleFinished(self.marquee.name, report))
        return report

    def _report(
        self,
        started_at: datetime,
        ended: BaseException | None,
        reason: str | None,
        fence: int | None = None,
    ) -> CycleReport:
        transport, gateway = self._transport, self._gateway
        return report_of(
            CycleReport(
                marquee=self.marquee.name,
                outcome=Outcome.UNCHANGED,
                reason=reason,
                fence=fence,
                started_at=started_at,
                duration_s=self._since(self._started),
                phases=tuple(self.loop.phases),
                counters=Counters(
                    ssh_connections=transport.connections if transport else 0,
                    ssh_channels=transport.channels if transport else 0,
                    guarded_commands=gateway.guarded_commands if gateway else 0,
                    redis_commands=self.store.commands - self._commands_before,
                ),
                decisions=tuple(self.loop.decisions),
                warnings=tuple(self.warnings),
            ),
            ended,
            launchable=self.marquee.launchable,
            held_ok=self.order.held_ok,
        )

    def _since(self, start: Instant) -> float:
        return round(self.tools.clock.since(start), 3)

    def warn(self, text: str) -> None:
        """Tell the operator something that ends nothing."""
        self.warnings.append(text)
        self.tools.emit(events.Warned(self.marquee.name, text))

    def _what_ended(self, error: BaseException) -> BaseException:
        """A host that did not answer until the lease was over is a lost lock, first of all."""
        if isinstance(error, Unreachable) and self.lease is not None and self.lease.left() <= 0:
            return LockLost(f"the lease ran out; {error.told}")
        return error

    def _note_end(self, error: BaseException) -> None:
        """Tell what only the moment of the end knows."""
        if isinstance(error, HeldBy):
            held = events.LockHeld(self.marquee.name, error.holder, self.order.retry_s)
            self.tools.emit(held)
        if isinstance(error, LockLost):
            self.tools.emit(events.LockLost(self.marquee.name, error.why))
        if isinstance(error, Cancelled) and self.lease is not None:
            self._recall.interrupted(self.lease.fence)

    def _hang_up(self, ended: BaseException | None) -> None:
        """Close the fence, release the lock, close the connection: always, in this order."""
        if self._gateway is not None and not isinstance(ended, LockLost):
            self._gateway.close_fence()
        if self.lease is not None:
            released = self.lease.release()
            if not released.released and not isinstance(ended, LockLost):
                self.warn(f"the lock was not released: {released.detail}")
            self.tools.emit(
                events.LockReleased(self.marquee.name, released.released, released.detail)
            )
        if self._transport is not None:
            self._transport.close()

    # ----------------------------------------------------------------------- the way in

    def _locked(self) -> None:
        tools, order = self.tools, self.order
        self.lease = acquire(
            self.store,
            order.fleet.name,
            self.marquee.name,
            tools.owner,
            ttl=order.fleet.lock_ttl,
            clock=tools.clock,
            cancel=tools.cancel,
        )
        lease = self.lease
        tools.emit(
            events.LockAcquired(
                self.marquee.name, lease.token, lease.fence, lease.ttl, lease.left()
            )
        )
        self.marquee = read_again(tools.load, order.fleet, self.marquee)
        checkpoint = Checkpoint(self.marquee.name, lease, tools.cancel, tools.emit)
        checkpoint.phase = "connect"
        self._transport = connect(self.marquee, clock=tools.clock, cancel=tools.cancel)
        self._gateway = host.Gateway(
            self._transport,
            self.marquee,
            checkpoint=checkpoint,
            left=lease.left,
            emit=tools.emit,
            clock=tools.clock,
            cancel=tools.cancel,
        )
        answer = raise_and_look(self._gateway, self.marquee, lease, checkpoint, tools)
        self._work(self._first_look(answer), self._gateway, checkpoint)

    def _first_look(self, answer: bytes) -> Facts:
        """Parse it; a Docker that does not answer counts a strike and ends the cycle."""
        try:
            facts = parse(answer)
        except Unreachable:
            strikes = self._recall.strike(self.tools.clock.now().timestamp())
            if quarantined(strikes):
                self.tools.emit(events.MarqueeQuarantined(self.marquee.name, strikes))
            raise
        self._recall.answered()
        self.tools.engines.claim(facts.engine_id, self.marquee.name)
        return facts

    def _dry_run(self) -> None:
        """The same loop with a gateway that can only read, and without the lock."""
        tools = self.tools
        self._name_holder()
        self._transport = connect(self.marquee, clock=tools.clock, cancel=tools.cancel)
        reader = Reader(self._transport, self.marquee, cancel=tools.cancel, clock=tools.clock)
        looked = reader.read(
            OBSERVE, *arguments(self.marquee), limit=self.marquee.policy.command_timeout
        )
        facts = parse(looked.stdout)
        tools.engines.claim(facts.engine_id, self.marquee.name)
        self._work(facts, None, None, reader)

    def _name_holder(self) -> None:
        try:
            [seen] = status(self.store, self.order.fleet.name, [self.marquee.name])
        except MqctlError as error:
            self.warn(f"whether the lock is held is not known: {error.what}")
            return
        if seen.state is not State.FREE:
            holder = seen.owner or Holder(token=seen.token or "", ttl_ms=seen.ttl_ms)
            self.tools.emit(events.LockHeld(self.marquee.name, holder))

    # ----------------------------------------------------------------------- the phases

    def _work(
        self,
        facts: Facts,
        gateway: host.Gateway | None,
        checkpoint: Checkpoint | None,
        reader: Reader | None = None,
    ) -> None:
        tools = self.tools
        view = View(
            self.marquee,
            facts,
            tools.clock.now(),
            fence=self.lease.fence if self.lease else None,
            select=self.order.select,
            seen=self._recall.first_sights(),
        )
        view = replace(view, seen=self._recall.keep_sights(view))
        asking = gateway or reader
        assert asking is not None  # noqa: S101 - one of the two is given
        hands = RunnerHands(
            view, asking, gateway, checkpoint=checkpoint,
            cancel=tools.cancel, clock=tools.clock, emit=tools.emit, warn=self.warn,
        )  # fmt: skip
        self.loop.run(self.order.phases, hands, checkpoint, dry_run=self.order.dry_run)


def _reason(error: BaseException) -> str:
    if isinstance(error, HeldBy):
        return "held"
    if isinstance(error, HostBusy):
        return "host-busy"
    if isinstance(error, Cancelled):
        return error.status.name.lower()
    if isinstance(error, LockLost):
        return "lock-lost"
    return type(error).__name__.lower()
