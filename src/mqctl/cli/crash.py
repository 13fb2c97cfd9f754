"""A bug in mqctl: write down what is needed to find it, and nothing secret."""

from __future__ import annotations

import os
import platform
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from mqctl import __version__
from mqctl.report.quiet import state_directory
from mqctl.secret import MASK


def write_crash_report(
    error: BaseException, argv: Sequence[str], environ: Mapping[str, str], now: datetime
) -> Path | None:
    """Write a report, masked and for its owner only; give its path, None if nowhere could be.

    It holds the versions, the command line and the traceback, but neither variables nor the
    environment.
    """
    text = MASK(
        "\n".join(
            (
                f"mqctl {__version__}, Python {platform.python_version()}, {platform.platform()}",
                f"time: {now.isoformat(timespec='seconds')}",
                f"arguments: {' '.join(map(repr, argv))}",
                "",
                "".join(traceback.format_exception(error)),
            )
        )
    )
    name = f"crash-{now:%Y%m%dT%H%M%SZ}-{os.getpid()}.txt"
    for directory in (state_directory(environ) / "crashes", Path(tempfile.gettempdir())):
        with suppress(OSError):
            return _write_new(directory, name, text)
    return None


def _write_new(directory: Path, name: str, text: str) -> Path:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = directory / name
    # O_EXCL: in a shared temporary directory the name could be somebody's link.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
    return path


def one_line(error: BaseException) -> str:
    """The last line of the traceback: ``TypeError: ...``."""
    return "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]


def where(error: BaseException) -> str:
    """The last place in mqctl's own code."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if f"{os.sep}mqctl{os.sep}" in frame.filename]
    if not frames:
        return "an unknown place"
    last = (own or frames)[-1]
    return f"{Path(last.filename).name}:{last.lineno}"
