"""Who holds what: the states of locks, read in one round trip for any number of Marquees."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from mqctl.lock.answers import Answer, Sight, read_sight, text, unexpected
from mqctl.lock.owner import Machine, proven_dead, start_of
from mqctl.lock.scripts import LOOK
from mqctl.model import Holder
from mqctl.store import Keys, Reply, Store
from mqctl.store.memory import read_last, read_object, read_pending, read_quarantined


class State(StrEnum):
    """What stands at a lock's key."""

    FREE = "free"
    HELD = "held"
    STALE = "stale"  # its holder is proven dead
    NO_EXPIRY = "no-expiry"  # a token that would stay for ever
    WRONG_TYPE = "wrong-type"  # no string
    FOREIGN = "foreign"  # a value that mqctl did not write


@dataclass(frozen=True, slots=True)
class LockStatus:
    """One Marquee's lock, as shown.

    ``token`` is what stands at the key (shortened, None if it is no string), ``fence`` the number
    of the last acquisition, ``ttl_ms`` None if there is no expiry. ``pending`` is the fence of an
    interrupted cycle, ``last_cycle`` the summary that it left. ``mark`` and ``renewals_text`` are
    what a break compares.
    """

    marquee: str
    key: str
    state: State
    token: str | None = None
    fence: int | None = None
    ttl_ms: int | None = None
    owner: Holder | None = None
    pending: int | None = None
    quarantined: bool = False
    last_cycle: Mapping[str, object] | None = None
    mark: str = "none"
    renewals_text: str = ""

    def as_json(self) -> dict[str, object]:
        """As in ``lock status -o json``."""
        owner = self.owner
        return {
            "marquee": self.marquee,
            "key": self.key,
            "state": self.state.value,
            "token": self.token,
            "fence": self.fence,
            "ttl_ms": self.ttl_ms,
            "owner": None if owner is None else _owner_json(owner),
            "pending": self.pending,
            "quarantined": self.quarantined,
            "last_cycle": self.last_cycle,
        }


def status(
    store: Store,
    fleet: str,
    marquees: Iterable[str],
    *,
    machine: Machine | None = None,
    start_of: Callable[[int], str | None] = start_of,
) -> list[LockStatus]:
    """Look at the locks of these Marquees, in their order.

    Args:
        store: where they are.
        fleet: the fleet's name.
        marquees: names of Marquees.
        machine: where processes can be looked for; this machine if not given.
        start_of: how a process of it is looked for.

    Raises:
        Unreachable, Refused: what stands in the keys never raises.
    """
    machine = Machine.here() if machine is None else machine
    all_keys = [Keys(fleet, marquee) for marquee in marquees]
    replies = store.pipeline([_question(keys) for keys in all_keys])
    return [
        _read(keys, reply, machine, start_of) for keys, reply in zip(all_keys, replies, strict=True)
    ]


def judge(
    sight: Sight, machine: Machine, start_of: Callable[[int], str | None] = start_of
) -> State:
    """The state of a lock from what stands there. Pure but for looking for the process."""
    if sight.kind == "none":
        return State.FREE
    if sight.kind != "string":
        return State.WRONG_TYPE
    if not _is_token(sight.value):
        return State.FOREIGN
    if sight.ttl_ms is None:
        return State.NO_EXPIRY
    if proven_dead(sight.value, sight.owner, machine, start_of):
        return State.STALE
    return State.HELD


def _question(keys: Keys) -> tuple[str | int, ...]:
    names = (*keys.locking, keys.pending, keys.probe, keys.last)
    return ("EVAL", LOOK, len(names), *names)


def _read(
    keys: Keys, reply: Reply, machine: Machine, start_of: Callable[[int], str | None]
) -> LockStatus:
    answer = Answer.read(reply)
    match answer.word, answer.rest:
        case "seen", (seen, fence, pending, probe, last):
            sight = read_sight(seen)
        case _:
            raise unexpected(reply)
    state = judge(sight, machine, start_of)
    is_value = sight.kind == "string"
    return LockStatus(
        marquee=keys.marquee,
        key=keys.lock,
        state=state,
        token=sight.value if is_value else None,
        fence=_fence(text(fence)),
        ttl_ms=sight.ttl_ms,
        owner=sight.holder if is_value and sight.owner.get("token") == sight.value else None,
        pending=read_pending(_optional(pending)),
        quarantined=read_quarantined(read_object(_optional(probe))),
        last_cycle=read_object(read_last(_optional(last))) or None,
        mark=sight.mark,
        renewals_text=sight.owner.get("renewals", ""),
    )


def _owner_json(owner: Holder) -> dict[str, object]:
    return {
        "host": owner.host,
        "pid": owner.pid,
        "user": owner.user,
        "command": owner.command,
        "version": owner.version,
        "acquired_at": owner.acquired_at,
        "renewed_at": owner.renewed_at or None,
        "renewals": owner.renewals,
        "phase": owner.phase or None,
    }


def _is_token(value: str) -> bool:
    try:
        return str(uuid.UUID(value)) == value and uuid.UUID(value).version == 4  # noqa: PLR2004
    except ValueError:
        return False


def _fence(digits: str) -> int | None:
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else None  # noqa: PLR2004


def _optional(reply: Reply) -> str | None:
    return text(reply) if isinstance(reply, bytes) else None


__all__ = ["LockStatus", "State", "judge", "status"]
