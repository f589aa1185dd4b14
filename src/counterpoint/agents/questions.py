"""What goes to a model, whatever the wire format, and its schema as providers take one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from counterpoint.agents.capabilities import Control

__all__ = ["Question", "is_strict", "loosened"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What goes to the model, whatever the wire format."""

    model: str
    instructions: str
    text: str
    schema: Mapping[str, Any] | None
    """The schema as providers take it; None where the model takes none."""
    effort: str
    """Empty: none is sent."""
    max_output_tokens: int
    """Zero: none is sent."""
    temperature: float | None
    controls: frozenset[Control]


_KEPT: Final = ("type", "description", "enum", "const", "required", "additionalProperties")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")


def loosened(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with the words that every provider takes: what is valid under the whole is valid under it.

    The brief's text shows the whole schema, and the answer is held to the whole.
    """
    found: dict[str, Any] = {key: schema[key] for key in _KEPT if key in schema}
    if "type" not in found and all(isinstance(value, str) for value in found.get("enum", [0])):
        found["type"] = "string"
    for key in ("properties", "$defs"):
        if key in schema:
            found[key] = {name: loosened(inner) for name, inner in schema[key].items()}
    if isinstance(schema.get("items"), Mapping):
        found["items"] = loosened(schema["items"])
    for key in _LISTS:
        if key in schema:
            found[key] = [loosened(inner) for inner in schema[key]]
    if "$ref" in schema:
        found["$ref"] = schema["$ref"]
    return found


def is_strict(schema: Any) -> bool:
    """Say whether every object in a schema has no other keys than it names, and must have them all."""
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        named = set(schema.get("properties", {}))
        if schema.get("additionalProperties") is not False or named != set(schema.get("required", [])):
            return False
    return all(map(is_strict, schema.values()))
