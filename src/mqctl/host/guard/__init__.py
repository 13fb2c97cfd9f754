"""The guard of SPEC 6: a POSIX shell script whose text travels with each command.

This module builds its command lines, and :mod:`mqctl.host.guard.verdict` reads what it answers;
both are pure. The script itself lies beside them, one file a verb. Times on the wire are integers:
hundredths of a second, because ``/proc/uptime`` has them and no shell has fractions.
"""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from mqctl.errors import MqctlError
from mqctl.host.guard.verdict import Sample
from mqctl.model import Marquee

MAX_COMMAND = 120 * 1024
"""Bytes of one command line: ``sshd`` makes it one argument, and Linux takes 128 KiB as one."""

MAX_INPUT = 1024 * 1024
"""Bytes of one guarded command's input: the guard keeps it in a shell variable, never on disk."""

_PARTS = {"raise": ("look", "raise")}


@dataclass(frozen=True, slots=True)
class Fence:
    """What a *raise* stores. ``ttl`` is the lease's length in seconds, as the lock keeps it."""

    number: int
    token: str
    authority: str
    ttl: float

    @property
    def owner(self) -> tuple[str, str]:
        """How a command names the fence that it runs under."""
        return str(self.number), self.token


@dataclass(frozen=True, slots=True)
class NotAfter:
    """The last moment a command may start, as the host's own uptime in hundredths, in one boot."""

    boot: str
    uptime: int

    @classmethod
    def after(cls, sample: Sample, seconds: float) -> NotAfter:
        """The moment that many seconds after the sample was taken, at the latest."""
        return cls(sample.boot, max(0, sample.uptime + math.floor(seconds * 100)))


@dataclass(frozen=True, slots=True)
class Call:
    """One invocation: the command line to send, and the nonce that its answers carry."""

    line: str
    nonce: str


class Builder:
    """Command lines for one Marquee."""

    def __init__(self, marquee: Marquee) -> None:
        self._marquee = marquee

    def look(self, script: str, args: Sequence[str], *, limit: float) -> Call:
        """A read: no fence, no flock, the channel's input is the script's."""
        return self._call("look", _hundredths(limit), script, *args)

    def raise_(self, fence: Fence, *, closed: bool = False) -> Call:
        """Raise the fence; ``closed`` lets nothing through it (``lock break``)."""
        return self._raise(fence, "closed" if closed else "open", "0")

    def raise_then(self, fence: Fence, then: str, args: Sequence[str], *, limit: float) -> Call:
        """Raise the fence; if that was granted, give the flock back and run the read ``then``."""
        return self._raise(fence, "open", _hundredths(limit), then, *args)

    def run(
        self,
        fence: Fence,
        not_after: NotAfter,
        script: str,
        args: Sequence[str],
        *,
        limit: float,
        name: str,
        size: int,
    ) -> Call:
        """A mutation. ``size`` is that of the input that will be sent, ``name`` is for people."""
        when = (not_after.boot, str(not_after.uptime), _hundredths(limit))
        return self._call("run", *fence.owner, *when, _label(name), str(size), script, *args)

    def put(self, fence: Fence, not_after: NotAfter, targets: Sequence[str], *, size: int) -> Call:
        """An upload of a tar of ``size`` bytes whose entries 0, 1... replace the targets."""
        when = (not_after.boot, str(not_after.uptime))
        return self._call("put", *fence.owner, *when, str(size), *targets)

    def stop(self, fence: Fence, victim: Call, *, grace: float) -> Call:
        """End a command that was sent, whether it runs, waits or was never delivered."""
        return self._call("stop", *fence.owner, _hundredths(grace), victim.nonce)

    def close(self, fence: Fence) -> Call:
        """Let nothing through the fence any more."""
        return self._call("close", *fence.owner)

    def _raise(self, fence: Fence, state: str, limit: str, *then: str) -> Call:
        ttl_ms = str(math.ceil(fence.ttl * 1000))
        return self._call("raise", *fence.owner, fence.authority, ttl_ms, state, limit, *then)

    def _call(self, verb: str, *args: str) -> Call:
        marquee, nonce = self._marquee, secrets.token_hex(16)
        words = ["sudo", "-n", "--"] if marquee.sudo else []
        words += ["sh", "-c", quote(text(verb)), "mqctl", nonce, verb, _root(marquee.root)]
        words += [quote(arg) for arg in (marquee.fleet, marquee.name, *args)]
        line = "exec " + " ".join(words)
        if len(line.encode()) > MAX_COMMAND:
            raise MqctlError(
                "a command for the host is too long",
                why=f"it has {len(line.encode())} bytes, more than {MAX_COMMAND} do not pass",
            )
        return Call(line, nonce)


@cache
def text(verb: str) -> str:
    """The guard with what one verb needs, without comments and indentation."""
    folder = resources.files(__name__)
    names = ("common", *_PARTS.get(verb, (verb,)))
    source = "".join(folder.joinpath(f"{name}.sh").read_text("utf-8") for name in names)
    lines = (line.strip() for line in source.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("#")) + '\nmain "$@"\n'


def quote(word: str) -> str:
    r"""Quote for any login shell with POSIX quotes, and for fish, where '...' has ``\`` escapes."""
    if "\0" in word:
        raise ValueError("a NUL cannot be part of a command line")

    def in_double_quotes(match: re.Match[str]) -> str:
        return "'\"" + match[0].replace("\\", "\\\\") + "\"'"

    return "'" + re.sub(r"[\\']+", in_double_quotes, word) + "'"


def _root(root: str) -> str:
    """``~`` is the home of the SSH user also under sudo, so the login shell expands it."""
    if root == "~" or root.startswith("~/"):
        return '"$HOME"' + (quote(root[1:].rstrip("/")) if root[2:] else "")
    return quote(root.rstrip("/") or "/")


def _hundredths(seconds: float) -> str:
    return str(max(1, math.floor(seconds * 100)))


def _label(name: str) -> str:
    return re.sub(r"[^\w./:@+-]+", "_", name, flags=re.ASCII)[:80] or "command"
