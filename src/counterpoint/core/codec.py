"""Entries to JSON and back. Strict: an unknown type, version or field fails closed; decoding runs constructors.

Types say the shape: dataclasses become objects, tuples lists, enums their word, closed unions of dataclasses an
object with a `kind`. There is no default on the wire: every field of an entry is written, and must be there.

Each type of entry has its own version. What an older one wrote is brought up to date before it is read, one step for
each version (`_STEPS`), and is read so for ever.
"""

import reprlib
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache, partial
from typing import Any, Final, TypeVar

from counterpoint.core.checks import CommandCheck, EditCheck, PathCheck, QuoteCheck
from counterpoint.core.entries import ENTRY_TYPES, CaseOpened, Entry
from counterpoint.errors import UnknownEntry

__all__ = ["decode", "decode_value", "encode", "encode_value", "entry_type", "version_of"]

_VERSIONS: Final[Mapping[type[Entry], int]] = types.MappingProxyType({CaseOpened: 3})
"""The types whose fields have changed since they were first written."""

T = TypeVar("T")

_KINDS: Final[Mapping[str, type]] = types.MappingProxyType(
    {"command": CommandCheck, "quote": QuoteCheck, "path": PathCheck, "edit": EditCheck}
)
_KIND_OF: Final = {kind: word for word, kind in _KINDS.items()}
_TYPE_OF: Final = {kind: word for word, kind in ENTRY_TYPES.items()}


class _Misfit(ValueError):
    """A JSON value is not of the declared type; `str()` names the key path and what was expected."""


def entry_type(entry: Entry) -> str:
    """Return the wire name of an entry's type."""
    return _TYPE_OF[type(entry)]


def version_of(kind: type[Entry]) -> int:
    """Return the version in which entries of this type are written."""
    return _VERSIONS.get(kind, 1)


def encode(entry: Entry) -> dict[str, Any]:
    """Return the JSON object of an entry, its version included."""
    return {"v": version_of(type(entry)), **encode_value(entry)}


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
    version, newest = typed.get("v"), version_of(kind)
    if type(version) is not int or not 1 <= version <= newest:
        known = f"version {newest}" if newest == 1 else f"versions 1 to {newest}"
        raise UnknownEntry(type_name, f"version {reprlib.repr(version)}; this program reads {known}")
    plain = {k: v for k, v in typed.items() if k != "v"}
    try:
        for step in _STEPS.get(kind, ())[version - 1 :]:
            plain = step(plain)
        entry: Entry = _object(kind, plain, "")
    except _Misfit as error:
        raise UnknownEntry(type_name, str(error)) from None
    return entry


def _case_opened_2(typed: dict[str, Any]) -> dict[str, Any]:
    """Version 2 has terms, the author's context and a pull request. A version 1 that has them is neither."""
    terms = {"block_on": "nit", "commits": True, "comments": False, "effort": "high"}
    docket = typed.get("docket")
    if not isinstance(docket, Mapping):
        return typed
    if extra := {"terms"} & typed.keys() or {"context", "pull_request"} & docket.keys():
        raise _Misfit(f"{min(extra)}: no such field in version 1")
    return {**typed, "docket": {**docket, "context": "", "pull_request": ""}, "terms": terms}


def _case_opened_3(typed: dict[str, Any]) -> dict[str, Any]:
    """Version 3 has what cases about text need. A version 2 that has any of it is neither."""
    found = dict(typed)
    for name, added in _ADDED_IN_3.items():
        before = found.get(name)
        if isinstance(before, Mapping):
            found[name] = _with(before, added, name)
    if isinstance(roster := found.get("roster"), list | tuple):
        found["roster"] = [
            _with(seat, {"given": ""}, f"roster[{i}]") if isinstance(seat, Mapping) else seat
            for i, seat in enumerate(roster)
        ]
    return found


_ADDED_IN_3: Final[Mapping[str, Mapping[str, Any]]] = types.MappingProxyType(
    {
        "docket": {"text": "", "tree": ""},
        "limits": {"min_rounds": 1, "stall_rounds": 0, "max_output_tokens": 0},
        "terms": {"vote_only": False, "sources": "", "options": []},
    }
)


