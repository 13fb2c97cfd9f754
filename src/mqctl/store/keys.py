"""The names of the keys: everything mqctl keeps in Redis starts with ``mqctl:``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one Marquee. The braces keep them in one hash slot."""

    fleet: str
    marquee: str

    def _name(self, what: str) -> str:
        return f"mqctl:{{{self.fleet}/{self.marquee}}}:{what}"

    @property
    def lock(self) -> str:
        """The bare token of the holder, with an expiry."""
        return self._name("lock")

    @property
    def owner(self) -> str:
        """Hash: who the holder is; expires with the lock."""
        return self._name("owner")

    @property
    def fence(self) -> str:
        """The number of the last acquisition; only grows."""
        return self._name("fence")

    @property
    def authority(self) -> str:
        """A UUID, made once: which Redis this is."""
        return self._name("authority")

    @property
    def history(self) -> str:
        """Stream of what happened."""
        return self._name("history")

    @property
    def pending(self) -> str:
        """Fence of an interrupted cycle."""
        return self._name("pending")

    @property
    def probe(self) -> str:
        """JSON: the strikes of a Docker that does not answer."""
        return self._name("probe")

    @property
    def seen(self) -> str:
        """JSON: when a subject was first seen in a state."""
        return self._name("seen")

    @property
    def last(self) -> str:
        """Fence, a newline, and the JSON summary of the last cycle."""
        return self._name("last")

    @property
    def locking(self) -> tuple[str, ...]:
        """What every lock script works on, in the order of its ``KEYS``."""
        return (self.lock, self.owner, self.fence, self.authority, self.history)


def window(digest: str) -> str:
    """The key of one trigger's dispatch window."""
    return f"mqctl:window:{digest}"
