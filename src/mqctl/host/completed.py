"""A command on a host that ended, as a value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Completed:
    """What a command wrote and its exit status. ``timed_out``: its limit on the host ended it."""

    stdout: bytes
    stderr: bytes
    status: int
    timed_out: bool = False

    @property
    def text(self) -> str:
        """The standard output, decoded as a whole."""
        return self.stdout.decode("utf-8", "replace")

    @property
    def error_text(self) -> str:
        """The standard error, decoded as a whole."""
        return self.stderr.decode("utf-8", "replace")

    @property
    def last_words(self) -> str:
        """The last line of the standard error, or the exit status: why it failed, in one line."""
        lines = [line.strip() for line in self.error_text.splitlines() if line.strip()]
        return lines[-1] if lines else f"exit status {self.status}"
