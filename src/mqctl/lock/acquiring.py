"""Taking a lock, and finding out whether it was taken when the answer got lost."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass

from mqctl.cancel import CancelToken
from mqctl.clock import Clock
from mqctl.errors import Held, MqctlError, Unreachable
from mqctl.lock.answers import Answer, number, read_sight, text, unexpected
from mqctl.lock.lease import Grant, Lease, broken, milliseconds, owner_fields
from mqctl.lock.owner import Owner
from mqctl.lock.scripts import ACQUIRE
from mqctl.model import Holder
from mqctl.store import AnswerLost, Keys, Store
from mqctl.store.memory import rfc3339

_PAUSE = 0.05  # seconds between two looks at a Redis that does not answer


class HeldBy(Held):
    """The lock is someone else's.

    Attributes:
        holder: who that is, as far as Redis tells.
    """

    def __init__(self, marquee: str, holder: Holder) -> None:
        known = [
            holder.user and f"{holder.user}@{holder.host}",
            holder.pid and f"pid {holder.pid}",
            holder.command and f"`{holder.command}`",
            holder.acquired_at and f"since {holder.acquired_at}",
            holder.phase and f"in phase {holder.phase}",
        ]
        super().__init__(
            f"{marquee} is locked by someone else",
            why=", ".join(one for one in known if one) or "the holder left no name",
            fix=f"wait for it (--wait 60s), or see `mqctl lock status {marquee}`",
        )
        self.holder = holder


def acquire(
    store: Store,
    fleet: str,
    marquee: str,
    owner: Owner,
    *,
    ttl: float,
    clock: Clock,
    cancel: CancelToken,
) -> Lease:
    """Take the lock of a Marquee for ``ttl`` seconds, or nothing.

    Raises:
        HeldBy: someone else has it.
        Unreachable: Redis did not answer. If the request may have been carried out, it was settled
            first: what was taken has been given back, as far as Redis could be asked.
        Refused, MqctlError: Redis refused, or a key of ours in it is damaged.
        Cancelled: the end was asked for; what was taken has been given back.
    """
    cancel.check()
    attempt = _Attempt(store, Keys(fleet, marquee), owner, ttl, clock)
    lease = attempt.run()
    if cancel.cancelled:
        lease.release()
        cancel.check()
    if lease.left() <= 0:
        lease.release()
        raise Unreachable(
            f"Redis took longer to give the lock of {marquee} than the lock lasts",
            fix="a longer lock.ttl, or a Redis that is nearer",
        )
    return lease


@dataclass
class _Attempt:
    """One acquisition with one token. The request is sent once; only looking is repeated."""

    store: Store
    keys: Keys
    owner: Owner
    ttl: float
    clock: Clock

    def __post_init__(self) -> None:
        self._token = str(uuid.uuid4())
        self._authority = str(uuid.uuid4())

    def run(self) -> Lease:
        # A request that is carried out when nobody waits for its answer any more takes nothing.
        not_after = self.store.time_ms() + round(self.store.timeout * 1000)
        acquired_at = rfc3339(self.clock.now())
        sent = self.clock.instant()
        try:
            answer = self._ask(not_after, acquired_at)
        except AnswerLost as lost:
            answer = self._settle(not_after, acquired_at, lost)
        fence, authority = self._granted(answer)
        grant = Grant(self._token, fence, authority, sent, acquired_at)
        return Lease(self.store, self.keys, self.owner, grant, ttl=self.ttl, clock=self.clock)

    def _ask(self, not_after: int, acquired_at: str) -> Answer:
        fields = owner_fields(
            self.owner,
            token=self._token,
            acquired_at=acquired_at,
            renewed_at="",
            renewals="0",
            phase="start",
        )
        arguments: list[str | int] = [
            self._token,
            milliseconds(self.ttl),
            not_after,
            self._authority,
            *fields,
        ]
        return Answer.read(self.store.eval(ACQUIRE, self.keys.locking, arguments))

    def _granted(self, answer: Answer) -> tuple[int, str]:
        match answer.word, answer.rest:
            case "acquired", (bytes() as fence, bytes() as authority):
                return number(fence), text(authority)
            case "held", (sight,):
                raise HeldBy(self.keys.marquee, read_sight(sight).holder)
            case "late", ():
                raise Unreachable(
                    f"Redis at {self.store.address} did not answer in time",
                    why="the request for the lock came too late and took nothing",
                    fix="a longer redis.timeout, or a Redis that is nearer",
                )
            case "broken", (key,):
                raise broken(key)
        raise unexpected(answer)

    def _settle(self, not_after: int, acquired_at: str, lost: AnswerLost) -> Answer:
        """Find out, over new connections, what became of a request whose answer was lost.

        Our own token there: it was carried out. Anything else is only final once the server's time
        has passed ``not_after``, for until then the request may still arrive. This is not ended by
        a cancellation: it is bounded, and leaving early could leave a lock that nobody holds.
        """
        end = time.monotonic() + 2 * self.store.timeout
        while time.monotonic() < end:
            self.store.drop()
            try:
                answer = self._ask(0, acquired_at)
            except MqctlError:
                time.sleep(_PAUSE)
                continue
            if answer.word == "acquired" or answer.now_ms > not_after:
                return answer
            time.sleep(min(self.store.timeout, (not_after - answer.now_ms + 1) / 1000))
        raise AnswerLost(
            lost.what,
            why=f"{lost.why}; whether the lock of {self.keys.marquee} was taken is not known:"
            f" if so, it ends by itself within {self.ttl:g} s",
            fix=lost.fix,
        ) from lost
