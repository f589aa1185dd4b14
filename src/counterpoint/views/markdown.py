"""Text of others inside our Markdown: shown, and never structure.

- `fenced`: a block of code whose fence is longer than every run of backticks in it, which no text can close
  (SECURITY B.4; a quotation would let HTML, links and images through).
- `code`: the same for a piece of a line, cut where it is long.
- `inline`: a piece of a line as it stands where it is made of characters that mean nothing in the middle of a line of
  Markdown, else `code`.

Hidden characters are written out in all three. `items` and `listed` are our own lists of what was made so.
"""

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from counterpoint.core.canonical import visible

__all__ = ["Lines", "code", "counted", "fenced", "inline", "items", "listed", "wrapped"]

WIDTH: Final = 100

Lines = Iterator[str]
"""Paragraphs; an empty line goes between two."""

_MAX_LISTED: Final = 50

_MAX_SPAN: Final = 300
_HARMLESS: Final = re.compile(r"""(?:[A-Za-z0-9 ,.;:'"/()%+-]|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9]))+""")
_LINK: Final = re.compile(r"www\.|//|(?<![0-9]):(?=\S)|:(?=[^0-9\s])", re.IGNORECASE)
"""What some readers make a link or a picture of although no bracket is there; a time of day is neither."""
_RUN: Final = re.compile("`+")


def _longest_run(text: str) -> int:
    return max((len(run) for run in _RUN.findall(text)), default=0)


def fenced(text: str) -> str:
    """Return `text` as a block of code."""
    shown = visible(text).removesuffix("\n")
    fence = "`" * max(3, _longest_run(shown) + 1)
    return f"{fence}text\n{shown}\n{fence}"


def code(text: str) -> str:
    r"""Return `text` as a span of code on one line; a line end is written as `\n`."""
    shown = visible(text).replace("\n", "\\n").replace("\t", " ")
    if len(shown) > _MAX_SPAN:
        shown = shown[:_MAX_SPAN] + "…"
    if not shown.strip():
        return "(empty)"
    ticks = "`" * (_longest_run(shown) + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def inline(text: str) -> str:
    """Return `text` for the middle of a line, as plain as is safe."""
    text = text.strip()
    is_plain = len(text) <= _MAX_SPAN and _HARMLESS.fullmatch(text) and not _LINK.search(text)
    return text if is_plain else code(text)


def items(*texts: str) -> str:
    """Return a list of those of our own texts that are not empty."""
    return "\n".join(f"- {text}" for text in texts if text)


def listed(texts: Sequence[str]) -> str:
    """Return a list of texts of others, cut where it is long."""
    more = len(texts) - _MAX_LISTED
    shown: Iterable[str] = (code(text) for text in texts[:_MAX_LISTED])
    return items(*shown, f"and {more} more; `result.json` has them all" if more > 0 else "")


def counted(number: int, what: str) -> str:
    """Return `1 path`, `2 paths`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def wrapped(text: str, width: int = WIDTH) -> str:
    """Return prose with no line longer than `width` but for single words; each line keeps its indentation."""
    return "\n".join(_wrapped_line(line, width) for line in visible(text).split("\n"))


def _wrapped_line(line: str, width: int) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(
        line,
        width,
        subsequent_indent=indent if len(indent) < width // 2 else "",
        break_long_words=False,
        break_on_hyphens=False,
        expand_tabs=False,
        replace_whitespace=False,
    )
