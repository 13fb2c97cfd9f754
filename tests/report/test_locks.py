"""``lock status`` for people and for pipes."""

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent

from mqctl.report.locks import LockRow, lock_lines
from tests.report.golden import assert_golden
from tests.report.runs import HOLDER, NOON, TOKEN

HELD = LockRow("east-1", "held", TOKEN, 42, 840_000, HOLDER)
FREE = LockRow(
    "west-12",
    "free",
    None,
    7,
    None,
    None,
    pending=6,
    last_cycle={"outcome": "failed", "started_at": "2026-11-30T10:00:00Z"},
)
FOREIGN = LockRow("west-2", "foreign", "by\x1bhand", None, None, None, quarantined=True)


def text(*rows: LockRow, width: int | None = None, color: bool = False) -> str:
    return "\n".join(lock_lines(rows, NOON, width=width, color=color)) + "\n"


def test_plain_columns_have_absolute_times() -> None:
    assert_golden(__file__, "locks-plain.txt", text(HELD, FREE, FOREIGN))


def test_a_terminal_gets_times_as_people_read_them() -> None:
    assert_golden(__file__, "locks-terminal.txt", text(HELD, width=120))


def test_a_narrow_terminal_gets_blocks() -> None:
    assert text(HELD, FREE, width=79) == dedent(
        """\
        east-1  held
          holder  deploy@ci-7 (pid 4711)
          since   3m ago (11:57:00Z)
          until   in 14m (12:14:00Z)
          phase   playgrounds
          fence   42
        west-12  free
          fence   7
          note    pending: cycle 6 was interrupted; last cycle failed 2h ago
        """
    )


def test_the_state_is_coloured_and_nothing_else() -> None:
    stale = replace(HELD, state="stale")
    assert "\x1b[31mstale\x1b[0m  deploy@ci-7" in text(stale, width=200, color=True)
    assert "\x1b" not in text(stale, width=200)
