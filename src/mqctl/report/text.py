"""Text from a host, from git or from Redis is data: it is shown, never obeyed.

Also the few formats that every report shares. Durations are seconds, times are aware datetimes.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from mqctl.secret import MASK

_LINE_END = re.compile(r"\r\n|\r|\n")
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def plain(text: str) -> str:
    r"""Give ``text`` as one line that a terminal only displays.

    Secrets are masked. A line end becomes ``⏎``, and whatever is not printable (C0, C1, ESC, bidi
    overrides, zero-width and line-separating characters, lone surrogates) its escape: ``\x1b``.
    """
    text = MASK(text).strip("\r\n")
    if text.isprintable():
        return text
    text = _LINE_END.sub(" ⏎ ", text).replace("\t", " ")
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def plain_lines(text: str) -> list[str]:
    """Give ``text`` as lines, each of them :func:`plain`; for texts that mqctl itself laid out."""
    return [plain(line) for line in _LINE_END.split(MASK(text).strip("\r\n"))] if text else []


def _escape(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")


def seconds(value: float) -> str:
    """Give a duration as people say it: ``0.4s``, ``12s``, ``3m 12s``, ``1h 05m``, ``2d 3h``."""
    if value < 0:
        return "0s"
    if value < 10:  # noqa: PLR2004 - below, tenths tell something
        return f"{value:.1f}s"
    whole = round(value)
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return f"{whole // _MINUTE}m {whole % _MINUTE:02}s"
    if whole < _DAY:
        return f"{whole // _HOUR}h {whole % _HOUR // _MINUTE:02}m"
    return f"{whole // _DAY}d {whole % _DAY // _HOUR}h"


def rough(value: float) -> str:
    """Give a duration with one unit, for "... ago": ``4s``, ``3m``, ``5h``, ``2d``."""
    whole = max(0, int(value))
    for unit, size in (("d", _DAY), ("h", _HOUR), ("m", _MINUTE)):
        if whole >= 2 * size:
            return f"{whole // size}{unit}"
    return f"{whole}s"


def parse_time(text: str) -> datetime | None:
    """Read an RFC 3339 time; None when it is none (what Redis holds may be anything)."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    return when if when.tzinfo else None


def rfc3339(when: datetime) -> str:
    """Give a time as the JSON documents carry it: ``2026-11-30T12:00:00Z``, to the second."""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(when: datetime, now: datetime) -> str:
    """Give a time for people, UTC: ``12:00:00Z``, with its date when that is not today's."""
    when, now = when.astimezone(UTC), now.astimezone(UTC)
    return when.strftime("%H:%M:%SZ" if when.date() == now.date() else "%Y-%m-%d %H:%M:%SZ")


def count(number: int, noun: str) -> str:
    """Give ``1 decision``, ``2 decisions``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
