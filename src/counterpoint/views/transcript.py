"""The whole record of a case, for reading on a terminal or in a pipe.

Each entry has a line with number, stamp and type, then what it says in words, within a bounded width. Hidden
characters are written out, so that no entry can act on a terminal (SECURITY T1). Colour is the caller's to ask for.
"""

import json
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from counterpoint.core.canonical import visible
from counterpoint.record.store import Block

__all__ = ["Paint", "block_of", "plain", "render_entry", "render_transcript", "transcript_of"]

Paint = Callable[[str, str], str]
"""Given a text and what it is (`number`, `type`, `quote`, `strong`), the text as it is to be shown."""

MIN_WIDTH: Final = 60
_INDENT: Final = "  "
_STRONG: Final = re.compile(r"\*\*([a-z_]+|[A-Za-z0-9-]+)\*\*")
_QUOTE: Final = "> "


def plain(text: str, what: str) -> str:
    """Paint nothing."""
    return text


def render_transcript(blocks: tuple[Block, ...], *, width: int, paint: Paint = plain) -> str:
    """Return the entries in words, the oldest first."""
    return "\n\n".join("\n".join(_entry(block, max(width, MIN_WIDTH), paint)) for block in blocks) + "\n"


def render_entry(block: Block, *, paint: Paint = plain) -> str:
    """Return one entry whole: its header's fields, its words as they stand, its typed object."""
    lines = [_title(block, paint), f"sender  {block.sender}", f"thread  {block.thread}", f"refs    {block.refs}"]
    lines.append(f"batch   {block.batch[0]} of {block.batch[1]}")
    lines.append(f"digest  {block.digest}")
    parts = ["\n".join(visible(line) for line in lines), visible(block.text)]
    if block.fields is not None:
        parts.append(json.dumps(block.fields, indent=2, sort_keys=True, ensure_ascii=True, default=dict))
    return "\n\n".join(part for part in parts if part) + "\n"


def transcript_of(case: str, blocks: tuple[Block, ...]) -> Mapping[str, Any]:
    """Return the entries as one JSON object."""
    return {"case": case, "entries": [block_of(block) for block in blocks]}


def block_of(block: Block) -> Mapping[str, Any]:
    """Return one entry as a JSON object."""
    return {
        "n": block.n,
        "at": block.stamp,
        "sender": block.sender,
        "type": block.type,
        "thread": block.thread,
        "refs": block.refs,
        "batch": list(block.batch),
        "digest": block.digest,
        "text": block.text,
        "fields": block.fields,
    }


def _title(block: Block, paint: Paint) -> str:
    number = paint(f"MSG-{block.n}", "number")
    return f"{number}  {visible(block.stamp)}  {paint(visible(block.type), 'type')}"


def _entry(block: Block, width: int, paint: Paint) -> Iterator[str]:
    yield _title(block, paint)
    for line in visible(block.text).split("\n"):
        if line.strip():
            yield from _line(line, width - len(_INDENT), paint)


def _line(line: str, width: int, paint: Paint) -> Iterator[str]:
    if line.startswith(">"):
        for piece in _wrapped(line[1:].removeprefix(" "), width - len(_QUOTE)):
            yield _INDENT + paint(f"{_QUOTE}{piece}".rstrip(), "quote")
        return
    for piece in _wrapped(line, width):
        yield _INDENT + _STRONG.sub(lambda found: paint(found[1], "strong"), piece.rstrip())


def _wrapped(line: str, width: int) -> list[str]:
    """Return a line in pieces of at most `width`, its blanks kept; what hangs over is indented as the line is."""
    shown = line.replace("\t", "    ")
    indent = shown[: len(shown) - len(shown.lstrip())][: width // 2]
    pieces = textwrap.wrap(
        shown,
        width,
        subsequent_indent=indent,
        break_on_hyphens=False,
        replace_whitespace=False,
        drop_whitespace=False,
    )
    return pieces or [""]
