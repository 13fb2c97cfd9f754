"""A lease on a Marquee: taken, renewed and given back by whoever holds the token.

It is good until (the time read before its last confirmed request was *sent*) + ttl - margin, by the
local clock. Doubt is loss: what is not confirmed in so many words is gone, and stays gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mqctl.clock import Clock, Instant
from mqctl.errors import LockLost, MqctlError
from mqctl.lock.answers import Answer, number, read_sight, unexpected
from mqctl.lock.owner import Owner
from mqctl.lock.scripts import RELEASE, RENEW
from mqctl.store import Keys, Reply, Store
from mqctl.store.memory import rfc3339

_LARGEST_FENCE = 10**15 - 2  # what the scripts can still add one to, twice


def margin(ttl: float) -> float:
    """Seconds of a lease that are not used: clock drift, rounding, and killing what runs."""
    return 0.01 * ttl + 0.05 + min(5.0, ttl / 10)


@dataclass(frozen=True, slots=True)
class Grant:
    """What an acquisition brought: the token was there before, the rest Redis gave.

    ``sent`` is the instant before the request that took the lock was sent for the first time.
    """

    token: str
    fence: int
    authority: str
    sent: Instant
    acquired_at: str


@dataclass(frozen=True, slots=True)
class Released:
    """How a release ended; ``released`` says that the lock was ours and is free now."""

    released: bool
    detail: str = ""


class Lease:
    """The lock of one Marquee while it is ours. For the thread of one cycle."""

    def __init__(
        self, store: Store, keys: Keys, owner: Owner, grant: Grant, *, ttl: float, clock: Clock
    ) -> None:
        self.token = grant.token
        self.fence = grant.fence
        self.authority = grant.authority
        self.ttl = ttl
        self._store = store
        self._keys = keys
        self._owner = owner
        self._clock = clock
        self._acquired_at = grant.acquired_at
        self._confirmed = grant.sent
        self._renewals = 0
        self._lost: str | None = None
        self._released: Released | None = None

    @property
    def lost(self) -> str | None:
        """Why it is gone, once it is."""
        return self._lost

    def left(self) -> float:
        """Seconds that it still covers, by the local clock; not positive when it covers nothing."""
        left = self.ttl - margin(self.ttl) - self._clock.since(self._confirmed)
        return left if self._lost is None else min(0.0, left)

    # ----------------------------------------------------------------------- renew

    def renew(self, phase: str, *, floor: int | None = None) -> None:
        """Confirm the lock and make the lease as long as at the start.

        Args:
            phase: what comes next, for ``lock status``.
            floor: a number that the host knows; the new :attr:`fence` is larger than it.

        Raises:
            LockLost: it is not provably ours. Every later call raises it again.
        """
        if self._lost is None and self.left() <= 0:
            self._lost = "the lease ran out before it was renewed"
        if self._lost is not None:
            raise LockLost(self._lost)
        sent = self._clock.instant()
        try:
            self.fence = self._confirm(phase, floor)
        except Exception as error:
            self._lost = _why(error)
            raise LockLost(self._lost) from error
        except BaseException:
            self._lost = "a renewal was interrupted"
            raise
        self._confirmed = sent
        self._renewals += 1
        if self.left() <= 0:
            self._lost = "the confirmation came too late"
            raise LockLost(self._lost)

    def _confirm(self, phase: str, floor: int | None) -> int:
        """Ask for a renewal; give the fence, or raise for any answer but the confirmation."""
        if floor is not None and not 0 <= floor <= _LARGEST_FENCE:
            raise MqctlError("the host's fence is out of range", why=str(floor))
        count = self._renewals + 1
        now = rfc3339(self._clock.now())
        fields = owner_fields(
            self._owner,
            token=self.token,
            acquired_at=self._acquired_at,
            renewed_at=now,
            renewals=str(count),
            phase=phase,
        )
        lowest = "" if floor is None else floor
        reply = self._store.eval(
            RENEW,
            self._keys.locking,
            [self.token, milliseconds(self.ttl), count, self.fence, lowest, phase, now, *fields],
        )
        answer = Answer.read(reply)
        match answer.word, answer.rest:
            case "renewed", (bytes() as digits,):
                return self._checked(number(digits), floor, reply)
            case "lost", (sight,):
                found = read_sight(sight)
                if found.kind == "none":
                    raise MqctlError("the lock is gone: it ran out or was broken")
                raise MqctlError("the lock is someone else's", why=found.value or found.kind)
            case "broken", (key,):
                raise broken(key)
        raise unexpected(reply)

    def _checked(self, fence: int, floor: int | None, reply: Reply) -> int:
        """A fence that moved without being asked to, or did not when it was, confirms nothing."""
        as_asked = fence == self.fence if floor is None else fence > max(floor, self.fence)
        if not as_asked:
            raise unexpected(reply)
        return fence

    # ----------------------------------------------------------------------- release

    def release(self) -> Released:
        """Give the lock back, if it is still ours. Never raises, safe to repeat.

        It asks twice at most, the second time over a new connection.
        """
        if self._released is not None:
            return self._released
        in_doubt = self._lost is not None
        self._lost = self._lost or "the lock was released"
        if in_doubt:
            self._store.drop()
        why = ""
        for attempt in (1, 2):
            try:
                self._released = self._ask_release(first=attempt == 1)
            except Exception as error:  # noqa: BLE001 - a release must not hide what ended the cycle
                self._store.drop()
                why = _why(error)
            else:
                return self._released
        return Released(
            released=False, detail=f"{why}; the lock ends by itself within {self.ttl:g} s"
        )

    def _ask_release(self, *, first: bool) -> Released:
        reply = self._store.eval(RELEASE, self._keys.locking, [self.token])
        answer = Answer.read(reply)
        match answer.word, answer.rest:
            case "released", ():
                return Released(released=True)
            case "gone", (sight,):
                found = read_sight(sight)
                if found.kind != "none":
                    return Released(released=False, detail="the lock is someone else's by now")
                if first:
                    return Released(released=False, detail="the lock was gone already")
                return Released(released=True, detail="confirmed over a second connection")
        raise unexpected(reply)


# --------------------------------------------------------------------------- shared with acquire


def milliseconds(ttl: float) -> int:
    """A time to live as Redis takes it; never 0, which would delete the key."""
    return max(1, round(ttl * 1000))


def owner_fields(owner: Owner, **more: str) -> list[str]:
    """The owner hash as flat arguments; the scripts add the fence."""
    fields: Mapping[str, str] = {**owner.fields(), **more}
    return [word for item in fields.items() for word in item]


def broken(key: Reply) -> MqctlError:
    """The error for a key of ours that holds what mqctl never wrote."""
    name = key.decode("utf-8", "replace") if isinstance(key, bytes) else str(key)
    return MqctlError(
        "the lock cannot be used: a key in Redis is damaged",
        why=f"{name} holds something that mqctl did not write",
        fix=f"delete it (redis-cli DEL '{name}'): the hosts keep their own numbers",
    )


def _why(error: Exception) -> str:
    if isinstance(error, MqctlError):
        return f"{error.what} ({error.why})" if error.why else error.what
    return f"{type(error).__name__}: {error}"
