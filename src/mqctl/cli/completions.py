"""Writes the scripts in ``completions/``: ``python -m mqctl.cli.completions DIRECTORY``.

They ask ``mqctl`` itself at each TAB, so they change only when Typer's way of asking does.
"""

from __future__ import annotations

import sys
from pathlib import Path

from typer.completion import get_completion_script  # type: ignore[attr-defined] # no public name

from mqctl.cli.main import COMPLETE_VARIABLE, PROGRAM

# Where the shells' own loaders look for them.
FILES = {"bash": "mqctl.bash", "zsh": "_mqctl", "fish": "mqctl.fish"}


def script(shell: str) -> str:
    """Give the script of a shell."""
    return (
        get_completion_script(prog_name=PROGRAM, complete_var=COMPLETE_VARIABLE, shell=shell) + "\n"
    )


def write_all(directory: Path) -> None:
    """Write the script of every shell into ``directory``."""
    directory.mkdir(parents=True, exist_ok=True)
    for shell, name in FILES.items():
        (directory / name).write_text(script(shell), encoding="utf-8")


if __name__ == "__main__":
    write_all(Path(sys.argv[1] if len(sys.argv) > 1 else "completions"))
