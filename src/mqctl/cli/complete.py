"""What the shell offers after TAB. It must be quick, so the file is skimmed, not loaded."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import typer

PHASES = ("git-state", "branches", "images", "playgrounds", "agent-chats", "sweep")

_TOP = re.compile(r"^([a-z_]+):")
_NAME = re.compile(r"""^(\s+)["']?([a-z0-9][a-z0-9-]{0,39})["']?:""")


def marquees(ctx: typer.Context, incomplete: str) -> list[str]:
    """Give the Marquees of the file that start with ``incomplete``; none when in doubt."""
    taken = ctx.params.get("marquee") or ()
    taken = (taken,) if isinstance(taken, str) else taken
    names = _names(ctx.params.get("config"))
    return [name for name in names if name.startswith(incomplete) and name not in taken]


def phases(incomplete: str) -> list[str]:
    """Give the phases that start with ``incomplete``."""
    return [phase for phase in PHASES if phase.startswith(incomplete)]


def playgrounds(ctx: typer.Context, incomplete: str) -> list[str]:
    """Give ``MARQUEE/`` for each Marquee."""
    return [f"{name}/" for name in marquees(ctx, incomplete.partition("/")[0])]


def _names(config: str | None) -> list[str]:
    for path in _places(config):
        try:
            return list(skim(path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError):
            continue
    return []


def _places(config: str | None) -> Iterator[Path]:
    named = config or os.environ.get("MQCTL_CONFIG")
    if named:
        yield Path(named).expanduser()
        return
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111 - may fail softly
    yield from (
        Path("marquees.yaml"),
        Path(home, "mqctl", "marquees.yaml"),
        Path("/etc/mqctl/marquees.yaml"),
    )


def skim(text: str) -> Iterator[str]:
    """Give the keys one level below ``marquees:`` in block-style YAML."""
    inside, indent = False, None
    for line in text.splitlines():
        if top := _TOP.match(line):
            inside = top[1] == "marquees"
        elif inside and (key := _NAME.match(line)):
            indent = indent or key[1]
            if key[1] == indent:
                yield key[2]
