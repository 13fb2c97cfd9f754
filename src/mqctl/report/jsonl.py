"""``-o jsonl``: one event a line, as it happens.

Each line has ``event`` (its name), ``at`` (RFC 3339 with milliseconds) and ``marquee``, then what
the event knows. ``cycle.finished`` carries the cycle as the ``-o json`` document shows it.
"""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC
from typing import Any

from mqctl.clock import Clock
from mqctl.events import Event, RunFinished
from mqctl.report.json_document import document, dump, to_json
from mqctl.report.streams import Channel
from mqctl.report.summary import severest_problem


class JsonLines:
    """Listener: prints each event as one JSON object on a line of its own."""

    def __init__(self, out: Channel, clock: Clock) -> None:
        self._out = out
        self._clock = clock
        self.answered = False

    def __call__(self, event: Event) -> None:
        """Print the event."""
        at = self._clock.now().astimezone(UTC).isoformat(timespec="milliseconds")
        head: dict[str, Any] = {"event": event.name, "at": at.replace("+00:00", "Z")}
        if isinstance(event, RunFinished):
            report = event.report
            body = document(report.command, report.exit_code, {}, severest_problem(report))
            self.answered = True
        else:
            body = {field.name: to_json(getattr(event, field.name)) for field in fields(event)}
        self._out.write_masked(dump(head | body) + "\n")
