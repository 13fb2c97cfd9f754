"""Questions to a Marquee: scripts that change nothing. All that a dry run has."""

from __future__ import annotations

from mqctl.cancel import CancelToken
from mqctl.clock import Clock, Instant
from mqctl.errors import Refused
from mqctl.host import guard
from mqctl.host.completed import Completed
from mqctl.host.guard import verdict
from mqctl.host.guard.verdict import Answer, Garbled, NoVerdict, Sample
from mqctl.host.transport import Transport, TransportBroken
from mqctl.model import Marquee

SLACK = 5.0
"""Seconds that an answer may be on its way after a command's limit on the host has ended it."""


class Reader:
    """Runs reads, and keeps the newest sample of the host's uptime."""

    def __init__(
        self, transport: Transport, marquee: Marquee, *, clock: Clock, cancel: CancelToken
    ) -> None:
        self._transport = transport
        self._marquee = marquee
        self._clock = clock
        self._cancel = cancel
        self._build = guard.Builder(marquee)
        self._sample: tuple[Sample, Instant] | None = None

    def read(
        self, script: str, *args: str, stdin: bytes = b"", limit: float | None = None
    ) -> Completed:
        """Run a ``sh`` script that changes nothing; ``args`` are its ``$@``.

        It starts in the Marquee's directory, or in ``/`` if there is none yet, and finds that
        directory's absolute path in ``MQCTL_DIR``. ``limit`` are seconds on the host; without it
        ``policy.command_timeout`` counts.

        Raises:
            Unreachable: no answer (TransportBroken), or no channel.
            Refused: ``sudo`` does, or the host is none that mqctl can drive.
            Cancelled: meanwhile.
        """
        limit = self._marquee.policy.command_timeout if limit is None else limit
        call = self._build.look(script, args, limit=limit)
        answer = self._ask(call, stdin=stdin, limit=limit)
        if answer.output is None:
            raise self._refusal(answer)
        return answer.output

    def _ask(
        self,
        call: guard.Call,
        *,
        stdin: bytes = b"",
        limit: float,
        slack: float = SLACK,
        heed_cancel: bool = True,
    ) -> Answer:
        """Send one call and read its verdict. ``limit`` is the command's own."""
        raw = self._transport.run(
            call.line, stdin=stdin, limit=limit + slack, heed_cancel=heed_cancel
        )
        try:
            answer = verdict.read(call.nonce, raw)
        except Garbled as error:
            raise self._explain(raw, error) from None
        # Received now, or earlier: taking it for later makes NOT_AFTER earlier, which is safe.
        self._sample = (answer.sample, self._clock.instant())
        return answer

    def _explain(self, raw: Completed, error: Garbled) -> Refused | TransportBroken:
        said = raw.error_text.strip().splitlines()
        complaint = next((line for line in said if line.startswith("sudo:")), None)
        if self._marquee.sudo and complaint and isinstance(error, NoVerdict):
            return Refused(
                f"sudo on {self._marquee.name} refuses",
                why=complaint,
                fix="allow the user NOPASSWD in sudoers there, or set `sudo: false`",
            )
        why = f"{error}; exit status {raw.status}"
        return TransportBroken(
            f"{self._marquee.name} gave no usable answer",
            why="; ".join([why, *said[-1:]]),
            fix="see whether the user's login shell there runs plain commands: `ssh HOST true`",
        )

    def _refusal(self, answer: Answer) -> Refused:
        what = f"the guard on {self._marquee.name} refuses"
        if answer.word == "newer":
            why = f"its fence has format {answer.rest}, this mqctl knows format 1"
            return Refused(what, why=why, fix="use the newer mqctl here, too")
        if answer.word == "unsupported":
            return Refused(what, why=answer.rest, fix="correct that on the host")
        why = answer.rest or f"it answered {answer.word!r}"
        return Refused(what, why=why, fix="look at it on the host; nothing was run")
