"""What mqctl remembers on the host: the owner marker, the applied record and the tombstones.

They are small JSON files, written whole through the guard and renamed into place, so a reader sees
the old one or the new one. A file that does not parse is *unknown*, never "empty". Times are
seconds since the epoch by the host's clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

MARKER = ".mqctl/owner.json"
RECORD = ".mqctl/record.json"
WATCHED = ".mqctl/watched"  # the files whose hashes are looked at each cycle, one path a line
NEXT = ".mqctl/next"
OVERRIDE = ".mqctl/override.yaml"
HOLD = ".mqctl/hold"

T = TypeVar("T")


class Unreadable(ValueError):
    """A file of ours that is not what we wrote."""


def load(kind: type[T], text: bytes) -> T:
    """Parse a file of ours.

    Raises:
        Unreadable: it is not JSON, of another format, or has other fields.
    """
    try:
        return cast("T", _adapter(kind).validate_json(text))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise Unreadable(f"{kind.__name__.lower()}: {where} {first['msg']}".strip()) from None


def dump(value: object) -> bytes:
    """The bytes of a file of ours."""
    return _adapter(type(value)).dump_json(value) + b"\n"


_ADAPTERS: dict[object, TypeAdapter[Any]] = {}


def _adapter(kind: Any) -> TypeAdapter[Any]:
    if kind not in _ADAPTERS:  # building one costs more than all that it will parse
        _ADAPTERS[kind] = TypeAdapter[Any](kind)
    return _ADAPTERS[kind]


@dataclass(frozen=True, slots=True)
class Marker:
    """Whose directory this is: the third proof that a sweep asks for."""

    fleet: str
    marquee: str
    project: str
    format: Literal[1] = 1


@dataclass(frozen=True, slots=True)
class Tombstone:
    """An expiry that was begun. ``ttl`` and ``expires_at`` as declared then: extending revives."""

    playground: str
    ttl: float | None
    expires_at: str | None
    fence: int
    at: float
    format: Literal[1] = 1


@dataclass(frozen=True, slots=True)
class Service:
    """What Compose made of one service. ``input`` hashes the files it uses that Compose ignores.

    ``image`` is "" for a service that is only built. ``binds`` are bind-mount sources, relative to
    the project directory where they lie inside of it.
    """

    image: str = ""
    build: bool = False
    scale: int = 1
    container_name: str = ""
    ports: tuple[tuple[int, str, str], ...] = ()
    stop_grace: float = 10.0
    binds: tuple[str, ...] = ()
    input: str = ""


@dataclass(frozen=True, slots=True)
class Staged:
    """Input that Compose resolved. ``base`` digests what this side knows, ``inputs`` all of it.

    ``error`` set: Compose refused exactly this input, which is final until it changes.
    """

    base: str
    digest: str
    inputs: Mapping[str, str]
    references: tuple[str, ...] = ()
    services: Mapping[str, Service] = field(default_factory=dict)
    networks: tuple[str, ...] = ()
    compose_version: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Applied:
    """Input that runs, as verified. ``images`` are image ids by service."""

    digest: str
    inputs: Mapping[str, str]
    services: Mapping[str, Service]
    images: Mapping[str, str]
    one_shots: tuple[str, ...]
    shipped: tuple[str, ...]
    fence: int
    at: float


@dataclass(frozen=True, slots=True)
class Attempt:
    """An apply that was begun, and by which cycle."""

    digest: str
    fence: int
    at: float


@dataclass(frozen=True, slots=True)
class Failure:
    """An apply that failed, and at which step. ``final``: the same input is not tried again.

    ``images`` are the image ids by service that it was tried with.
    """

    digest: str
    step: str
    message: str
    at: float
    final: bool = False
    images: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """All that is remembered of one project.

    ``begun`` set: an apply was not seen to end. ``stopped``: mqctl stopped it, as declared.
    """

    salt: str
    staged: Staged | None = None
    applied: Applied | None = None
    begun: Attempt | None = None
    failure: Failure | None = None
    first_applied_at: float | None = None
    last_attempt_at: float | None = None
    last_repair_at: float | None = None
    stopped: bool = False
    format: Literal[1] = 1
