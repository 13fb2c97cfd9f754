"""What a YAML text says, with the line and column of every key and value.

Scalars follow the core schema of YAML 1.2, not YAML 1.1: ``no``, ``on`` and ``22:22`` are text. The
text as written is kept beside the value, so that ``1.10`` can stay ``1.10``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

_NULL = {"", "~", "null", "Null", "NULL"}
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]{1,18}")
_BASED = re.compile(r"0o[0-7]{1,18}|0x[0-9a-fA-F]{1,16}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


class Spot(NamedTuple):
    """A place in the file, both numbers from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Plain:
    """A scalar that YAML takes for a number or a truth value, with its text as written."""

    value: bool | float
    text: str


Path: TypeAlias = tuple[str | int, ...]
Data: TypeAlias = "str | Plain | dict[str, Data] | list[Data] | None"


@dataclass(frozen=True, slots=True)
class Scalar:
    """A leaf. ``quoted`` ones, and block texts, are text whatever they look like."""

    spot: Spot
    text: str
    quoted: bool
    size: int = 1
    depth: int = 1

    def data(self) -> Data:
        """The value as the core schema resolves it."""
        if self.quoted:
            return self.text
        if self.text in _NULL:
            return None
        value = _resolve(self.text)
        return self.text if value is None else Plain(value, self.text)


class Item(NamedTuple):
    """One key of a mapping: where the key stands, and its value."""

    spot: Spot
    node: Node


@dataclass(frozen=True, slots=True)
class Listing:
    """A sequence. ``size`` counts nodes with aliases expanded, ``depth`` the levels below."""

    spot: Spot
    items: Sequence[Node]
    size: int
    depth: int

    def data(self) -> Data:
        """The items as plain data."""
        return [node.data() for node in self.items]


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping whose keys are text, in the order of the file."""

    spot: Spot
    entries: dict[str, Item]
    size: int
    depth: int

    def data(self) -> Data:
        """The entries as plain data."""
        return self.plain()

    def plain(self) -> dict[str, Data]:
        """The entries as plain data, typed as the mapping it is."""
        return {key: item.node.data() for key, item in self.entries.items()}


Node: TypeAlias = Scalar | Listing | Mapping


class Found(NamedTuple):
    """How far a path could be followed: the part that exists, its key's and its value's spot."""

    path: Path
    key: Spot
    value: Spot
    node: Node


def follow(root: Mapping, path: Iterable[str | int]) -> Found:
    """Walk ``path`` from ``root`` as far as the file has it.

    Parts that the file does not have are left out, which also drops the tags that pydantic puts
    into the location of an error inside a union.
    """
    found = Found((), root.spot, root.spot, root)
    for part in path:
        node = found.node
        if isinstance(node, Mapping) and isinstance(part, str) and part in node.entries:
            spot, inner = node.entries[part]
            found = Found((*found.path, part), spot, inner.spot, inner)
        elif isinstance(node, Listing) and isinstance(part, int) and part < len(node.items):
            inner = node.items[part]
            found = Found((*found.path, part), inner.spot, inner.spot, inner)
    return found


def keys(root: Mapping, path: Path) -> AbstractSet[str]:
    """The keys of the mapping at ``path``; none if there is no mapping."""
    found = follow(root, path)
    if found.path != path or not isinstance(found.node, Mapping):
        return frozenset()
    return found.node.entries.keys()


def _resolve(text: str) -> bool | float | None:
    if text in _BOOL:
        return _BOOL[text]
    if _INT.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _SPECIAL.fullmatch(text):
        return float(text.replace(".", ""))
    return None
