"""Time, injected everywhere.

A lease must not look longer than it is: a laptop that slept, a virtual machine that was paused and
a wall clock that was corrected forward all *used up* lease time. So elapsed time is the largest of
the differences that the boot-time clock, the monotonic clock and the wall clock show.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime

# CLOCK_BOOTTIME counts suspend and exists on Linux only; elsewhere the monotonic clock has to do.
_BOOTTIME: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


@dataclass(frozen=True, slots=True)
class Instant:
    """A point in time as three clocks saw it, seconds each. Only differences mean anything."""

    boot: float
    monotonic: float
    wall: float


class Clock:
    """The real clock. Tests subclass it."""

    def instant(self) -> Instant:
        """Read all three clocks."""
        return Instant(time.clock_gettime(_BOOTTIME), time.monotonic(), time.time())

    def since(self, start: Instant) -> float:
        """Seconds since ``start``, never too few: the largest difference of the three clocks."""
        now = self.instant()
        return max(
            now.boot - start.boot,
            now.monotonic - start.monotonic,
            now.wall - start.wall,
        )

    def now(self) -> datetime:
        """The wall-clock time, UTC."""
        return datetime.now(UTC)
