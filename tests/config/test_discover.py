"""Where the declared file is looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from mqctl.config import discover as module
from mqctl.config.discover import discover
from mqctl.errors import ConfigError


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The three places, none of which exists, with the first one as ``./marquees.yaml``."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(module, "SYSTEM", tmp_path / "etc" / "marquees.yaml")
    return [
        Path("marquees.yaml"),
        tmp_path / "xdg" / "mqctl" / "marquees.yaml",
        tmp_path / "etc" / "marquees.yaml",
    ]


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def test_the_first_that_exists_wins(places: list[Path], tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    for place in reversed(places):
        _make(place)
        assert discover(None, environ) == place


def test_a_named_one_goes_first(places: list[Path], tmp_path: Path) -> None:
    for place in (places[0], tmp_path / "option.yaml", tmp_path / "variable.yaml"):
        _make(place)
    environ = {"MQCTL_CONFIG": str(tmp_path / "variable.yaml")}
    assert discover(str(tmp_path / "option.yaml"), environ) == tmp_path / "option.yaml"
    assert discover(None, environ) == tmp_path / "variable.yaml"
    assert discover(None, {"MQCTL_CONFIG": ""}) == places[0]


@pytest.mark.parametrize(
    ("named", "environ", "origin"),
    [("no.yaml", {}, "--config"), ("", {}, "--config"), (None, {"MQCTL_CONFIG": "no"}, "MQCTL_")],
)
def test_a_named_one_that_is_missing_is_an_error(
    places: list[Path], named: str | None, environ: dict[str, str], origin: str
) -> None:
    _make(places[0])
    with pytest.raises(ConfigError, match="is missing") as caught:
        discover(named, environ)
    assert caught.value.why.startswith(origin)


def test_nothing_found_says_where_it_looked(places: list[Path]) -> None:
    with pytest.raises(ConfigError) as caught:
        discover(None, {"HOME": "/home/op", "XDG_CONFIG_HOME": "relative"})
    assert caught.value.why == (
        "looked for --config, MQCTL_CONFIG, marquees.yaml, /home/op/.config/mqctl/marquees.yaml, "
        f"{places[2]}"
    )


def test_a_dangling_link_is_not_passed_over(places: list[Path]) -> None:
    _make(places[2])
    places[0].symlink_to("nothing")
    assert discover(None, {}) == places[0]
