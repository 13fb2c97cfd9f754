"""Plays a run to the process's own streams: ``python -m tests.report.play RUN OPTION=VALUE...``."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace

from mqctl.clock import Clock
from mqctl.events import CycleFinished, CycleStarted, Event
from mqctl.report.report import View, open_report
from mqctl.report.streams import Streams
from tests.report import runs


def main(name: str, *options: str) -> int:
    events = {
        "changed": runs.run(runs.changed()),
        "failed": runs.run(runs.failed()),
        "held": runs.run(runs.held()),
        "many": runs.run(runs.changed("east-1"), runs.failed("west-1")),
    }[name]
    given = dict(option.split("=", 1) for option in options)
    marquees = [event.marquee for event in events if isinstance(event, CycleStarted)]
    view = View(marquees=marquees, scope="acme", environ=dict(os.environ))
    view = replace(
        view,
        output=given.get("output", "text"),
        quiet="quiet" in given,
        color=given.get("color", "auto"),
    )
    with open_report(view, Streams.standard(), Clock()) as report:
        if "broken" in given:
            report._listeners.insert(0, _broken)
        for event in events:
            report.emit(event)
            if "slow" in given and not isinstance(event, CycleFinished):
                time.sleep(0.05)
    return 70 if report.failure else 0


def _broken(_event: Event) -> None:
    raise ValueError("a bug in a listener")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
