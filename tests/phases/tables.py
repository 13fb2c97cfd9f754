"""The case files: read, with what a case takes over from another one merged in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from mqctl.phases import RECONCILE
from mqctl.phases.base import Phase, Plan
from tests.phases.notation import NotationError, Tree, view_of

CASES = Path(__file__).with_name("cases")
PHASES: dict[str, Phase] = {phase.name: phase for phase in RECONCILE}
_OWN = {"like", "spec", "expect", "why"}
GONE = "gone"
TWIN = "_noop"


@dataclass(frozen=True, slots=True)
class Case:
    """Facts in, decisions out. ``spec`` names the parts of the contract that it shows."""

    phase: str
    file: str
    name: str
    spec: tuple[str, ...]
    given: Tree
    expected: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file}:{self.name}"

    @property
    def acts(self) -> bool:
        """Whether anything is to be done."""
        return any(line.startswith("do ") for line in self.expected)

    def plan(self) -> Plan:
        """What the phase decides."""
        return PHASES[self.phase].plan(view_of(self.given))


@cache
def cases_of(phase: str) -> tuple[Case, ...]:
    """All cases of one phase."""
    return tuple(case for path in sorted((CASES / phase).glob("*.yaml")) for case in _read(path))


def every_case() -> Iterator[Case]:
    """All cases there are."""
    for phase in PHASES:
        yield from cases_of(phase)


def _read(path: Path) -> Iterator[Case]:
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    base = document.get("given", {})
    told: dict[str, Tree] = document["cases"]
    for name, case in told.items():
        yield Case(
            path.parent.name,
            path.stem,
            name,
            tuple(case.get("spec", document.get("spec", ()))),
            merged(base, _facts(told, name)),
            tuple(case["expect"]),
        )


def _facts(told: dict[str, Tree], name: str) -> Tree:
    """A case's own facts over those of the case that it is ``like``."""
    own = {key: value for key, value in told[name].items() if key not in _OWN}
    like = told[name].get("like")
    if like is None:
        return own
    if like not in told:
        raise NotationError(f"{name} is like {like}, which is not in its file")
    return merged(_facts(told, like), own)


def merged(base: Tree, over: Tree) -> Tree:
    """``over`` over ``base``, mapping by mapping; ``gone`` takes a key away."""
    result = dict(base)
    for key, value in over.items():
        if value == GONE:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result
