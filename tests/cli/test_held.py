"""A Marquee that somebody else holds, and a Redis that is away: nothing is done, and it is said."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import pytest

from tests.cli.conftest import Desk


@pytest.fixture
def held(desk: Desk) -> Iterator[Desk]:
    """Somebody holds east-1."""
    holder = desk.start(
        ["-m", "tests.cli.holder", desk.redis, "east-1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline()
    yield desk
    holder.kill()
    holder.communicate()


def test_the_loser_says_who_holds_it_and_leaves(held: Desk) -> None:
    done = held.mqctl("reconcile", "east-1")
    assert done.returncode == 75
    assert "held         by " in done.stdout
    what, why, wait, break_it = done.stderr.splitlines()
    assert what.startswith("mqctl: error: east-1 is held by ")
    assert "in phase playgrounds; it runs: mqctl reconcile --all" in why
    assert wait == "  fix: wait for it: mqctl reconcile east-1 --wait 10m"
    assert break_it == "       or, if that process is dead: mqctl lock break east-1"


def test_held_can_be_fine(held: Desk) -> None:
    done = held.mqctl("reconcile", "east-1", "--held-ok")
    assert (done.returncode, done.stderr) == (0, "")
    done = held.mqctl("reconcile", "east-1", "--held-ok", "-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_held_lock_in_json(held: Desk) -> None:
    document = json.loads(held.mqctl("reconcile", "east-1", "-o", "json").stdout)
    assert document["exit_code"] == document["error"]["code"] == 75
    assert document["cycles"][0]["outcome"] == "held"


def test_a_quiet_job_tells_it_once(held: Desk) -> None:
    assert held.mqctl("reconcile", "east-1", "-q").stderr
    done = held.mqctl("reconcile", "east-1", "-q")
    assert (done.returncode, done.stdout, done.stderr) == (75, "", "")


def test_a_marquee_that_is_not_launchable_is_no_failure(desk: Desk) -> None:
    done = desk.mqctl("reconcile", "retired")
    assert done.returncode == 0
    assert "not-launchable" in done.stdout


def test_without_redis_nothing_is_done(offline: Desk) -> None:
    done = offline.mqctl("reconcile", "east-1", "-o", "json")
    document = json.loads(done.stdout)
    assert done.returncode == document["exit_code"] == document["error"]["code"] == 69
    assert document["cycles"][0]["outcome"] == "unreachable"
    assert not offline.root.exists()


def test_a_quiet_job_tells_a_wrong_file_once_an_hour(offline: Desk) -> None:
    (offline.folder / "marquees.yaml").write_text("version: 2\n")
    done = offline.mqctl("reconcile", "--all", "-q")
    assert done.returncode == 78
    assert done.stderr.startswith("mqctl: error: ")
    done = offline.mqctl("reconcile", "--all", "-q")
    assert (done.returncode, done.stdout, done.stderr) == (78, "", "")
