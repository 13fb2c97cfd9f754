"""What can go wrong with Redis, in the words of the error tree.

One question decides about a lock: *may the request have been carried out?* Only an
:class:`AnswerLost` leaves that open; every other failure here says that nothing was done.
"""

from __future__ import annotations

import re
import socket
import ssl
from dataclasses import dataclass

from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    InvalidResponse,
    RedisError,
    ResponseError,
)
from redis.exceptions import TimeoutError as RedisTimeout

from mqctl.errors import MqctlError, Refused, Unreachable

# Everything that an ACL user needs beside `~mqctl:*` (and SELECT for a database other than 0).
ACL_COMMANDS = (
    "eval",
    "time",
    "type",
    "get",
    "set",
    "del",
    "pttl",
    "pexpire",
    "hset",
    "hmget",
    "xadd",
    "xrevrange",
)

_NO_CONNECTION_LEFT = "max number of clients"

# What the exchange of bytes can raise; anything else is a bug in mqctl.
EXPECTED = (RedisError, OSError, ValueError, TypeError, IndexError, OverflowError, RecursionError)


class AnswerLost(Unreachable):
    """A request was sent and no usable answer came: it may have been carried out, now or later."""


class Garbled(AnswerLost):
    """What answered is no Redis, or not one that mqctl understands."""


class Unfit(Unreachable):
    """Redis answers, and says that it cannot do this now; nothing was done."""


@dataclass(frozen=True, slots=True)
class _Known:
    """An error answer that is understood: any of ``signs`` in its text."""

    signs: tuple[str, ...]
    kind: type[MqctlError]
    what: str
    fix: str


_KNOWN = (
    _Known(
        ("WRONGPASS", "NOAUTH", "invalid password", "without any password", "no password is set"),
        Refused,
        "Redis refused the login",
        "correct redis.password, and the user name in redis.url if there is one",
    ),
    _Known(
        ("NOPERM", "no permissions", "can't run this command", "can't access at least one"),
        Refused,
        "Redis refused a command to this user",
        "give the user what mqctl needs: ~mqctl:* " + " ".join(f"+{one}" for one in ACL_COMMANDS),
    ),
    _Known(
        ("DENIED",),
        Refused,
        "Redis refuses connections from other machines (protected mode)",
        "give it a password or an ACL user, and bind it to the address that is used",
    ),
    _Known(
        ("MOVED", "ASK", "CLUSTERDOWN", "CROSSSLOT", "TRYAGAIN"),
        Unfit,
        "Redis Cluster is not supported",
        "use one Redis primary",
    ),
    _Known(
        ("READONLY", "MASTERDOWN"),
        Unfit,
        "this Redis is a read-only replica",
        "let redis.url name the primary",
    ),
    _Known(("LOADING",), Unfit, "Redis is still loading its data", "try again in a moment"),
    _Known(
        ("OOM",),
        Unfit,
        "Redis is out of memory",
        "raise its maxmemory, or remove what fills it",
    ),
    _Known(
        ("MISCONF", "NOREPLICAS"),
        Unfit,
        "Redis takes no writes now",
        "see why in the Redis log (disk full? replicas gone?)",
    ),
    _Known(
        ("BUSY",),
        Unfit,
        "Redis is busy with somebody's script",
        "try again; SCRIPT KILL ends it",
    ),
    _Known(
        (_NO_CONNECTION_LEFT,),
        Unfit,
        "Redis has no connection left",
        "raise its maxclients, or see who keeps them",
    ),
)


def explain(error: BaseException, where: str, *, sent: bool) -> MqctlError:
    """Turn what redis-py or the socket raised into an error for people.

    Args:
        error: what was caught, one of :data:`EXPECTED`.
        where: the address, for the text.
        sent: whether a request may have left; then only an answer tells that nothing was done.
    """
    if isinstance(error, RedisError) and _is_answer(error):
        return _answered(error, where)
    if isinstance(error, InvalidResponse) or not isinstance(error, RedisError | OSError):
        return Garbled(
            f"what answers at {where} does not speak the Redis protocol",
            why=str(error),
            fix="let redis.url name a Redis 6.2 or later, or a Valkey; TLS needs rediss://",
        )
    cause = error.__context__ if isinstance(error.__context__, OSError) else error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return Refused(
            f"the certificate of {where} is not trusted",
            why=cause.verify_message or str(cause),
            fix="correct the certificate or the host name; SSL_CERT_FILE names a private authority",
        )
    kind = AnswerLost if sent else Unreachable
    return kind(f"Redis at {where} {_silence(error, cause)}", why=str(error), fix=_fix(cause))


def _is_answer(error: RedisError) -> bool:
    """Whether Redis said it. redis-py makes connection errors of some of its answers."""
    said = isinstance(error, ResponseError | AuthenticationError | BusyLoadingError)
    return said or _NO_CONNECTION_LEFT in str(error)


def _answered(error: RedisError, where: str) -> MqctlError:
    text = f"{error.status_code or ''} {error}".strip()
    for known in _KNOWN:
        if any(re.search(rf"\b{re.escape(sign)}\b", text) for sign in known.signs):
            return known.kind(f"{known.what} ({where})", why=text, fix=known.fix)
    # A proxy in between may say anything after it passed the request on: its fate is open.
    return Garbled(f"Redis at {where} answered with an error that mqctl does not know", why=text)


def _silence(error: BaseException, cause: BaseException) -> str:
    if isinstance(cause, socket.gaierror):
        return "cannot be found: its name does not resolve"
    if isinstance(error, RedisTimeout | TimeoutError):
        return "did not answer in time"
    if isinstance(cause, ConnectionRefusedError | FileNotFoundError):
        return "cannot be reached: nothing listens there"
    return "cannot be reached"


def _fix(cause: BaseException) -> str:
    if isinstance(cause, socket.gaierror):
        return "correct the host in redis.url, or the name service of this machine"
    return "start Redis, or correct redis.url; redis.timeout is how long one operation may take"
