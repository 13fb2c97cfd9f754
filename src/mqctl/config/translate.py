"""From pydantic's errors to sentences with a place in the file."""

from __future__ import annotations

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from mqctl.config.nodes import Path
from mqctl.config.problems import About, Finding, listed, suggestion
from mqctl.config.types import File

_KEY = "[key]"
_ALL_KEYS = 40  # more than any mapping of the file knows


def findings(error: ValidationError) -> Iterator[Finding]:
    """Give each of pydantic's errors as a finding. No value of the file is repeated."""
    for detail in error.errors(include_url=False):
        path: Path = detail["loc"]
        if path[-1:] == (_KEY,):
            yield Finding(path[:-1], _sentence(detail), About.KEY)
        elif detail["type"] == "missing":
            yield Finding(path, f"missing; {_description(path)}", About.MISSING)
        elif detail["type"] == "extra_forbidden":
            known = _keys(path[:-1])
            allowed = suggestion(str(path[-1]), known) + listed(known, "nothing is allowed here")
            yield Finding(path, f"unknown key; {allowed}", About.KEY)
        else:
            yield Finding(path, _sentence(detail))


def _sentence(detail: ErrorDetails) -> str:
    kind = detail["type"]
    context = detail.get("ctx", {})
    if detail["input"] is None:
        return f"no value; {_needed(kind, context)}"
    match kind:
        case "value_error":
            return str(context["error"])
        case "literal_error":
            word = detail["input"] if isinstance(detail["input"], str) else ""
            return f"not valid; {suggestion(word, _choices(context))}{_needed(kind, context)}"
        case "too_short":
            return "empty; remove the key or give it a word"
    return f"{_wrong(kind)}; {_needed(kind, context)}"


def _wrong(kind: str) -> str:
    match kind:
        case "greater_than_equal" | "less_than_equal" | "greater_than" | "finite_number":
            return "out of range"
        case "string_type":
            return "not text"
        case "bool_type" | "bool_parsing":
            return "neither true nor false"
        case "int_type" | "int_parsing" | "float_type" | "float_parsing":
            return "not a number"
        case "dict_type" | "model_type" | "model_attributes_type":
            return "not a mapping"
        case "tuple_type":
            return "not a list"
    return "not valid"


def _needed(kind: str, context: dict[str, object]) -> str:
    match kind:
        case "string_type":
            return "text is allowed, a number or true only in quotes"
        case "bool_type" | "bool_parsing":
            return "true or false is allowed"
        case "int_type" | "int_parsing":
            return "a whole number is allowed"
        case "greater_than_equal":
            return f"{context['ge']:g} or more is allowed"
        case "less_than_equal":
            return f"at most {context['le']:g} is allowed"
        case "greater_than":
            return f"more than {context['gt']:g} is allowed"
        case "dict_type" | "model_type" | "model_attributes_type":
            return "`key: value` lines are allowed"
        case "tuple_type":
            return "a list such as [a, b] is allowed"
        case "literal_error":
            return listed(_choices(context), "nothing")
        case "value_error":
            return str(context["error"]).split("; ", 1)[-1]
    return "a number is allowed" if "number" in kind or "float" in kind else "see the schema"


def _choices(context: dict[str, object]) -> list[str]:
    words = str(context.get("expected", "")).replace(" or ", ", ").split(", ")
    return [word.strip("'") for word in words]


# ------------------------------------------------------------------ what the model knows of a path


def _model_at(path: Path) -> type[BaseModel] | None:
    """The section that ``path`` leads to, by the types alone."""
    current: object = File
    for part in path:
        current = _inner(current)
        if isinstance(current, type) and issubclass(current, BaseModel):
            found = current.model_fields.get(str(part))
            if found is None:
                # A tag of a union: it says which of the alternatives, which are told apart here.
                continue
            current = found.annotation
        else:
            arguments = get_args(current)
            if not arguments:
                return None
            current = arguments[0] if get_origin(current) is tuple else arguments[-1]
    current = _inner(current)
    return current if isinstance(current, type) and issubclass(current, BaseModel) else None


def _inner(annotation: object) -> object:
    """Take off what wraps a type: ``Annotated``, and all but the model of a union."""
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation = get_args(annotation)[0]
        elif origin in {Union, UnionType}:
            options = [_inner(option) for option in get_args(annotation)]
            models = [
                one for one in options if isinstance(one, type) and issubclass(one, BaseModel)
            ]
            annotation = models[0] if models else options[0]
        else:
            return annotation


def _keys(path: Path) -> list[str]:
    model = _model_at(path)
    return list(model.model_fields)[:_ALL_KEYS] if model else []


def _description(path: Path) -> str:
    model = _model_at(path[:-1])
    found = model.model_fields.get(str(path[-1])) if model else None
    return f"allowed: {found.description}" if found else "it is needed"
