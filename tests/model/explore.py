"""Explores every interleaving of a variant of the protocol, and prints the table of verdicts.

``python -m tests.model.explore`` prints it.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from dataclasses import dataclass, fields

from tests.model.state import Client, Host, Redis, Rules, State, Violation
from tests.model.steps import CYCLES, following


@dataclass(frozen=True, slots=True)
class Scenario:
    """How much may go wrong: data losses, failovers, crashes and breaks."""

    name: str
    budget: tuple[int, int, int, int]
    horizon: int = 2
    remembered: int = 0  # the number that the host knows when Redis knows none


SCENARIOS = (
    Scenario("an old host, a new Redis", (0, 0, 0, 0), remembered=5),
    Scenario("pauses, expiry, crash", (0, 0, 1, 0)),
    Scenario("loss of Redis' data", (1, 0, 0, 0)),
    Scenario("failover that missed a write", (0, 1, 0, 0)),
    Scenario("break", (0, 0, 1, 1), horizon=1),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What exploring found. ``states`` counts those that were reached."""

    variant: str
    scenario: str
    states: int
    violation: str = ""


def explore(variant: str, rules: Rules, scenario: Scenario, limit: int = 10**9) -> Verdict:
    """Breadth first, so that the first violation is a shortest one; ``limit`` bounds the states."""
    clients = tuple(Client() for _ in CYCLES)
    host = Host(number=scenario.remembered)
    start = State(0, Redis(), host, clients, frozenset(), None, scenario.budget)
    seen = {start}
    queue = deque([start])
    works = False
    while queue and len(seen) < limit:
        state = queue.popleft()
        works = works or bool(state.host.running)
        try:
            for step in map(canonical, following(state, rules, scenario.horizon)):
                if step not in seen:
                    seen.add(step)
                    queue.append(step)
        except Violation as violation:
            return Verdict(variant, scenario.name, len(seen), str(violation))
    if not queue and not works:
        return Verdict(variant, scenario.name, len(seen), "no cycle can ever do anything")
    return Verdict(variant, scenario.name, len(seen))


def canonical(state: State) -> State:
    """The state without what can make no difference any more, so that fewer are told apart."""
    losses, _, _, breaks = state.budget
    redis, host = state.redis, state.host
    if not breaks:
        redis = redis._replace(renewals=0, owner=None)
    if not losses and redis.authority == 0:
        host = host._replace(last=0)
    return state._replace(redis=redis, host=host)


def mutations() -> dict[str, Rules]:
    """Each rule turned off alone."""
    return {f"without {one.name}": Rules(**{one.name: False}) for one in fields(Rules)}


def first_violation(variant: str, rules: Rules) -> Verdict:
    """The first scenario in which a variant fails, else the last verdict.

    Every mutation shows itself within few states; the protocol itself is explored whole.
    """
    verdict = Verdict(variant, "", 0)
    for scenario in SCENARIOS:
        verdict = explore(variant, rules, scenario, limit=20_000)
        if verdict.violation:
            break
    return verdict


def table() -> list[Verdict]:
    """The protocol in every scenario, then each mutation in the first that catches it."""
    whole = [explore("the protocol", Rules(), one) for one in SCENARIOS]
    return whole + [first_violation(name, rules) for name, rules in mutations().items()]


if __name__ == "__main__":
    began = time.monotonic()
    for row in table():
        told = row.violation or "safe"
        sys.stdout.write(f"{row.variant:34} {row.scenario:30} {row.states:8} {told}\n")
    sys.stdout.write(f"{time.monotonic() - began:.1f} s\n")
