"""The fixed world that all cases share: one moment, one Marquee, and ids made from words."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

from mqctl.config.durations import parse_duration
from mqctl.model import Prop

Tree = dict[str, Any]
"""A mapping as YAML gives it."""

MOMENT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
NOW = MOMENT.timestamp()
FLEET, MARQUEE = "acme", "east-1"
FENCE = 42
SHOP = Prop("shop", "ssh://git@git.example.com/acme/shop.git")
HEAD = "a" * 40  # the commit that a checkout is at, unless a case says otherwise


class NotationError(ValueError):
    """A case that says something the notation does not know: a typo must not pass as a fact."""


def ago(text: str | None) -> float | None:
    """The moment that lies ``text`` (a duration) back, by the host's clock."""
    return None if text in {None, "never"} else NOW - parse_duration(str(text))


def at(text: str) -> datetime:
    """A moment of the declared file: ``5m ago`` or ``in 5m``."""
    word = text.removeprefix("in ").removesuffix(" ago")
    shift = timedelta(seconds=parse_duration(word))
    return MOMENT + shift if text.startswith("in ") else MOMENT - shift


def container_id(name: str) -> str:
    """The 64 digits of a container's id."""
    return hashlib.sha256(name.encode()).hexdigest()


def image_id(word: str) -> str:
    """The id of the image that a case calls ``word``."""
    return "sha256:" + hashlib.sha256(word.encode()).hexdigest()


def only(known: set[str], given: Tree, where: str) -> None:
    """Refuse words that mean nothing here."""
    if unknown := sorted(given.keys() - known):
        raise NotationError(f"{where}: {unknown[0]} means nothing here; {sorted(known)}")
