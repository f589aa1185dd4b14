"""A quick yes to most answers: the schemas of our reply forms as functions, built once for each.

Only a yes counts. Whatever these functions do not accept, or do not know, is left to `jsonschema`, which also says
what is wrong; its import and its walk through a schema cost a turn more than everything else that is done to a reply.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

__all__ = ["surely_fits"]

_Check = Callable[[Any], bool]

_SAYS_NOTHING: Final = frozenset({"$schema", "description", "type"})
_KEPT: Final = 64
_known: dict[int, tuple[Mapping[str, Any], _Check]] = {}
"""By the id of a schema, which is kept with it so that no other gets the same."""


def surely_fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Say whether a JSON value is valid under a JSON Schema (2020-12); a no may be wrong, a yes is not."""
    found = _known.get(id(schema))
    if found is None:
        if len(_known) >= _KEPT:
            _known.clear()
        found = _known[id(schema)] = schema, _check_of(schema)
    return found[1](value)


def _check_of(schema: Mapping[str, Any]) -> _Check:
    said = schema.keys() - _SAYS_NOTHING
    match schema.get("type"):
        case "object" if said == {"properties", "required", "additionalProperties"}:
            return _object(schema)
        case "array" if "items" in said and said <= {"items", "minItems", "maxItems"}:
            return _array(schema)
        case "string" if said <= {"minLength", "maxLength", "pattern"}:
            return _text(schema)
        case "boolean" if not said:
            return _boolean
        case "integer" if not said:
            return _integer
        case None if said == {"enum"} and all(isinstance(word, str) for word in schema["enum"]):
            words = frozenset(schema["enum"])
            return lambda value: type(value) is str and value in words
        case _:
            return _unknown


def _object(schema: Mapping[str, Any]) -> _Check:
    if schema["additionalProperties"] is not False:
        return _unknown
    checks = {key: _check_of(inner) for key, inner in schema["properties"].items()}
    required = frozenset(schema["required"])

    def check(value: Any) -> bool:
        if type(value) is not dict or not required <= value.keys():
            return False
        return all(key in checks and checks[key](inner) for key, inner in value.items())

    return check


def _array(schema: Mapping[str, Any]) -> _Check:
    item, least, most = _check_of(schema["items"]), schema.get("minItems", 0), schema.get("maxItems")

    def check(value: Any) -> bool:
        if type(value) is not list or len(value) < least or (most is not None and len(value) > most):
            return False
        return all(map(item, value))

    return check


def _text(schema: Mapping[str, Any]) -> _Check:
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    pattern = re.compile(schema.get("pattern", ""))

    def check(value: Any) -> bool:
        if type(value) is not str or len(value) < least or (most is not None and len(value) > most):
            return False
        return pattern.search(value) is not None

    return check


def _boolean(value: Any) -> bool:
    return type(value) is bool


def _integer(value: Any) -> bool:
    return type(value) is int


def _unknown(_value: Any) -> bool:
    return False
