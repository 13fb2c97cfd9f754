"""Whole files: each good one with what is in force, each bad one with all of its errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from mqctl.config import positions
from mqctl.config.load import load
from mqctl.config.problems import ConfigErrors
from mqctl.config.show import show
from mqctl.errors import ConfigError, ExitCode
from tests.config.support import CASES, HOME

GOOD = sorted(CASES.glob("good/*.yaml"))
BAD = sorted(CASES.glob("bad/*.yaml"))


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_good_file_is_in_force_as_expected(path: Path) -> None:
    shown = json.dumps(show(load(path, HOME)), indent=1)
    expected = path.with_suffix(".json").read_text()
    assert json.loads(shown.replace(str(path.parent), "DIR")) == json.loads(expected)


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_file_has_exactly_these_errors(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    with pytest.raises(ConfigErrors) as caught:
        load(path.name, HOME)
    found = [str(problem) for problem in caught.value.problems]
    assert found == path.with_suffix(".errors").read_text().splitlines()
    assert caught.value.what.startswith(f"{len(found)} error")
    assert caught.value.why.splitlines() == found


@pytest.mark.parametrize("path", [*GOOD, *BAD], ids=lambda path: path.stem)
def test_the_parser_in_python_finds_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> object:
        try:
            return load(path, HOME)
        except ConfigErrors as error:
            # The column of a value that is not there is counted in two ways.
            return [(one.line, one.path, one.message) for one in error.problems]

    with_c = found()
    monkeypatch.setattr(positions, "_Loader", yaml.SafeLoader)
    assert found() == with_c


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_no_error_repeats_what_may_be_a_secret(path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(path, HOME)
    error = caught.value
    assert error.code is ExitCode.CONFIG
    said = [error.what, error.why, error.fix, str(error), repr(error)]
    # The context of an exception is printed in a crash report.
    assert error.__suppress_context__ or error.__context__ is None
    assert not any("hunter2" in text for text in said)
    assert "hunter2" in path.read_text() or path.stem not in {"secrets", "alias-secret"}
