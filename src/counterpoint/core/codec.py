"""Entries to JSON and back. Strict: an unknown type, version or field fails closed; decoding runs constructors.

Types say the shape: dataclasses become objects, tuples lists, enums their word, closed unions of dataclasses an
object with a `kind`. There is no default on the wire: every field of an entry is written, and must be there.
"""

import reprlib
import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Final, TypeVar

from counterpoint.core.checks import CommandCheck, PathCheck, QuoteCheck
from counterpoint.core.entries import ENTRY_TYPES, Entry
from counterpoint.errors import UnknownEntry

__all__ = ["VERSION", "decode", "decode_value", "encode", "encode_value", "entry_type"]

VERSION: Final = 1

T = TypeVar("T")

_KINDS: Final[Mapping[str, type]] = types.MappingProxyType(
    {"command": CommandCheck, "quote": QuoteCheck, "path": PathCheck}
)
_KIND_OF: Final = {kind: word for word, kind in _KINDS.items()}
_TYPE_OF: Final = {kind: word for word, kind in ENTRY_TYPES.items()}


class _Misfit(ValueError):
    """A JSON value is not of the declared type; `str()` names the key path and what was expected."""


def entry_type(entry: Entry) -> str:
    """Return the wire name of an entry's type."""
    return _TYPE_OF[type(entry)]


def encode(entry: Entry) -> dict[str, Any]:
    """Return the JSON object of an entry, its version included."""
    return {"v": VERSION, **encode_value(entry)}


def decode(type_name: str, typed: Mapping[str, Any] | None) -> Entry:
    """Return the entry that `encode` made into `typed`.

    Raises:
        UnknownEntry: the type, the version or a field is not known, or a value is not of its field's type.
    """
    kind = ENTRY_TYPES.get(type_name)
    if kind is None:
        raise UnknownEntry(type_name, f"not one of {', '.join(sorted(ENTRY_TYPES))}")
    if typed is None:
        raise UnknownEntry(type_name, "it has no typed fields")
    version = typed.get("v")
    if type(version) is not int or version != VERSION:
        raise UnknownEntry(type_name, f"version {reprlib.repr(version)}; this program reads version {VERSION}")
    try:
        entry: Entry = _object(kind, {k: v for k, v in typed.items() if k != "v"}, "")
    except _Misfit as error:
        raise UnknownEntry(type_name, str(error)) from None
    return entry


def encode_value(value: Any) -> Any:
    """Return a value of the core as JSON: objects, lists, words, integers."""
    match value:
        case None | bool() | int():
            return value
        case StrEnum():
            return value.value
        case str():
            return value
        case tuple():
            return [encode_value(item) for item in value]
        case _:
            assert is_dataclass(value), f"{type(value).__name__} is not a value of the core"
            plain = {f.name: encode_value(getattr(value, f.name)) for f in fields(value)}
            word = _KIND_OF.get(type(value))
            return plain if word is None else {"kind": word, **plain}


def decode_value(kind: type[T], value: Any) -> T:
    """Return `value` as a `kind`, a dataclass of the core.

    Raises:
        UnknownEntry: it does not fit.
    """
    try:
        found: T = _object(kind, value, "")
    except _Misfit as error:
        raise UnknownEntry(kind.__name__, str(error)) from None
    return found


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _object(kind: type, value: Any, path: str) -> Any:
    if not isinstance(value, Mapping):
        raise _Misfit(f"{path or 'value'}: expected an object, got {type(value).__name__}")
    hints = _hints(kind)
    if extra := value.keys() - hints.keys():
        raise _Misfit(f"{_join(path, min(extra))}: no such field")
    if missing := hints.keys() - value.keys():
        raise _Misfit(f"{_join(path, min(missing))}: missing")
    return kind(**{name: _value(hint, value[name], _join(path, name)) for name, hint in hints.items()})


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _value(hint: Any, value: Any, path: str) -> Any:
    origin = typing.get_origin(hint)
    if origin is types.UnionType:
        return _union(typing.get_args(hint), value, path)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise _Misfit(f"{path}: expected a list, got {type(value).__name__}")
        inner = typing.get_args(hint)[0]
        return tuple(_value(inner, item, f"{path}[{i}]") for i, item in enumerate(value))
    if is_dataclass(hint):
        assert isinstance(hint, type)
        return _object(hint, value, path)
    if issubclass(hint, StrEnum):
        return _word(hint, value, path)
    if type(value) is not hint:
        raise _Misfit(f"{path}: expected {hint.__name__}, got {type(value).__name__}")
    return value


def _union(options: tuple[Any, ...], value: Any, path: str) -> Any:
    if type(None) in options:
        (inner,) = (option for option in options if option is not type(None))
        return None if value is None else _value(inner, value, path)
    word = value.get("kind") if isinstance(value, Mapping) else None
    kind = _KINDS.get(word) if isinstance(word, str) else None
    if kind is None or kind not in options:
        raise _Misfit(f"{path}.kind: expected one of {', '.join(_KINDS)}, got {reprlib.repr(word)}")
    return _object(kind, {k: v for k, v in value.items() if k != "kind"}, path)


def _word(hint: type[StrEnum], value: Any, path: str) -> StrEnum:
    try:
        return hint(value)
    except ValueError:
        raise _Misfit(f"{path}: expected one of {', '.join(hint)}, got {reprlib.repr(value)}") from None
