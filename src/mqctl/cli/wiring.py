"""Where the command line meets the rest of the program. All imports here are late, on purpose.

``--help`` and completion must not pay for Redis, SSH or YAML.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mqctl.cli.session import Session
from mqctl.model import Fleet, RunReport

if TYPE_CHECKING:
    from mqctl.fleet import Request
    from mqctl.store import Store


def loader(session: Session) -> Callable[[], Fleet]:
    """Give a function that reads the declared file, each time anew.

    Raises:
        ConfigError: (the function) the file is missing or wrong.
    """
    from mqctl.config.discover import discover  # noqa: PLC0415
    from mqctl.config.load import load  # noqa: PLC0415

    def read() -> Fleet:
        named = session.common.config
        path = discover(None if named is None else str(named), session.environ)
        return load(path, session.environ)

    return read


@contextmanager
def open_store(session: Session, fleet: Fleet) -> Iterator[Store]:
    """Give the fleet's Redis."""
    from mqctl.store import Store  # noqa: PLC0415

    store = Store.open(
        fleet.redis, clock=session.clock, environ=session.environ, notice=session.note
    )
    with store:
        yield store


def perform(
    session: Session,
    load: Callable[[], Fleet],
    request: Request,
    *,
    scope: str,
    every: float | None = None,
    planning: bool = False,
) -> RunReport:
    """Run ``request`` with the reports that the options ask for.

    ``every`` repeats it until a signal. ``planning`` shows progress and problems, but no answer.
    """
    from mqctl import fleet  # noqa: PLC0415
    from mqctl.events import Event, RunFinished  # noqa: PLC0415
    from mqctl.report.report import View, open_report  # noqa: PLC0415

    common = session.common
    view = View(
        output=common.output,
        quiet=common.quiet,
        verbose=common.verbose,
        color=common.color,
        dry_run=request.dry_run,
        answer=not planning,
        marquees=request.marquees,
        scope=scope,
        environ=session.environ,
    )
    with open_report(view, session.streams, session.clock) as report, session.signals.deferred():
        clock, cancel, environ = session.clock, session.cancel, session.environ
        run: RunReport

        def emit(event: Event) -> None:
            report.emit(event)
            if isinstance(event, RunFinished) and report.failure is None:
                # Also when a bug of one cycle is raised next: there is one document only.
                session.answered = session.json and not planning

        if every is None:
            run = fleet.run(load, request, emit, clock=clock, cancel=cancel, environ=environ)
        else:
            run = fleet.tick_loop(
                load, request, every, emit, clock=clock, cancel=cancel, environ=environ
            )
    if report.failure is not None:
        raise report.failure  # a bug in a listener; the cycle itself was not disturbed
    return run
