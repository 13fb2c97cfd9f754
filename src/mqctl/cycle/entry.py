"""The way into a cycle: read the declared file again, raise the host's fence, look.

Each of these may end the cycle before anything was changed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from mqctl import events
from mqctl.cancel import CancelToken
from mqctl.clock import Clock
from mqctl.cycle.hands import Checkpoint
from mqctl.errors import Held, HostBusy, LockLost, MqctlError, Refused
from mqctl.events import Listener
from mqctl.host import gateway as host
from mqctl.host.observe import OBSERVE, arguments
from mqctl.lock import Lease, Owner
from mqctl.model import Fleet, Marquee

_BUSY_PAUSE = 0.5  # seconds between two raises while the host works for an older command
_TELL = 10.0  # seconds between two words about it


@dataclass(slots=True)
class Engines:
    """Which Docker engine each Marquee of this run turned out to be: two of one corrupt it."""

    _found: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def claim(self, engine: str, marquee: str) -> None:
        """Raise Refused if another Marquee is the same engine."""
        with self._lock:
            other = self._found.setdefault(engine, marquee) if engine else marquee
        if other != marquee:
            raise Refused(
                f"{marquee} and {other} are one and the same Docker engine",
                why="two cycles would work on it at the same time",
                fix="declare one Marquee for it",
            )


@dataclass(frozen=True, slots=True)
class Tools:
    """What is injected into every cycle of a run."""

    load: Callable[[], Fleet]
    emit: Listener
    clock: Clock
    cancel: CancelToken
    owner: Owner
    engines: Engines


def read_again(load: Callable[[], Fleet], fleet: Fleet, marquee: Marquee) -> Marquee:
    """What is declared now that we hold the lock; it may have changed while we waited for it.

    Raises:
        ConfigError: the file is wrong by now.
        MqctlError: fleet, Redis, or the place of this Marquee is another one.
    """
    declared = load()
    now = declared.marquee(marquee.name)
    before = (fleet.name, fleet.redis, fleet.lock_ttl)
    same = (declared.name, declared.redis, declared.lock_ttl) == before
    if now is None or not same or _place(now) != _place(marquee):
        raise MqctlError(
            f"the declared file changed where {marquee.name} is",
            why="its fleet, Redis, host or status is not what it was when the run began",
            fix="run again",
        )
    return now


def _place(marquee: Marquee) -> tuple[object, ...]:
    return (
        marquee.host,
        marquee.user,
        marquee.port,
        marquee.identity_file,
        marquee.known_hosts_file,
        marquee.root,
        marquee.sudo,
        marquee.launchable,
    )


def raise_and_look(
    gateway: host.Gateway, marquee: Marquee, lease: Lease, checkpoint: Checkpoint, tools: Tools
) -> bytes:
    """Raise the host's fence, waiting for what an older cycle left running; the first look.

    Raises:
        HostBusy: it did not finish within ``command_timeout``.
        Held: the fence of another Redis is open there.
        LockLost: the host knows a larger number than this Redis can give.
    """
    began = tools.clock.instant()
    floored = False
    tell_at = 0.0
    while True:
        checkpoint(marquee.policy.connect_timeout)
        number, token, authority = lease.fence, lease.token, lease.authority
        verdict = gateway.raise_fence(
            number, token, authority, lease.ttl, OBSERVE, *arguments(marquee)
        )
        match verdict:
            case host.Raised(output):
                return output.stdout
            case host.Stale(current):
                if floored:
                    raise LockLost(f"the host has fence {current}, and did not accept ours")
                floored = True
                checkpoint.renew(floor=current)
            case host.OtherAuthority(seconds):
                raise Held(
                    f"{marquee.name} still belongs to a cycle of another Redis",
                    why="its lock was of another Redis, or of this one before it lost its data",
                    fix=f"wait: the host is free in {seconds} s at most, unless that cycle goes on",
                )
            case host.Busy() | host.Settling():
                waited = tools.clock.since(began)
                if waited >= tell_at:
                    tell_at = waited + _TELL
                    tools.emit(events.HostBusy(marquee.name, _why(verdict)))
                _wait(marquee, verdict, waited, tools)


def _wait(
    marquee: Marquee, verdict: host.Busy | host.Settling, waited: float, tools: Tools
) -> None:
    if waited > marquee.policy.command_timeout:
        raise HostBusy(
            f"{marquee.name} is still busy with a command of an older cycle",
            why=_why(verdict),
            fix="wait for it to end, or end it on the host",
        )
    tools.cancel.wait(_BUSY_PAUSE)


def _why(verdict: host.Busy | host.Settling) -> str:
    if isinstance(verdict, host.Busy):
        return f"{verdict.command} of an older cycle has run for {verdict.age} s"
    return f"Docker may still finish what an older cycle left; settled in {verdict.seconds} s"
