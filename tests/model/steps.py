"""Every step that may happen next: of a client, of the host, of time, of bad luck.

A client that is paused is a client that takes no step; a late packet is a command that stays on the
wire. Time is counted in ticks; a lease lasts one.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.model.state import Client, Command, Redis, Rules, Sight, State, Token, Violation

TTL = 1
CYCLES = (2, 1)  # how often each client may take the lock
WIRE = 1  # commands that may be on their way at once; what runs does not count
LOSS, FAILOVER, CRASH, BREAK = range(4)


def following(state: State, rules: Rules, horizon: int) -> Iterator[State]:
    """All states one step later. Raises Violation when a step breaks a property."""
    if state.now < horizon:
        yield state._replace(now=state.now + 1)
    if state.redis.lock is not None and state.now >= state.redis.expires:
        yield state._replace(redis=state.redis._replace(lock=None))
    for index, client in enumerate(state.clients):
        yield from _client(state, index, client, rules)
    for command in state.wire:
        yield from _deliver(state, command, rules)
    for command in state.host.running:
        running = state.host.running - {command}
        yield state._replace(host=state.host._replace(running=running))
    yield from _misfortune(state, rules)


def _put(state: State, index: int, client: Client) -> State:
    clients = (*state.clients[:index], client, *state.clients[index + 1 :])
    return state._replace(clients=clients)


def _spend(state: State, what: int) -> State:
    budget = list(state.budget)
    budget[what] -= 1
    return state._replace(budget=(budget[0], budget[1], budget[2], budget[3]))


# --------------------------------------------------------------------------- a client


def _client(state: State, index: int, client: Client, rules: Rules) -> Iterator[State]:
    token = Token(index, client.cycle)
    if client.phase == "idle" and state.redis.lock is None and client.cycle < CYCLES[index]:
        yield _acquire(state, index, client, rules)
    if client.writes_owner:
        done = _put(state, index, client._replace(writes_owner=False))
        yield done._replace(redis=done.redis._replace(owner=token))
    if client.phase in {"held", "raised"}:
        yield from _renew(state, index, client, token, rules)
        yield _release(state, index, client, token, rules)
        if state.budget[CRASH]:
            yield _spend(_put(state, index, client._replace(phase="dead")), CRASH)
    if client.phase == "held":
        yield from _raise(state, index, client, token, rules)
    if client.phase == "raised" and state.now < client.deadline and len(state.wire) < WIRE:
        yield _send(state, client, token, guarded=True)
        if not rules.uploads_guarded:
            yield _send(state, client, token, guarded=False)


def _send(state: State, client: Client, token: Token, *, guarded: bool) -> State:
    command = Command(token, client.number, client.age, client.deadline, guarded=guarded)
    return state._replace(wire=state.wire | {command})


def _acquire(state: State, index: int, client: Client, rules: Rules) -> State:
    cycle = client.cycle + 1
    token = Token(index, cycle)
    number = state.redis.counter + 1
    redis = state.redis._replace(
        lock=token,
        expires=state.now + TTL,
        renewals=0,
        counter=number,
        owner=token if rules.owner_in_script else state.redis.owner,
    )
    held = Client(
        "held",
        cycle,
        number,
        0,
        redis.authority,
        state.now + TTL,
        writes_owner=not rules.owner_in_script,
    )
    return _put(state, index, held)._replace(redis=redis)


def _renew(state: State, index: int, client: Client, token: Token, rules: Rules) -> Iterator[State]:
    redis = state.redis
    if redis.lock == token:
        longer = redis._replace(expires=state.now + TTL, renewals=min(2, redis.renewals + 1))
        renewed = client._replace(deadline=state.now + TTL)
        yield _put(state, index, renewed)._replace(redis=longer)
    elif not rules.renew_compares:
        if redis.lock is not None:
            raise Violation("a renewal overwrites the lock of someone else")
        again = redis._replace(lock=token, expires=state.now + TTL)
        yield _put(state, index, client._replace(deadline=state.now + TTL))._replace(redis=again)
    else:
        yield _put(state, index, client._replace(phase="idle"))


def _release(state: State, index: int, client: Client, token: Token, rules: Rules) -> State:
    host, redis = state.host, state.redis
    if (host.number, host.token) == (client.number, token) and not host.running:
        host = host._replace(open=False)
    if redis.lock == token:
        redis = redis._replace(lock=None)
    elif not rules.release_compares and redis.lock is not None:
        raise Violation("a release deletes the lock of someone else")
    idle = client._replace(phase="idle")
    return _put(state, index, idle)._replace(host=host, redis=redis)


def _raise(state: State, index: int, client: Client, token: Token, rules: Rules) -> Iterator[State]:
    host = state.host
    if host.running and rules.exclusive_flock:
        return  # busy
    quiet = state.now - host.last >= TTL
    if host.authority not in {-1, client.authority} and host.open and not quiet:
        return  # held by a cycle of another Redis
    same = host.number == client.number
    if host.number > client.number or (same and rules.token_breaks_ties and host.token != token):
        if rules.floor and state.redis.lock == token:
            counter = max(state.redis.counter, host.number) + 1
            redis = state.redis._replace(counter=counter, expires=state.now + TTL)
            higher = client._replace(number=counter, deadline=state.now + TTL)
            yield _put(state, index, higher)._replace(redis=redis)
        return
    if same and host.token == token and not host.open:
        return  # never reopened
    age = host.age + 1
    raised = host._replace(
        number=client.number,
        token=token,
        authority=client.authority,
        open=True,
        age=age,
        last=state.now,
    )
    yield _put(state, index, client._replace(phase="raised", age=age))._replace(host=raised)


# --------------------------------------------------------------------------- the host


def _deliver(state: State, command: Command, rules: Rules) -> Iterator[State]:
    wire = state.wire - {command}
    if not command.checked and not _allowed(state, command, rules):
        yield state._replace(wire=wire)  # refused: stale, late or closed
        return
    if not rules.check_under_flock and command.guarded and not command.checked:
        yield state._replace(wire=wire | {command._replace(checked=True)})
        return
    if state.host.running and rules.exclusive_flock and command.guarded:
        return  # waits for the flock, and is checked when it has it
    _judge(state, command)
    running = state.host.running | {command}
    host = state.host._replace(running=running, last=state.now)
    yield state._replace(wire=wire, host=host)


def _allowed(state: State, command: Command, rules: Rules) -> bool:
    if not command.guarded or not rules.fence:
        return True
    host = state.host
    ours = host.number == command.number and (
        host.token == command.token or not rules.token_breaks_ties
    )
    in_time = state.now < command.not_after or not rules.not_after
    return ours and host.open and in_time


def _judge(state: State, command: Command) -> None:
    """The properties, asked at the moment at which a command starts."""
    others = {one.token for one in state.host.running} - {command.token}
    if others:
        raise Violation("two commands of different cycles run at once")
    if command.age < state.host.age:
        raise Violation("a command of an older cycle starts after a newer one raised the fence")
    if state.now >= command.not_after:
        raise Violation("a command starts after the end of the lease that it was sent under")


# --------------------------------------------------------------------------- bad luck, and people


def _misfortune(state: State, rules: Rules) -> Iterator[State]:
    if state.budget[LOSS]:
        yield _spend(state, LOSS)._replace(redis=Redis(authority=state.redis.authority + 1))
    if state.budget[FAILOVER] and state.redis.counter:
        # The replica missed the last acquisition.
        behind = state.redis._replace(lock=None, counter=state.redis.counter - 1)
        yield _spend(state, FAILOVER)._replace(redis=behind)
    if state.budget[BREAK]:
        redis = state.redis
        if state.sight is None and redis.lock is not None:
            yield state._replace(sight=Sight(redis.lock, redis.renewals, redis.owner))
        if state.sight is not None:
            yield from _break(state, state.sight, rules)


def _break(state: State, sight: Sight, rules: Rules) -> Iterator[State]:
    """Break without force: only what was shown, and only if its holder is proven dead."""
    redis = state.redis
    shown = sight.owner if sight.owner is not None else sight.lock
    proven = shown is not None and state.clients[shown.client].phase == "dead"
    if rules.owner_in_script:
        proven = proven and sight.owner == sight.lock
    unchanged = redis.lock == sight.lock and (
        redis.renewals == sight.renewals or not rules.break_compares_renewals
    )
    forgotten = _spend(state, BREAK)._replace(sight=None)
    if not unchanged or redis.lock is None:
        yield forgotten
        return
    if rules.break_compares_renewals is False and redis.renewals != sight.renewals:
        raise Violation("a break deletes a lock that was renewed after it was shown")
    if proven:
        holder = state.clients[redis.lock.client]
        if (holder.phase, holder.cycle) != ("dead", redis.lock.cycle):
            raise Violation("a break without force deletes the lock of a living holder")
        number = redis.counter + 1
        host = state.host
        if not host.running and number > host.number:
            host = host._replace(number=number, token=Token(-1, number), open=False)
        freed = redis._replace(lock=None, counter=number)
        yield forgotten._replace(redis=freed, host=host)
        return
    yield forgotten
