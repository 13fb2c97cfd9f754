"""``lock status`` for people: a table, or blocks where a table does not fit.

At a terminal with times as people read them; elsewhere in plain columns with absolute times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from mqctl.model import Holder
from mqctl.report.summary import holder_name
from mqctl.report.text import moment, parse_time, plain, rfc3339, rough

_NOTHING = "-"
_COLORS = {"held": 33, "stale": 31, "no-expiry": 31, "wrong-type": 31, "foreign": 31, "free": 32}
_HEADS = ("MARQUEE", "STATE", "HOLDER", "SINCE", "UNTIL", "PHASE", "FENCE", "NOTE")
_STATE, _NOTE = 1, 7


@dataclass(frozen=True, slots=True)
class LockRow:
    """What is shown of one lock."""

    marquee: str
    state: str
    token: str | None
    fence: int | None
    ttl_ms: int | None
    owner: Holder | None
    pending: int | None = None
    quarantined: bool = False
    last_cycle: Mapping[str, object] | None = None


def lock_lines(
    rows: Sequence[LockRow], now: datetime, *, width: int | None, color: bool = False
) -> list[str]:
    """Give the lines of ``lock status``; ``width`` None means: no terminal, absolute times."""
    when = _absolute if width is None else _for_people
    cells = [_cells(row, now, when) for row in rows]
    table = _table(cells, color=color)
    if width is None or _fits(cells, width):
        return table
    return [line for row in cells for line in _block(row, color=color)]


def holder_of(row: LockRow) -> Holder | None:
    """The holder as far as it is known; None for a free lock."""
    if row.state == "free":
        return None
    return row.owner or Holder(token=row.token or "", ttl_ms=row.ttl_ms)


def _cells(row: LockRow, now: datetime, when: _When) -> tuple[str, ...]:
    holder = holder_of(row)
    since = parse_time(holder.acquired_at) if holder else None
    until = _NOTHING
    if row.state != "free":
        ends = None if row.ttl_ms is None else now + timedelta(milliseconds=row.ttl_ms)
        until = "never" if ends is None else when(ends, now)
    return (
        plain(row.marquee),
        row.state,
        holder_name(holder) if holder else _NOTHING,
        when(since, now) if since else _NOTHING,
        until,
        plain(holder.phase) or _NOTHING if holder else _NOTHING,
        str(row.fence) if row.fence is not None else _NOTHING,
        _note(row, now),
    )


def _note(row: LockRow, now: datetime) -> str:
    parts = []
    if row.quarantined:
        parts.append("quarantined: Docker did not answer")
    if row.pending is not None:
        parts.append(f"pending: cycle {row.pending} was interrupted")
    last = row.last_cycle or {}
    outcome, started = last.get("outcome"), parse_time(str(last.get("started_at", "")))
    if isinstance(outcome, str):
        age = f" {rough((now - started).total_seconds())} ago" if started else ""
        parts.append(f"last cycle {plain(outcome)}{age}")
    return "; ".join(parts)


_When = Callable[[datetime, datetime], str]


def _absolute(when: datetime, _now: datetime) -> str:
    return rfc3339(when)


def _for_people(when: datetime, now: datetime) -> str:
    left = (when - now).total_seconds()
    relative = f"in {rough(left)}" if left >= 0 else f"{rough(-left)} ago"
    return f"{relative} ({moment(when, now)})"


def _widths(rows: Sequence[tuple[str, ...]]) -> list[int]:
    return [max(map(len, column)) for column in zip(_HEADS, *rows, strict=True)]


def _fits(rows: Sequence[tuple[str, ...]], width: int) -> bool:
    widths = _widths(rows)
    notes = max((len(row[_NOTE]) for row in rows), default=0)
    return sum(widths[:_NOTE]) + 2 * (len(widths) - 1) + notes <= width


def _table(rows: Sequence[tuple[str, ...]], *, color: bool) -> list[str]:
    widths = _widths(rows)
    lines = []
    for row in (_HEADS, *rows):
        padded = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)]
        if row is not _HEADS:
            padded[_STATE] = _paint(row[_STATE], padded[_STATE], color=color)
        lines.append("  ".join(padded).rstrip())
    return lines


def _block(row: tuple[str, ...], *, color: bool) -> list[str]:
    lines = [f"{row[0]}  {_paint(row[_STATE], row[_STATE], color=color)}"]
    for head, cell in zip(_HEADS[2:], row[2:], strict=True):
        if cell not in ("", _NOTHING):
            lines.append(f"  {head.lower():<7} {cell}")
    return lines


def _paint(state: str, text: str, *, color: bool) -> str:
    return f"\x1b[{_COLORS[state]}m{text}\x1b[0m" if color and state in _COLORS else text
