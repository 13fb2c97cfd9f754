"""The file to start from."""

from __future__ import annotations

import contextlib
import os
from importlib.resources import files
from pathlib import Path

from mqctl.errors import MqctlError


def starter() -> str:
    """Give the text of a commented file that passes every check."""
    return files("mqctl.config").joinpath("starter.yaml").read_text(encoding="utf-8")


def write_starter(path: Path) -> None:
    """Write :func:`starter` to ``path``, whole or not at all, and never over anything.

    Raises:
        MqctlError: something of that name exists (a dangling link is something, too), or it cannot
            be written.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        try:
            with draft.open("x", encoding="utf-8") as file:
                file.write(starter())
                file.flush()
                os.fsync(file.fileno())
            # A link fails where a rename would replace.
            os.link(draft, path, follow_symlinks=False)
        finally:
            with contextlib.suppress(FileNotFoundError):
                draft.unlink()
    except FileExistsError:
        raise MqctlError(
            f"{path} exists already",
            why="mqctl never overwrites a declared file",
            fix="edit it, or give another name with --config",
        ) from None
    except OSError as error:
        raise MqctlError(
            f"{path} cannot be written",
            why=(error.strerror or str(error)).lower(),
            fix="correct the path or its permissions",
        ) from None
