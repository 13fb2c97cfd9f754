"""``host: local``: the same as a channel over SSH, without SSH.

The semantics are those of ``sshd``: a command is in a session of its own, so that Ctrl-C at our
terminal does not reach it; and if we leave, it goes on until somebody sends *stop*.
"""

from __future__ import annotations

import os
import selectors
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

from mqctl.cancel import CancelToken
from mqctl.clock import Clock
from mqctl.errors import Unreachable
from mqctl.host.completed import Completed
from mqctl.host.transport import MAX_OUTPUT, POLL, TransportBroken

_CHUNK = 256 * 1024

# A login over SSH starts with a clean environment; so does this. mqctl's own may hold secrets, and
# names that a Compose file would interpolate.
_PASSED = (
    "PATH HOME USER LOGNAME SHELL LANG TZ TMPDIR XDG_RUNTIME_DIR XDG_CONFIG_HOME SSL_CERT_FILE"
    " DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG DOCKER_CERT_PATH DOCKER_TLS_VERIFY"
    " HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy"
)


class LocalTransport:
    """Runs command lines with this machine's ``sh``."""

    def __init__(
        self, *, clock: Clock, cancel: CancelToken, environ: Mapping[str, str] | None = None
    ) -> None:
        self._clock = clock
        self._cancel = cancel
        environ = os.environ if environ is None else environ
        self._environ = {name: environ[name] for name in _PASSED.split() if name in environ}
        self._left_behind: list[subprocess.Popen[bytes]] = []
        self.connections = 0
        self.channels = 0

    def run(
        self, command: str, *, stdin: bytes = b"", limit: float, heed_cancel: bool = True
    ) -> Completed:
        """Run one command line; see :meth:`mqctl.host.transport.Transport.run`."""
        if heed_cancel:
            self._cancel.check()
        started = self._clock.instant()
        process = self._spawn(command)
        self.channels += 1

        def wait() -> None:
            if heed_cancel:
                self._cancel.check()
            if self._clock.since(started) > limit:
                raise TransportBroken("the command did not answer in time", why=f"{limit:.1f} s")

        try:
            stdout, stderr = _converse(process, stdin, wait)
            while True:
                try:
                    status = process.wait(timeout=POLL)
                    break
                except subprocess.TimeoutExpired:
                    wait()
        finally:
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
            if process.returncode is None:
                self._left_behind.append(process)
        return Completed(stdout, stderr, status if status >= 0 else 128 - status)

    def close(self) -> None:
        """Collect what ended meanwhile; what goes on belongs to the guard."""
        self._left_behind = [process for process in self._left_behind if process.poll() is None]

    def _spawn(self, command: str) -> subprocess.Popen[bytes]:
        home = Path(self._environ.get("HOME", "/"))
        try:
            return subprocess.Popen(
                ["sh", "-c", command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._environ,
                cwd=home if home.is_dir() else "/",
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise Unreachable("cannot start a shell on this machine", why=str(error)) from None


def _converse(
    process: subprocess.Popen[bytes], stdin: bytes, wait: Callable[[], None]
) -> tuple[bytes, bytes]:
    """Write all of the input and drain both outputs, together."""
    assert process.stdin and process.stdout and process.stderr  # noqa: S101, PT018 - pipes, above
    received: dict[int, list[bytes]] = {process.stdout.fileno(): [], process.stderr.fileno(): []}
    size, unsent = 0, memoryview(stdin)
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        selector.register(process.stderr, selectors.EVENT_READ)
        os.set_blocking(process.stdin.fileno(), False)
        selector.register(process.stdin, selectors.EVENT_WRITE)
        while selector.get_map():
            wait()
            for key, _ in selector.select(POLL):
                stream = cast(IO[bytes], key.fileobj)
                if stream is process.stdin:
                    unsent = _send(stream, unsent)
                    if not unsent:
                        selector.unregister(stream)
                        stream.close()
                    continue
                chunk = os.read(stream.fileno(), _CHUNK)
                if not chunk:
                    selector.unregister(stream)
                received[stream.fileno()].append(chunk)
                size += len(chunk)
                if size > MAX_OUTPUT:
                    raise TransportBroken(f"the command answered more than {MAX_OUTPUT} bytes")
    stdout, stderr = (b"".join(chunks) for chunks in received.values())
    return stdout, stderr


def _send(stream: IO[bytes], unsent: memoryview) -> memoryview:
    """Write what fits; nothing is left to send when the reader is gone."""
    try:
        return unsent[os.write(stream.fileno(), unsent[:_CHUNK]) :] if unsent else unsent
    except BlockingIOError:
        return unsent
    except BrokenPipeError:
        return memoryview(b"")
