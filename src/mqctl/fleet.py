"""Many Marquees: bounded fan-out, waiting for locks without a job slot, pending ones first."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from mqctl import events
from mqctl.cancel import CancelToken
from mqctl.clock import Clock
from mqctl.cycle.entry import Engines, Tools
from mqctl.cycle.runner import Cycle, Order
from mqctl.errors import Cancelled, ExitCode, MqctlError, UsageError, most_severe
from mqctl.events import Listener
from mqctl.lock import Owner
from mqctl.model import CycleReport, ErrorReport, Fleet, Marquee, Outcome, RunReport
from mqctl.phases import RECONCILE, SWEEP
from mqctl.phases.base import Phase, Selection
from mqctl.store import Store

_LOOK = 0.1  # seconds between two looks at the signals while cycles run
_ONE_PLAYGROUND = {"agent-chats", "sweep"}  # what `--playground` leaves out


@dataclass(frozen=True, slots=True)
class Request:
    """What one command asks for.

    ``marquees`` are names; ``phases`` None means all. ``wait`` and ``retry_delay`` are seconds: how
    long to come back to a Marquee that is held, and how often. ``approved``: the removals (Marquee,
    subject) that the operator of a sweep saw and allowed; a larger plan is refused.
    """

    command: str
    marquees: tuple[str, ...]
    phases: frozenset[str] | None = None
    skip: frozenset[str] = frozenset()
    playground: str | None = None
    dry_run: bool = False
    detailed_exitcode: bool = False
    jobs: int = 4
    wait: float = 0.0
    retry_delay: float = 5.0
    held_ok: bool = False
    now: bool = False
    volumes: bool = False
    allow_empty: bool = False
    allow_many: bool = False
    approved: frozenset[tuple[str, str]] | None = None

    def chosen(self) -> tuple[Phase, ...]:
        """The phases to run, in order."""
        known = SWEEP if self.command == "sweep" else RECONCILE
        left_out = self.skip | (_ONE_PLAYGROUND if self.playground else frozenset())
        return tuple(
            one
            for one in known
            if one.name not in left_out and (self.phases is None or one.name in self.phases)
        )

    def selection(self, marquee: str) -> Selection:
        """What of one Marquee is covered."""
        approved = None
        if self.approved is not None:
            approved = frozenset(subject for name, subject in self.approved if name == marquee)
        return Selection(
            playground=self.playground,
            lift=self.now,
            volumes=self.volumes,
            allow_empty=self.allow_empty,
            allow_many=self.allow_many,
            at_once=self.command == "sweep",
            approved=approved,
        )

    @property
    def whole(self) -> bool:
        """Whether it is a full cycle, which may clear the mark of an interrupted one."""
        unfiltered = self.phases is None and not self.skip and self.playground is None
        return self.command == "reconcile" and unfiltered and not self.dry_run


def run(
    load: Callable[[], Fleet],
    request: Request,
    emit: Listener,
    *,
    clock: Clock,
    cancel: CancelToken,
    environ: Mapping[str, str],
) -> RunReport:
    """Run one cycle on each Marquee of ``request`` and tell the listener everything.

    Raises:
        ConfigError: the declared file is missing or wrong.
        Unreachable: the embedded Redis cannot be started.
        UsageError: a Marquee is not declared.
    """
    fleet = load()
    marquees = [_named(fleet, name) for name in request.marquees]
    if not marquees:
        text = f"nothing to do: no Marquee in {fleet.source} is active and has a host and a user"
        emit(events.Warned("", text))
    store = Store.open(
        fleet.redis,
        clock=clock,
        environ=environ,
        notice=lambda text: emit(events.Warned("", text)),
    )
    command = f"mqctl {request.command} {' '.join(request.marquees)}".strip()
    tools = Tools(load, emit, clock, cancel, Owner.here(command), Engines())
    with store:
        marquees.sort(key=_pending_first(fleet, store, marquees))
        dispatch = _Dispatch(fleet, request, store, tools)
        cycles = dispatch.run(marquees)
    order = {name: place for place, name in enumerate(request.marquees)}
    cycles.sort(key=lambda one: order[one.marquee])
    report = RunReport(request.command, _status(cycles, request), tuple(cycles))
    emit(events.RunFinished("", report))
    if dispatch.bug is not None:
        raise dispatch.bug
    return report


def tick_loop(
    load: Callable[[], Fleet],
    request: Request,
    every: float,
    emit: Listener,
    *,
    clock: Clock,
    cancel: CancelToken,
    environ: Mapping[str, str],
) -> RunReport:
    """Run again and again, the first at once, until a signal; gives the last run's report.

    A declared file that is wrong for a while does not end it: a dispatcher that dies of an edit is
    worse than one that says so each tick.
    """
    while True:
        began = clock.instant()
        try:
            report = run(load, request, emit, clock=clock, cancel=cancel, environ=environ)
        except MqctlError as error:
            told = ErrorReport(error.code, error.what, error.why, error.fix)
            emit(events.RunFailed("", told))
            report = RunReport(request.command, error.code)
        if cancel.cancelled:
            return report
        try:
            cancel.wait(every - clock.since(began))
        except Cancelled as cancelled:
            return RunReport(request.command, cancelled.status, report.cycles)


def _named(fleet: Fleet, name: str) -> Marquee:
    marquee = fleet.marquee(name)
    if marquee is None:
        raise UsageError(f"there is no Marquee {name}", why=f"in {fleet.source}")
    return marquee


def _pending_first(
    fleet: Fleet, store: Store, marquees: Iterable[Marquee]
) -> Callable[[Marquee], bool]:
    """Sort key: a Marquee whose cycle was interrupted comes before the others."""
    pending: set[str] = set()
    for one in marquees:
        try:
            if store.memory(fleet.name, one.name).pending() is not None:
                pending.add(one.name)
        except MqctlError:
            break  # each cycle will say for itself that Redis does not answer
    return lambda one: one.name not in pending


def _status(cycles: Iterable[CycleReport], request: Request) -> ExitCode:
    codes = []
    for one in cycles:
        code = ExitCode(one.exit_code)
        if one.outcome is Outcome.PLANNED and request.detailed_exitcode:
            code = ExitCode.PENDING
        codes.append(code)
    return most_severe(codes)


@dataclass(slots=True)
class _Dispatch:
    """The cycles of one run. A cycle that waits for a lock holds no job slot meanwhile."""

    fleet: Fleet
    request: Request
    store: Store
    tools: Tools
    bug: BaseException | None = None  # of one cycle; the others are finished first
    _waiting: dict[str, tuple[float, Marquee]] = field(default_factory=dict)
    _retry: dict[str, float | None] = field(default_factory=dict)  # of the last try of each
    _deadline: float = 0.0

    def run(self, marquees: Iterable[Marquee]) -> list[CycleReport]:
        self._deadline = time.monotonic() + self.request.wait
        ready = list(marquees)
        reports: list[CycleReport] = []
        running: dict[Future[CycleReport], Marquee] = {}
        with ThreadPoolExecutor(max_workers=max(1, self.request.jobs)) as pool:
            while ready or running or self._waiting:
                ready += self._returned()
                if self.tools.cancel.cancelled:
                    reports += self._not_started([*ready, *self._given_up()])
                    ready = []
                while ready and len(running) < self.request.jobs:
                    marquee = ready.pop(0)
                    running[pool.submit(self._cycle, marquee)] = marquee
                done, _ = wait(running, timeout=_LOOK, return_when=FIRST_COMPLETED)
                if not running:
                    time.sleep(_LOOK)
                for future in done:
                    marquee = running.pop(future)
                    report = self._report(future, marquee)
                    if not self._comes_back(report, marquee):
                        reports.append(report)
        return reports

    def _cycle(self, marquee: Marquee) -> CycleReport:
        delay = self.request.retry_delay * random.uniform(0.8, 1.2)  # noqa: S311 - jitter
        comes_back = time.monotonic() + delay <= self._deadline
        order = Order(
            self.fleet,
            marquee,
            self.request.chosen(),
            self.request.selection(marquee.name),
            whole=self.request.whole,
            dry_run=self.request.dry_run,
            held_ok=self.request.held_ok,
            again=marquee.name in self._retry,
            retry_s=delay if comes_back else None,
        )
        self._retry[marquee.name] = order.retry_s
        with self.store.fresh() as store:
            return Cycle(order, store, self.tools).run()

    def _report(self, future: Future[CycleReport], marquee: Marquee) -> CycleReport:
        bug = future.exception()
        if bug is None:
            return future.result()
        self.bug = self.bug or bug
        what = f"a bug ended it: {type(bug).__name__}"
        error = ErrorReport(ExitCode.BUG, what, fix="see the crash report")
        report = CycleReport(marquee.name, Outcome.FAILED, error=error, exit_code=ExitCode.BUG)
        self.tools.emit(events.CycleFinished(marquee.name, report))
        return report

    def _comes_back(self, report: CycleReport, marquee: Marquee) -> bool:
        retry_s = self._retry.get(marquee.name)
        if report.outcome is not Outcome.HELD or retry_s is None:
            return False
        self._waiting[marquee.name] = (time.monotonic() + retry_s, marquee)
        return True

    def _returned(self) -> list[Marquee]:
        due = [name for name, (at, _) in self._waiting.items() if at <= time.monotonic()]
        return [self._waiting.pop(name)[1] for name in due]

    def _given_up(self) -> list[Marquee]:
        left = [marquee for _, marquee in self._waiting.values()]
        self._waiting.clear()
        return left

    def _not_started(self, marquees: Iterable[Marquee]) -> list[CycleReport]:
        """Mark what a signal kept from starting, so that the next run takes it first."""
        status = self.tools.cancel.status
        reports = []
        for one in marquees:
            if not self.request.dry_run:
                memory = self.store.memory(self.fleet.name, one.name)
                try:
                    memory.set_pending(memory.fence() or 0)
                except MqctlError as error:
                    self.tools.emit(events.Warned(one.name, error.what))
            report = CycleReport(
                one.name, Outcome.INTERRUPTED, reason="not-started", exit_code=status
            )
            self.tools.emit(events.CycleFinished(one.name, report))
            reports.append(report)
        return reports
