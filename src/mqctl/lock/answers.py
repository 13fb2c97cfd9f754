"""What the lock scripts answer, read into values. Anything unexpected is :class:`Garbled`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mqctl.lock.scripts import OWNER_FIELDS
from mqctl.model import Holder
from mqctl.store import Garbled, Reply


@dataclass(frozen=True, slots=True)
class Sight:
    """What stands at a lock's key.

    ``mark`` tells one value from another, whatever its type or length. ``ttl_ms`` is None when the
    key never expires. ``owner`` holds the fields of the owner hash that are there, as texts.
    """

    kind: str = "none"
    value: str = ""
    mark: str = "none"
    ttl_ms: int | None = None
    owner: Mapping[str, str] = field(default_factory=dict)

    @property
    def holder(self) -> Holder:
        """Who holds it. Only the token is known if the owner hash belongs to another one."""
        owner = self.owner if self.owner.get("token") == self.value else {}
        return Holder(
            token=self.value,
            fence=_number(owner.get("fence")),
            host=owner.get("host", ""),
            pid=_number(owner.get("pid")),
            user=owner.get("user", ""),
            command=owner.get("command", ""),
            version=owner.get("version", ""),
            acquired_at=owner.get("acquired_at", ""),
            renewed_at=owner.get("renewed_at", ""),
            renewals=_number(owner.get("renewals")) or 0,
            phase=owner.get("phase", ""),
            ttl_ms=self.ttl_ms,
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """A script's answer: its word, the server's time, and what came with it, still raw."""

    word: str
    now_ms: int
    rest: tuple[Reply, ...]

    @classmethod
    def read(cls, reply: Reply) -> Answer:
        """Check the frame that all answers share."""
        match reply:
            case [bytes(word), int(now_ms), *rest]:
                return cls(text(word), now_ms, tuple(rest))
        raise unexpected(reply)


def read_sight(reply: Reply) -> Sight:
    """The `sight()` of a script."""
    match reply:
        case [bytes(kind), value, bytes(mark), int(ttl_ms), list(fields)]:
            pairs = zip(OWNER_FIELDS, fields, strict=False)
            return Sight(
                kind=text(kind),
                value=text(value),
                mark=text(mark),
                ttl_ms=ttl_ms if ttl_ms >= 0 else None,
                owner={name: text(one) for name, one in pairs if isinstance(one, bytes)},
            )
    raise unexpected(reply)


def text(value: Reply) -> str:
    """A bulk answer as text, data of whoever wrote it; empty if it is none."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def number(value: Reply) -> int:
    """A number that a script wrote as digits."""
    found = _number(text(value))
    if found is None:
        raise unexpected(value)
    return found


def unexpected(reply: object) -> Garbled:
    """The error for an answer that no script of ours gives."""
    return Garbled("Redis gave an answer that mqctl does not understand", why=repr(reply)[:200])


def _number(digits: str | None) -> int | None:
    is_number = digits is not None and digits.isascii() and digits.isdigit() and len(digits) < 19  # noqa: PLR2004 - 64 bits
    return int(digits) if is_number and digits else None
