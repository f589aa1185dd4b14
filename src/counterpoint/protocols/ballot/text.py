"""The text that is voted on: its one byte form, what it may not hold, and what it claims of its sources.

The text is exactly the bytes of the document after the line end of the version heading, up to the first byte of the
debate block: an empty line, the body, an empty line. Line ends are LF; hidden characters are written out. Its id is
the SHA-256 of these bytes in UTF-8. A tool that knows only the two headings computes the same (SPEC B-13).

Whatever could pass for a part of the debate is refused in it: a heading that reads like one of ours, and anything
left open that would swallow the debate below it where Markdown is drawn.
"""

import re
from dataclasses import dataclass
from typing import Final

from counterpoint.core.canonical import digest, visible

__all__ = [
    "MAX_TEXT",
    "Citation",
    "as_text",
    "candidate_of",
    "citations_in",
    "debate_heading",
    "forged_line",
    "left_open",
    "markers_in",
    "version_heading",
]

MAX_TEXT: Final = 100_000
"""Characters of a text at most."""


def version_heading(version: int) -> str:
    """Return the line above the text."""
    return f"## Current Consolidated Version — v{version}"


def debate_heading(round_number: int) -> str:
    """Return the first line of a round's debate block."""
    return f"## Debate — Round {round_number}"


def as_text(body: str) -> str:
    """Return a body as the text that stands between the version heading and the debate."""
    lines = visible(body).split("\n")
    said = [number for number, line in enumerate(lines) if line.strip()]
    kept = lines[said[0] : said[-1] + 1] if said else []
    return "\n".join(("", *kept, "", ""))


def candidate_of(text: str) -> str:
    """Return the id of a text: every vote is bound to it."""
    return digest(text.encode("utf-8"))


# --- what a text may not hold

_OURS: Final = re.compile(
    r"\W*(?:current\s+consolidated\s+version|debate\W+round|unresolved\s+divergence)\b", re.IGNORECASE
)
_HEADING: Final = re.compile(r"[\s>*+.)0-9-]*(?:#{1,6}\s|<h[1-6]\b[^>]*>)(.*)", re.IGNORECASE)
_UNDERLINE: Final = re.compile(r"[\s>]*(?:=+|-+)\s*")


def forged_line(text: str) -> tuple[int, str] | None:
    """Return the first line, by its number, that reads as a heading of the document's own; fences do not hide it."""
    lines = text.split("\n")
    for number, (line, below) in enumerate(zip(lines, [*lines[1:], ""], strict=True), start=1):
        heading = _HEADING.match(line)
        words = heading[1] if heading else line if _UNDERLINE.fullmatch(below) else ""
        if _OURS.match(words):
            return number, line
    return None


_FENCE: Final = re.compile(r"([ >]*(?:(?:[-*+]|[0-9]{1,9}[.)]) +)*)(`{3,}(?=[^`]*$)|~{3,})")
_PAIRS: Final = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"))
_HIDING: Final = (
    *("details", "dialog", "div", "iframe", "math", "noembed", "noframes", "noscript", "plaintext", "pre"),
    *("script", "section", "select", "style", "svg", "table", "template", "textarea", "title", "xmp"),
)
_TAG: Final = re.compile(rf"<(/?)({'|'.join(_HIDING)})(?=[\s/>]|$)", re.IGNORECASE | re.MULTILINE)


def left_open(text: str) -> str | None:
    """Return what is opened in the text and not closed, so that a reader would draw the debate as a part of it.

    It errs on the safe side: what a reader of Markdown may take either way counts as open, and code in a line counts.
    """
    outside, fault = _outside_fences(text)
    if fault:
        return fault
    for opening, end in _PAIRS:
        if outside.rfind(opening) > outside.rfind(end):
            return f"a {opening} that no {end} closes"
    tags = [(found[2].lower(), bool(found[1])) for found in _TAG.finditer(outside)]
    for name in _HIDING:
        if tags.count((name, False)) != tags.count((name, True)):
            return f"a <{name}> that is not closed as often as it is opened"
    return None


def _outside_fences(text: str) -> tuple[str, str | None]:
    """Return the lines outside of code fences, and the fence that is not closed where it has to be."""
    outside: list[str] = []
    fence, indent, at = "", 0, 0
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.expandtabs(4)
        if not fence:
            if found := _FENCE.match(line):
                fence, indent, at = found[2], len(found[1]), number
            else:
                outside.append(line)
        elif line.strip() and line[:indent].strip(" >"):
            break  # the list or quotation may be over here, and its fence with it
        elif _closes(line[indent:], fence):
            fence = ""
    return "\n".join(outside), f"the code fence of line {at}" if fence else None


def _closes(line: str, fence: str) -> bool:
    bare = line.strip(" >")
    return len(bare) >= len(fence) and set(bare) == {fence[0]}


# --- what a text claims

_MARKER: Final = re.compile(r"\[(?:VERIFY|NO DOCUMENTARY EVIDENCE)\b[^\]\n]{0,200}\]")
_CITED: Final = re.compile(r"\[source:([^\]\n]{1,1000})\]", re.IGNORECASE)
_QUOTES: Final = {'"': '"', "”": "“"}


def markers_in(text: str) -> tuple[str, ...]:
    """Return what the text says of itself that nothing bears out: `[VERIFY]` at line 3 (SPEC B-07)."""
    return tuple(f"{found[0]} at line {_line(text, found.start())}" for found in _MARKER.finditer(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A statement of the text that names its source: `"quoted words" [source: path]`."""

    path: str
    quote: str
    """Empty where the text only names the file."""
    line: int
    """Of the text."""


def citations_in(text: str) -> tuple[Citation, ...]:
    """Return the citations of a text, in its order."""
    return tuple(
        Citation(path=found[1].strip(), quote=_quote_before(text, found.start()), line=_line(text, found.start()))
        for found in _CITED.finditer(text)
        if found[1].strip()
    )


def _quote_before(text: str, at: int) -> str:
    """Return the quotation that ends before `at`, or "". A line break inside it is the text's own."""
    before = text[max(0, at - _MAX_QUOTE) : at].rstrip()
    opening = _QUOTES.get(before[-1:], "")
    quote = before[:-1].rpartition(opening) if opening else ("", "", "")
    return " ".join(quote[2].split()) if quote[1] else ""


_MAX_QUOTE: Final = 5_000


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
