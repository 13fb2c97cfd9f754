"""Command lines that cannot be meant: exit 2, one shape, nothing touched."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Desk


@pytest.mark.parametrize(
    ("line", "what", "fix"),
    [
        ("reconcile", "neither MARQUEE nor --all was given", "mqctl reconcile MARQUEE..."),
        ("sweep --yes", "neither MARQUEE nor --all was given", "mqctl sweep MARQUEE..."),
        ("reconcile east-1 --all", "both MARQUEE and --all were given", "leave one"),
        ("reconcile eats-1", "no Marquee is called eats-1; did you mean east-1?", "use one"),
        ("lock status nowhere", "no Marquee is called nowhere", "use one of these names"),
        ("lock break west-2", "no Marquee is called west-2; did you mean west-1?", "use one"),
        ("history x", "no Marquee is called x", "use one"),
        ("reconcile --playground demo", "invalid value for --playground: demo", "MARQUEE/NAME"),
        (
            "reconcile --playground east-1/dmeo",
            "no Playground of east-1 is called dmeo; did you mean demo?",
            "use one",
        ),
        (
            "reconcile --playground west-1/demo",
            "no Playground of west-1 is called demo",
            "declare it first",
        ),
        (
            "reconcile west-1 --playground east-1/demo",
            "--playground east-1/demo is about east-1 alone",
            "mqctl reconcile --playground east-1/demo",
        ),
        (
            "reconcile --all --phase image",
            "invalid value for --phase: no phase is called image; did you mean images?",
            "use one",
        ),
        ("reconcile --all --phase sweep --skip sweep", "no phase is left", "leave a --skip out"),
        ("reconcile --all --wait 5", "invalid value for --wait: 5", "--wait 90s"),
        ("reconcile --all --retry-delay soon", "invalid value for --retry-delay: soon", "90s"),
        ("reconcile --all --every 1ms", "invalid value for --every: less than a second", "60s"),
        (
            "reconcile --all --detailed-exitcode",
            "--detailed-exitcode needs --dry-run",
            "add --dry-run",
        ),
        ("reconcile --all --jobs 0", "invalid value for '--jobs' / '-j':", "--help"),
        ("reconcile --all --jobs x", "invalid value for '--jobs' / '-j':", "--help"),
        ("reconcile --nwo", "no such option: --nwo; did you mean --now?", "reconcile --help"),
        ("reconcile --wait", "option '--wait' requires an argument", "mqctl reconcile --help"),
        ("recnocile", "no such command 'recnocile'. Did you mean 'reconcile'?", "mqctl --help"),
        ("lock", "missing command", "mqctl lock --help"),
        ("lock break", "missing argument 'MARQUEE'", "mqctl lock break --help"),
        ("lock break east-1 --token abc", "--token abc is too short", "8 characters"),
        ("config check x", "got unexpected extra argument(s) (x)", "mqctl config check --help"),
        ("-c x reconcile", "no such option: -c", "options go after the command"),
        ("sweep --all", "sweep has to ask, and there is no terminal", "--dry-run"),
    ],
)
def test_usage_errors_have_one_shape(offline: Desk, line: str, what: str, fix: str) -> None:
    done = offline.mqctl(*line.split())
    assert done.returncode == 2
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert lines[0].startswith(f"mqctl: error: {what}")
    assert fix in "\n".join(text for text in lines if text.startswith("  fix: "))


def test_no_command_shows_the_help(bare: Desk) -> None:
    done = bare.mqctl()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == bare.mqctl("--help").stdout


def test_a_usage_error_is_json_when_json_was_asked_for(offline: Desk) -> None:
    for arguments in (
        ("reconcile", "eats-1", "-o", "json"),
        ("reconcile", "--output=json", "--nonsense"),
        ("reconcile", "-ojson", "--nonsense"),
    ):
        done = offline.mqctl(*arguments)
        document = json.loads(done.stdout)
        assert document["schema"] == 1
        assert document["command"] == "reconcile"
        assert document["exit_code"] == done.returncode == document["error"]["code"] == 2
        assert document["error"]["what"]
        assert done.stderr.startswith("mqctl: error: ")
    assert json.loads(offline.mqctl("lock", environ={"MQCTL_OUTPUT": "json"}).stdout)["error"]


def test_a_wrong_variable_is_named(offline: Desk) -> None:
    done = offline.mqctl("config", "check", environ={"MQCTL_OUTPUT": "xml"})
    assert done.returncode == 2
    assert "MQCTL_OUTPUT" in done.stderr
    assert "'text', 'json', 'jsonl'" in done.stderr


def test_what_was_typed_is_data_too(offline: Desk) -> None:
    for arguments in (("reconcile", "\x1b[2J"), ("\x1b[2J",), ("reconcile", "--\x1b[2J")):
        done = offline.mqctl(*arguments)
        assert done.returncode == 2
        assert "\x1b" not in done.stderr
