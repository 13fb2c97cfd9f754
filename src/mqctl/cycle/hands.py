"""The runner's hands: what a phase gets to ask and to act with.

Here the lock and the host meet. Before each mutating command the *checkpoint* asks: cancelled? is
the lease valid by the local clock? would the step outlast it, then renew. While a step runs nothing
renews: a step that hangs loses the lock.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mqctl import events
from mqctl.cancel import CancelToken
from mqctl.clock import Clock, Instant
from mqctl.errors import LockLost
from mqctl.events import Listener
from mqctl.host.completed import Completed
from mqctl.host.gateway import Gateway
from mqctl.host.reader import Reader
from mqctl.host.upload import Target
from mqctl.lock import Lease, margin
from mqctl.phases.base import View

# A renewal that would bring less than this share of the lease is not worth its round trip.
_FRESH = 0.9
_A_LOOK = 20.0  # seconds that a look at one project takes at most, when all is well


class Checkpoint:
    """The one question before every step. Called with the seconds that the step may take."""

    def __init__(self, marquee: str, lease: Lease, cancel: CancelToken, emit: Listener) -> None:
        self._marquee = marquee
        self._lease = lease
        self._cancel = cancel
        self._emit = emit
        self.phase = "start"

    def __call__(self, wanted: float) -> None:
        """Raise Cancelled or LockLost, or return with as much lease as can be had."""
        self._cancel.check()
        whole = self._lease.ttl - margin(self._lease.ttl)
        if self._lease.left() < min(wanted, _FRESH * whole):
            self.renew()
        if self._lease.left() <= 0:
            raise LockLost("the lease ran out")

    def renew(self, floor: int | None = None, *, ahead: str = "") -> None:
        """Confirm the lock, and let ``lock status`` say which phase is next. Raises LockLost."""
        self._lease.renew(ahead or self.phase, floor=floor)
        self._emit(events.LockRenewed(self._marquee, self.phase, self._lease.left()))


@dataclass(slots=True)
class HostClock:
    """The host's wall clock, read once and carried on by the local one."""

    at: float
    read: Instant
    clock: Clock

    def now(self) -> float:
        """Seconds since the epoch, as the host would say."""
        return self.at + self.clock.since(self.read)


class RunnerHands:
    """The hands of one cycle (:class:`mqctl.phases.base.Hands`); of a dry run without a gateway."""

    def __init__(
        self,
        view: View,
        reader: Reader,
        gateway: Gateway | None,
        *,
        checkpoint: Checkpoint | None,
        cancel: CancelToken,
        clock: Clock,
        emit: Listener,
        warn: Callable[[str], None],
    ) -> None:
        self.view = view
        self.phase = ""
        self._reader = reader
        self._gateway = gateway
        self._checkpoint = checkpoint
        self._cancel = cancel
        self._emit = emit
        self._warn = warn
        self._host_clock = HostClock(view.facts.host_now, clock.instant(), clock)

    def read(self, script: str, *args: str, stdin: bytes = b"") -> Completed:
        """Run a script that changes nothing."""
        self._cancel.check()
        return self._reader.read(
            script, *args, stdin=stdin, limit=self.view.marquee.policy.command_timeout
        )

    def mutate(
        self, step: str, script: str, *args: str, subject: str, stdin: bytes = b"", limit: float
    ) -> Completed:
        """Run one guarded command."""
        gateway = self._changing(step, subject)
        return gateway.mutate(script, *args, stdin=stdin, limit=limit, step=step)

    def put(self, step: str, targets: Mapping[str, Target], *, subject: str) -> None:
        """Replace files and directories on the host."""
        gateway = self._changing(step, subject)
        gateway.put(targets, limit=self.view.marquee.policy.command_timeout, step=step)

    def _changing(self, step: str, subject: str) -> Gateway:
        if self._gateway is None:
            raise AssertionError(f"a dry run tried to change something: {step} {subject}")
        self._emit(events.StepStarted(self.view.marquee.name, self.phase, subject, step))
        return self._gateway

    def pause(self, seconds: float) -> None:
        """Wait between two looks: a step boundary, where the lease may be renewed."""
        if self._checkpoint is not None:
            self._checkpoint(seconds + _A_LOOK)
        self._cancel.wait(seconds)

    def warn(self, text: str) -> None:
        """Tell the operator something that ends nothing."""
        self._warn(text)

    def now_on_host(self) -> float:
        """Seconds since the epoch by the host's clock."""
        return self._host_clock.now()

    def fresh_salt(self) -> str:
        """Sixteen random hexadecimal digits."""
        return secrets.token_hex(8)