def _with(before: Mapping[str, Any], added: Mapping[str, Any], path: str) -> dict[str, Any]:
    if early := added.keys() & before.keys():
        raise _Misfit(f"{path}.{min(early)}: no such field before version 3")
    return {**before, **added}


_STEPS: Final[Mapping[type[Entry], tuple[Callable[[dict[str, Any]], dict[str, Any]], ...]]] = types.MappingProxyType(
    {CaseOpened: (_case_opened_2, _case_opened_3)}
)
"""What brings an entry from version 1 to 2, from 2 to 3, and so on."""


def encode_value(value: Any) -> Any:
    """Return a value of the core as JSON: objects, lists, words, integers."""
    if value is None or type(value) in _PLAIN:
        return value
    match value:
        case StrEnum():
            return value.value
        case tuple():
            return [encode_value(item) for item in value]
        case _:
            assert is_dataclass(value), f"{type(value).__name__} is not a value of the core"
            kind: type = type(value)
            plain = {name: encode_value(getattr(value, name)) for name in _names(kind)}
            word = _KIND_OF.get(kind)
            return plain if word is None else {"kind": word, **plain}


_PLAIN: Final = frozenset({bool, int, str})


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))


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


_Reader = Callable[[Any, str], Any]
"""Reads the value at a path, or raises `_Misfit`."""


@cache
def _readers(kind: type) -> dict[str, _Reader]:
    """Return what reads each field of a dataclass; worked out once, since every entry and every reply is read so."""
    return {name: _reader(hint) for name, hint in typing.get_type_hints(kind).items()}


def _reader(hint: Any) -> _Reader:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is types.UnionType and type(None) in inner:
        (kind,) = (each for each in inner if each is not type(None))
        return partial(_optional, _reader(kind))
    if origin is tuple:
        return partial(_list, _reader(inner[0]))
    if origin is types.UnionType or hint in _KIND_OF:
        return partial(_union, inner or (hint,))
    assert isinstance(hint, type), f"{hint} is no type of the core"
    if is_dataclass(hint):
        return partial(_object, hint)
    return partial(_word if issubclass(hint, StrEnum) else _exact, hint)


def _object(kind: type, value: Any, path: str) -> Any:
    if not isinstance(value, Mapping):
        raise _Misfit(f"{path or 'value'}: expected an object, got {type(value).__name__}")
    readers = _readers(kind)
    if extra := value.keys() - readers.keys():
        raise _Misfit(f"{_join(path, min(extra))}: no such field")
    if missing := readers.keys() - value.keys():
        raise _Misfit(f"{_join(path, min(missing))}: missing")
    return kind(**{name: read(value[name], _join(path, name)) for name, read in readers.items()})


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _list(read: _Reader, value: Any, path: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise _Misfit(f"{path}: expected a list, got {type(value).__name__}")
    return tuple([read(item, f"{path}[{i}]") for i, item in enumerate(value)])


def _optional(read: _Reader, value: Any, path: str) -> Any:
    return None if value is None else read(value, path)


def _union(options: tuple[Any, ...], value: Any, path: str) -> Any:
    word = value.get("kind") if isinstance(value, Mapping) else None
    kind = _KINDS.get(word) if isinstance(word, str) else None
    if kind is None or kind not in options:
        known = ", ".join(_KIND_OF[option] for option in options)
        raise _Misfit(f"{path}.kind: expected one of {known}, got {reprlib.repr(word)}")
    return _object(kind, {k: v for k, v in value.items() if k != "kind"}, path)


def _word(hint: type[StrEnum], value: Any, path: str) -> StrEnum:
    try:
        return hint(value)
    except ValueError:
        raise _Misfit(f"{path}: expected one of {', '.join(hint)}, got {reprlib.repr(value)}") from None


def _exact(hint: type, value: Any, path: str) -> Any:
    if type(value) is not hint:
        raise _Misfit(f"{path}: expected {hint.__name__}, got {type(value).__name__}")
    return value
