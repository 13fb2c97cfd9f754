"""What came of trying to raise the fence: it is ours, or one of four reasons why not (yet)."""

from __future__ import annotations

from dataclasses import dataclass

from mqctl.host.completed import Completed


@dataclass(frozen=True, slots=True)
class Raised:
    """The fence is ours; ``output`` is that of the read that followed."""

    output: Completed


@dataclass(frozen=True, slots=True)
class Busy:
    """A command of an older fence still runs, for ``age`` seconds. ``pid`` 0: not known which."""

    pid: int
    age: int
    command: str


@dataclass(frozen=True, slots=True)
class Settling:
    """The last command did not end cleanly; its consequences may last for so many seconds."""

    seconds: int


@dataclass(frozen=True, slots=True)
class OtherAuthority:
    """Another Redis' fence is open there, and counts for at least so many seconds more."""

    seconds: int


@dataclass(frozen=True, slots=True)
class Stale:
    """The host knows a number that is not smaller: ``current``."""

    current: int


Verdict = Raised | Busy | Settling | OtherAuthority | Stale
