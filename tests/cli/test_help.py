"""Help texts, and what help and completion must not cost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mqctl.cli.completions import FILES, script
from tests.cli.conftest import Desk
from tests.report.golden import assert_golden

COMMANDS = [
    "",
    "reconcile",
    "sweep",
    "history",
    "init",
    "lock",
    "lock status",
    "lock break",
    "config",
    "config check",
    "config show",
    "config schema",
]
HEAVY = ("redis", "fabric", "paramiko", "yaml", "pydantic", "httpx", "rich")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_what_was_reviewed(bare: Desk, command: str) -> None:
    done = bare.mqctl(*command.split(), "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert_golden(__file__, f"help-{command.replace(' ', '-') or 'mqctl'}.txt", done.stdout)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_short_option_is_the_same(bare: Desk, command: str) -> None:
    arguments = command.split()
    assert bare.mqctl(*arguments, "-h").stdout == bare.mqctl(*arguments, "--help").stdout


def imported_by(desk: Desk, arguments: list[str], environ: dict[str, str]) -> set[str]:
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: print('\\n@', *sorted(sys.modules)))\n"
        "from mqctl.cli.main import main\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=desk.folder,
        env=desk.environ | environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return set(done.stdout.rpartition("\n@ ")[2].split())


@pytest.mark.parametrize("command", ["--version", *(f"{one} --help" for one in COMMANDS)])
def test_help_loads_nothing_heavy(bare: Desk, command: str) -> None:
    loaded = imported_by(bare, command.split(), {})
    assert "typer" in loaded
    assert not loaded & set(HEAVY)


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("mqctl ", {"reconcile", "sweep", "history", "init", "lock", "config"}),
        ("mqctl lock ", {"status", "break"}),
        ("mqctl reconcile --dry", {"--dry-run"}),
        ("mqctl reconcile ", {"east-1", "west-1", "retired"}),
        ("mqctl reconcile east-1 w", {"west-1"}),
        ("mqctl lock break -c other.yaml ", {"solo"}),
        ("mqctl reconcile --wait 5s --phase a", {"agent-chats"}),
        ("mqctl reconcile --output ", {"text", "json", "jsonl"}),
        ("mqctl reconcile --playground e", {"east-1/"}),
    ],
)
def test_completion_offers_what_fits_and_loads_nothing_heavy(
    offline: Desk, words: str, offered: set[str]
) -> None:
    (offline.folder / "other.yaml").write_text("marquees:\n  # one\n  'solo':\n    host: local\n")
    split = words.split()
    index = len(split) if words.endswith(" ") else len(split) - 1
    environ = {"_MQCTL_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(index)}
    assert set(offline.mqctl(environ=environ).stdout.split()) == offered
    assert not imported_by(offline, [], environ) & set(HEAVY)


def test_the_shipped_completions_are_up_to_date() -> None:
    folder = Path(__file__).parents[2] / "completions"
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES.values())
    for shell, name in FILES.items():
        assert (folder / name).read_text() == script(shell), "run: python -m mqctl.cli.completions"


def test_bash_completes_with_the_shipped_script(offline: Desk, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "mqctl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m mqctl "$@"\n')
    program.chmod(0o755)
    text = (
        f". {Path(__file__).parents[2]}/completions/mqctl.bash\n"
        "COMP_WORDS=(mqctl reconcile --al) COMP_CWORD=2\n"
        "_mqctl_completion mqctl\n"
        'echo "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        ["bash", "-c", text],
        cwd=offline.folder,
        env=offline.environ | {"PATH": f"{program.parent}:{offline.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == "--all\n"
