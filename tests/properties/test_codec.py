"""Entries to JSON and back, for every type of entry (STYLE 2: every pair has a property)."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterpoint.core.canonical import canonical_json
from counterpoint.core.checks import Evidence
from counterpoint.core.codec import decode, decode_value, encode, encode_value, entry_type
from counterpoint.core.entries import ENTRY_TYPES, Entry
from counterpoint.errors import UnknownEntry
from tests.properties.values import of_type

ENTRIES: st.SearchStrategy[Entry] = st.one_of(*(of_type(kind) for kind in ENTRY_TYPES.values()))


def through_text(value: Any) -> Any:
    return json.loads(canonical_json(value))


@pytest.mark.parametrize("name", ENTRY_TYPES)
@settings(max_examples=20)
@given(data=st.data())
def test_an_entry_comes_back_as_it_was(name: str, data: st.DataObject) -> None:
    """Equal, and with the same text once more: nothing is lost, coerced or filled in (STYLE 2)."""
    entry = data.draw(of_type(ENTRY_TYPES[name]))
    typed = encode(entry)
    back = decode(name, through_text(typed))
    assert (back, entry_type(back), canonical_json(encode(back))) == (entry, name, canonical_json(typed))


@given(of_type(Evidence))
def test_a_value_comes_back_as_it_was(evidence: Evidence) -> None:
    """Evidence is kept in the vault by the same code."""
    assert decode_value(Evidence, through_text(encode_value(evidence))) == evidence


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value inside, itself included."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _places(inner, (*path, key))


def _changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = _changed(value[path[0]], path[1:], new)
    return copy


OTHERS: Final[list[Any]] = [None, True, 7, "x", [], {}, [[]], {"kind": "quote"}, ["x"]]


@given(entry=ENTRIES, data=st.data())
def test_a_value_of_another_kind_is_refused_and_never_coerced(entry: Entry, data: st.DataObject) -> None:
    """Wherever it stands, what is read is what was written or one typed error (STYLE 4: fail closed)."""
    typed = through_text(encode(entry))
    path = data.draw(st.sampled_from(sorted((place for place in _places(typed) if place), key=repr)))
    new = data.draw(st.sampled_from(OTHERS))
    changed = _changed(typed, path, new)
    try:
        back = decode(entry_type(entry), changed)
    except UnknownEntry:
        return
    assert canonical_json(encode(back)) == canonical_json(changed)


@given(entry=ENTRIES, data=st.data())
def test_an_unknown_or_missing_field_is_refused_wherever_it_stands(entry: Entry, data: st.DataObject) -> None:
    """At every depth (STYLE 2: dropping unknown fields silently is what we avoid)."""
    typed = through_text(encode(entry))
    objects = [path for path in _places(typed) if isinstance(_at(typed, path), dict)]
    path = data.draw(st.sampled_from(sorted(objects, key=repr)))
    inner = _at(typed, path)
    lost = data.draw(st.sampled_from(sorted(inner)))
    for new in ({**inner, "surprise": 1}, {key: value for key, value in inner.items() if key != lost}):
        with pytest.raises(UnknownEntry):
            decode(entry_type(entry), _changed(typed, path, new))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value
