"""Check the types of a whole file, and keep what is right of a file that is wrong in places.

Without the second part, a dangling name would only be reported once every type error is corrected.
"""

from __future__ import annotations

from typing import NamedTuple

from pydantic import ValidationError

from mqctl.config.nodes import Data, Plain
from mqctl.config.problems import About, Finding
from mqctl.config.translate import findings
from mqctl.config.types import File

_ROUNDS = 40
# For every key that must be there. The rules know where one stands and do not judge it.
_REFERENCE: Data = {"env": "X"}
_PLACEHOLDERS: dict[str, Data] = {
    "compose_file": "x",
    "fleet": "x",
    "host": "x",
    "password": _REFERENCE,
    "path": "x",
    "playspec": "x",
    "prop": "x",
    "repository": "x/x",
    "repository_url": "https://example.invalid/x",
    "token": _REFERENCE,
    "url": "https://example.invalid/",
    "username": "x",
    "version": Plain(1, "1"),
    "workflow": "x",
}


class Checked(NamedTuple):
    """``file`` is what is left of the data when all that ``findings`` name was taken out."""

    file: File | None
    findings: list[Finding]


def check_types(data: dict[str, Data]) -> Checked:
    """Check ``data`` against the types; it is changed by that."""
    first: list[Finding] | None = None
    for _ in range(_ROUNDS):
        try:
            return Checked(File.model_validate(data), first or [])
        except ValidationError as error:
            found = list(findings(error))
        if first is None:
            first = found
        _prune(data, found)
    return Checked(None, first or [])


def _prune(data: dict[str, Data], found: list[Finding]) -> None:
    # All places are looked up before the first is removed, since a list goes as a whole: its next
    # wrong item must not be looked for in what is left.
    places = [_place(data, one) for one in found]
    for place in places:
        if place is not None:
            container, key, placeholder = place
            if placeholder is None:
                container.pop(key, None)
            else:
                container[key] = placeholder


def _place(data: dict[str, Data], found: Finding) -> tuple[dict[str, Data], str, Data] | None:
    """The mapping and its key that make the finding go away: removed, or set to a placeholder."""
    place: tuple[dict[str, Data], str, Data] | None = None
    current: Data = data
    last = len(found.path) - 1
    for index, part in enumerate(found.path):
        if not isinstance(current, dict) or not isinstance(part, str):
            continue
        if part in current:
            place = current, part, None
            current = current[part]
        elif index == last and found.about is About.MISSING:
            return current, part, _PLACEHOLDERS[part]
    return place
