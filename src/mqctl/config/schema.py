"""The JSON Schema of the declared file, so that an editor completes and checks it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from mqctl import model
from mqctl.config.durations import format_duration
from mqctl.config.types import File

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_POLICY = model.Policy()


class _Schema(GenerateJsonSchema):
    """Without null: a key that is there has a value; absent is another thing."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


def schema() -> dict[str, Any]:
    """Give the schema, with the defaults as they are written in the file."""
    made = File.model_json_schema(schema_generator=_Schema)
    definitions = made["$defs"]
    for definition in [made, *definitions.values()]:
        for one in _properties(definition).values():
            if one.get("default", ...) is None or isinstance(one.get("default"), dict):
                del one["default"]
            one.pop("title", None)
            if "patternProperties" in one:
                one["additionalProperties"] = False
    for field in fields(_POLICY):
        value: float | None = getattr(_POLICY, field.name)
        one = definitions["Policy"]["properties"][field.name]
        if field.name == "rollout_budget":
            one["default"] = value
        else:
            one["default"] = "never" if value is None else format_duration(value)
    for section, key in (("Redis", "timeout"), ("Lock", "ttl"), ("Trigger", "window")):
        one = definitions[section]["properties"][key]
        one["default"] = format_duration(one["default"])
    return {"$schema": DIALECT, **made}


def _properties(definition: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = definition.get("properties", {})
    return found
