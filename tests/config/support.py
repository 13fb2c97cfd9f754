"""Shared by the tests of the declared file."""

from __future__ import annotations

from pathlib import Path

import pytest

from mqctl.config.load import load
from mqctl.config.problems import ConfigErrors
from mqctl.model import Fleet

CASES = Path(__file__).with_name("cases")
TOP = Path(__file__).parents[2]
HOME = {"HOME": "/home/op"}
HEAD = "version: 1\nfleet: acme\nredis: {url: embedded}\n"


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "marquees.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def loaded(folder: Path, text: str, **environ: str) -> Fleet:
    return load(write(folder, text), {**HOME, **environ})


def errors(folder: Path, text: str | bytes, **environ: str) -> list[str]:
    """Load a file that must be wrong, and give its lines without the name of the file."""
    path = write(folder, text)
    with pytest.raises(ConfigErrors) as caught:
        load(path, {**HOME, **environ})
    return [str(problem).removeprefix(f"{path}:").strip() for problem in caught.value.problems]
