"""The doorbell: `<id>.signal.json`, small and cheap to poll, in the bytes of the public tool.

It says the newest entry's number, whose turn it is and which thread is open. It can be lost without loss: whatever
is missing, torn or behind the record is rebuilt from the record (SPEC C-140).
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from counterpoint.record.store import Block

__all__ = ["FRESH_BELL", "MAX_BELL", "default_bell", "next_bell", "read_bell", "read_object", "write_object"]

MAX_BELL: Final = 64 * 1024
_MAX_DIGITS: Final = 4300
"""More Python does not read."""
FRESH_BELL: Final[Mapping[str, Any]] = {"seq": 0, "turn": "", "thread": "", "last_entry": "", "updated_at": ""}
"""Of a channel without entries; a genesis entry leaves it so, and numbers begin at 1 for both tools."""
_BROKER: Final = ("phase", "deadline", "terminal_result", "close_reason", "case_thread")
"""Fields of the public tool's controller; kept as they stand, in this order, before ours."""
_OURS: Final = ("seq", "turn", "thread", "last_entry", "updated_at")


def read_object(content: bytes) -> Mapping[str, Any] | None:
    """Return the JSON object in `content`, as leniently as the public tool reads it; `None`: there is none."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def write_object(fields: Mapping[str, Any]) -> bytes:
    """Return an object's text as the public tool writes it: two blanks of indent, ASCII, no line end at the end."""
    return json.dumps(dict(fields), indent=2).encode()


def read_bell(content: bytes | None) -> tuple[int, Mapping[str, Any]] | None:
    """Return the doorbell's number and its fields; `None` where it is missing or torn."""
    fields = read_object(content) if content is not None else None
    if fields is None:
        return None
    match fields.get("seq", 0):
        case bool():
            return None
        case int(number):
            return number, fields
        case str(text) if text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS:
            return int(text), fields
        case _:
            return None


def default_bell(block: Block) -> Mapping[str, Any]:
    """Return the doorbell after `block` where nobody's turn it is and no thread is open."""
    return {"seq": block.n, "turn": "", "thread": "", "last_entry": f"MSG-{block.n}", "updated_at": block.stamp}


def next_bell(before: Mapping[str, Any] | None, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return `fields` as the whole doorbell, behind what the public tool's controller wrote into the last one."""
    kept = {name: before[name] for name in _BROKER if name in before} if before else {}
    return {**kept, **{name: fields[name] for name in _OURS}}
