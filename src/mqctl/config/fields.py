"""The kinds of values that the declared file has, as pydantic types.

Each is a check of :mod:`~mqctl.config.texts` or :mod:`~mqctl.config.urls` with the JSON schema that
an editor can use. Numbers and truth values arrive as :class:`~mqctl.config.nodes.Plain`, so that a
text field can tell ``1.10`` from ``"1.10"``, and a field that wants the text as written gets it.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Annotated, TypeVar

from annotated_types import Ge, Gt, Le, MinLen
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Strict,
    WithJsonSchema,
    model_validator,
)

from mqctl.config import texts, urls
from mqctl.config.durations import ALLOWED as DURATION_ALLOWED
from mqctl.config.durations import JSON_PATTERN, format_duration, parse_duration
from mqctl.config.nodes import Plain

T = TypeVar("T")
K = TypeVar("K")

NEVER = math.inf


class Section(BaseModel):
    """A mapping with known keys. A key with nothing after it is an empty mapping."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _empty(cls, value: object) -> object:
        return {} if value is None else value


def _given(value: T | None) -> T:
    if value is None:
        raise ValueError("no value; remove the key or give it one")
    return value


def _unwrap(value: object) -> object:
    return value.value if isinstance(value, Plain) else value


def _as_written(value: object) -> object:
    if isinstance(value, Plain):
        return value.text
    if value is None:
        raise ValueError('no value; text is allowed, "" for an empty one')
    return value


def _nothing(empty: Callable[[], object], value: object) -> object:
    return empty() if value is None else value


def _split_words(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return shlex.split(value)
    except ValueError:
        raise ValueError("a quote without its pair; a list of words is allowed") from None


def _no_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("a NUL character; text without one is allowed")
    return text


def _version(number: int) -> int:
    if number != 1:
        raise ValueError("a version that this mqctl does not know; 1 is allowed")
    return number


def _duration(least_ms: int, value: object) -> object:
    if isinstance(value, Plain):
        raise ValueError(f"a number without a unit; {DURATION_ALLOWED}")  # noqa: TRY004 - pydantic's protocol
    if not isinstance(value, str):
        raise ValueError(f"not a duration; {DURATION_ALLOWED}")  # noqa: TRY004 - pydantic's protocol
    seconds = parse_duration(value)
    if seconds * 1000 < least_ms:
        raise ValueError(f"too short; {format_duration(least_ms / 1000)} or more is allowed")
    return seconds


def _lifetime(value: object) -> object:
    return NEVER if value == "never" else _duration(1000, value)


def _moment(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("not a time; RFC 3339 with an offset is allowed")  # noqa: TRY004 - pydantic's protocol
    return texts.moment(value)


def _as_text(**extra: object) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", **extra})


# ------------------------------------------------------------------ shapes

Maybe = Annotated[T | None, BeforeValidator(_given)]
Names = Annotated[dict[K, T], BeforeValidator(partial(_nothing, dict))]
Items = Annotated[tuple[T, ...], BeforeValidator(partial(_nothing, tuple))]

# ------------------------------------------------------------------ scalars

Bool = Annotated[bool, Strict(), BeforeValidator(_unwrap)]
Version = Annotated[
    int,
    Strict(),
    AfterValidator(_version),
    BeforeValidator(_unwrap),
    WithJsonSchema({"type": "integer", "const": 1}),
]
Port = Annotated[int, Strict(), Ge(1), Le(65535), BeforeValidator(_unwrap)]
Budget = Annotated[int, Strict(), Ge(0), Le(1000), BeforeValidator(_unwrap)]
Cpus = Annotated[float, Strict(), Gt(0), Le(1024), BeforeValidator(_unwrap)]
# Text of which a number may be meant: kept as it was written, never as 1.1 for 1.10.
Written = Annotated[
    str,
    BeforeValidator(_as_written),
    AfterValidator(_no_nul),
    WithJsonSchema({"type": ["string", "number", "boolean"]}),
]
Command = Annotated[
    tuple[Written, ...],
    BeforeValidator(_split_words),
    MinLen(1),
    WithJsonSchema(
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": ["string", "number"]}}]}
    ),
]

_DURATION = _as_text(pattern=JSON_PATTERN)
Duration = Annotated[float, BeforeValidator(partial(_duration, 0)), _DURATION]
Limit = Annotated[float, BeforeValidator(partial(_duration, 100)), _DURATION]
Second = Annotated[float, BeforeValidator(partial(_duration, 1000)), _DURATION]
LockTtl = Annotated[float, BeforeValidator(partial(_duration, 2000)), _DURATION]
Lifetime = Annotated[float, BeforeValidator(_lifetime), _as_text(pattern=f"^never$|{JSON_PATTERN}")]
Moment = Annotated[datetime, BeforeValidator(_moment), _as_text(pattern=texts.MOMENT_PATTERN)]

Name = Annotated[
    str,
    BeforeValidator(_as_written),
    AfterValidator(texts.name),
    _as_text(pattern=texts.NAME_PATTERN),
]
Variable = Annotated[str, AfterValidator(texts.variable), _as_text(pattern=texts.VARIABLE_PATTERN)]
Branch = Annotated[
    str, BeforeValidator(_as_written), AfterValidator(texts.branch), _as_text(minLength=1)
]
Host = Annotated[str, AfterValidator(texts.host)]
User = Annotated[str, BeforeValidator(_as_written), AfterValidator(texts.user)]
Account = Annotated[str, BeforeValidator(_as_written), AfterValidator(texts.account)]
RegistryHost = Annotated[str, AfterValidator(texts.registry_host)]
Image = Annotated[str, AfterValidator(texts.image)]
PortMapping = Annotated[
    str,
    BeforeValidator(_as_written),
    AfterValidator(texts.port_mapping),
    WithJsonSchema({"type": ["string", "integer"]}),
]
Memory = Annotated[
    str,
    BeforeValidator(_as_written),
    AfterValidator(partial(texts.matching, texts.MEMORY_PATTERN, "512m or 2g")),
    WithJsonSchema({"type": ["string", "integer"], "pattern": texts.MEMORY_PATTERN}),
]
Restart = Annotated[
    str,
    AfterValidator(
        partial(
            texts.matching,
            texts.RESTART_PATTERN,
            "no, always, unless-stopped, on-failure or on-failure:N",
        )
    ),
    _as_text(pattern=texts.RESTART_PATTERN),
]
Repository = Annotated[
    str,
    AfterValidator(partial(texts.matching, texts.REPOSITORY_PATTERN, "OWNER/NAME")),
    _as_text(pattern=texts.REPOSITORY_PATTERN),
]
Workflow = Annotated[
    str,
    BeforeValidator(_as_written),
    AfterValidator(partial(texts.matching, texts.WORKFLOW_PATTERN, "a file name such as ci.yml")),
    WithJsonSchema({"type": ["string", "integer"], "pattern": texts.WORKFLOW_PATTERN}),
]

Root = Annotated[str, AfterValidator(texts.root), _as_text(pattern="^~?/.")]
LocalPath = Annotated[str, AfterValidator(texts.local_path)]
InnerPath = Annotated[str, AfterValidator(texts.inner_path)]
ContainerPath = Annotated[str, AfterValidator(texts.container_path), _as_text(pattern="^/.")]

RedisUrl = Annotated[str, AfterValidator(urls.redis_url)]
GitUrl = Annotated[str, AfterValidator(urls.git_url)]
HttpUrl = Annotated[str, AfterValidator(urls.http_url), _as_text(pattern="^https?://")]
