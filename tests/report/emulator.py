"""As much of a terminal as rich's live view needs, to know what a person sees in the end."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|(\r\n|\n|\r)|([^\x1b\r\n]+)")


def shown(output: str) -> str:
    """Give the lines that stay after ``output``, unwrapped; fails on what it does not know."""
    lines = [""]
    row = column = 0
    end = 0
    for match in _TOKEN.finditer(output):
        assert match.start() == end, output[end : match.start()]
        end = match.end()
        arguments, command, line_end, text = match.groups()
        if text:
            line = lines[row].ljust(column)
            lines[row] = line[:column] + text + line[column + len(text) :]
            column += len(text)
        elif line_end:
            column = 0
            row += "\n" in line_end
            lines += [""] * (row + 1 - len(lines))
        elif command == "A":
            row = max(0, row - int(arguments or 1))
        elif command == "K":
            assert arguments == "2"
            lines[row] = ""
        else:
            assert command in "mhl", match.group()
    assert end == len(output), output[end:]
    return "\n".join(lines).rstrip("\n") + "\n"
