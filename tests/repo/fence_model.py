"""All interleavings of two or three clients against one host, as a small state machine.

`docs/decisions/number-and-token-fence.md` refers to it. The model has what matters and nothing
else: a lock that may expire at any moment (its owner may sleep, and does not notice), a Redis that
may lose all its data, a host with a fence, and commands that have a check and an end with time in
between. It is the guard's protocol, not its code; the code has tests of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto


class At(Enum):
    """Where a client is in its cycle."""

    IDLE = auto()
    LOCKED = auto()  # has a token and a number from Redis
    RAISED = auto()  # the host took its number
    CHECKED = auto()  # its command passed the host's check
    RUNNING = auto()  # its command changes the host
    GONE = auto()


@dataclass(frozen=True)
class Rules:
    """Which parts of the protocol are in force."""

    fence: bool = True
    token: bool = True
    flock: bool = True


@dataclass(frozen=True)
class Client:
    """One client; ``commands`` are those it may still send."""

    at: At = At.IDLE
    number: int = 0
    commands: int = 2


@dataclass(frozen=True)
class World:
    """One state of everything. ``owner`` and ``host_owner`` are clients by their place.

    ``host_owner`` is who raised last. ``intruded``: a command of an older cycle ran after that.
    """

    clients: tuple[Client, ...]
    owner: int | None = None
    counter: int = 0
    host_number: int = 0
    host_owner: int | None = None
    flock: int | None = None
    losses_left: int = 1
    intruded: bool = False

    @property
    def overlap(self) -> bool:
        """Whether two commands change the host at once, or one comes into another's cycle."""
        return self.intruded or sum(one.at is At.RUNNING for one in self.clients) > 1

    def moved(self, who: int, client: Client, **changes: int | None) -> World:
        """This world with one client in another state."""
        clients = (*self.clients[:who], client, *self.clients[who + 1 :])
        return replace(self, clients=clients, **changes)  # type: ignore[arg-type] # fields of World


def overlaps(rules: Rules, clients: int, losses: int = 1) -> bool:
    """Whether any order of events, with so many losses of Redis' data, lets two cycles overlap."""
    start = World(tuple(Client() for _ in range(clients)), losses_left=losses)
    seen, left = {start}, [start]
    while left:
        world = left.pop()
        if world.overlap:
            return True
        for after in events(rules, world):
            if after not in seen:
                seen.add(after)
                left.append(after)
    return False


def events(rules: Rules, world: World) -> Iterator[World]:
    """Everything that may happen next."""
    if world.owner is not None:
        yield replace(world, owner=None)  # it expires; nobody is told
    if world.losses_left:
        yield replace(world, owner=None, counter=0, losses_left=world.losses_left - 1)
    for who, client in enumerate(world.clients):
        yield from steps(rules, world, who, client)


def steps(rules: Rules, world: World, who: int, client: Client) -> Iterator[World]:
    """What one client may do next. It may also do nothing for ever: that is a pause."""
    match client.at:
        case At.IDLE if world.owner is None:
            number = world.counter + 1
            locked = replace(client, at=At.LOCKED, number=number)
            yield world.moved(who, locked, owner=who, counter=number)
        case At.LOCKED:
            yield raised(rules, world, who, client)
        case At.RAISED if client.commands:
            yield from sent(rules, world, who, client)
        case At.RAISED:
            owner = None if world.owner == who else world.owner
            yield world.moved(who, replace(client, at=At.GONE), owner=owner)
        case At.CHECKED:
            intruded = rules.fence and world.host_owner != who
            yield world.moved(who, replace(client, at=At.RUNNING), intruded=intruded)
        case At.RUNNING:
            done = replace(client, at=At.RAISED, commands=client.commands - 1)
            yield world.moved(who, done, flock=None if rules.flock else world.flock)


def raised(rules: Rules, world: World, who: int, client: Client) -> World:
    """Show the host our number; a busy host lets the client come back (here: no change)."""
    if not rules.fence:
        return world.moved(who, replace(client, at=At.RAISED))
    if rules.flock and world.flock is not None:
        return world
    tie = client.number == world.host_number and rules.token and world.host_owner != who
    if client.number < world.host_number or tie:
        if world.owner != who:
            return world.moved(who, replace(client, at=At.GONE))
        floor = max(world.counter, world.host_number) + 1
        return world.moved(who, replace(client, number=floor), counter=floor)
    taken = replace(client, at=At.RAISED)
    return world.moved(who, taken, host_number=client.number, host_owner=who)


def sent(rules: Rules, world: World, who: int, client: Client) -> Iterator[World]:
    """Send a command: the host checks it, or lets it wait for the file lock (no change)."""
    if not rules.fence:
        yield world.moved(who, replace(client, at=At.CHECKED))
        return
    if rules.flock and world.flock is not None:
        return
    ours = client.number == world.host_number and (not rules.token or world.host_owner == who)
    if not ours:
        yield world.moved(who, replace(client, at=At.GONE))
        return
    flock = who if rules.flock else None
    yield world.moved(who, replace(client, at=At.CHECKED), flock=flock)
