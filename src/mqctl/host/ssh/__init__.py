"""SSH to one Marquee; the only room for Fabric and paramiko.

Fabric and paramiko connect and authenticate. Commands run on channels of our own: Fabric's runner
is quadratic in the size of the output, decodes it in pieces, and cannot be interrupted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import paramiko
from paramiko.ssh_exception import SSHException

from mqctl.cancel import CancelToken
from mqctl.clock import Clock
from mqctl.errors import CycleEnded, MqctlError, Unreachable
from mqctl.host.completed import Completed
from mqctl.host.ssh import config
from mqctl.host.ssh.bounded import bounded, detached
from mqctl.host.ssh.login import Chain
from mqctl.host.transport import MAX_OUTPUT, POLL, TransportBroken
from mqctl.model import Marquee

__all__ = ["SshTransport"]

T = TypeVar("T")
_READ = 1024 * 1024
_WRITE = 32 * 1024


class SshTransport:
    """One connection to a Marquee, opened again if it broke; a channel for each command."""

    def __init__(self, marquee: Marquee, *, clock: Clock, cancel: CancelToken) -> None:
        self._marquee = marquee
        self._clock = clock
        self._cancel = cancel
        self._timeout = marquee.policy.connect_timeout
        self._chain: Chain | None = None
        self._doubtful = False  # it owes an answer: what comes next goes another way
        self.connections = 0
        self.channels = 0

    def open(self, *, limit: float | None = None, heed_cancel: bool = True) -> None:
        """Connect; see :func:`mqctl.host.transport.connect`."""
        seconds = self._timeout if limit is None else min(limit, self._timeout)

        def work() -> Chain:
            hops = config.route(self._marquee, config.load())
            return Chain(hops, timeout=seconds).open()

        try:
            self._chain = self._bounded(work, Chain.close, seconds, heed_cancel=heed_cancel)
        except TimeoutError:
            raise Unreachable(
                f"cannot connect to {self._marquee.host}",
                why=f"no connection within {seconds:g} s",
                fix="check host and port, or raise policy.connect_timeout",
            ) from None
        self.connections += 1
        self._doubtful = False

    def run(
        self, command: str, *, stdin: bytes = b"", limit: float, heed_cancel: bool = True
    ) -> Completed:
        """Run one command line; see :meth:`mqctl.host.transport.Transport.run`."""
        if heed_cancel:
            self._cancel.check()
        started = self._clock.instant()
        channel = self._start(command, limit, heed_cancel=heed_cancel)
        threading.Thread(target=_feed, args=(channel, stdin), daemon=True).start()

        def wait() -> None:
            if heed_cancel:
                self._cancel.check()
            if self._clock.since(started) > limit:
                self._doubtful = True
                raise TransportBroken("the host did not answer in time", why=f"{limit:.1f} s")

        try:
            stdout, stderr = _drain(channel, wait)
            while not channel.status_event.wait(POLL):
                wait()
        except (OSError, EOFError, SSHException) as error:
            raise TransportBroken("the SSH channel broke", why=str(error)) from None
        finally:
            # Even this writes to the connection, which may be blocked.
            detached(channel.close)
        status = channel.recv_exit_status()
        if status < 0:
            raise TransportBroken("the SSH channel ended without an exit status")
        return Completed(stdout, stderr, status)

    def close(self) -> None:
        """Give up the connection."""
        if self._chain is not None:
            self._chain.close()
            self._chain = None

    def _start(self, command: str, limit: float, *, heed_cancel: bool) -> paramiko.Channel:
        """Open a channel and send the command; the connection is made anew if it is gone."""
        if self._chain is None or self._doubtful or not self._chain.alive:
            self.close()
            self.open(limit=limit, heed_cancel=heed_cancel)
        assert self._chain is not None  # noqa: S101 - opened above
        transport = self._chain.transport
        seconds = min(limit, self._timeout)
        sent = threading.Event()

        def work() -> paramiko.Channel:
            channel = transport.open_session(timeout=seconds)
            channel.settimeout(POLL)
            sent.set()
            channel.exec_command(command)
            return channel

        try:
            channel = self._bounded(work, paramiko.Channel.close, seconds, heed_cancel=heed_cancel)
        except (CycleEnded, MqctlError):
            raise
        except (OSError, EOFError, SSHException) as error:
            why = str(error) or "no answer in time"
            if sent.is_set():
                raise TransportBroken("the host did not start a command", why=why) from None
            raise Unreachable(
                f"cannot open an SSH channel to {self._marquee.host}", why=why
            ) from None
        self.channels += 1
        return channel

    def _bounded(
        self,
        work: Callable[[], T],
        dispose: Callable[[T], object],
        seconds: float,
        *,
        heed_cancel: bool,
    ) -> T:
        return bounded(
            work,
            dispose=dispose,
            seconds=seconds,
            clock=self._clock,
            cancel=self._cancel if heed_cancel else None,
        )


def _feed(channel: paramiko.Channel, data: bytes) -> None:
    """Write the whole input and end it, beside the reading: each could wait for the other."""
    unsent = memoryview(data)
    with suppress(OSError, EOFError, SSHException):  # who reads will notice
        while unsent and not channel.closed:
            try:
                unsent = unsent[channel.send(bytes(unsent[:_WRITE])) :]
            except TimeoutError:
                continue
        channel.shutdown_write()


def _drain(channel: paramiko.Channel, wait: Callable[[], None]) -> tuple[bytes, bytes]:
    """Read both streams until both have ended. The channel's own timeout is :data:`POLL`."""
    stdout, stderr = _Stream(channel.recv), _Stream(channel.recv_stderr)
    while not (stdout.ended and stderr.ended):
        wait()
        # Block on one of them, and take from the other what is there.
        if stdout.ended:
            stderr.read()
        else:
            stdout.read()
            while channel.recv_stderr_ready():
                stderr.read()
        if stdout.size + stderr.size > MAX_OUTPUT:
            raise TransportBroken(f"the host answered more than {MAX_OUTPUT} bytes")
    return stdout.content, stderr.content


class _Stream:
    def __init__(self, receive: Callable[[int], bytes]) -> None:
        self._receive = receive
        self._chunks: list[bytes] = []
        self.size = 0
        self.ended = False

    def read(self) -> None:
        """Wait for a chunk, for the end, or for :data:`POLL` seconds."""
        try:
            chunk = self._receive(_READ)
        except TimeoutError:
            return
        self.ended = not chunk
        self._chunks.append(chunk)
        self.size += len(chunk)

    @property
    def content(self) -> bytes:
        return b"".join(self._chunks)
