"""The host's half of ``lock break``: the old holder's next command shall be refused there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mqctl.cli.session import Session
from mqctl.errors import Cancelled, MqctlError, Refused
from mqctl.model import Marquee
from mqctl.report.text import count, plain, seconds

if TYPE_CHECKING:
    from mqctl.host.gateway import Verdict
    from mqctl.lock import Broken

_RISK = "the old holder may finish the step that it is at"


@dataclass(frozen=True, slots=True)
class HostTold:
    """What became of the host's half.

    ``word``: ``closed``, ``busy``, ``settling``, ``other-redis``, ``unreachable``, ``refused`` or
    ``interrupted``; ``sentence`` says it to people.
    """

    word: str
    sentence: str


def close_host(session: Session, marquee: Marquee, broken: Broken, ttl: float) -> HostTold:
    """Raise the minted number on the host, closed. Whatever happens is told, nothing is raised."""
    from mqctl.host.gateway import Gateway  # noqa: PLC0415 - SSH is not for --help
    from mqctl.host.transport import connect  # noqa: PLC0415 - the same

    if marquee.host is None:
        return HostTold("unreachable", "the file declares no host for it")
    clock, cancel = session.clock, session.cancel
    try:
        transport = connect(marquee, clock=clock, cancel=cancel)
        try:
            gateway = Gateway(
                transport,
                marquee,
                checkpoint=lambda _seconds: None,
                left=lambda: ttl,
                emit=lambda _event: None,
                clock=clock,
                cancel=cancel,
            )
            return told(
                gateway.raise_closed(broken.number, broken.token, broken.authority, ttl),
                broken.number,
            )
        finally:
            transport.close()
    except Cancelled:
        return HostTold("interrupted", f"interrupted before it answered: {_RISK}")
    except MqctlError as error:
        word = "refused" if isinstance(error, Refused) else "unreachable"
        why = f" ({plain(error.why)})" if error.why else ""
        return HostTold(word, f"{plain(error.what)}{why}: {_RISK}")


def told(verdict: Verdict, number: int) -> HostTold:
    """The guard's verdict as a person reads it."""
    from mqctl.host.gateway import Busy, OtherAuthority, Raised, Settling, Stale  # noqa: PLC0415

    match verdict:
        case Raised():
            return HostTold(
                "closed",
                f"fence {number} stands there, closed: the old holder's next command is refused",
            )
        case Stale(current):
            return HostTold(
                "closed",
                f"it knows fence {current} already: the old holder's next command is refused",
            )
        case Busy(pid, age, command):
            running = f"{plain(command)} (pid {pid}, for {seconds(age)})"
            return HostTold("busy", f"busy with {running}: {_RISK}")
        case Settling(left):
            return HostTold(
                "settling", f"an earlier command may go on for {count(left, 'second')}: {_RISK}"
            )
        case OtherAuthority(left):
            return HostTold(
                "other-redis",
                f"a fence of another Redis is open there for {seconds(left)} more: nothing was"
                " changed on the host",
            )
