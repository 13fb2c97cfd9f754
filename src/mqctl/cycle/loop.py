"""The loop over the phases: prepare, plan, perform, and a renewal after each; dry runs too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mqctl import events
from mqctl.cancel import CancelToken
from mqctl.clock import Clock, Instant
from mqctl.cycle.hands import Checkpoint, RunnerHands
from mqctl.errors import MqctlError, Refused, Unreachable
from mqctl.events import Listener
from mqctl.model import Decision, PhaseOutcome, PhaseReport, Result
from mqctl.phases.base import Action, Phase, split


class Loop:
    """Runs phases and keeps what they reported, also when one of them ends the cycle."""

    def __init__(self, marquee: str, emit: Listener, clock: Clock, cancel: CancelToken) -> None:
        self.decisions: list[Decision] = []
        self.phases: list[PhaseReport] = []
        self._marquee = marquee
        self._emit = emit
        self._clock = clock
        self._cancel = cancel
        self._failed: set[str] = set()

    def run(
        self,
        phases: Sequence[Phase],
        hands: RunnerHands,
        checkpoint: Checkpoint | None,
        *,
        dry_run: bool,
    ) -> None:
        """Run all, in order. Without a checkpoint (a dry run) there is no lock to renew.

        Raises:
            LockLost, Cancelled: nothing more happens.
            Unreachable, Refused: the host or Redis is out of reach; no later phase can work.
        """
        names = [phase.name for phase in phases]
        for phase, ahead in zip(phases, [*names[1:], "close"], strict=True):
            self._cancel.check()
            hands.phase = phase.name
            if checkpoint is not None:
                checkpoint.phase = phase.name
            self._phase(phase, hands, checkpoint, ahead, dry_run=dry_run)

    def _phase(
        self,
        phase: Phase,
        hands: RunnerHands,
        checkpoint: Checkpoint | None,
        ahead: str,
        *,
        dry_run: bool,
    ) -> None:
        """One phase and the renewal after it. A phase that fails skips what depends on it."""
        began = self._clock.instant()
        self._emit(events.PhaseStarted(self._marquee, phase.name))
        outcome, detail, renewed = PhaseOutcome.ABORTED, "", False
        try:
            outcome, detail = self._outcome(phase, hands, dry_run=dry_run)
            if checkpoint is not None:
                checkpoint.renew(ahead=ahead)
                renewed = True
        finally:
            report = PhaseReport(phase.name, outcome, self._since(began), renewed, detail)
            self.phases.append(report)
            self._emit(events.PhaseFinished(self._marquee, report))

    def _outcome(
        self, phase: Phase, hands: RunnerHands, *, dry_run: bool
    ) -> tuple[PhaseOutcome, str]:
        if broken := [one for one in phase.needs if one in self._failed]:
            self._failed.add(phase.name)
            return PhaseOutcome.SKIPPED, f"{broken[0]} failed"
        try:
            self._carry_out(phase, hands, dry_run=dry_run)
        except (Unreachable, Refused):
            raise
        except MqctlError as error:
            self._failed.add(phase.name)
            return PhaseOutcome.FAILED, error.told
        return PhaseOutcome.OK, ""

    def _carry_out(self, phase: Phase, hands: RunnerHands, *, dry_run: bool) -> None:
        phase.prepare(hands)
        ready, actions = split(phase.plan(hands.view))
        for decision in ready:
            self._decided(decision)
        if dry_run:
            for action in actions:
                self._decided(action.decided(phase.name, Result.PLANNED))
        elif actions:
            self._perform(phase, actions, hands)

    def _perform(self, phase: Phase, actions: Sequence[Action], hands: RunnerHands) -> None:
        done: set[str] = set()
        last = self._clock.instant()
        try:
            for decision in phase.perform(actions, hands):
                done.add(decision.subject)
                self._decided(replace(decision, duration_s=self._since(last)))
                last = self._clock.instant()
        except BaseException:
            for action in actions:
                if action.subject not in done:
                    self._decided(action.decided(phase.name, Result.ABORTED))
            raise

    def _decided(self, decision: Decision) -> None:
        self.decisions.append(decision)
        self._emit(events.DecisionMade(self._marquee, decision))

    def _since(self, start: Instant) -> float:
        return round(self._clock.since(start), 3)
