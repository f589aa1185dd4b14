"""What of a reply the payload has decided already, so that a person need not type it.

A field of a form may name where the payload shows what it says: a value to repeat, a text to begin with, the words to
choose from, or the items that it has one item each for. `narrowed` writes that into the form's JSON Schema, as
`const`, `default`, `enum` and `prefixItems`. Only a person's form goes by it: every other seat gets the schema, and
the guards hold a reply to all of it anyway.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Final, get_args, get_type_hints

__all__ = ["SHOWN", "Shown", "Use", "narrowed", "one_each"]

SHOWN: Final = "shown"
"""Where a field's metadata hold it."""


class Use(StrEnum):
    """What a field does with what is shown."""

    REPEAT = "repeat"
    """It says just that."""
    BEGIN = "begin"
    """It says that, unless something else is typed."""
    CHOOSE = "choose"
    """It, or each of its items, is one of them."""
    EACH = "each"
    """It has one item for each of them. The item's field that chooses is the one that names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Where the payload shows what a field may say. What it does not show, it does not narrow."""

    use: Use
    at: str
    """The key in the payload; a dot leads into what is under it."""
    key: str = ""
    """In a list of objects: the key of what names each."""
    only: str = ""
    """In a list of objects: the key that is true in those that count; all count where it is empty."""

    def found(self, payload: Mapping[str, Any]) -> Any:
        """Return what is shown, None where nothing is."""
        found: Any = payload
        for part in self.at.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        return found

    def items(self, payload: Mapping[str, Any]) -> Sequence[Any] | None:
        """Return the items shown that count."""
        found = self.found(payload)
        return None if found is None else [each for each in found if not self.only or each[self.only]]


def narrowed(form: type, schema: Mapping[str, Any], payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of a form with what the payload shows; empty where the form looks nothing up there."""
    return {**schema, **_object(form, schema, payload)} if _looks_up(form) else {}


def one_each(
    item: Mapping[str, Any], name: str, key: str, shown: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the schema of one item for each that is shown: `name` in it is what the other says under `key`."""
    return [
        {
            **item,
            "title": str(each[key]),
            "description": "; ".join(
                f"{word}: {value}" for word, value in each.items() if word != key and _is_plain(value)
            ),
            "properties": {**item["properties"], name: {"const": each[key]}},
        }
        for each in shown
    ]


def _is_plain(value: Any) -> bool:
    return bool(value) and isinstance(value, str | int) and not isinstance(value, bool)


@cache
def _parts(form: type) -> tuple[tuple[str, Shown | None, type | None], ...]:
    """Return each field of a form: its name, what it looks up, and the form within it."""
    hints = get_type_hints(form)
    found = []
    for field in fields(form):
        inner = next((each for each in (hints[field.name], *get_args(hints[field.name])) if is_dataclass(each)), None)
        found.append((field.name, field.metadata.get(SHOWN), inner if isinstance(inner, type) else None))
    return tuple(found)


@cache
def _looks_up(form: type) -> bool:
    return any(shown or (inner and _looks_up(inner)) for _, shown, inner in _parts(form))


def _object(form: type, schema: Mapping[str, Any], payload: Mapping[str, Any]) -> dict[str, Any]:
    given: Mapping[str, Any] = schema["properties"]
    properties = {
        name: _shape(shown, inner, given[name], payload) if shown or inner else given[name]
        for name, shown, inner in _parts(form)
    }
    return {"properties": properties}


def _shape(
    shown: Shown | None, inner: type | None, schema: Mapping[str, Any], payload: Mapping[str, Any]
) -> Mapping[str, Any]:
    if inner is not None and "items" in schema:
        schema = {**schema, "items": {**schema["items"], **_object(inner, schema["items"], payload)}}
        if shown is None:
            return schema
        return _each(shown, inner, schema, payload) if shown.use is Use.EACH else _value(shown, schema, payload)
    if inner is not None:
        return {**schema, **_object(inner, schema, payload)}
    assert shown is not None, "a field without either is left as it is"
    return _value(shown, schema, payload)


def _each(shown: Shown, inner: type, schema: Mapping[str, Any], payload: Mapping[str, Any]) -> Mapping[str, Any]:
    names = [name for name, at, _ in _parts(inner) if at is not None and at.use is Use.CHOOSE]
    items = one_each(schema["items"], names[0], shown.key, shown.items(payload) or ())
    return {**schema, "prefixItems": items, "minItems": len(items), "maxItems": len(items)}


def _value(shown: Shown, schema: Mapping[str, Any], payload: Mapping[str, Any]) -> Mapping[str, Any]:
    if shown.found(payload) is None:
        return schema
    if shown.use is Use.REPEAT:
        return {**schema, "const": shown.found(payload)}
    if shown.use is Use.BEGIN:
        return {**schema, "default": shown.found(payload)}
    words = [each[shown.key] if shown.key else each for each in shown.items(payload) or ()]
    return {**schema, "items": {**schema["items"], "enum": words}} if "items" in schema else {**schema, "enum": words}
