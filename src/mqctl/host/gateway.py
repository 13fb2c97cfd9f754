"""The one door to a Marquee. What changes anything there goes through here, or not at all.

The gateway knows no lock: it gets the fence as values, ``left`` (seconds that the lease still
covers) and ``checkpoint`` (which may renew it, and raises once it is lost). In exchange it promises
rule 4 and 5 of SPEC 2: nothing is sent on a lease that cannot cover it, what is sent ends on the
host before the lease does, and after a loss or a cancellation only *stop* and *close* pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NoReturn

from mqctl.cancel import CancelToken
from mqctl.clock import Clock
from mqctl.errors import Cancelled, CycleEnded, LockLost, MqctlError
from mqctl.events import Listener, StepSending
from mqctl.host import guard
from mqctl.host.completed import Completed
from mqctl.host.guard import Call, Fence, NotAfter
from mqctl.host.guard.verdict import Answer
from mqctl.host.raising import Busy, OtherAuthority, Raised, Settling, Stale, Verdict
from mqctl.host.reader import Reader
from mqctl.host.transport import Transport, TransportBroken
from mqctl.host.upload import Target, pack
from mqctl.model import Marquee

__all__ = ["Busy", "Gateway", "OtherAuthority", "Raised", "Settling", "Stale", "Verdict"]

STOP_GRACE = 3.0
"""Seconds between TERM and KILL when a command is stopped."""

_POLL = 1.0
_BRIEF = 5.0  # for what the guard does by itself


class Gateway(Reader):
    """A Reader that can also raise the fence and act under it.

    ``checkpoint(seconds)`` is called before each mutating command with the time that it wants.
    """

    def __init__(
        self,
        transport: Transport,
        marquee: Marquee,
        *,
        checkpoint: Callable[[float], None],
        left: Callable[[], float],
        emit: Listener,
        clock: Clock,
        cancel: CancelToken,
    ) -> None:
        super().__init__(transport, marquee, clock=clock, cancel=cancel)
        self._checkpoint = checkpoint
        self._left = left
        self._emit = emit
        self._fence: Fence | None = None
        self._sent: Call | None = None
        self._poison: BaseException | None = None
        self.guarded_commands = 0

    # ----------------------------------------------------------------- the fence

    def raise_fence(
        self,
        number: int,
        token: str,
        authority: str,
        ttl: float,
        then: str,
        *args: str,
        stdin: bytes = b"",
        limit: float | None = None,
    ) -> Verdict:
        """Try once to raise the fence, and run the read ``then`` on the same channel if it is ours.

        Raises:
            LockLost: this very number was closed already.
            Refused, Unreachable, Cancelled: as :meth:`read` does.
        """
        self._usable()
        limit = self._marquee.policy.command_timeout if limit is None else limit
        fence = Fence(number, token, authority, ttl)
        call = self._build.raise_then(fence, then, args, limit=limit)
        return self._raised(fence, self._ask(call, stdin=stdin, limit=limit))

    def raise_closed(self, number: int, token: str, authority: str, ttl: float) -> Verdict:
        """Raise the fence and let nothing through, for ``lock break``; Stale there is success."""
        self._usable()
        fence = Fence(number, token, authority, ttl)
        return self._raised(fence, self._ask(self._build.raise_(fence, closed=True), limit=_BRIEF))

    def close_fence(self) -> bool:
        """Let nothing through the fence any more. Best effort: tells whether it was done."""
        if self._fence is None or self._cancel.hurried:
            return False
        call = self._build.close(self._fence)
        with suppress(MqctlError):
            slack = self._parting(0.3)
            return self._ask(call, limit=0.0, slack=slack, heed_cancel=False).word == "shut"
        return False

    def _raised(self, fence: Fence, answer: Answer) -> Verdict:
        match answer.word:
            case "raised":
                self._fence = fence
                return Raised(answer.output or Completed(b"", b"", 0))
            case "busy":
                pid, age, command = [*answer.rest.split(maxsplit=2), "0", "0", "unknown"][:3]
                return Busy(int(pid), int(age), command)
            case "settling":
                return Settling(answer.number())
            case "held":
                return OtherAuthority(answer.number())
            case "stale":
                return Stale(answer.number())
            case "closed":
                self._lose("the host's fence of this very lock is closed")
        raise self._refusal(answer)

    # ----------------------------------------------------------------- acting

    def mutate(
        self, script: str, *args: str, stdin: bytes = b"", limit: float, step: str
    ) -> Completed:
        """Run a ``sh`` script under the fence, alone on this Marquee.

        It starts in ``MQCTL_DIR`` with umask 077 and has ``MQCTL_FENCE``, the number that names
        its private directories. ``stdin`` is text, complete before the script starts; secrets
        travel there. ``limit`` (seconds) is cut to what the lease covers; if it ends the command,
        the result says ``timed_out``.

        Raises:
            LockLost: by the local clock, or the host says so; nothing more passes from here on.
            TransportBroken: its fate is unknown. It was stopped, as far as the host could be
                reached; observe again before anything else.
            Refused, Unreachable, Cancelled: as :meth:`read` does.
            MqctlError: script or input are too large.
        """
        if len(stdin) > guard.MAX_INPUT or b"\0" in stdin:
            raise MqctlError("the input of a guarded command must be text, at most 1 MiB")

        def build(fence: Fence, not_after: NotAfter, seconds: float) -> Call:
            return self._build.run(
                fence, not_after, script, args, limit=seconds, name=step, size=len(stdin)
            )

        answer = self._act(build, stdin, limit, step)
        if answer.output is None:
            raise self._refusal(answer)
        return answer.output

    def put(self, targets: Mapping[str, Target], *, limit: float, step: str) -> None:
        """Upload files and directories; each replaces its target by rename, under the fence.

        Targets are relative to ``MQCTL_DIR``. A directory is replaced as a whole; its old content
        is gone. Directories become 0700, files 0600 (or a :class:`~mqctl.host.upload.File`'s mode).

        Raises:
            As :meth:`mutate` does.
        """
        archive = pack(targets)

        def build(fence: Fence, not_after: NotAfter, _: float) -> Call:
            return self._build.put(fence, not_after, list(targets), size=len(archive))

        answer = self._act(build, archive, limit, step)
        if answer.word != "stored":
            raise self._refusal(answer)

    def _act(
        self,
        build: Callable[[Fence, NotAfter, float], Call],
        stdin: bytes,
        limit: float,
        step: str,
    ) -> Answer:
        """Check, build, announce, send; again if the host wants an earlier command to settle."""
        while True:
            self._usable()
            fence = self._fence
            if fence is None:
                raise RuntimeError("no fence was raised")
            self._pass_checkpoint(limit)
            not_after, left = self._covered()
            call = build(fence, not_after, min(limit, left))
            self._emit(StepSending(self._marquee.name, step))
            self.guarded_commands += 1
            answer = self._send(fence, call, stdin, min(limit, left))
            if answer.word != "settling":
                return answer
            self._settle(fence)

    def _send(self, fence: Fence, call: Call, stdin: bytes, limit: float) -> Answer:
        """Send a guarded command and wait, renewing nothing: a step that hangs loses its lock."""
        self._sent = call
        kill_grace = min(5.0, fence.ttl / 10)
        try:
            answer = self._ask(call, stdin=stdin, limit=limit + kill_grace)
            if answer.word in {"revoked", "truncated"}:
                raise TransportBroken(f"{self._marquee.name} got a part of a command only")  # noqa: TRY301
        except TransportBroken:
            self.stop()
            self._settle(fence)
            raise
        except Cancelled as cancelled:
            self.poison(cancelled)
            self.stop()
            raise
        match answer.word:
            case "stale":
                self._lose(f"the host's fence is {answer.rest}, not {fence.number}")
            case "closed":
                self._lose("the host's fence was closed")
            case "late":
                self._lose("the command reached the host after the lease's end")
        return answer

    def _settle(self, fence: Fence) -> None:
        """Wait until nothing of an earlier command can go on: raising our own fence again tells.

        Raises:
            LockLost, Cancelled: meanwhile.
            TransportBroken: it does not settle within ``command_timeout``.
        """
        started = self._clock.instant()
        while self._clock.since(started) < self._marquee.policy.command_timeout:
            self._pass_checkpoint(0.0)
            with suppress(TransportBroken):
                match self._raised(fence, self._ask(self._build.raise_(fence), limit=_BRIEF)):
                    case Raised():
                        return
                    case Stale(current):
                        self._lose(f"the host's fence is {current}, not {fence.number}")
                    case OtherAuthority():
                        self._lose("another Redis' fence is on the host")
                    case Busy() | Settling():
                        pass
            self._wait(_POLL)
        raise TransportBroken(f"{self._marquee.name} still works for a command that was given up")

    # ----------------------------------------------------------------- the lease

    def _covered(self) -> tuple[NotAfter, float]:
        """The end of the lease in the host's time, and the seconds until then.

        Elapsed time is read before ``left`` and by one clock only; both err on the safe side.
        """
        assert self._sample is not None  # noqa: S101 - every verdict brings one, and we raised
        sample, received = self._sample
        elapsed = self._clock.instant().boot - received.boot
        left = self._left()
        if left <= 0:
            self._lose("the lease is over by the local clock")
        return NotAfter.after(sample, elapsed + left), left

    def _pass_checkpoint(self, seconds: float) -> None:
        try:
            self._cancel.check()
            self._checkpoint(seconds)
        except CycleEnded as ended:
            self.poison(ended)
            raise

    def _wait(self, seconds: float) -> None:
        try:
            self._cancel.wait(seconds)
        except CycleEnded as ended:
            self.poison(ended)
            raise

    # ----------------------------------------------------------------- the end

    def stop(self) -> None:
        """End the last command that was sent, wherever it is. Bounded; raises nothing.

        Passes after a loss or a cancellation: like *release*, it can only end what is ours.
        """
        if self._fence is None or self._sent is None or self._cancel.hurried:
            return
        grace = min(STOP_GRACE, self._parting(0.25))
        call = self._build.stop(self._fence, self._sent, grace=grace)
        with suppress(MqctlError):
            self._transport.run(call.line, limit=self._parting(0.4), heed_cancel=False)

    def _parting(self, share: float) -> float:
        """Seconds for one of the last things to do: once cancelled, a share of the grace for all.

        A second signal (``hurried``) leaves *stop* and *close* out: the host ends the command by
        itself with the lease, and the next raise waits for it.
        """
        grace = self._marquee.policy.shutdown_grace
        return min(_BRIEF, share * grace) if self._cancel.cancelled else _BRIEF

    def poison(self, reason: BaseException) -> None:
        """From now on every call but *stop* and *close* raises ``reason``; the first one stays."""
        self._poison = self._poison or reason

    def read(
        self, script: str, *args: str, stdin: bytes = b"", limit: float | None = None
    ) -> Completed:
        """As :meth:`Reader.read`, as long as the cycle goes on."""
        self._usable()
        return super().read(script, *args, stdin=stdin, limit=limit)

    def _usable(self) -> None:
        if self._poison is not None:
            raise self._poison

    def _lose(self, why: str) -> NoReturn:
        lost = LockLost(why)
        self.poison(lost)
        raise lost
