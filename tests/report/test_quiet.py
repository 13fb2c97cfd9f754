"""``-q``: failures only, when they change and then once an hour."""

from __future__ import annotations

import json
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from mqctl.events import Event
from mqctl.report.quiet import Quiet, Told, state_directory
from tests.report.runs import FAILED, FixedClock, changed, failed, held, run, unreachable

SHOP = [
    "mqctl: error: east-1: rollout playground/shop: port-taken: port 80 is taken by legacy-web",
    "  fix: free the port on the host, or publish another one in the Compose file",
]

SINCE = "since 11:57:00Z (3m ago), until 12:14:00Z unless renewed, in phase playgrounds"


class Job:
    """A cron job: each run is a new process with the same memory."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.clock = FixedClock()

    def runs(self, events: Sequence[Event], *, scope: str = "acme") -> list[str]:
        written: list[str] = []
        quiet = Quiet(written.append, Told(self.path, self.clock), self.clock, scope=scope)
        for event in events:
            quiet(event)
        return written


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path / "state" / "mqctl" / "told.json")


def test_a_good_run_says_nothing(job: Job) -> None:
    assert job.runs(run(changed())) == []


def test_a_failure_is_told_once_and_then_once_an_hour(job: Job) -> None:
    told = []
    for _minute in range(121):
        told.append(job.runs(run(failed())))
        job.clock.passed += 60
    assert [minute for minute, lines in enumerate(told) if lines] == [0, 60, 120]
    assert told[60] == SHOP


def test_a_failure_that_changes_is_told_at_once(job: Job) -> None:
    assert job.runs(run(failed())) == SHOP
    other = replace(FAILED, reason="failed", detail="exit status 1")
    assert job.runs(run(failed(decision=other)))[0].endswith("failed: exit status 1")


def test_numbers_do_not_make_a_failure_new(job: Job) -> None:
    first = replace(FAILED, reason="timed-out", detail="after 300.1 s, pid 4711")
    second = replace(FAILED, reason="timed-out", detail="after 301.7 s, pid 99")
    assert job.runs(run(failed(decision=first)))
    assert job.runs(run(failed(decision=second))) == []


def test_a_failure_that_was_over_is_new_when_it_comes_back(job: Job) -> None:
    assert job.runs(run(failed())) == SHOP
    assert job.runs(run(changed())) == []
    assert job.runs(run(failed())) == SHOP


def test_a_cycle_that_could_not_look_ends_no_failure(job: Job) -> None:
    assert job.runs(run(failed())) == SHOP
    assert job.runs(run(unreachable("east-1"))) == [
        "mqctl: error: west-1 cannot be reached".replace("west", "east"),
        "  why: timed out after 8 s",
        "  fix: check the host",
    ]
    assert job.runs(run(failed())) == []


def test_a_taken_lock_is_told_unless_it_was_said_to_be_fine(job: Job) -> None:
    assert job.runs(run(held(exit_code=0))) == []
    assert job.runs(run(held())) == [
        "mqctl: error: east-1 is held by deploy@ci-7 (pid 4711)",
        f"  why: {SINCE}; it runs: mqctl reconcile --all",
        "  fix: wait for it: mqctl reconcile east-1 --wait 10m",
        "       or, if that process is dead: mqctl lock break east-1",
    ]
    assert job.runs(run(held())) == []


def test_fleets_do_not_hide_each_others_failures(job: Job) -> None:
    assert job.runs(run(failed()), scope="acme") == SHOP
    assert job.runs(run(failed()), scope="other") == SHOP


def test_without_a_memory_everything_is_told() -> None:
    job = Job(None)
    assert job.runs(run(failed())) == job.runs(run(failed())) == SHOP


@pytest.mark.parametrize("garbage", [b"", b"[]", b"{", b'{"a": 1}', b"\xff", b'{"a": ["x", "y"]}'])
def test_a_damaged_memory_tells_again(job: Job, garbage: bytes) -> None:
    assert job.path is not None
    job.path.parent.mkdir(parents=True)
    job.path.write_bytes(garbage)
    assert job.runs(run(failed())) == SHOP
    assert job.runs(run(failed())) == []


def test_the_memory_is_private_and_forgets(job: Job) -> None:
    job.runs(run(failed()))
    assert job.path is not None
    assert stat.S_IMODE(job.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(job.path.parent.stat().st_mode) == 0o700
    job.clock.passed += 40 * 86400
    job.runs(run(failed("west-1")))
    assert list(json.loads(job.path.read_text())) == ["acme/west-1 playground/shop"]


def test_a_memory_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert Job(tmp_path / "file" / "told.json").runs(run(failed())) == SHOP


def test_where_the_state_lives() -> None:
    assert state_directory({"XDG_STATE_HOME": "/s", "HOME": "/h"}) == Path("/s/mqctl")
    assert state_directory({"XDG_STATE_HOME": "s", "HOME": "/h"}) == Path("/h/.local/state/mqctl")
