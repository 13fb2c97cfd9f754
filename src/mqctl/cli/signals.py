"""Signals, handled here and nowhere else.

The first signal cancels and everything cleans up; the second asks to hurry (clean up, but wait for
nothing); the third ends the process on the spot. A signal that was ignored at the start (``nohup``,
a background job) stays ignored.

A thread of its own reads them from a socket (``signal.set_wakeup_fd``): Python's own handlers run
in the main thread between two byte codes, so they cannot run while that thread sits in a DNS
look-up, and must not touch a :class:`threading.Event` that the same thread may have locked.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from types import FrameType

from mqctl.cancel import CancelToken
from mqctl.errors import Cancelled, ExitCode

STATUS = {
    signal.SIGINT: ExitCode.SIGINT,
    signal.SIGTERM: ExitCode.SIGTERM,
    signal.SIGHUP: ExitCode.SIGHUP,
}
_SHOW_CURSOR = b"\x1b[?25h"
_HURRY, _AT_ONCE = 2, 3


class Signals:
    """Turns signals into a cancelled :class:`CancelToken`.

    Outside of :meth:`deferred` there is nothing to clean up, so there the first signal raises
    :class:`Cancelled` in the main thread at once (at a prompt, while reading the file).
    """

    def __init__(self, token: CancelToken) -> None:
        self._token = token
        self._deferred = False
        self._received = 0
        self._reader, self._writer = socket.socketpair()

    def install(self) -> None:
        """Handle SIGINT, SIGTERM and SIGHUP from now on. Main thread only."""
        self._writer.setblocking(False)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._follow, name="signals", daemon=True).start()
        for number in STATUS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._in_main_thread)

    @contextlib.contextmanager
    def deferred(self) -> Iterator[None]:
        """While something runs that ends itself when the token is cancelled."""
        self._token.check()
        self._deferred = True
        try:
            yield
        finally:
            self._deferred = False

    def _in_main_thread(self, number: int, _frame: FrameType | None) -> None:
        if not self._deferred:
            self._deferred = True  # the next one must not interrupt the good-bye
            raise Cancelled(STATUS[signal.Signals(number)])

    def _follow(self) -> None:
        """The thread: act on each signal as it comes, whatever the main thread does."""
        while numbers := self._reader.recv(16):
            for number in numbers:
                if number in STATUS:
                    self._received += 1
                    self._act(STATUS[signal.Signals(number)])

    def _act(self, status: ExitCode) -> None:
        self._token.cancel(status)
        if self._received == _HURRY:
            self._token.hurry()
        elif self._received >= _AT_ONCE:
            if sys.stdout is not None and sys.stdout.isatty():
                os.write(sys.stdout.fileno(), _SHOW_CURSOR)  # a live view had hidden it
            os._exit(status)
