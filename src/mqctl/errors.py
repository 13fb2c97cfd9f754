"""The error tree and the one table of exit statuses.

Every failure that a user can see says *what* went wrong, *why*, and how to *fix* it. Treat an exit
status that is not in :class:`ExitCode` as a failure (the rule of restic's documented exit codes).

Two trees, on purpose: a :class:`MqctlError` is one failure among others and may be caught where it
stays local. A :class:`CycleEnded` means that nothing more may happen in this cycle; it derives from
``BaseException`` so that no ``except Exception`` around one Playground can swallow it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """What the process says to its caller."""

    OK = 0
    FAILED = 1
    USAGE = 2
    PENDING = 3
    LOST = 4
    UNREACHABLE = 69
    BUG = 70
    HELD = 75
    REFUSED = 77
    CONFIG = 78
    SIGHUP = 129
    SIGINT = 130
    SIGTERM = 143


# Several Marquees end in one status: the first of these that any of them has.
_SEVERITY = (
    ExitCode.BUG,
    ExitCode.SIGINT,
    ExitCode.SIGTERM,
    ExitCode.SIGHUP,
    ExitCode.LOST,
    ExitCode.CONFIG,
    ExitCode.FAILED,
    ExitCode.REFUSED,
    ExitCode.UNREACHABLE,
    ExitCode.HELD,
    ExitCode.PENDING,
    ExitCode.OK,
)


def most_severe(codes: Iterable[ExitCode]) -> ExitCode:
    """Fold the statuses of several Marquees into the one of the process."""
    return min(codes, key=_SEVERITY.index, default=ExitCode.OK)


class MqctlError(Exception):
    """A failure with a sentence for each question a tired operator asks.

    Attributes:
        what: what failed, one line.
        why: the cause as far as it is known, may be empty.
        fix: what to do about it, may be empty.
    """

    code: ClassVar[ExitCode] = ExitCode.FAILED

    def __init__(self, what: str, *, why: str = "", fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.fix = fix

    @property
    def told(self) -> str:
        """What failed and why, in one line."""
        return f"{self.what}: {self.why}" if self.why else self.what


class ActionFailed(MqctlError):
    """One action on one subject failed; the next one is handled."""


class UsageError(MqctlError):
    """The command line asks for something that does not exist or cannot be asked here."""

    code = ExitCode.USAGE


class ConfigError(MqctlError):
    """The declared file is missing or wrong; nothing was touched."""

    code = ExitCode.CONFIG


class Unreachable(MqctlError):
    """Redis, SSH or Docker did not answer."""

    code = ExitCode.UNREACHABLE


class Refused(MqctlError):
    """Somebody said no: SSH authentication, a host key, Redis authentication, the guard."""

    code = ExitCode.REFUSED


class Held(MqctlError):
    """The Marquee's lock is someone else's, or its host still works for an older cycle."""

    code = ExitCode.HELD


class HostBusy(Held):
    """The host still works for an older cycle, and did not finish while we waited."""


class CycleEnded(BaseException):
    """Nothing more may happen in this cycle. Not an ``Exception``: it cannot be swallowed."""

    code: ClassVar[ExitCode]


class LockLost(CycleEnded):
    """The lock is not provably ours any more (rule "doubt is loss").

    Attributes:
        why: what was seen instead of a confirmation.
    """

    code = ExitCode.LOST

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Cancelled(CycleEnded):
    """A signal asked the process to end; ``status`` is the exit status that tells which one."""

    code = ExitCode.SIGINT

    def __init__(self, status: ExitCode = ExitCode.SIGINT) -> None:
        super().__init__(f"cancelled by {status.name}")
        self.status = status
