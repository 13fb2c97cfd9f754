"""Which listeners a run gets, on real streams and a real terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.report.emulator import shown
from tests.report.golden import assert_golden
from tests.report.ptys import Terminal

PLAY = ("-m", "tests.report.play")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(sys.path),
        "HOME": str(tmp_path),
        "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8",
    }


def piped(environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *PLAY, *arguments],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_pipe_gets_lines(environ: dict[str, str]) -> None:
    done = piped(environ, "changed")
    assert done.returncode == 0
    assert done.stdout.splitlines()[1].split()[:4] == ["east-1", "-", "lock", "acquired"]
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_a_problem_goes_to_standard_error(environ: dict[str, str]) -> None:
    done = piped(environ, "held", "output=json")
    assert json.loads(done.stdout)["exit_code"] == 75
    assert done.stderr.startswith("mqctl: error: east-1 is held by deploy@ci-7 (pid 4711)\n")


def test_a_bug_in_a_listener_disturbs_nothing_else(environ: dict[str, str]) -> None:
    done = piped(environ, "changed", "broken=1")
    assert done.returncode == 70
    assert done.stdout == piped(environ, "changed").stdout.replace("", "") or "cycle" in done.stdout


def test_quiet_tells_a_failure_once(environ: dict[str, str]) -> None:
    first = piped(environ, "failed", "quiet=1")
    assert first.stdout == ""
    assert first.stderr.startswith("mqctl: error: east-1: rollout playground/shop: port-taken")
    second = piped(environ, "failed", "quiet=1")
    assert (second.stdout, second.stderr) == ("", "")


def test_a_terminal_gets_the_live_view_and_keeps_the_answer(environ: dict[str, str]) -> None:
    with Terminal([*PLAY, "many", "slow=1"], environ) as terminal:
        assert terminal.end() == 0
    assert "━━━" in terminal.output
    assert "\x1b[?25h" in terminal.output.rpartition("\x1b[?25l")[2]
    assert_golden(__file__, "terminal-many.txt", shown(terminal.output))


@pytest.mark.parametrize("setting", [{"TERM": "dumb"}, {"GITHUB_ACTIONS": "true"}])
def test_a_terminal_that_cannot_move_the_cursor_gets_lines(
    environ: dict[str, str], setting: dict[str, str]
) -> None:
    with Terminal([*PLAY, "changed"], environ | setting) as terminal:
        assert terminal.end() == 0
    assert "\x1b" not in terminal.output
    assert "playground/demo  " in terminal.output


def test_no_color_leaves_no_colours_and_no_bold(environ: dict[str, str]) -> None:
    with Terminal([*PLAY, "changed"], environ | {"NO_COLOR": "1"}) as terminal:
        assert terminal.end() == 0
    assert "m" not in {
        match[-1] for match in terminal.output.split("\x1b[")[1:] if match[:1] == "3"
    }
    assert "\x1b[1m" not in terminal.output
    with Terminal([*PLAY, "changed", "color=always"], environ | {"NO_COLOR": "1"}) as terminal:
        assert terminal.end() == 0
    assert "\x1b[32m" in terminal.output
    with Terminal([*PLAY, "changed", "color=never"], environ) as terminal:
        assert terminal.end() == 0
    assert "\x1b[32m" not in terminal.output


def test_an_answer_into_a_file_leaves_the_live_view_on_the_terminal(
    environ: dict[str, str], tmp_path: Path
) -> None:
    for output in ("text", "json"):
        with (tmp_path / output).open("wb") as file:
            arguments = [*PLAY, "changed", "slow=1", f"output={output}"]
            with Terminal(arguments, environ, stdout=file.fileno()) as terminal:
                assert terminal.end() == 0
        assert "━━━" in terminal.output
        assert shown(terminal.output) == "\n"
    assert "playground/demo  " in (tmp_path / "text").read_text()
    assert json.loads((tmp_path / "json").read_text())["exit_code"] == 0


def test_beside_a_pipe_nothing_moves_the_cursor(environ: dict[str, str]) -> None:
    reader, writer = os.pipe()
    with Terminal([*PLAY, "changed"], environ, stdout=writer) as terminal:
        os.close(writer)
        assert terminal.end() == 0
    os.close(reader)
    assert terminal.output == ""


def test_actions_get_groups_annotations_and_a_summary(
    environ: dict[str, str], tmp_path: Path
) -> None:
    summary = tmp_path / "summary.md"
    environ |= {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    done = piped(environ, "many")
    assert done.stdout.count("::group::") == done.stdout.count("::endgroup::") == 2
    assert done.stdout.count("\n::error title=mqctl west-1 playground/shop::") == 1
    assert summary.read_text().startswith("## mqctl reconcile\n")
    done = piped(environ, "many", "output=json")
    assert json.loads(done.stdout)["exit_code"] == 1
    assert done.stderr.startswith("::error title=mqctl west-1 playground/shop::")
