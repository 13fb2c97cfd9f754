"""Chooses the listeners for a run and keeps them from harming it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from types import TracebackType
from typing import TYPE_CHECKING, Self

from mqctl.clock import Clock
from mqctl.events import Event, Listener
from mqctl.report.lines import Lines
from mqctl.report.problems import Problems
from mqctl.report.streams import Channel, Streams

if TYPE_CHECKING:
    from mqctl.report.terminal import Terminal


@dataclass(frozen=True, slots=True)
class View:
    """How a run is to be shown. ``scope`` names the fleet in the memory of ``-q``."""

    output: str = "text"
    quiet: bool = False
    verbose: bool = False
    color: str = "auto"
    dry_run: bool = False
    answer: bool = True  # False: progress and problems only, somebody else gives the answer
    marquees: Sequence[str] = ()
    scope: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)


class Report:
    """All listeners of a run as one. Use as a context manager: at its end the terminal is free.

    Events come from several threads, and are passed on one by one. A listener that fails is left
    out from then on; its error is in ``failure``, because a report must not end a cycle.
    """

    def __init__(
        self,
        listeners: Sequence[Listener],
        close: Callable[[], None],
    ) -> None:
        self._listeners = list(listeners)
        self._close = close
        self._lock = threading.Lock()
        self.failure: Exception | None = None

    def emit(self, event: Event) -> None:
        """Tell all listeners."""
        with self._lock:
            for listener in tuple(self._listeners):
                try:
                    listener(event)
                except Exception as error:  # noqa: BLE001 - see the class
                    self._listeners.remove(listener)
                    self.failure = self.failure or error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()


def open_report(view: View, streams: Streams, clock: Clock) -> Report:
    """Give the listeners that ``view`` and the two streams ask for."""
    terminal = _live(view, streams, clock)
    notice = terminal.say if terminal and streams.err.isatty() else streams.err.line
    listeners: list[Listener] = []
    if view.quiet:
        listeners.append(_quiet(view, streams, clock))
    else:
        listeners.append(Problems(notice, clock))
    if not view.answer:
        pass
    elif view.output == "json":
        from mqctl.report.json_document import JsonDocument  # noqa: PLC0415 - only when asked for

        listeners.append(JsonDocument(streams.out))
    elif view.output == "jsonl":
        from mqctl.report.jsonl import JsonLines  # noqa: PLC0415 - only when asked for

        listeners.append(JsonLines(streams.out, clock))
    elif not view.quiet and not (terminal and streams.out.isatty()):
        listeners.append(_lines(view, streams, clock))
    if terminal is not None:
        listeners.insert(0, terminal)
    if view.answer:
        listeners += _github(view, streams)
    close = terminal.close if terminal else _nothing
    return Report(listeners, close)


def wants_color(view: View, channel: Channel) -> bool:
    """Whether ``channel`` gets colours: as asked, else at a terminal that may have them."""
    if view.color != "auto":
        return view.color == "always"
    environ = view.environ
    return channel.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def _nothing() -> None:
    pass


def _live(view: View, streams: Streams, clock: Clock) -> Terminal | None:
    """The live view, on the stream where it disturbs nothing; None where there is none."""
    if view.quiet or view.environ.get("TERM", "dumb") == "dumb" or _actions(view):
        return None
    if view.output == "text" and streams.out.isatty():
        channel, answer = streams.out, view.answer
    elif streams.err.isatty() and (view.output == "json" or _is_file(streams.out)):
        # Not beside a pipe: what the next program prints shares the terminal.
        channel, answer = streams.err, False
    else:
        return None
    # Rich costs 30 ms, and a log needs none of it.
    from rich.console import Console  # noqa: PLC0415

    from mqctl.report.terminal import Terminal  # noqa: PLC0415

    color = wants_color(view, channel)
    console = Console(
        file=channel,  # type: ignore[arg-type] # a Channel is what rich needs of a text stream
        force_terminal=True,
        color_system="standard" if color else None,
        no_color=not color,
        markup=False,
        emoji=False,
        highlight=False,
    )
    terminal = Terminal(
        console,
        clock,
        verbose=view.verbose,
        dry_run=view.dry_run,
        answer=answer,
        ascii_only=not channel.can_encode("━─…"),
    )
    terminal.expect(view.marquees)
    return terminal


def _is_file(channel: Channel) -> bool:
    return channel.mode is not None and S_ISREG(channel.mode)


def _lines(view: View, streams: Streams, clock: Clock) -> Listener:
    groups = None
    write: Callable[[str], None] = streams.out.line
    if _actions(view):
        from mqctl.report.github import Groups  # noqa: PLC0415 - only in Actions

        groups = Groups(write, many=len(view.marquees) > 1)
        write = groups.line
    lines = Lines(
        write,
        clock,
        width=max(map(len, view.marquees), default=0),
        verbose=view.verbose,
        color=wants_color(view, streams.out) and view.color == "always",
        dry_run=view.dry_run,
    )
    return groups.wrap(lines) if groups else lines


def _quiet(view: View, streams: Streams, clock: Clock) -> Listener:
    from mqctl.report.quiet import Quiet, Told, told_path  # noqa: PLC0415 - only when asked for

    path = None if streams.err.isatty() else told_path(view.environ)
    return Quiet(streams.err.line, Told(path, clock), clock, scope=view.scope)


def _actions(view: View) -> bool:
    return view.environ.get("GITHUB_ACTIONS") == "true"


def _github(view: View, streams: Streams) -> list[Listener]:
    """Annotations go where the answer is text; else beside it."""
    if not _actions(view):
        return []
    from mqctl.report.github import Annotations, StepSummary  # noqa: PLC0415 - only in Actions

    channel = streams.out if view.output == "text" else streams.err
    listeners: list[Listener] = [Annotations(channel.line)]
    summary = view.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        listeners.append(StepSummary(Path(summary), dry_run=view.dry_run))
    return listeners
