"""One cancellation token a process, known to whatever waits.

Signals are handled in the command line alone; it calls :meth:`CancelToken.cancel`. Everything that
blocks either waits through :meth:`CancelToken.wait` or polls :meth:`CancelToken.check`.
"""

from __future__ import annotations

import threading

from mqctl.errors import Cancelled, ExitCode


class CancelToken:
    """Set once, seen by all threads."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._hurry = threading.Event()
        self._status = ExitCode.SIGINT

    def cancel(self, status: ExitCode = ExitCode.SIGINT) -> None:
        """Ask everything to end; the first caller's ``status`` stays.

        Not for a signal handler: an Event that the interrupted code holds would lock up.
        """
        if not self._event.is_set():
            self._status = status
            self._event.set()

    def hurry(self) -> None:
        """Ask for the end a second time: clean up, but wait for nothing that can be left out."""
        self._hurry.set()

    @property
    def hurried(self) -> bool:
        """Whether the end was asked for more than once (``shutdown_grace`` is over)."""
        return self._hurry.is_set()

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked for the end."""
        return self._event.is_set()

    @property
    def status(self) -> ExitCode:
        """The exit status of the signal that cancelled."""
        return self._status

    def check(self) -> None:
        """Raise :class:`Cancelled` if the end was asked for."""
        if self._event.is_set():
            raise Cancelled(self._status)

    def wait(self, seconds: float) -> None:
        """Sleep, but wake up and raise :class:`Cancelled` as soon as the end is asked for."""
        if self._event.wait(max(0.0, seconds)):
            raise Cancelled(self._status)
