"""The demo is a promise of the README, so it is a test, too."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.demo.show import ROOT, Show


@pytest.mark.timeout(300)
def test_the_demo_shows_what_it_says() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.demo"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("demo: all ")
    assert "NOT AS EXPECTED" not in done.stdout


def test_the_demo_fails_if_anything_is_not_as_expected(capsys: pytest.CaptureFixture[str]) -> None:
    show = Show({})
    show.expect("water is wet", met=True)
    show.expect("the moon is green", met=False, otherwise="it is grey")
    assert show.end("nothing") == 1
    told = capsys.readouterr().out
    assert "NOT AS EXPECTED: the moon is green (it is grey)" in told
    assert told.splitlines()[-1] == "demo: 1 of 2 things were not as expected"


def test_the_demo_takes_the_exit_status_of_a_command_seriously() -> None:
    show = Show({})
    show.mqctl("--no-such-option", status=0)
    assert show.missed == ["exit status 0"]
