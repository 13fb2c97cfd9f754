"""``config check``, ``show``, ``schema`` and ``init``."""

from __future__ import annotations

import json

import yaml

from tests.cli.conftest import FILE, Desk


def test_a_right_file(offline: Desk) -> None:
    done = offline.mqctl("config", "check")
    assert done.returncode == 0
    assert done.stdout == (
        f"{offline.folder}/marquees.yaml: fleet acme, 3 Marquees (2 launchable), 2 Playgrounds,"
        f" 0 AgentChats: no errors, {done.stderr.count('warning:')} warnings\n"
    )


def test_warnings_are_told_beside_the_answer(offline: Desk) -> None:
    done = offline.mqctl("config", "check", "-o", "json")
    document = json.loads(done.stdout)
    assert document["exit_code"] == 0
    assert any("command_timeout" in warning for warning in document["warnings"])
    assert document["warnings"] == [
        line.removeprefix("mqctl: warning: ")
        for line in offline.mqctl("config", "check").stderr.splitlines()
    ]
    quiet = offline.mqctl("config", "check", "-q")
    assert (quiet.stdout, quiet.stderr) == ("", "")


def test_all_errors_at_once_with_their_places(offline: Desk) -> None:
    text = FILE.format(redis=offline.redis, root=offline.root)
    text = text.replace("ttl: 30s", "ttl: soon").replace("status: disabled", "status: gone")
    (offline.folder / "marquees.yaml").write_text(text)
    done = offline.mqctl("config", "check")
    assert (done.returncode, done.stdout) == (78, "")
    assert done.stderr.startswith(
        "mqctl: error: 2 errors in marquees.yaml\n  why: marquees.yaml:4:"
    )
    assert "\n       marquees.yaml:15:" in done.stderr
    document = json.loads(offline.mqctl("config", "check", "-o", "json").stdout)
    assert document["error"]["code"] == document["exit_code"] == 78
    assert len(document["error"]["why"].splitlines()) == 2


def test_no_file_says_where_it_looked(bare: Desk) -> None:
    for command in ("config check", "reconcile --all", "lock status", "history", "config show"):
        done = bare.mqctl(*command.split())
        assert done.returncode == 78
        assert done.stderr.startswith("mqctl: error: no declared file\n")
    done = bare.mqctl("config", "check", "--config", "elsewhere.yaml")
    assert done.returncode == 78
    assert "elsewhere.yaml is missing" in done.stderr


def test_show_is_what_is_in_force(offline: Desk) -> None:
    shown = yaml.safe_load(offline.mqctl("config", "show").stdout)
    assert shown["marquees"]["west-1"]["policy"]["rollout_budget"] == 3
    assert json.loads(offline.mqctl("config", "show", "-o", "json").stdout)["config"] == shown


def test_show_shows_no_secret(offline: Desk) -> None:
    text = FILE.format(redis=offline.redis, root=offline.root)
    text = text.replace("timeout: 500ms", "timeout: 500ms, password: {env: REDIS_WORD}")
    (offline.folder / "marquees.yaml").write_text(text)
    done = offline.mqctl("config", "show", environ={"REDIS_WORD": "hunter22"})
    assert "hunter22" not in done.stdout
    assert "***" in done.stdout


def test_schema_is_a_json_schema(bare: Desk) -> None:
    done = bare.mqctl("config", "schema")
    assert done.returncode == 0
    assert json.loads(done.stdout)["$schema"].startswith("https://json-schema.org/")


def test_init_writes_a_file_that_passes_and_never_overwrites(bare: Desk) -> None:
    done = bare.mqctl("init")
    assert done.returncode == 0
    assert done.stdout == "wrote marquees.yaml; next: edit it, then mqctl config check\n"
    assert bare.mqctl("config", "check").returncode == 0
    (bare.folder / "marquees.yaml").write_text("mine")
    done = bare.mqctl("init")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("mqctl: error: marquees.yaml ")
    assert (bare.folder / "marquees.yaml").read_text() == "mine"
    assert bare.mqctl("init", "-c", "other.yaml").returncode == 0
    assert (bare.folder / "other.yaml").exists()
