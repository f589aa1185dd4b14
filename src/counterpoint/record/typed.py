r"""The typed fence: the JSON object of an entry, on one line between two fence lines.

- One text per value: canonical JSON in which every hidden character is a `\uXXXX` escape, so that no string in
  a typed object can end a line for a reader that follows `str.splitlines`.
- The typed fence is the last fence before the trailer. What looks like one earlier is text.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from counterpoint.core.canonical import HIDDEN, NotCanonical, canonical_json, parse_json
from counterpoint.errors import Refused

__all__ = ["FENCE", "MAX_FIELDS", "ends_like_fence", "read_fields", "write_fields"]

MAX_FIELDS: Final = 8 * 1024 * 1024
"""Six bytes for each byte of the largest reply, the worst that escaping makes of it, and room for the rest."""

FENCE: Final = b"```json counterpoint\n"
CLOSE: Final = b"\n```"
_NEWLINE = ord("\n")


def write_fields(fields: Mapping[str, Any]) -> bytes:
    """Return the typed fence of `fields`: three lines, no line end after the last.

    Raises:
        Refused: FIELDS-1: they have no canonical form, or are too large.
    """
    try:
        line = _line(fields)
    except NotCanonical as error:
        raise Refused("FIELDS-1", f"the typed object has no canonical form: {error}") from None
    if len(line) > MAX_FIELDS:
        raise Refused("FIELDS-1", f"the typed object has {len(line)} bytes; at most {MAX_FIELDS} are kept")
    return FENCE + line + CLOSE


def read_fields(line: bytes) -> Mapping[str, Any]:
    """Return the object in the fence's middle line.

    Raises:
        NotCanonical: the line is not the one text of one JSON object.
    """
    value = parse_json(line, max_bytes=MAX_FIELDS)
    if not isinstance(value, dict):
        raise NotCanonical(f"{type(value).__name__} where an object belongs")
    if _line(value) != line:
        raise NotCanonical("not the canonical text of its value")
    return value


def ends_like_fence(content: bytes) -> bytes | None:
    """Return the middle line of the typed fence that `content` ends with, or `None`."""
    if not content.endswith(CLOSE):
        return None
    at = content.rfind(b"\n", 0, -len(CLOSE)) + 1
    fence = at - len(FENCE)
    if not content.endswith(FENCE, 0, at) or (fence > 0 and content[fence - 1] != _NEWLINE):
        return None
    return content[at : -len(CLOSE)]


def _line(fields: Mapping[str, Any]) -> bytes:
    return HIDDEN.sub(_escape, canonical_json(fields)).encode()


def _escape(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]
