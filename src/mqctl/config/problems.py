"""What is wrong with a declared file: one line for each problem, all of them at once."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from mqctl.config.nodes import Path
from mqctl.errors import ConfigError

# Below these keys a text may be a secret that somebody wrote where a reference belongs.
_SOURCES = frozenset({"env", "file"})
_SAFE_BELOW = {
    "password": _SOURCES,
    "token": _SOURCES,
    "ssh_key": _SOURCES,
    "url": _SOURCES,
    "webhook": frozenset({"url"}),
    "credentials": frozenset({"ssh_key", "username", "token"}),
}
_NAMED = {"registries", "props", "playspecs", "marquees", "triggers"}
_LONGEST_KEY = 60
_MOST_NAMES = 12
_MOST_CANDIDATES = 200


class About(Enum):
    """Which place a finding points at: a value, a key, or where a key is missing."""

    VALUE = "value"
    KEY = "key"
    MISSING = "missing"


class Finding(NamedTuple):
    """Something wrong at a path of the document; the position is looked up later."""

    path: Path
    message: str
    about: About = About.VALUE


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong. ``line`` 0 means that it is not about a place in a file.

    Attributes:
        file: the file as the user named it, or the environment variable.
        line: from 1.
        column: from 1, in characters.
        path: keys from the top, such as ``marquees.east-1.port``; empty for the whole file.
        message: what is wrong; what is allowed.
    """

    file: str
    line: int
    column: int
    path: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return ": ".join(part for part in (place, self.path, self.message) if part)


class ConfigErrors(ConfigError):
    """All problems of one declared file, in the order of the file.

    Attributes:
        problems: at least one.
    """

    def __init__(self, file: str, problems: Iterable[Problem]) -> None:
        # What an anchor brings to several places is wrong in one.
        once = {
            (one.line, one.column, one.message, one.path.rsplit(".", 1)[-1]): one
            for one in sorted(problems, reverse=True)
        }
        self.problems = sorted(once.values())
        count = len(self.problems)
        super().__init__(
            f"{count} error{'s' if count > 1 else ''} in {file}",
            why="\n".join(map(str, self.problems)),
        )


def shown_path(path: Path) -> str:
    """Write a path for people, cut before a part that may be a secret.

    That is an unknown key where a reference or an account belongs, as in ``password: {hunter2}``.
    """
    text = ""
    for index, part in enumerate(path):
        text += f"[{part}]" if isinstance(part, int) else f".{shown_key(part)}"
        if _is_name(path, index):
            continue
        variable = index > 0 and path[index - 1] == "env" and not _is_name(path, index - 1)
        safe = _SOURCES if variable else _SAFE_BELOW.get(str(part))
        if safe is not None and not safe.issuperset(map(str, path[index + 1 : index + 2])):
            break
    return text.removeprefix(".")


def _is_name(path: Path, index: int) -> bool:
    """Whether that part is a name that the user chose; one may be called ``token``."""
    return (index == 1 and path[0] in _NAMED) or (index == 3 and path[0] == "marquees")  # noqa: PLR2004 - marquees.NAME.playgrounds.NAME


def shown_key(key: str) -> str:
    """Write a key or name for people: quoted when it is not a simple word, and cut when long."""
    if re.fullmatch(r"[A-Za-z0-9_.-]{1,60}", key):
        return key
    return json.dumps(key if len(key) <= _LONGEST_KEY else key[:_LONGEST_KEY] + "...")


def suggestion(word: str, candidates: Iterable[str]) -> str:
    """Say what may have been meant, as the start of what is allowed; empty if nothing is close."""
    known = list(candidates)[:_MOST_CANDIDATES]
    if len(word) > _LONGEST_KEY:
        return ""
    close = difflib.get_close_matches(word, known)
    if not close:
        return ""
    # Of those that are about as close, letters in another order are the likeliest slip.
    swapped = [one for one in close if sorted(one) == sorted(word)]
    return f"did you mean {shown_key((swapped or close)[0])}? "


def listed(candidates: Iterable[str], nothing: str) -> str:
    """Enumerate what is allowed, or say ``nothing``."""
    known = sorted(candidates)
    if not known:
        return nothing
    more = ", ..." if len(known) > _MOST_NAMES else ""
    return "allowed: " + ", ".join(map(shown_key, known[:_MOST_NAMES])) + more
