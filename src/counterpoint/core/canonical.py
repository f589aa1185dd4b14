r"""One byte form for everything that is hashed or stored, and the strict reading of JSON.

- `canonical_json`: sorted ASCII keys, no spaces, UTF-8, no floats, |int| < 2**53; equal to RFC 8785 on that subset.
- `parse_json`: one value, no duplicate key, no fraction, no NaN, no lone surrogate, size and depth caps.
- `visible`: control, bidirectional and invisible characters written out (`\u{202e}`), never dropped.

Source: SECURITY B.1 (6), B.4.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

__all__ = ["HIDDEN", "MAX_INT", "NotCanonical", "canonical_json", "digest", "parse_json", "visible"]

MAX_INT: Final = 2**53 - 1
MAX_DEPTH: Final = 64


class NotCanonical(ValueError):
    """The text is not JSON as we accept it, or the value has no canonical form; `str()` says why."""


def digest(content: bytes) -> str:
    """Return the SHA-256 of `content` as 64 lower-case hex digits."""
    return hashlib.sha256(content).hexdigest()


def canonical_json(value: object) -> str:
    """Return the canonical text of a JSON value.

    Raises:
        NotCanonical: a float, a large integer, a key that is not an ASCII string or a lone surrogate is in it.
    """
    _check(value, 0, MAX_DEPTH, ascii_keys=True)
    text = _ENCODER.encode(value)
    if _SURROGATE.search(text):
        raise NotCanonical("a lone surrogate has no UTF-8 form")
    return text


_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=dict)
_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_SHOWN = 60


def _cut(text: str) -> str:
    # What is refused can be a megabyte long; its beginning tells which it was.
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "..."


def _check(value: object, depth: int, max_depth: int, *, ascii_keys: bool) -> None:
    if depth > max_depth:
        raise NotCanonical(f"nested deeper than {max_depth}")
    if value is None or type(value) in _PLAIN:
        return
    inner: Iterable[object] = ()
    match value:
        case int() if abs(value) > MAX_INT:
            raise NotCanonical(f"an integer of {value.bit_length()} bits; at most 53 are kept")
        case int() | str():
            return
        case dict() | Mapping():
            if ascii_keys:
                _check_keys(value)
            inner = value.values()
        case list() | tuple():
            inner = value
        case _:
            raise NotCanonical(f"{type(value).__name__} has no canonical form")
    for item in inner:
        _check(item, depth + 1, max_depth, ascii_keys=ascii_keys)


_PLAIN: Final = frozenset({str, bool})


def _check_keys(value: Mapping[Any, object]) -> None:
    for key in value:
        if not isinstance(key, str):
            raise NotCanonical(f"key {key!r} is not a string")
        if not key.isascii():
            raise NotCanonical(f"key {_cut(key)!r} is not ASCII")


def parse_json(content: bytes | str, *, max_bytes: int, max_depth: int = MAX_DEPTH) -> Any:
    """Return the one JSON value in `content`.

    Raises:
        NotCanonical: `content` is too large or too deep, is not UTF-8, or is not exactly one strict value.
    """
    size = len(content) if isinstance(content, bytes) else len(content.encode("utf-8", "surrogatepass"))
    if size > max_bytes:
        raise NotCanonical(f"{size} bytes; at most {max_bytes} are read")
    try:
        text = content.decode("utf-8") if isinstance(content, bytes) else content
        value = _STRICT.decode(text)
    except UnicodeDecodeError as error:
        raise NotCanonical(f"not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise NotCanonical(f"not JSON: {error.msg} at line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise NotCanonical(f"nested deeper than {max_depth}") from None
    # What is read need not be canonical: JSON has no other keys than strings.
    _check(value, 0, max_depth, ascii_keys=False)
    # UTF-8 has no lone surrogate; only an escape can bring one in.
    if (text is content or "\\u" in text) and _SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise NotCanonical("a lone surrogate has no UTF-8 form")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise NotCanonical(f"key {_cut(key)!r} stands twice in one object")
        found[key] = value
    return found


def _no_constant(name: str) -> Any:
    raise NotCanonical(f"{name} is not a JSON value")


def _no_float(text: str) -> Any:
    raise NotCanonical(f"{_cut(text)} is not an integer; fractions and exponents are not accepted")


def _int(text: str) -> int:
    # Before Python's own limit on digits, which is a setting and an error of another kind.
    if len(text) > _MAX_DIGITS:
        raise NotCanonical(f"an integer of {len(text)} characters; at most 53 bits are kept")
    return int(text)


_MAX_DIGITS: Final = len(str(-MAX_INT))
_STRICT: Final = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_no_float, parse_int=_int
)

HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""C0 and C1 controls but tab and newline, bidi marks, line separators, surrogates, and every character that Unicode
says to ignore when it is drawn (Default_Ignorable_Code_Point)."""


def visible(text: str) -> str:
    r"""Return `text` with every control, bidirectional or invisible character written as `\u{hex}`.

    CR LF becomes LF first. Tab and newline stay. Applying it twice changes nothing more.
    """
    return HIDDEN.sub(_write_out, text.replace("\r\n", "\n"))


def _write_out(found: re.Match[str]) -> str:
    return f"\\u{{{ord(found[0]):x}}}"
