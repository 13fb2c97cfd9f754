"""The import contracts hold, and they would notice if they did not."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.repo.generated import ROOT


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on a source tree, not on what is installed."""
    program = "import sys; from importlinter.cli import lint_imports_command; "
    program += "lint_imports_command(['--no-cache', '--no-logo'])"
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        env={"PYTHONPATH": str(root / "src"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the source that may be spoiled."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(
        ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    return tmp_path


def test_the_contracts_are_kept() -> None:
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 broken" in done.stdout


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("lock/lease.py", "import mqctl.host.gateway"),
        ("host/gateway.py", "import mqctl.lock"),
        ("phases/rows.py", "import mqctl.store"),
        ("phases/apply.py", "import mqctl.host.gateway"),
        ("model/__init__.py", "import mqctl.events"),
        ("config/load.py", "import redis"),
        ("cycle/runner.py", "import paramiko"),
        ("cycle/runner.py", "import typer"),
        ("fleet.py", "import httpx"),
        ("cli/app.py", "import rich"),
    ],
)
def test_a_look_in_the_wrong_direction_is_noticed(copy: Path, module: str, line: str) -> None:
    path = copy / "src" / "mqctl" / module
    path.write_text(f"{path.read_text()}\n\n{line}\n")
    done = lint(copy)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "BROKEN" in done.stdout


def test_a_module_without_a_place_is_noticed(copy: Path) -> None:
    (copy / "src" / "mqctl" / "helpers.py").write_text('"""Things."""\n')
    done = lint(copy)
    assert done.returncode == 1
    assert "helpers" in done.stdout


def test_the_rooms_of_the_architecture_page_are_those_of_the_contracts() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = next(one["layers"] for one in settings["contracts"] if one["type"] == "layers")
    modules = {name.strip(" ()") for layer in layers for name in layer.split("|")}
    page = (ROOT / "docs" / "architecture.md").read_text()
    table = page.partition("## The rooms")[2].partition("## One cycle")[0]
    there = {name for name in modules if (ROOT / "src" / "mqctl" / name).is_dir()}
    there |= {name for name in modules if (ROOT / "src" / "mqctl" / f"{name}.py").is_file()}
    for name in there - {"__main__"}:
        assert f"`{name}/`" in table or f"`{name}.py`" in table, name
