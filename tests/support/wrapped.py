"""mqctl with one more listener, which does something at a named event. A stand-alone program.

    wrapped.py EVENT[/WORD][#N]=DEED... -- ARGUMENT...

EVENT is an event's name as ``-o jsonl`` shows it, WORD the value of one of its fields (a step, a
phase), N counts from 1. DEED is ``KILL``, ``STOP`` or another signal that the program sends itself,
``sleep SECONDS``, or a shell command. The product has no test switches: this is all there is.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from mqctl import fleet
from mqctl.cli.main import main
from mqctl.events import Event, Listener, fan_out
from mqctl.model import RunReport


@dataclass
class Hook:
    """Does its deed at the Nth event that fits."""

    event: str
    word: str
    number: int
    deed: str
    seen: int = 0

    @classmethod
    def parse(cls, text: str) -> Hook:
        """Read ``EVENT[/WORD][#N]=DEED``."""
        match = re.fullmatch(r"([a-z.]+)(?:/([^#=]+))?(?:#(\d+))?=(.+)", text)
        if match is None:
            sys.exit(f"not a hook: {text}")
        return cls(match[1], match[2] or "", int(match[3] or 1), match[4])

    def __call__(self, event: Event) -> None:
        """Count the event if it fits."""
        words = [str(getattr(event, field.name)) for field in fields(event)]
        if event.name != self.event or (self.word and self.word not in words):
            return
        self.seen += 1
        if self.seen == self.number:
            self.act()

    def act(self) -> None:
        """Do it, in the thread of the cycle."""
        word, _, rest = self.deed.partition(" ")
        number = getattr(signal, f"SIG{word}", None)
        if number is not None and not rest:
            # To this very thread: sent to the process, another thread may take the signal, and this
            # one would run on for a moment, past the step at which it was to stop.
            signal.pthread_kill(threading.get_ident(), number)
        elif word == "sleep":
            time.sleep(float(rest))
        else:
            subprocess.run(self.deed, shell=True, check=True, stdout=sys.stderr)  # noqa: S602 - a test's own command


def wrap(hooks: Sequence[Hook], run: Callable[..., RunReport]) -> Callable[..., RunReport]:
    """``fleet.run`` with more listeners, behind its own."""

    def wrapped(load: Any, request: Any, emit: Listener, **tools: Any) -> RunReport:
        return run(load, request, fan_out([emit, *hooks]), **tools)

    return wrapped


if __name__ == "__main__":
    here = sys.argv.index("--")
    fleet.run = wrap([Hook.parse(text) for text in sys.argv[1:here]], fleet.run)
    sys.exit(main(sys.argv[here + 1 :]))
