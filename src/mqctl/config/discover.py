"""Where the declared file is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from mqctl.errors import ConfigError

NAME = "marquees.yaml"
VARIABLE = "MQCTL_CONFIG"
SYSTEM = Path("/etc/mqctl", NAME)


def discover(named: str | None, environ: Mapping[str, str] | None = None) -> Path:
    """Find the declared file: ``named``, else ``MQCTL_CONFIG``, else the first that exists.

    Args:
        named: what ``--config`` says.
        environ: the process's own environment if not given.

    Raises:
        ConfigError: a named one is missing, or none exists; the text lists where it looked.
    """
    environ = os.environ if environ is None else environ
    for origin, text in (("--config", named), (VARIABLE, environ.get(VARIABLE))):
        if text is None or (text == "" and origin == VARIABLE):
            continue
        if not text or not _exists(Path(text)):
            raise ConfigError(
                f"the declared file {text or '(empty)'} is missing",
                why=f"{origin} names it",
                fix=f"correct {origin}, or write one with `mqctl init`",
            )
        return Path(text)
    places = candidates(environ)
    for place in places:
        if _exists(place):
            return place
    raise ConfigError(
        "no declared file",
        why="looked for --config, " + ", ".join([VARIABLE, *map(str, places)]),
        fix="write one with `mqctl init`, or name it with --config",
    )


def candidates(environ: Mapping[str, str]) -> list[Path]:
    """The places to look at when none is named, first one first."""
    places = [Path(NAME)]
    base = environ.get("XDG_CONFIG_HOME", "")
    if Path(base).is_absolute():  # a relative one is to be ignored (XDG Base Directory)
        places.append(Path(base, "mqctl", NAME))
    elif home := environ.get("HOME"):
        places.append(Path(home, ".config", "mqctl", NAME))
    return [*places, SYSTEM]


def _exists(path: Path) -> bool:
    # A dangling link exists: skipping it in silence would pick another file than the one meant.
    return os.path.lexists(path)
