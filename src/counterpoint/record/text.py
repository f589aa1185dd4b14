"""What a text may hold, so that no reader takes a line of it for something else.

Refused from a poster, indented by one space by the driver (`indent_lookalikes`):

- TEXT-1: a line at column 0 that reads as a header (SPEC C-014);
- TEXT-2: a line at column 0 that begins as a trailer does.

Refused from everyone: TEXT-3 nothing but blanks where there is no typed object; TEXT-4 a text without typed
object that ends as a typed fence does; TEXT-5 hidden characters in a strict channel, or no UTF-8 form; TEXT-6
too long.

Lines are those of `str.splitlines`, for this guard and for every reader (SPEC C-013).
"""

from typing import Final

from counterpoint.core.canonical import HIDDEN
from counterpoint.errors import Refused
from counterpoint.record.header import reads_as_header
from counterpoint.record.trailer import TRAILER_MARK
from counterpoint.record.typed import ends_like_fence

__all__ = ["MAX_TEXT", "check_text", "indent_lookalikes"]

MAX_TEXT: Final = 1024 * 1024


def check_text(text: str, *, strict: bool, has_fields: bool) -> None:
    """Refuse a text that has no place in an entry.

    Raises:
        Refused: TEXT-1 to TEXT-6.
    """
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise Refused("TEXT-5", f"character {error.start} of the text has no UTF-8 form") from None
    if len(content) > MAX_TEXT:
        raise Refused("TEXT-6", f"the text has {len(content)} bytes; at most {MAX_TEXT} are kept", hint="shorten it")
    if strict and (found := HIDDEN.search(text)):
        raise Refused("TEXT-5", f"the text holds the hidden character U+{ord(found[0]):04X}", hint="write it visibly")
    hint = "quote or indent that line"
    for number, line in _lookalikes(text):
        if reads_as_header(line):
            raise Refused("TEXT-1", f"line {number} of the text reads as a header: {line[:80]!r}", hint=hint)
        raise Refused("TEXT-2", f"line {number} of the text begins as a trailer: {line[:80]!r}", hint=hint)
    if has_fields:
        return
    if not text.strip():
        raise Refused("TEXT-3", "the text is empty and there is no typed object", hint="write something")
    if ends_like_fence(content) is not None:
        raise Refused("TEXT-4", "the text ends as a typed object does", hint="add a line after the last fence")


def indent_lookalikes(text: str) -> str:
    """Return `text` with one space before each line that reads as a header or begins as a trailer."""
    if not _may_have_lookalikes(text):
        return text
    return "".join(f" {line}" if _is_lookalike(_bare(line)) else line for line in text.splitlines(keepends=True))


def _lookalikes(text: str) -> list[tuple[int, str]]:
    if not _may_have_lookalikes(text):
        return []
    return [(number, line) for number, line in enumerate(text.splitlines(), 1) if _is_lookalike(line)]


def _may_have_lookalikes(text: str) -> bool:
    return "## MSG-" in text or TRAILER_MARK in text


def _is_lookalike(line: str) -> bool:
    return line.startswith(TRAILER_MARK) or reads_as_header(line)


def _bare(line: str) -> str:
    return line.splitlines()[0]
