"""What is remembered about a Marquee between cycles. Losing it restarts a grace, nothing more.

So reading never fails because of what stands in a key: garbage counts as nothing, and the next
write replaces it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mqctl.secret import MASK
from mqctl.store.keys import Keys

if TYPE_CHECKING:
    from mqctl.store.store import Reply, Store

HISTORY_LENGTH = 500
STRIKES = 5  # that make a Marquee `quarantined`

_NUMBER = """
local function number(key)
  if redis.call('TYPE', key).ok ~= 'string' then return nil end
  return tonumber(string.match(redis.call('GET', key), '^(%d+)'))
end
local new = tonumber(ARGV[1])
local old = number(KEYS[1])
"""
# A mark of an older cycle must not hide the mark of a younger one.
_SET_PENDING = _NUMBER + "if not old or old < new then redis.call('SET', KEYS[1], ARGV[1]) end"
_CLEAR_PENDING = (
    _NUMBER
    + """
if old and old >= new then return 0 end
return redis.call('DEL', KEYS[1])
"""
)
_PUT_LAST = (
    _NUMBER
    + """
if old and old > new then return 0 end
redis.call('SET', KEYS[1], ARGV[1] .. '\\n' .. ARGV[2])
return 1
"""
)
_ADD_HISTORY = """
if redis.call('TYPE', KEYS[1]).ok ~= 'stream' then redis.call('DEL', KEYS[1]) end
return redis.call('XADD', KEYS[1], 'MAXLEN', '~', unpack(ARGV))
"""
_READ_HISTORY = """
if redis.call('TYPE', KEYS[1]).ok ~= 'stream' then return {} end
return redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', ARGV[1])
"""
# GET alone would answer an error for a key of another type.
_GET = "if redis.call('TYPE', KEYS[1]).ok == 'string' then return redis.call('GET', KEYS[1]) end"


class Memory:
    """The memory of one Marquee. Every method raises what :meth:`Store.call` raises."""

    def __init__(self, store: Store, keys: Keys) -> None:
        self._store = store
        self.keys = keys

    # ----------------------------------------------------------------------- history

    def history_add(self, fields: Mapping[str, str]) -> None:
        """Append an event; ``at`` (RFC 3339) is added if missing, secrets are masked."""
        stamped = {"at": rfc3339(self._store.clock.now()), **fields}
        flat = [MASK(text) for item in stamped.items() for text in item]
        self._store.eval(_ADD_HISTORY, [self.keys.history], [HISTORY_LENGTH, "*", *flat])

    def history(self, count: int = HISTORY_LENGTH) -> list[dict[str, str]]:
        """The last events, the youngest first."""
        reply = self._store.eval(_READ_HISTORY, [self.keys.history], [count])
        entries = reply if isinstance(reply, list) else []
        return [_pairs(entry[1]) for entry in entries if isinstance(entry, list)]

    # ----------------------------------------------------------------------- numbers of the lock

    def fence(self) -> int | None:
        """The number of the last acquisition, if it is readable."""
        text = self._text(self.keys.fence)
        return int(text) if text is not None and text.isascii() and text.isdigit() else None

    def authority(self) -> str | None:
        """Which Redis this is, if any lock was ever taken here."""
        return self._text(self.keys.authority)

    # ----------------------------------------------------------------------- interrupted cycles

    def set_pending(self, fence: int) -> None:
        """Mark that the cycle with this number was interrupted."""
        self._store.eval(_SET_PENDING, [self.keys.pending], [fence])

    def pending(self) -> int | None:
        """The number of an interrupted cycle; 0 if the mark is there but unreadable."""
        return read_pending(self._text(self.keys.pending))

    def clear_pending(self, larger_than_fence: int) -> bool:
        """Remove the mark of every cycle with a smaller number; says whether there was one."""
        keys, args = [self.keys.pending], [larger_than_fence]
        return self._store.eval(_CLEAR_PENDING, keys, args) == 1

    # ----------------------------------------------------------------------- first sights

    def seen(self) -> dict[str, float]:
        """When (epoch seconds) each subject was first seen in the state that is waited out."""
        return {
            subject: float(at)
            for subject, at in read_object(self._text(self.keys.seen)).items()
            if isinstance(at, int | float)
        }

    def put_seen(self, seen: Mapping[str, float]) -> None:
        """Replace all first sights."""
        self._put_object(self.keys.seen, seen)

    # ----------------------------------------------------------------------- strikes

    def strike(self, now: float, window_s: float = 1800.0) -> int:
        """Count that Docker did not answer; ``now`` is in epoch seconds.

        Gives the number of strikes within the window. From the fifth on the Marquee is
        quarantined and the number only grows until :meth:`clear_strikes`: it is 5 exactly once.
        """
        state = read_object(self._text(self.keys.probe))
        quarantined = read_quarantined(state)
        strikes = [
            at for at in _numbers(state.get("strikes")) if quarantined or at > now - window_s
        ]
        strikes.append(now)
        kept = {"strikes": strikes, "quarantined": quarantined or len(strikes) >= STRIKES}
        self._put_object(self.keys.probe, kept)
        return len(strikes)

    def clear_strikes(self) -> bool:
        """Docker answered; says whether the Marquee was quarantined until now."""
        state = read_object(self._text(self.keys.probe))
        self._store.call("DEL", self.keys.probe)
        return read_quarantined(state)

    def quarantined(self) -> bool:
        """Whether Docker there failed too often and has not answered since."""
        return read_quarantined(read_object(self._text(self.keys.probe)))

    # ----------------------------------------------------------------------- last cycle

    def put_last(self, fence: int, document: str) -> bool:
        """Keep the JSON summary of a cycle, unless a later cycle's is there already."""
        return self._store.eval(_PUT_LAST, [self.keys.last], [fence, MASK(document)]) == 1

    def last(self) -> str | None:
        """The JSON summary of the last cycle."""
        return read_last(self._text(self.keys.last))

    # -----------------------------------------------------------------------

    def _text(self, key: str) -> str | None:
        return decoded(self._store.eval(_GET, [key]))

    def _put_object(self, key: str, value: Mapping[str, object]) -> None:
        self._store.call("SET", key, json.dumps(value))


# --------------------------------------------------------------------------- reading what was kept


def decoded(reply: Reply) -> str | None:
    """A bulk answer as text; what is not UTF-8 is replaced."""
    return reply.decode("utf-8", "replace") if isinstance(reply, bytes) else None


def read_pending(text: str | None) -> int | None:
    """The fence in a `pending` key; 0 if it is unreadable, None if it is not there."""
    if text is None:
        return None
    return int(text) if text.isascii() and text.isdigit() else 0


def read_object(text: str | None) -> dict[str, object]:
    """A JSON object, empty if it is none."""
    try:
        value: object = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def read_quarantined(state: Mapping[str, object]) -> bool:
    """Whether the state in a `probe` key says so."""
    return state.get("quarantined") is True


def read_last(text: str | None) -> str | None:
    """The JSON part of a `last` key."""
    return text.partition("\n")[2] or None if text else None


def rfc3339(moment: datetime) -> str:
    """UTC, to the millisecond, with a Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _numbers(value: object) -> list[float]:
    items = value if isinstance(value, list) else []
    return [float(item) for item in items if isinstance(item, int | float)]


def _pairs(flat: object) -> dict[str, str]:
    texts = [decoded(item) or "" for item in flat] if isinstance(flat, list) else []
    return dict(zip(texts[::2], texts[1::2], strict=False))
