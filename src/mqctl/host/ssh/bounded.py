"""Calls into a library that may block longer than we want to wait, made waitable."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError, wait
from contextlib import suppress
from typing import TypeVar

from mqctl.cancel import CancelToken
from mqctl.clock import Clock
from mqctl.host.transport import POLL

T = TypeVar("T")


def bounded(
    work: Callable[[], T],
    *,
    dispose: Callable[[T], object],
    seconds: float,
    clock: Clock,
    cancel: CancelToken | None,
) -> T:
    """Give what ``work`` gives, unless it takes too long or somebody cancels.

    Name resolution, the handshake and the opening of a channel cannot be interrupted from outside.
    They run in a thread of their own; if we stop waiting, that thread hands what it still gets to
    ``dispose`` instead of us. Exactly one of the two sides gets it.

    Raises:
        TimeoutError: the time is over.
        Cancelled: as the token says; ``cancel`` is None for what goes on regardless.
    """
    outcome: Future[T] = Future()

    def body() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - handed over, not handled
            with suppress(InvalidStateError):
                outcome.set_exception(error)
            return
        try:
            outcome.set_result(result)
        except InvalidStateError:
            dispose(result)

    started = clock.instant()
    threading.Thread(target=body, name="mqctl-ssh", daemon=True).start()
    while True:
        left = seconds - clock.since(started)
        wait([outcome], timeout=max(0.0, min(POLL, left)))
        if outcome.done():
            return outcome.result()
        given_up = left <= 0 or (cancel is not None and cancel.cancelled)
        if given_up and outcome.cancel():
            if cancel is not None:
                cancel.check()
            raise TimeoutError


def detached(work: Callable[[], object]) -> threading.Thread:
    """Do what nobody waits for, and whose failure nobody minds: closing what is broken."""

    def body() -> None:
        with suppress(Exception):
            work()

    thread = threading.Thread(target=body, name="mqctl-ssh-close", daemon=True)
    thread.start()
    return thread
