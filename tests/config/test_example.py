"""The example and the starter: they load as they are, and with every line that is off turned on."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest
import yaml

from mqctl.config.init import starter, write_starter
from mqctl.config.load import load
from mqctl.config.schema import schema
from mqctl.config.warnings import cautions
from mqctl.errors import MqctlError
from tests.config.support import HOME, TOP, write

EXAMPLE = TOP / "marquees.example.yaml"


def turned_on(text: str) -> str:
    """The text with its ``#key`` lines as settings; ``# Prose`` stays as it is."""
    return re.sub(r"(?m)^( *)#(?=[a-z])", r"\1", text)


def test_the_example_loads_as_it_is_and_needs_no_secret_of_the_environment() -> None:
    fleet = load(EXAMPLE, HOME)
    assert [one.name for one in fleet.marquees if one.launchable] == ["east-1", "west-1"]
    assert all(one.port is None for one in fleet.marquees)
    assert "{env:" not in re.sub(r"(?m)^ *#.*$", "", EXAMPLE.read_text())
    assert not [text for text in cautions(fleet) if "is not there" not in text]


def test_the_example_loads_with_every_line_turned_on() -> None:
    path = TOP / ".marquees.turned-on.yaml"
    try:
        path.write_text(turned_on(EXAMPLE.read_text()))
        fleet = load(path, HOME)
    finally:
        path.unlink()
    assert len(fleet.triggers) == 2


def test_the_example_shows_every_key() -> None:
    shown = set(re.findall(r"[a-z_]+(?=:)", EXAMPLE.read_text()))
    known = {key for one in _sections(schema()) for key in one}
    assert known <= shown


def _sections(made: dict[str, object]) -> list[dict[str, object]]:
    definitions = made["$defs"]
    assert isinstance(definitions, dict)
    parts = [part for one in (made, *definitions.values()) for part in (one, *one.get("anyOf", []))]
    return [part.get("properties", {}) for part in parts]


def test_the_files_of_the_example_are_compose_files() -> None:
    for path in TOP.glob("examples/*/compose.yaml"):
        assert yaml.safe_load(path.read_text())["services"]


def test_the_starter_loads_and_names_nothing_to_correct(tmp_path: Path) -> None:
    path = tmp_path / "marquees.yaml"
    write_starter(path)
    assert path.read_text() == starter()
    fleet = load(path, HOME)
    assert cautions(fleet) == []
    assert not any(one.launchable for one in fleet.marquees)


def test_the_starter_loads_with_every_line_turned_on(tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "compose.yaml").touch()
    (tmp_path / "web" / "nginx.conf").touch()
    fleet = load(write(tmp_path, turned_on(starter())), HOME)
    assert fleet.marquees[0].playgrounds[0].name == "demo"


def test_the_starter_is_never_written_over_anything(tmp_path: Path) -> None:
    path = tmp_path / "marquees.yaml"
    path.write_text("mine")
    with pytest.raises(MqctlError, match="exists already"):
        write_starter(path)
    assert path.read_text() == "mine"
    path.unlink()
    path.symlink_to("nothing")
    with pytest.raises(MqctlError, match="exists already"):
        write_starter(path)
    assert list(tmp_path.iterdir()) == [tmp_path / "marquees.yaml"]


def test_the_starter_leaves_nothing_behind_and_follows_the_umask(tmp_path: Path) -> None:
    with pytest.raises(MqctlError, match="cannot be written"):
        write_starter(tmp_path / "no" / "marquees.yaml")
    before = os.umask(0o027)
    try:
        write_starter(tmp_path / "marquees.yaml")
    finally:
        os.umask(before)
    assert list(tmp_path.iterdir()) == [tmp_path / "marquees.yaml"]
    assert stat.S_IMODE((tmp_path / "marquees.yaml").stat().st_mode) == 0o640
