"""The generated part of the README: the help text of each command, between markers.

`python -m tests.repo.generated` writes it anew, with `--check` it only compares (as pip-audit's
Makefile does). A block looks like this, and only what is between its markers is generated:

    <!-- help: reconcile -->
    ...
    <!-- end of help -->
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
_BLOCK = re.compile(r"(<!-- help:([a-z ]*)-->\n).*?(<!-- end of help -->)", re.DOTALL)


def help_text(command: str) -> str:
    """Give what `mqctl COMMAND --help` prints, 80 columns wide."""
    done = subprocess.run(
        [sys.executable, "-m", "mqctl", *command.split(), "--help"],
        env={"PATH": os.defpath, "COLUMNS": "80", "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def commands(readme: str) -> list[str]:
    """List the commands whose help the README shows; "" is the program itself."""
    return [match[2].strip() for match in _BLOCK.finditer(readme)]


def renewed(readme: str) -> str:
    """Give the README with every help text as it is now."""

    def block(match: re.Match[str]) -> str:
        return f"{match[1]}\n```text\n{help_text(match[2])}```\n\n{match[3]}"

    return _BLOCK.sub(block, readme)


def main(arguments: list[str]) -> int:
    """Write or compare; 1 when the comparison fails."""
    before = README.read_text(encoding="utf-8")
    after = renewed(before)
    if after == before:
        return 0
    if "--check" in arguments:
        sys.stderr.write("README.md: its help texts are not up to date; run: make readme\n")
        return 1
    README.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
