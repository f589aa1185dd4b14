"""Reply forms: one frozen dataclass says the JSON Schema of a reply, and reads one strictly.

Every key is required and no other is allowed; a truth value is no integer; enumerations are exact; text that has to
say something is not blank. Fields stand in the schema in their own order, so a reason can come before the word it
explains. What the schema bounds, `read_form` bounds alike: the edge and the fold of a record agree.
"""

import re
import types
import typing
from collections.abc import Mapping
from dataclasses import field, fields, is_dataclass
from enum import StrEnum
from functools import cache, lru_cache
from typing import Any, Final, TypeVar

from counterpoint.core.canonical import NotCanonical, parse_json, visible
from counterpoint.core.codec import decode_value
from counterpoint.core.narrowing import SHOWN, Shown
from counterpoint.errors import Refused, UnknownEntry

__all__ = ["listed", "read_form", "read_text", "schema_of", "text", "whole"]

T = TypeVar("T")

_BOUNDS: Final = "bounds"
_MAX_TEXT: Final = 20_000
_MAX_REPLY_BYTES: Final = 1 << 20
_BLANK_NOT: Final = r"\S"
_WORDS: Final = {str: "string", bool: "boolean", int: "integer"}


def text(
    *, most: int = _MAX_TEXT, blank: bool = True, pattern: str = "", about: str = "", shown: Shown | None = None
) -> Any:
    """Return a field of text.

    Args:
        most: characters at most.
        blank: whether it may say nothing.
        pattern: what all of it has to match.
        about: a description for whoever answers.
        shown: where the payload shows what it may say.
    """
    shape = _bounds(most, pattern)
    if not pattern and not blank:
        shape |= {"minLength": 1, "pattern": _BLANK_NOT}
    return _field(shape, about, shown)


def whole(*, about: str = "", shown: Shown | None = None) -> Any:
    """Return a field that is a whole number; the arguments are those of `text`."""
    return _field({}, about, shown)


def listed(
    *,
    most: int,
    least: int = 0,
    each: int = _MAX_TEXT,
    pattern: str = "",
    about: str = "",
    shown: Shown | None = None,
) -> Any:
    """Return a field that is a list.

    Args:
        most: items at most.
        least: items at least.
        each: characters of an item of text at most.
        pattern: what all of an item of text has to match.
        about: a description for whoever answers.
        shown: where the payload shows what its items may say, or what it has one item for.
    """
    return _field({"minItems": least, "maxItems": most, "each": _bounds(each, pattern)}, about, shown)


def _bounds(most: int, pattern: str) -> dict[str, Any]:
    return {"maxLength": most, "pattern": f"^(?:{pattern})$"} if pattern else {"maxLength": most}


def _field(shape: Mapping[str, Any], about: str, shown: Shown | None) -> Any:
    described = {**shape, "description": about} if about else dict(shape)
    return field(metadata={_BOUNDS: types.MappingProxyType(described), SHOWN: shown})


@cache
def schema_of(form: type) -> Mapping[str, Any]:
    """Return the JSON Schema (2020-12) of the one object that fits a form."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **_object(form)}
    return types.MappingProxyType(schema)


def _object(form: type) -> dict[str, Any]:
    hints = typing.get_type_hints(form)
    properties = {f.name: _shape(hints[f.name], f.metadata.get(_BOUNDS, {})) for f in fields(form)}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [f.name for f in fields(form)],
        "properties": properties,
    }


def _shape(hint: Any, bounds: Mapping[str, Any]) -> dict[str, Any]:
    own = {key: value for key, value in bounds.items() if key != "each"}
    if typing.get_origin(hint) is tuple:
        (inner, _) = typing.get_args(hint)
        items = _shape(inner, bounds["each"] if inner is str else {})
        return {"type": "array", **own, "items": items}
    if is_dataclass(hint):
        assert isinstance(hint, type), "a hint is a type"
        return {**_object(hint), **own}
    if issubclass(hint, StrEnum):
        return {"enum": [word.value for word in hint], **own}
    return {"type": _WORDS[hint], **own}


def read_form(form: type[T], reply: Mapping[str, Any]) -> T:
    """Return the reply as a `form`, its hidden characters written out.

    Raises:
        Refused: TURN-2, it does not fit; names the key path and what was expected.
    """
    try:
        found = decode_value(form, _written_out(reply))
    except UnknownEntry as error:
        raise Refused("TURN-2", f"the reply does not fit: {error.reason}") from None
    if fault := _fault(found, ""):
        raise Refused("TURN-2", f"the reply does not fit: {fault}")
    return found


@lru_cache(maxsize=32)
def read_text(form: type[T], text: str) -> T:
    """Return the reply in `text` as a `form`; remembered, since a reply is read when it is tried, told and folded.

    Raises:
        Refused: TURN-2, it is not one strict JSON object, or does not fit.
    """
    try:
        reply = parse_json(text, max_bytes=_MAX_REPLY_BYTES)
    except NotCanonical as error:
        raise Refused("TURN-2", f"the reply is not one strict JSON object: {error}") from None
    if not isinstance(reply, dict):
        raise Refused("TURN-2", "the reply is no JSON object")
    return read_form(form, reply)


def _written_out(value: Any) -> Any:
    match value:
        case str():
            return visible(value)
        case dict() | Mapping():
            return {key: _written_out(inner) for key, inner in value.items()}
        case list():
            return [_written_out(inner) for inner in value]
        case _:
            return value


@cache
def _bounded(form: type) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Return the fields of a form, each with its bounds."""
    return tuple((each.name, each.metadata.get(_BOUNDS, {})) for each in fields(form))


def _fault(value: Any, path: str) -> str:
    """Return the first value out of its bounds, or ""."""
    form: type = type(value)
    for name, bounds in _bounded(form):
        inner, at = getattr(value, name), f"{path}{name}"
        found = _list_fault(inner, bounds, at) if isinstance(inner, tuple) else _item_fault(inner, bounds, at)
        if found:
            return found
    return ""


def _list_fault(items: tuple[Any, ...], bounds: Mapping[str, Any], at: str) -> str:
    if not bounds["minItems"] <= len(items) <= bounds["maxItems"]:
        return f"{at} has {len(items)} items; {bounds['minItems']} to {bounds['maxItems']} are possible"
    faults = (_item_fault(item, bounds["each"], f"{at}[{i}]") for i, item in enumerate(items))
    return next((fault for fault in faults if fault), "")


def _item_fault(value: Any, bounds: Mapping[str, Any], at: str) -> str:
    if is_dataclass(value):
        return _fault(value, f"{at}.")
    if isinstance(value, str) and not isinstance(value, StrEnum):
        return _text_fault(value, bounds, at)
    return ""


def _text_fault(value: str, bounds: Mapping[str, Any], at: str) -> str:
    if len(value) > bounds["maxLength"]:
        return f"{at} has {len(value)} characters; at most {bounds['maxLength']} are possible"
    pattern = bounds.get("pattern", "")
    if pattern == _BLANK_NOT and not value.strip():
        return f"{at} says nothing"
    # `$` alone would let a line end pass at the end of the text.
    if pattern and pattern != _BLANK_NOT and not re.search(pattern.removesuffix("$") + r"\Z", value):
        return f"{at} is {value[:80]!r}, which is not like {pattern}"
    return ""
