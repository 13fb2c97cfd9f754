"""The way to a Marquee: one command line in, its output out. SSH, or this machine.

What speaks SSH (Fabric and paramiko) lives in :mod:`mqctl.host.ssh` and is loaded only when a
Marquee is really reached.
"""

from __future__ import annotations

from typing import Protocol

from mqctl.cancel import CancelToken
from mqctl.clock import Clock
from mqctl.errors import Unreachable
from mqctl.host.completed import Completed
from mqctl.model import Marquee

MAX_OUTPUT = 64 * 1024 * 1024
"""Bytes that one command may answer, both streams together."""

POLL = 0.1
"""Seconds between two looks at cancellation and deadline while a command runs."""


class TransportBroken(Unreachable):
    """A command was sent, and what became of it is unknown: the way broke, or time was up."""


class Transport(Protocol):
    """One Marquee's transport, for one cycle.

    ``connections`` and ``channels`` count what was opened so far.
    """

    @property
    def connections(self) -> int: ...  # noqa: D102
    @property
    def channels(self) -> int: ...  # noqa: D102

    def run(
        self, command: str, *, stdin: bytes = b"", limit: float, heed_cancel: bool = True
    ) -> Completed:
        """Run one command line and wait for its end.

        ``limit`` are seconds, all included. ``heed_cancel`` is False for what must be sent after a
        cancellation, as *stop* is.

        Raises:
            Refused: the host's key or our authentication.
            Unreachable: nothing was sent.
            TransportBroken: sent, fate unknown. What runs there may go on.
            Cancelled: likewise; noticed within :data:`POLL` seconds.
        """
        ...

    def close(self) -> None:
        """Give up the connection; takes at most two seconds, raises nothing, safe twice."""
        ...


def connect(marquee: Marquee, *, clock: Clock, cancel: CancelToken) -> Transport:
    """Reach a Marquee, within ``policy.connect_timeout`` seconds in total.

    Raises:
        Refused: an unknown or changed host key, no key that the host accepts, an encrypted key.
        Unreachable: name, network, port, banner, or time.
        Cancelled: meanwhile.
    """
    if marquee.local:
        from mqctl.host.local import LocalTransport  # noqa: PLC0415 - as below

        return LocalTransport(clock=clock, cancel=cancel)
    from mqctl.host.ssh import SshTransport  # noqa: PLC0415 - Fabric costs 110 ms

    transport = SshTransport(marquee, clock=clock, cancel=cancel)
    transport.open()
    return transport
