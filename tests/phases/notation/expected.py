"""How a decision is written in a case, and how two lists of them are compared.

    [do] VERB SUBJECT [SERVICES] (REASON[, RESULT]) [DETAIL]

``do`` marks an action that is still to be carried out; without it the decision stands. RESULT is
left out where it goes without saying (a ``none`` is done, a ``skip`` is skipped). DETAIL is a part
of the detail, and is compared only where it is written.
"""

from __future__ import annotations

import re

from mqctl.model import Decision, Result, Verb
from mqctl.phases.base import Action, Plan
from tests.phases.notation.values import NotationError


class Unlike(AssertionError):
    """A plan that is not what a case says."""


def shown(one: Action | Decision) -> str:
    """A decision as a case writes it, without its detail."""
    if isinstance(one, Action):
        services = f" {','.join(one.services)}" if one.services else ""
        return f"do {one.verb} {one.subject}{services} ({one.reason})"
    usual = Result.DONE if one.action is Verb.NONE else Result.SKIPPED
    result = "" if one.result is usual else f", {one.result}"
    return f"{one.action} {one.subject} ({one.reason}{result})"


_LINE = re.compile(r"(?P<head>(?:do )?[a-z-]+ .+? \([a-z-]+(?:, [a-z]+)?\))(?: (?P<detail>.+))?")


def _read(line: str) -> tuple[str, str]:
    match = _LINE.fullmatch(line)
    if match is None:
        raise NotationError(f"not a decision: {line}")
    return match["head"], match["detail"] or ""


def compare(plan: Plan, expected: list[str]) -> None:
    """Raise Unlike unless the plan is what was expected, in that order."""
    found = [shown(one) for one in plan]
    heads, details = zip(*map(_read, expected), strict=True) if expected else ((), ())
    if found != list(heads):
        told = "\n  ".join(f"{shown(one)} {one.detail}" for one in plan)
        wanted = "\n  ".join(heads)
        raise Unlike(f"the plan is\n  {told}\nand should be\n  {wanted}")
    for one, detail in zip(plan, details, strict=True):
        if detail not in one.detail:
            raise Unlike(f"{shown(one)}: {detail!r} is not in its detail {one.detail!r}")
