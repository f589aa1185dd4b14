r"""One byte form for everything that is hashed or stored, and the strict reading of JSON.

- `canonical_json`: sorted keys, no spaces, UTF-8, no floats, |int| < 2**53; equal to RFC 8785 on that subset.
- `parse_json`: one value, no duplicate key, no NaN, no float overflow, no lone surrogate, size and depth caps.
- `visible`: control, bidirectional and invisible characters written out (`\u{202e}`), never dropped.

Source: SECURITY B.1 (6), B.4.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

__all__ = ["HIDDEN", "MAX_INT", "NotCanonical", "canonical_json", "digest", "parse_json", "visible"]

MAX_INT: Final = 2**53 - 1
MAX_DEPTH: Final = 64

Json = None | bool | int | str | Sequence["Json"] | Mapping[str, "Json"]


class NotCanonical(ValueError):
    """The text is not JSON as we accept it, or the value has no canonical form; `str()` says why."""


def digest(content: bytes) -> str:
    """Return the SHA-256 of `content` as 64 lower-case hex digits."""
    return hashlib.sha256(content).hexdigest()


def canonical_json(value: object) -> str:
    """Return the canonical text of a JSON value.

    Raises:
        NotCanonical: a float, a large integer, a non-string key or a lone surrogate is in it.
    """
    _check(value, 0)
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    if _SURROGATE.search(text):
        raise NotCanonical("a lone surrogate has no UTF-8 form")
    return text


_SURROGATE = re.compile("[\ud800-\udfff]")


def _check(value: object, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise NotCanonical(f"nested deeper than {MAX_DEPTH}")
    match value:
        case None | bool() | str():
            return
        case int():
            if abs(value) > MAX_INT:
                raise NotCanonical(f"integer {value} is beyond 2**53")
        case Mapping():
            for key, inner in value.items():
                if not isinstance(key, str):
                    raise NotCanonical(f"key {key!r} is not a string")
                _check(inner, depth + 1)
        case list() | tuple():
            for inner in value:
                _check(inner, depth + 1)
        case _:
            raise NotCanonical(f"{type(value).__name__} has no canonical form")


def parse_json(content: bytes | str, *, max_bytes: int, max_depth: int = MAX_DEPTH) -> Any:
    """Return the one JSON value in `content`.

    Raises:
        NotCanonical: `content` is too large or too deep, is not UTF-8, or is not exactly one strict value.
    """
    if len(content) > max_bytes:
        raise NotCanonical(f"{len(content)} bytes; at most {max_bytes} are read")
    try:
        text = content.decode("utf-8") if isinstance(content, bytes) else content
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_no_float)
        _check(value, MAX_DEPTH - max_depth)
    except UnicodeDecodeError as error:
        raise NotCanonical(f"not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise NotCanonical(f"not JSON: {error.msg} at line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise NotCanonical(f"nested deeper than {max_depth}") from None
    except ValueError as error:  # NotCanonical from a hook, or an integer of thousands of digits
        raise NotCanonical(str(error)) from None
    if _SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise NotCanonical("a lone surrogate has no UTF-8 form")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise NotCanonical(f"key {key!r} stands twice in one object")
        found[key] = value
    return found


def _no_constant(name: str) -> Any:
    raise NotCanonical(f"{name} is not a JSON value")


def _no_float(text: str) -> Any:
    raise NotCanonical(f"{text} is not an integer; fractions are not accepted")


HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""C0 and C1 controls but tab and newline, bidi and zero-width marks, separators, BOM, tags, surrogates."""


def visible(text: str) -> str:
    r"""Return `text` with every control, bidirectional or invisible character written as `\u{hex}`.

    CR LF becomes LF first. Tab and newline stay. Applying it twice changes nothing more.
    """
    return HIDDEN.sub(_write_out, text.replace("\r\n", "\n"))


def _write_out(found: re.Match[str]) -> str:
    return f"\\u{{{ord(found[0]):x}}}"
