"""The Redis half of ``lock break``: clear a lock that its holder will not.

Look first, show it, and break exactly what was shown: a lock that changed in between, or whose
holder renewed it, is left alone.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from mqctl.errors import Held
from mqctl.lock.answers import Answer, number, read_sight, text, unexpected
from mqctl.lock.lease import broken
from mqctl.lock.scripts import BREAK
from mqctl.lock.status import LockStatus, State, status
from mqctl.secret import MASK
from mqctl.store import Keys, Store
from mqctl.store.memory import rfc3339


@dataclass(frozen=True, slots=True)
class Broken:
    """A lock that was cleared: raise ``number`` *closed* on the host, under ``token``."""

    number: int
    token: str
    authority: str


def look(store: Store, fleet: str, marquee: str) -> LockStatus:
    """What is there to be broken."""
    return status(store, fleet, [marquee])[0]


def break_lock(
    store: Store, fleet: str, seen: LockStatus, *, who: str, reason: str, force: bool = False
) -> Broken | None:
    """Clear the lock that was ``seen``, mint the next number, and write down who did it and why.

    Gives None if the lock is free by now.

    Raises:
        Held: the holder is not proven dead and ``force`` is not set; or the lock changed, or was
            renewed, since it was seen.
        MqctlError: a key in Redis is damaged.
        Unreachable, Refused: an answer that was lost means: look again.
    """
    if seen.state is State.FREE:
        return None
    if seen.state is not State.STALE and not force:
        raise Held(
            f"the lock of {seen.marquee} was not broken",
            why=_NOT_PROVEN[seen.state],
            fix="wait for it to end; --force breaks it all the same",
        )
    token = str(uuid.uuid4())
    event = _event(seen, who=who, reason=reason, force=force, at=rfc3339(store.clock.now()))
    reply = store.eval(
        BREAK,
        Keys(fleet, seen.marquee).locking,
        [seen.mark, seen.renewals_text, str(uuid.uuid4()), *event],
    )
    answer = Answer.read(reply)
    match answer.word, answer.rest:
        case "cleared", (bytes() as digits, bytes() as authority):
            return Broken(number(digits), token, text(authority))
        case "free", ():
            return None
        case "changed", (sight,):
            now = read_sight(sight)
            raise Held(
                f"the lock of {seen.marquee} was not broken",
                why="its holder renewed it" if now.mark == seen.mark else "its holder changed",
                fix=f"look again: mqctl lock status {seen.marquee}",
            )
        case "broken", (key,):
            raise broken(key)
    raise unexpected(reply)


_NOT_PROVEN = {
    State.HELD: "its holder is not proven dead",
    State.NO_EXPIRY: "it has no expiry, and its holder is not proven dead",
    State.WRONG_TYPE: "the key holds no token at all, so nobody knows whose it is",
    State.FOREIGN: "mqctl did not write it, so nobody knows whose it is",
}


def _event(seen: LockStatus, *, who: str, reason: str, force: bool, at: str) -> list[str]:
    owner = seen.owner
    fields = {
        "at": at,
        "by": who,
        "reason": reason,
        "forced": "yes" if force else "no",
        "state": seen.state.value,
        "token": seen.token or "",
    }
    if owner is not None:
        fields |= {
            "fence": str(owner.fence or ""),
            "holder": f"{owner.user}@{owner.host}",
            "pid": str(owner.pid or ""),
            "command": owner.command,
        }
    return [MASK(word) for item in fields.items() for word in item]
