"""Which host keys we trust: OpenSSH's ``known_hosts`` files, read the way OpenSSH reads them.

paramiko's own reader knows no wildcards and no ``@revoked``, keeps one key of a type for a host,
and looks only under the name that it connects to. This is what we need of ``hostfile.c``.
Certificates (``@cert-authority``) are not supported: such a line is never a reason to trust.
"""

from __future__ import annotations

import base64
import binascii
import fnmatch
import hashlib
import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path


class Trust(Enum):
    """What the files say of a key that a host offers."""

    KNOWN = auto()
    UNKNOWN = auto()  # no line for this host
    CHANGED = auto()  # lines for this host, none with this key
    REVOKED = auto()


@dataclass(frozen=True, slots=True)
class HostKey:
    """One trusted key: its type, as ``ssh-ed25519``, and its bytes."""

    kind: str
    blob: bytes


@dataclass(frozen=True, slots=True)
class KnownHost:
    """What the files know of one host, which they call ``name``: ``host`` or ``[host]:port``."""

    name: str
    files: tuple[Path, ...]
    keys: frozenset[HostKey]
    revoked: frozenset[HostKey]

    def judge(self, kind: str, blob: bytes) -> Trust:
        """Whether a key that this host offered is its own."""
        key = HostKey(kind, blob)
        if key in self.revoked:
            return Trust.REVOKED
        if key in self.keys:
            return Trust.KNOWN
        return Trust.CHANGED if self.keys else Trust.UNKNOWN

    @property
    def kinds(self) -> frozenset[str]:
        """The key types to ask the host for first, so that it offers one that we can check."""
        return frozenset(key.kind for key in self.keys)


def look_up(files: Sequence[Path], host: str, port: int, *, alias: str | None = None) -> KnownHost:
    """Find a host by ``HostKeyAlias``, else by name and port, else (as OpenSSH does) by name alone.

    A file that does not exist knows nobody.

    Raises:
        OSError: a file exists and cannot be read.
    """
    names = [alias.lower()] if alias else [bracketed(host.lower(), port)]
    if not alias and port != 22:  # noqa: PLR2004 - the port of SSH
        names.append(host.lower())
    lines = [line for file in files if file.is_file() for line in _lines(file)]
    revoked = frozenset(key for line in lines if line.revoked for key in line.of(names))
    for name in names:
        keys = frozenset(key for line in lines if not line.revoked for key in line.of([name]))
        if keys:
            return KnownHost(name, tuple(files), keys, revoked)
    return KnownHost(names[0], tuple(files), frozenset(), revoked)


def bracketed(host: str, port: int) -> str:
    """A host and its port as ``known_hosts`` and ``ssh-keygen -R`` write them."""
    return host if port == 22 else f"[{host}]:{port}"  # noqa: PLR2004 - the port of SSH


@dataclass(frozen=True, slots=True)
class _Line:
    patterns: tuple[str, ...]
    key: HostKey
    revoked: bool

    def of(self, names: Iterable[str]) -> tuple[HostKey, ...]:
        return (self.key,) if any(_matches(self.patterns, name) for name in names) else ()


def _lines(file: Path) -> Iterable[_Line]:
    for text in file.read_text("utf-8", "replace").splitlines():
        fields = text.split()
        marker = fields.pop(0) if fields and fields[0].startswith("@") else ""
        if len(fields) < 3 or fields[0].startswith("#") or marker not in {"", "@revoked"}:  # noqa: PLR2004
            continue
        try:
            blob = base64.b64decode(fields[2], validate=True)
        except (binascii.Error, ValueError):
            continue
        yield _Line(tuple(fields[0].split(",")), HostKey(fields[1], blob), marker == "@revoked")


def _matches(patterns: tuple[str, ...], name: str) -> bool:
    """One hashed name, or patterns with ``*`` and ``?`` of which none with ``!`` may match."""
    if patterns[0].startswith("|1|"):
        return _hash_matches(patterns[0], name)
    found = False
    for pattern in patterns:
        # fnmatch takes [...] as a set, known_hosts as the text around a host with a port.
        literal = pattern.lstrip("!").lower().replace("[", "[[]")
        if fnmatch.fnmatchcase(name, literal):
            if pattern.startswith("!"):
                return False
            found = True
    return found


def _hash_matches(pattern: str, name: str) -> bool:
    try:
        salt, digest = (base64.b64decode(part, validate=True) for part in pattern[3:].split("|"))
    except (binascii.Error, ValueError):
        return False
    return hmac.compare_digest(hmac.new(salt, name.encode(), hashlib.sha1).digest(), digest)
