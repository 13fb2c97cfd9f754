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


SCENARIOS = (
    Scenario("pauses, expiry, crash", (0, 0, 1, 0)),
    Scenario("loss of Redis' data", (1, 0, 0, 0)),
    Scenario("failover that missed a write", (0, 1, 0, 0)),
    Scenario("break", (0, 0, 1, 1)),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What exploring found. ``states`` counts those that were reached."""

    variant: str
    scenario: str
    states: int
    violation: str = ""


def explore(variant: str, rules: Rules, scenario: Scenario) -> Verdict:
    """Breadth first, so that the first violation is a shortest one."""
    clients = tuple(Client() for _ in CYCLES)
    start = State(0, Redis(), Host(), clients, frozenset(), None, scenario.budget)
    seen = {start}
    queue = deque([start])
    runs_again = False
    while queue:
        state = queue.popleft()
        runs_again = runs_again or state.done > 0
        try:
            for step in following(state, rules, scenario.horizon):
                if step not in seen:
                    seen.add(step)
                    queue.append(step)
        except Violation as violation:
            return Verdict(variant, scenario.name, len(seen), str(violation))
    if scenario.budget[0] and not runs_again:
        return Verdict(variant, scenario.name, len(seen), "no cycle can run after the loss")
    return Verdict(variant, scenario.name, len(seen))


def mutations() -> dict[str, Rules]:
    """Each rule turned off alone."""
    return {f"without {one.name}": Rules(**{one.name: False}) for one in fields(Rules)}


def first_violation(variant: str, rules: Rules) -> Verdict:
    """The first scenario in which a variant fails, else the last verdict."""
    verdict = Verdict(variant, "", 0)
    for scenario in SCENARIOS:
        verdict = explore(variant, rules, scenario)
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
