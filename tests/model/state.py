"""What the model keeps of Redis, of the host, of the network and of the clients. All immutable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Token(NamedTuple):
    """Who took the lock, and in which of its cycles. Fresh in every acquisition, as a UUID is."""

    client: int
    cycle: int


class Redis(NamedTuple):
    """``expires`` is the moment at which the lock ends; ``owner`` is what a break would see."""

    lock: Token | None = None
    expires: int = 0
    renewals: int = 0
    counter: int = 0
    authority: int = 0
    owner: Token | None = None


class Host(NamedTuple):
    """``age`` counts raises: the age of the fence that is stored. ``last`` is when it was used."""

    number: int = 0
    token: Token | None = None
    authority: int = -1
    open: bool = False
    age: int = 0
    last: int = 0
    running: frozenset[Command] = frozenset()


class Command(NamedTuple):
    """A mutating command on its way, checked (if that is a step of its own), or running."""

    token: Token
    number: int
    age: int
    not_after: int
    checked: bool = False
    guarded: bool = True


class Client(NamedTuple):
    """``phase`` is idle, held, raised or dead; ``deadline`` is the end of its lease."""

    phase: str = "idle"
    cycle: int = 0
    number: int = 0
    age: int = 0
    authority: int = 0
    deadline: int = 0
    writes_owner: bool = False


class Sight(NamedTuple):
    """What someone who wants to break the lock was shown."""

    lock: Token | None
    renewals: int
    owner: Token | None


class State(NamedTuple):
    """One moment. ``budget`` are the faults that may still happen."""

    now: int
    redis: Redis
    host: Host
    clients: tuple[Client, ...]
    wire: frozenset[Command]
    sight: Sight | None
    budget: tuple[int, int, int, int]  # data losses, failovers, crashes, breaks


@dataclass(frozen=True, slots=True)
class Rules:
    """The protocol; each field turned off (or on) is a mutation that must be caught."""

    token_breaks_ties: bool = True
    check_under_flock: bool = True
    exclusive_flock: bool = True
    uploads_guarded: bool = True
    not_after: bool = True
    floor: bool = True
    owner_in_script: bool = True
    release_compares: bool = True
    renew_compares: bool = True
    break_compares_renewals: bool = True
    fence: bool = True


class Violation(Exception):
    """A property of the protocol does not hold."""
