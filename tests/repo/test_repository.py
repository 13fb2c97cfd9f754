"""Makefile, CI entry and pages belong together."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.repo.generated import README, ROOT

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PAGES = [README, *sorted(ROOT.glob("docs/**/*.md"))]
TARGETS = re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE)


def test_the_readmes_targets_exist_and_every_target_prepares_what_it_needs() -> None:
    named = set(re.findall(r"(?m)(?:`|^)make ([a-z]+)", README.read_text(encoding="utf-8")))
    assert {"demo", "test", "check", "bench", "soak", "fmt", "readme"} <= named <= set(TARGETS)
    for target in TARGETS:
        needs = re.search(rf"^{target}:(.*)$", MAKEFILE, re.MULTILINE)
        assert needs
        assert needs[1].strip()
        assert set(needs[1].split()) <= {".venv/ready", *TARGETS}


def test_the_ci_entry_calls_the_test_command_of_the_readme() -> None:
    block = re.search(r"## Try it.*?```sh\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert block
    told = [line.partition("#")[0].strip() for line in block[1].splitlines()]
    assert told == ["make demo", "make test"]
    assert "\nmake test\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize(("status", "word"), [(0, "ci: passed"), (3, "ci: FAILED")])
def test_the_ci_entry_tells_how_the_tests_ended(tmp_path: Path, status: int, word: str) -> None:
    folder = tmp_path / "a clone" / ".ci"
    folder.mkdir(parents=True)
    (folder / "run").write_text((ROOT / ".ci" / "run").read_text())
    (tmp_path / "a clone" / "Makefile").write_text(f"test:\n\t@exit {status}\n")
    done = subprocess.run(
        ["bash", str(folder / "run")],
        cwd="/",
        env={"PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[-1].startswith(word)
    assert (done.returncode == 0) is (status == 0)


def test_the_scripts_can_be_started() -> None:
    for name in ("run", "prepare"):
        assert os.access(ROOT / ".ci" / name, os.X_OK)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_a_page_names_exist(page: Path) -> None:
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_*]*(?:\.(?:py|sh|md))?)`", page.read_text())
    bases = (ROOT, ROOT / "src" / "mqctl")
    for name in named:
        assert any(list(base.glob(name.rstrip("/"))) for base in bases), name


def test_every_decision_fits_on_half_a_page_and_begins_with_its_question() -> None:
    decisions = sorted(ROOT.glob("docs/decisions/*.md"))
    assert len(decisions) >= 8
    for page in decisions:
        text = page.read_text(encoding="utf-8")
        assert "**Question.**" in text
        assert "**Answer.**" in text
        assert len(text.split()) < 400, page.name


def test_the_licence_is_the_declared_one() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert text.startswith("MIT License\n\nCopyright (c) 2026 the mqctl authors\n")
    assert 'license = "MIT"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
