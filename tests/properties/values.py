"""Hypothesis strategies for values of the core, made from their types: a new field or entry is covered at once."""

import types
import typing
from dataclasses import is_dataclass
from enum import StrEnum
from typing import Any, Final

from hypothesis import strategies as st

from counterpoint.core.canonical import MAX_INT

__all__ = ["json_values", "of_type"]

_TEXT: Final = st.text(max_size=20)
_PLAIN: Final[dict[type, st.SearchStrategy[Any]]] = {
    int: st.integers(-MAX_INT, MAX_INT),
    bool: st.booleans(),
}


def of_type(hint: Any, *, text: st.SearchStrategy[str] = _TEXT) -> st.SearchStrategy[Any]:
    """Return a strategy for every value that the type allows, with texts of this kind."""
    if hint is str:
        return text
    if hint in _PLAIN:
        return _PLAIN[hint]
    if hint is type(None):
        return st.none()
    if typing.get_origin(hint) is types.UnionType:
        return st.one_of(*(of_type(option, text=text) for option in typing.get_args(hint)))
    if typing.get_origin(hint) is tuple:
        return st.lists(of_type(typing.get_args(hint)[0], text=text), max_size=3).map(tuple)
    if is_dataclass(hint):
        assert isinstance(hint, type)
        inner = typing.get_type_hints(hint)
        return st.builds(hint, **{name: of_type(kind, text=text) for name, kind in inner.items()})
    assert issubclass(hint, StrEnum), f"no strategy for {hint}"
    return st.sampled_from(list(hint))


def json_values(keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """Return a strategy for the JSON values that have one text: no fraction, no large integer."""
    plain = st.none() | st.booleans() | st.integers(-MAX_INT, MAX_INT) | st.text()
    return st.recursive(plain, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4))
