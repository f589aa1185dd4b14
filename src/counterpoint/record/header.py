"""The header line of an entry: its grammar, its names, its stamp.

`## MSG-13 | 2026-07-06T14:07:48+00:00 | from: glm | type: verdict | thread: retry | refs: retry@4e9f21c`

- Two grammars. The *wide* one is what the public tool reads; whatever it reads as a header is one for us too.
  The *canonical* one is what we write: ASCII names, UTC stamp with whole seconds, refs without outer blanks.
- Lines end where `str.splitlines` ends them (SPEC C-013).
- Names: `[a-z0-9][a-z0-9-]{0,63}` and no Windows device in strict channels, no length limit in shared ones
  (SPEC C-004, C-011; SECURITY R20).
"""

import re
from datetime import UTC, datetime
from typing import Final

from counterpoint.core.canonical import HIDDEN
from counterpoint.core.naming import NAME
from counterpoint.errors import Refused
from counterpoint.frozen import dataclass

__all__ = [
    "MARK",
    "MAX_NUMBER",
    "MAX_REFS",
    "QUICK",
    "Header",
    "check_header",
    "check_name",
    "is_name",
    "is_stamp",
    "line_end",
    "parse_stamp",
    "read_header",
    "reads_as_header",
    "starts_line",
]

MARK: Final = b"## MSG-"
MAX_NUMBER: Final = 10**15 - 1
MAX_REFS: Final = 16 * 1024

QUICK: Final = re.compile(
    rb"## MSG-(0|[1-9][0-9]{0,14}) \| ((%(date)b)T%(time)b) \| from: (%(name)b) \| type: (%(name)b)"
    rb" \| thread: (%(name)b) \| refs: [!-~](?:[ -~]{0,8000}[!-~])?\n\n"
    % {
        b"date": rb"[0-9]{4}-[0-9]{2}-[0-9]{2}",
        b"time": rb"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\+00:00",
        b"name": rb"(?!(?:con|prn|aux|nul|(?:com|lpt)[0-9]) )[a-z0-9][a-z0-9-]{0,63}",
    }
)
"""Matches, up to the text, only a header that every mode accepts if its date exists.

Its groups: number, stamp, date, sender, type, thread.
"""

_WIDE = re.compile(r"## MSG-(\d+) \| ([^|]+) \| from: ([\w-]+) \| type: ([\w-]+) \| thread: ([^|]+) \| refs: (.*)")
_LINE_END = re.compile(rb"\r\n|[\n\r\x0b\x0c\x1c-\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]")
_LINE_ENDS = (
    b"\n",
    b"\r",
    b"\x0b",
    b"\x0c",
    b"\x1c",
    b"\x1d",
    b"\x1e",
    b"\xc2\x85",
    b"\xe2\x80\xa8",
    b"\xe2\x80\xa9",
)
_NEWLINE = ord("\n")
_SHARED_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_DEVICE = re.compile(r"con|prn|aux|nul|(?:com|lpt)[0-9]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\+00:00", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    n: int
    stamp: str
    sender: str
    type: str
    thread: str
    refs: str

    def __bytes__(self) -> bytes:
        return (
            f"## MSG-{self.n} | {self.stamp} | from: {self.sender} | type: {self.type} "
            f"| thread: {self.thread} | refs: {self.refs or '-'}"
        ).encode()


def reads_as_header(line: str) -> bool:
    """Say whether a reader of the public tool's grammar takes this line for the start of an entry."""
    return line.startswith("## MSG-") and _WIDE.fullmatch(line) is not None


def starts_line(content: bytes, at: int) -> bool:
    """Say whether a line begins at this offset."""
    return at == 0 or content[at - 1] == _NEWLINE or content.endswith(_LINE_ENDS, max(0, at - 3), at)


def line_end(content: bytes, at: int) -> tuple[int, int]:
    """Return where the line that covers `at` ends, without and with its line end."""
    found = _LINE_END.search(content, at)
    return found.span() if found else (len(content), len(content))


def read_header(line: bytes) -> Header | None:
    """Return the header in `line` by the wide grammar, or `None` where the line is none.

    A number beyond `MAX_NUMBER` is returned as -1: still a header, never a valid entry.
    """
    found = _WIDE.fullmatch(line.decode("utf-8", "surrogateescape"))
    if found is None:
        return None
    number, stamp, sender, kind, thread, refs = found.groups()
    n = int(number) if len(number) <= len(str(MAX_NUMBER)) else -1
    return Header(n=n, stamp=stamp.strip(), sender=sender, type=kind, thread=thread.strip(), refs=refs.strip())


def check_name(what: str, name: str, *, strict: bool) -> None:
    """Refuse, by NAME-1, a name that the channel's mode does not allow."""
    grammar = NAME if strict else _SHARED_NAME
    if not grammar.fullmatch(name):
        reason = f"{what} {name!r} is not of the form {grammar.pattern}"
    elif strict and _DEVICE.fullmatch(name):
        reason = f"{what} {name!r} is the name of a device on Windows"
    else:
        return
    raise Refused("NAME-1", reason, hint=f"choose another {what}")


def is_name(name: str, *, strict: bool) -> bool:
    """Say whether NAME-1 takes it for a channel."""
    try:
        check_name("channel", name, strict=strict)
    except Refused:
        return False
    return True


def is_stamp(text: str) -> bool:
    """Say whether `text` is a UTC time as we write it: a real date, whole seconds, `+00:00`."""
    return _STAMP.fullmatch(text) is not None and parse_stamp(text) is not None


def parse_stamp(text: str) -> datetime | None:
    """Read a stamp as the public tool does: ISO-8601, `Z` or no zone meaning UTC (SPEC C-012)."""
    try:
        stamp = datetime.fromisoformat(text)
    except ValueError:
        return None
    return stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)


def check_header(header: Header, *, strict: bool) -> None:
    """Refuse a header with a name or refs that the channel's mode does not allow.

    Raises:
        Refused: NAME-1 or REFS-1.
    """
    for what, name in (("sender", header.sender), ("type", header.type), ("thread", header.thread)):
        check_name(what, name, strict=strict)
    refs, hidden = header.refs, HIDDEN if strict else _SURROGATE
    if refs != refs.strip() or len(refs.splitlines()) > 1 or hidden.search(refs):
        raise Refused("REFS-1", f"refs {refs!r} are not one line of visible text", hint="write refs on one line")
    if len(refs) > MAX_REFS:
        raise Refused("REFS-1", f"refs have {len(refs)} characters; at most {MAX_REFS} are kept", hint="name fewer")
