"""``-o json``: one document a command, with the schema of SPEC 4. Keys are only ever added."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from mqctl.events import Event, RunFinished
from mqctl.model import CycleReport, ErrorReport, RunReport
from mqctl.report.streams import Channel
from mqctl.report.summary import severest_problem, tally
from mqctl.report.text import rfc3339
from mqctl.secret import MASK

SCHEMA = 1


class JsonDocument:
    """Listener: prints the whole run as one document when it has ended."""

    def __init__(self, out: Channel) -> None:
        self._out = out
        self.answered = False

    def __call__(self, event: Event) -> None:
        """Wait for the end."""
        if isinstance(event, RunFinished):
            self._out.write_masked(dump(run_document(event.report), indent=2) + "\n")
            self.answered = True


def run_document(report: RunReport) -> dict[str, Any]:
    """The document of ``reconcile`` and ``sweep``."""
    body = {"cycles": [cycle_document(cycle) for cycle in report.cycles]}
    return document(report.command, report.exit_code, body, severest_problem(report))


def document(
    command: str, exit_code: int, body: Mapping[str, Any], error: ErrorReport | None = None
) -> dict[str, Any]:
    """The frame of every document; ``error`` is there only when something ended the run."""
    head = {"schema": SCHEMA, "command": command, "exit_code": int(exit_code)}
    tail = {"error": asdict(error)} if error is not None else {}
    return {**head, **body, **tail}


def cycle_document(cycle: CycleReport) -> dict[str, Any]:
    """One element of ``cycles``; ``warnings`` and ``error`` are there only when there are any."""
    shown: dict[str, Any] = {
        "marquee": cycle.marquee,
        "outcome": cycle.outcome.value,
        "reason": cycle.reason,
        "fence": cycle.fence,
        "started_at": rfc3339(cycle.started_at) if cycle.started_at else None,
        "duration_s": round(cycle.duration_s, 3),
        "phases": [
            {
                "name": phase.name,
                "outcome": phase.outcome.value,
                "duration_s": round(phase.duration_s, 3),
                "renewed": phase.renewed,
                **({"detail": phase.detail} if phase.detail else {}),
            }
            for phase in cycle.phases
        ],
        "counters": asdict(cycle.counters),
        "tally": tally(cycle.decisions),
        "decisions": [to_json(decision) for decision in cycle.decisions],
    }
    if cycle.warnings:
        shown["warnings"] = list(cycle.warnings)
    if cycle.error is not None:
        shown["error"] = asdict(cycle.error)
    return shown


def to_json(value: object) -> Any:
    """Turn a frozen value of the model into what :mod:`json` takes."""
    match value:
        case CycleReport():
            shown: Any = cycle_document(value)
        case Enum():
            shown = value.value
        case datetime():
            shown = rfc3339(value)
        case float():
            shown = round(value, 3)
        case Mapping():
            shown = {str(key): to_json(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            shown = [to_json(item) for item in value]
        case None | str() | int():
            shown = value
        case _ if is_dataclass(value) and not isinstance(value, type):
            shown = {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
        case _:
            shown = str(value)
    return shown


def dump(value: object, *, indent: int | None = None) -> str:
    """Write JSON in ASCII: escaped, so that not even a terminal would obey what is in it."""
    text = json.dumps(_masked(value), ensure_ascii=True, indent=indent)
    return text.replace("\x7f", "\\u007f")


def _masked(value: Any) -> Any:
    """Mask the texts before they are escaped: afterwards a secret may look different."""
    if isinstance(value, str):
        return MASK(value)
    if isinstance(value, dict):
        return {key: _masked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_masked(item) for item in value]
    return value
