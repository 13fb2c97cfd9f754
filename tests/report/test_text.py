"""Text from elsewhere is data."""

from __future__ import annotations

import pytest

from mqctl.report.text import count, moment, parse_time, plain, plain_lines, rough, seconds
from mqctl.secret import MASK
from tests.report.runs import NOON


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, ünïcödé, 日本", "plain text, ünïcödé, 日本"),
        ("\x1b[2J\x1b]0;owned\x07", "\\x1b[2J\\x1b]0;owned\\x07"),
        ("\x9b31m", "\\x9b31m"),  # CSI as one C1 character
        ("a\nb\r\nc\rd", "a ⏎ b ⏎ c ⏎ d"),
        ("ends\n", "ends"),
        ("a\tb", "a b"),
        ("\u202eexe.txt", "\\u202eexe.txt"),  # right-to-left override
        ("a\u2066b\u2069", "a\\u2066b\\u2069"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("a\u2028b", "a\\u2028b"),
        ("bad\udcff", "bad\\udcff"),  # what surrogateescape makes of a stray byte
        ("\x7f\x00", "\\x7f\\x00"),
        ("[red]markup[/red] :smile:", "[red]markup[/red] :smile:"),
    ],
)
def test_data_is_shown_and_never_obeyed(text: str, shown: str) -> None:
    assert plain(text) == shown
    assert plain(text).isprintable()


def test_secrets_are_masked_before_anything_is_escaped() -> None:
    MASK.add("line-one\nline-two")
    assert plain("x line-one\nline-two y") == "x *** y"


def test_lines_stay_lines_when_mqctl_laid_them_out() -> None:
    assert plain_lines("a\nb\x1b") == ["a", "b\\x1b"]
    assert plain_lines("") == []


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (-1, "0s"),
        (0.04, "0.0s"),
        (7.314, "7.3s"),
        (59.4, "59s"),
        (59.6, "1m 00s"),
        (885.9, "14m 46s"),
        (3900, "1h 05m"),
        (100_000, "1d 3h"),
    ],
)
def test_durations(value: float, shown: str) -> None:
    assert seconds(value) == shown


def test_other_formats() -> None:
    assert [rough(value) for value in (-3, 4, 119, 180, 7300, 200_000)] == [
        "0s",
        "4s",
        "119s",
        "3m",
        "2h",
        "2d",
    ]
    assert count(1, "Marquee") == "1 Marquee"
    assert count(0, "Marquee") == "0 Marquees"
    assert moment(NOON, NOON) == "12:00:00Z"
    assert moment(NOON, NOON.replace(day=29)) == "2026-11-30 12:00:00Z"
    assert parse_time("2026-11-30T12:00:00Z") == NOON
    assert parse_time("2026-11-30T12:00:00") is None
    assert parse_time("\x1b[2J") is None
