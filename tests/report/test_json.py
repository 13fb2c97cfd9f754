"""The JSON document and the JSON lines."""

from __future__ import annotations

import io
import json
from typing import Any

from mqctl.model import Decision, Result, Verb
from mqctl.report.json_document import JsonDocument, dump
from mqctl.report.jsonl import JsonLines
from mqctl.report.streams import Channel
from mqctl.report.summary import TALLY_KEYS, tally
from mqctl.secret import MASK
from tests.report.runs import (
    DIRTY,
    FAILED,
    NOTHING,
    PULL,
    TOKEN,
    UP,
    FixedClock,
    changed,
    held,
    lost,
    run,
    unreachable,
)


def document_of(*events: Any) -> dict[str, Any]:
    out = io.StringIO()
    listener = JsonDocument(Channel(out))
    for event in events:
        listener(event)
    loaded: dict[str, Any] = json.loads(out.getvalue())
    return loaded


def test_the_document_has_the_keys_of_the_specification() -> None:
    assert document_of(*run(changed())) == {
        "schema": 1,
        "command": "reconcile",
        "exit_code": 0,
        "cycles": [
            {
                "marquee": "east-1",
                "outcome": "changed",
                "reason": None,
                "fence": 42,
                "started_at": "2026-11-30T12:00:00Z",
                "duration_s": 7.314,
                "phases": [
                    {"name": "git-state", "outcome": "ok", "duration_s": 0.41, "renewed": True},
                    {"name": "images", "outcome": "ok", "duration_s": 1.9, "renewed": True},
                    {"name": "playgrounds", "outcome": "ok", "duration_s": 4.0, "renewed": True},
                ],
                "counters": {
                    "ssh_connections": 1,
                    "ssh_channels": 9,
                    "guarded_commands": 2,
                    "redis_commands": 12,
                },
                "tally": dict.fromkeys(TALLY_KEYS, 0)
                | {"evaluated": 2, "applied": 1, "pulled": 1, "skipped": 1},
                "decisions": [
                    {
                        "phase": "images",
                        "subject": "image/nginx:1.27",
                        "action": "pull",
                        "reason": "missing",
                        "detail": "",
                        "result": "done",
                        "duration_s": 1.8,
                    },
                    {
                        "phase": "playgrounds",
                        "subject": "playground/demo",
                        "action": "up",
                        "reason": "missing",
                        "detail": "no containers",
                        "result": "done",
                        "duration_s": 3.2,
                    },
                    {
                        "phase": "playgrounds",
                        "subject": "playground/docs",
                        "action": "none",
                        "reason": "converged",
                        "detail": "",
                        "result": "skipped",
                        "duration_s": 0.0,
                    },
                    {
                        "phase": "branches",
                        "subject": "checkout/demo/app",
                        "action": "skip",
                        "reason": "dirty",
                        "detail": "2 tracked changes",
                        "result": "skipped",
                        "duration_s": 0.0,
                    },
                ],
            }
        ],
    }


def test_the_error_that_decided_the_status_stands_at_the_top_too() -> None:
    document = document_of(*run(unreachable()))
    error = {
        "code": 69,
        "what": "west-1 cannot be reached",
        "why": "timed out after 8 s",
        "fix": "check the host",
    }
    assert document["error"] == error
    assert document["cycles"][0]["error"] == error
    assert document["cycles"][0]["warnings"] == ["3 strikes"]


def test_the_tally_counts_what_was_done() -> None:
    def made(action: Verb, result: Result = Result.DONE, subject: str = "playground/x") -> Decision:
        return Decision("p", subject, action, "r", result=result)

    decisions = [
        *(UP, PULL, NOTHING, DIRTY, FAILED),
        made(Verb.ROLLOUT),
        made(Verb.RECOVER),
        made(Verb.RESTART),
        made(Verb.EXPIRE),
        made(Verb.PARK, Result.SKIPPED),
        made(Verb.REMOVE, subject="orphan/y"),
        made(Verb.REDEPLOY, subject="agent-chat/h"),
        made(Verb.PULL, Result.FAILED, subject="image/z"),
        made(Verb.UP, Result.PLANNED),
    ]
    assert tally(decisions) == {
        "evaluated": 5,
        "applied": 2,
        "rolled_out": 1,
        "pulled": 1,
        "pulls_failed": 1,
        "skipped": 1,
        "recovered": 2,
        "expired": 1,
        "parked": 1,
        "removed": 1,
        "failed": 2,
    }


def test_json_is_safe_to_look_at_and_loses_nothing() -> None:
    text = "\x1b[2J \x9b \u202e \x7f [b] ünï"
    dumped = dump({"detail": text})
    assert dumped.isascii()
    assert dumped.isprintable()
    assert json.loads(dumped) == {"detail": text}


def test_a_secret_is_masked_whatever_escaping_would_make_of_it() -> None:
    MASK.add('pa"ss\nwörd')
    assert json.loads(dump(["x", {"detail": 'is pa"ss\nwörd'}])) == ["x", {"detail": "is ***"}]
    MASK.add("true")
    assert json.loads(dump({"renewed": True})) == {"renewed": True}


def jsonl_of(*events: Any) -> list[dict[str, Any]]:
    out = io.StringIO()
    listener = JsonLines(Channel(out), FixedClock())
    for event in events:
        listener(event)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_each_event_is_a_line_as_it_happens() -> None:
    lines = jsonl_of(*run(changed()))
    assert [line["event"] for line in lines] == [
        "cycle.started",
        "lock.acquired",
        "phase.started",
        "phase.finished",
        "lock.renewed",
        "decision",
        "phase.started",
        "step.started",
        "decision",
        "phase.finished",
        "phase.started",
        "step.started",
        "decision",
        "decision",
        "phase.finished",
        "lock.released",
        "cycle.finished",
        "run.finished",
    ]
    assert lines[1] == {
        "event": "lock.acquired",
        "at": "2026-11-30T12:00:00.000Z",
        "marquee": "east-1",
        "token": TOKEN,
        "fence": 42,
        "ttl_s": 900.0,
        "left_s": 885.9,
    }
    assert lines[-2]["report"] == document_of(*run(changed()))["cycles"][0]
    assert lines[-1] == {
        "event": "run.finished",
        "at": "2026-11-30T12:00:00.000Z",
        "schema": 1,
        "command": "reconcile",
        "exit_code": 0,
    }


def test_a_holder_and_a_loss_as_lines() -> None:
    holder = jsonl_of(*held())[1]
    assert holder["event"] == "lock.held"
    assert holder["holder"]["pid"] == 4711
    assert holder["retry_s"] is None
    assert [line["why"] for line in jsonl_of(*lost()) if line["event"] == "lock.lost"] == [
        "the renewal found another token"
    ]
