"""Durations."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqctl.config.durations import JSON_PATTERN, LONGEST_MS, format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("500ms", 0.5),
        ("30s", 30),
        ("90s", 90),
        ("15m", 900),
        ("8h", 28800),
        ("2d", 172800),
        ("1h30m", 5400),
        ("1d2h3m4s5ms", 93784.005),
        ("0s", 0),
        ("007s", 7),
    ],
)
def test_a_duration_is_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds
    assert re.search(JSON_PATTERN, text)


@pytest.mark.parametrize(
    "text",
    [
        "", "s", "30", "1.5h", "-1s", "+1s", "30 s", " 30s", "30s ", "30S", "1m1h", "1s1s", "1w",
        "30s\n", "٣s", "1h30", "1e3s", "99999999999s", "3651d",
    ],
)  # fmt: skip
def test_anything_else_is_refused_with_what_is_allowed(text: str) -> None:
    with pytest.raises(ValueError, match=r"; .* allowed"):
        parse_duration(text)


@given(st.integers(0, LONGEST_MS))
def test_what_is_written_is_read_back(milliseconds: int) -> None:
    seconds = milliseconds / 1000
    assert parse_duration(format_duration(seconds)) == seconds


@given(st.text(alphabet="0123456789dhms. ", max_size=12))
def test_reading_never_fails_in_another_way(text: str) -> None:
    try:
        seconds = parse_duration(text)
    except ValueError:
        return
    assert parse_duration(format_duration(seconds)) == seconds
