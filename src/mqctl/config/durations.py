"""Durations as people write them: ``500ms``, ``30s``, ``15m``, ``8h``, ``2d``, ``1h30m``.

Nothing is imported here but :mod:`re`, so that the command line can use it for its options without
loading YAML or pydantic.
"""

from __future__ import annotations

import re

_UNITS_MS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_PATTERN = re.compile("".join(rf"(?:([0-9]{{1,9}}){unit})?" for unit in _UNITS_MS))
# A pattern for editors; it cannot say that "m" and "ms" come in this order, the parser does.
JSON_PATTERN = r"^([0-9]{1,9}(d|h|m|s|ms))+$"
LONGEST_MS = 3650 * _UNITS_MS["d"]
ALLOWED = "a duration such as 500ms, 30s, 15m, 8h, 2d or 1h30m is allowed"


def parse_duration(text: str) -> float:
    """Give the seconds that ``text`` means, to the millisecond.

    Raises:
        ValueError: it is not a duration, or longer than ten years.
    """
    match = _PATTERN.fullmatch(text)
    if match is None or match.lastindex is None:
        if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
            raise ValueError(f"a number without a unit; {ALLOWED}")
        raise ValueError(f"not a duration; {ALLOWED}")
    numbers = (int(number or 0) for number in match.groups())
    total = sum(n * unit for n, unit in zip(numbers, _UNITS_MS.values(), strict=True))
    if total > LONGEST_MS:
        raise ValueError("longer than ten years; at most 3650d is allowed")
    return total / 1000


def format_duration(seconds: float) -> str:
    """Write ``seconds`` as :func:`parse_duration` reads it back, to the millisecond."""
    rest = round(seconds * 1000)
    text = ""
    for unit, size in _UNITS_MS.items():
        number, rest = divmod(rest, size)
        if number:
            text += f"{number}{unit}"
    return text or "0s"
