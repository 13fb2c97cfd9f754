"""Reads the guard's answers. Pure: bytes in, a value or :class:`Garbled` out.

A host may print what it likes before and after (``.bashrc``, ``motd``, a stray child), and a
connection may break anywhere. So an answer is believed only if its frame lines carry the nonce and
come in one of the few orders that the guard can write; everything else is :class:`Garbled`, which
means that the fate of the command is unknown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mqctl.host.completed import Completed

KILLED = 137
TIMED_OUT = 124


class Garbled(ValueError):
    """What came back is no answer of the guard, or only a part of one."""


class NoVerdict(Garbled):
    """Nothing at all came back from the guard: it may never have been started."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The host's boot id, and its uptime in hundredths of a second when it answered."""

    boot: str
    uptime: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What the guard said last.

    ``word`` is its verdict (``raised``, ``stale``, ``end``...), ``rest`` that verdict's own text.
    ``output`` is there if a command or a read ran to its end; for a *raise* that was granted it
    is that of the read which followed.
    """

    word: str
    rest: str
    sample: Sample
    output: Completed | None = None

    def number(self, index: int = 0) -> int:
        """The ``index``-th word of the rest, a whole number.

        Raises:
            Garbled: it is none.
        """
        words = self.rest.split()
        if index >= len(words) or not words[index].isdecimal():
            raise Garbled(f"no number in the verdict {self.word!r} {self.rest!r}")
        return int(words[index])


# What may come alone, and what after `begin`, when the last check said no.
_AGREED = frozenset({"raised", "stored", "stopped", "idle", "shut"})
_REFUSED = frozenset(
    {"busy", "settling", "held", "stale", "closed", "late", "revoked", "truncated"}
)
_REFUSED_FOR_GOOD = frozenset({"broken", "unsupported", "newer"})
_REFUSED_AT_LAST = frozenset({"broken", "revoked", "late"})


def read(nonce: str, raw: Completed) -> Answer:
    """Find the one answer to the call with this nonce.

    Raises:
        Garbled: it is not there (NoVerdict), cut, doubled, or no form that the guard writes.
    """
    frames = list(_frame(nonce).finditer(raw.stdout))
    words = tuple(frame["word"].decode() for frame in frames)
    if not frames:
        raise NoVerdict("the host gave no verdict")
    last = frames[-1]
    sample = Sample(last["boot"].decode(), int(last["uptime"]))
    rest = (last["rest"] or b"").decode("utf-8", "replace")
    match words:
        case ("begin", "end") | ("raised", "begin", "end"):
            output = _output(frames[-2], last, rest, _between(nonce, raw.stderr), raw.stdout)
            return Answer(words[0] if words[0] == "raised" else "end", rest, sample, output)
        case (word,) if word in _AGREED | _REFUSED | _REFUSED_FOR_GOOD:
            return Answer(word, rest, sample)
        case ("begin", word) if word in _REFUSED_AT_LAST:
            return Answer(word, rest, sample)
    raise Garbled(f"the host's answer is cut or doubled: {' '.join(words)}")


def _frame(nonce: str) -> re.Pattern[bytes]:
    return re.compile(
        rb"(?:^|\n)@" + nonce.encode() + rb" (?P<boot>[0-9A-Za-z-]+) (?P<uptime>[0-9]{1,18})"
        rb" (?P<word>[a-z]+)(?: (?P<rest>[^\n]*))?(?=\n)"
    )


def _output(
    begin: re.Match[bytes], end: re.Match[bytes], outcome: str, stderr: bytes, stdout: bytes
) -> Completed:
    # The newline that ends `begin` is no part of the output, nor is the one before `end`: the
    # pattern has taken that.
    text = stdout[begin.end() + 1 : end.start()]
    match outcome.split():
        case ["exited", status] if status.isdecimal() and len(status) <= 3:  # noqa: PLR2004
            return Completed(text, stderr, int(status))
        case ["timed-out"]:
            return Completed(text, stderr, TIMED_OUT, timed_out=True)
        case ["killed"]:
            return Completed(text, stderr, KILLED)
    raise Garbled(f"the host says that the command ended as {outcome!r}")


def _between(nonce: str, stderr: bytes) -> bytes:
    """The command's own part of the standard error; without an end mark all that came."""
    mark = b"\n@" + nonce.encode()
    _, found, rest = stderr.partition(mark + b" begin\n")
    return rest.partition(mark + b" end\n")[0] if found else b""
