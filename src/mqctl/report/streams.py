"""Standard output and standard error as reports use them: masked, and unable to end a cycle.

A report that cannot be written must not stop what it reports about. A reader that went away
(``| head``) is no failure at all; a full disk is one, but it is told at the end.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import TextIO

from mqctl.secret import MASK

# EPIPE: the reader of the pipe ended. EIO: the terminal is gone (after a hang-up).
_READER_GONE = (errno.EPIPE, errno.EIO)


class Channel(io.TextIOBase):
    """One output stream. Never raises while writing; what went wrong stays in ``failure``."""

    def __init__(self, stream: TextIO | None) -> None:
        super().__init__()
        self._stream = stream  # None: the descriptor was closed before the start
        self.failure: OSError | None = None
        if isinstance(stream, io.TextIOWrapper):
            # A name or a log line that the locale cannot encode is shown escaped, not refused.
            stream.reconfigure(errors="backslashreplace", line_buffering=False)

    def write(self, text: str, /) -> int:
        """Write and flush ``text``, masked."""
        self.write_masked(MASK(text))
        return len(text)

    def write_masked(self, text: str) -> None:
        """Write what is masked already: masking a JSON text again could break it."""
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError as error:
            self._give_up(error)

    def line(self, text: str = "") -> None:
        """Write one line."""
        self.write(text + "\n")

    def flush(self) -> None:
        """Nothing is kept back, so there is nothing to do."""

    def writable(self) -> bool:
        """Yes."""
        return True

    def isatty(self) -> bool:
        """Whether it is a terminal (and still there)."""
        return self._stream is not None and self._stream.isatty()

    def fileno(self) -> int:
        """The descriptor, for asking the terminal's size."""
        if self._stream is None:
            raise OSError(errno.EBADF, "closed before the start")
        return self._stream.fileno()

    @property
    def mode(self) -> int | None:
        """The kind and mode of the file behind, as ``stat`` gives it; None if there is none."""
        try:
            return os.fstat(self.fileno()).st_mode
        except OSError:  # also io.UnsupportedOperation, of a stream in memory
            return None

    @property
    def encoding(self) -> str:  # type: ignore[override] # TextIOBase declares a plain attribute
        """The encoding of the stream behind."""
        return (self._stream.encoding if self._stream else None) or "utf-8"

    def can_encode(self, text: str) -> bool:
        """Whether the stream can show ``text`` as it is."""
        try:
            text.encode(self.encoding)
        except (UnicodeEncodeError, LookupError):
            return False
        return True

    def _give_up(self, error: OSError) -> None:
        if error.errno not in _READER_GONE:
            self.failure = error
        # What is still in the buffer would be flushed (and fail) again when the process ends.
        stream, self._stream = self._stream, None
        if stream is not None:
            with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a device, not a path of ours
                os.dup2(nowhere.fileno(), stream.fileno())


class Streams:
    """The answer (standard output) and everything else (standard error)."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.out = Channel(out)
        self.err = Channel(err)

    @classmethod
    def standard(cls) -> Streams:
        """The process's own two."""
        return cls(sys.stdout, sys.stderr)
