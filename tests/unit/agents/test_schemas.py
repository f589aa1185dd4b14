"""A quick yes is a yes: what is taken without `jsonschema` would be taken by it."""

from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from counterpoint.agents import schemas
from counterpoint.agents.schemas import surely_fits
from counterpoint.core.forms import schema_of
from counterpoint.protocols.answer import forms as answer
from counterpoint.protocols.ballot import forms as ballot
from counterpoint.protocols.propose import forms as propose
from counterpoint.protocols.review.codec import _ANSWERS, _VERDICT

SCHEMAS: Final[tuple[Mapping[str, Any], ...]] = (
    _VERDICT,
    _ANSWERS,
    *(
        schema_of(form)
        for module in (answer, ballot, propose)
        for form in vars(module).values()
        if isinstance(form, type) and is_dataclass(form) and form.__module__ == module.__name__
    ),
)
ODD: Final = st.one_of(
    st.none(), st.booleans(), st.integers(-1, 1), st.text(max_size=2), st.just([]), st.just({}), st.just({"x": 1})
)


def _with_more(value: dict[str, Any]) -> dict[str, Any]:
    return value | {"more": 1}


def values(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Return values that nearly fit a schema, and often do."""
    match schema:
        case {"properties": properties}:
            fit = st.fixed_dictionaries({key: values(inner) for key, inner in properties.items()})
            less = st.tuples(fit, st.sampled_from(sorted(properties))).map(
                lambda pair: {key: value for key, value in pair[0].items() if key != pair[1]}
            )
            whole: st.SearchStrategy[Any] = st.one_of(fit, fit, fit, less, fit.map(_with_more))
        case {"items": items}:
            whole = st.lists(values(items), max_size=schema.get("minItems", 0) + 1)
        case {"enum": words}:
            whole = st.sampled_from([*words, *words, *words, words[0].upper()])
        case {"type": "boolean"}:
            whole = st.booleans()
        case {"type": "integer"}:
            whole = st.integers(-1, 2)
        case _:
            whole = st.sampled_from(["F1", "zip", "a" * 64, "words", " ", "", "F1\n"])
    return st.integers(0, 19).flatmap(lambda roll: ODD if roll == 0 else whole)


def test_every_schema_of_a_reply_is_known() -> None:
    """No form of ours is left to the slow walk alone: each part of each has a check of its own."""

    def parts(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        inner = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
        return [schema, *(part for each in inner for part in parts(each))]

    unknown = [part for schema in SCHEMAS for part in parts(schema) if schemas._check_of(part) is schemas._unknown]
    assert unknown == []


@pytest.mark.parametrize("number", range(len(SCHEMAS)))
@given(data=st.data())
def test_a_quick_yes_is_a_yes(number: int, data: st.DataObject) -> None:
    """And where a no is wrong, it is for a form that is not ours (FIELD-FAULTS F1, F33)."""
    schema = SCHEMAS[number]
    value = data.draw(values(schema))
    assert surely_fits(value, schema) is Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "properties": {}, "required": [], "additionalProperties": True},
        {"type": "string", "format": "date"},
        {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        {"enum": ["a", 1]},
        {"const": "a"},
        {},
    ],
)
def test_what_it_does_not_know_is_left_to_the_slow_walk(schema: Mapping[str, Any]) -> None:
    """A keyword that it does not know is no keyword to pass over."""
    values: tuple[Any, ...] = ("a", 1, {}, [], ["a", "a"], "2026-01-01")
    assert not any(surely_fits(value, schema) for value in values)


def test_as_many_schemas_as_there_may_be_are_kept_apart() -> None:
    """A schema is known by its identity; it is kept as long as that is."""
    for most in range(200):
        assert not surely_fits("x" * (most + 1), {"type": "string", "maxLength": most})
        assert surely_fits("x" * most, {"type": "string", "maxLength": most})
    assert len(schemas._known) <= schemas._KEPT
