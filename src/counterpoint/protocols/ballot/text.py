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
from counterpoint.protocols.ballot.quoting import cited_in

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
_BLOCK: Final = re.compile(r"[ >]*(?:(?:[-*+]|[0-9]{1,9}[.)]) +)*<[A-Za-z/!?]")
_PAIRS: Final = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"))
_HIDING: Final = (
    *("details", "dialog", "div", "iframe", "math", "noembed", "noframes", "noscript", "plaintext", "pre"),
    *("script", "section", "select", "style", "svg", "table", "template", "textarea", "title", "xmp"),
)
_TAG: Final = re.compile(rf"<(/?)({'|'.join(_HIDING)})(?=[\s/>]|$)", re.IGNORECASE | re.MULTILINE)


def left_open(text: str, *, first: int = 1, of: str = "the text") -> str | None:
    """Return what is opened in the text and not closed, so that a reader would draw the debate as a part of it.

    Its lines are numbered from `first`, and are those `of` something. It errs on the safe side: what a reader of
    Markdown may take either way counts as open, and code in a line counts.
    """
    markup, fence, prefix, at = _Markup(), "", "", 0
    for number, raw in enumerate(text.split("\n"), start=first):
        line = raw.expandtabs(4)
        if not fence:
            if found := _FENCE.match(line):
                fence, prefix, at = found[2], _LIST_MARKER.sub(" ", found[1]), number
                if markup.may_go_on:
                    break
            else:
                markup.read(line)
        elif _leaves(line, prefix):
            break
        elif _closes(line[len(prefix) :], fence):
            fence = ""
        elif _closes(line.strip(" >"), fence):
            break
    return f"the code fence of line {at} of {of}" if fence else markup.unclosed()


_LIST_MARKER: Final = re.compile("[^ >]")


def _leaves(line: str, prefix: str) -> bool:
    """Return whether a line does not begin as the fence's first one did, with blanks in place of a list's marker.

    Then the list or the quotation may be over, and the fence with it, or the fence may go on.
    """
    return line[: len(prefix)].rstrip() != prefix.rstrip() and bool(line.strip() or ">" in prefix)


def _closes(line: str, fence: str) -> bool:
    bare = line.rstrip()
    return len(bare) >= len(fence) and set(bare) == {fence[0]}


class _Markup:
    """The HTML that is open after the lines read so far; code fences are left out by whoever reads."""

    def __init__(self) -> None:
        self._pairs = dict.fromkeys(_PAIRS, False)
        self._tags = dict.fromkeys(_HIDING, 0)
        self._is_block = False

    def read(self, line: str) -> None:
        for opening, end in _PAIRS:
            last = line.rfind(opening), line.rfind(end)
            if max(last) >= 0:
                self._pairs[opening, end] = last[0] > last[1]
        for found in _TAG.finditer(line):
            name = found[2].lower()
            self._tags[name] = max(0, self._tags[name] - 1) if found[1] else self._tags[name] + 1
        self._is_block = bool(line.strip(" >")) and (self._is_block or _BLOCK.match(line) is not None)

    @property
    def may_go_on(self) -> bool:
        """Whether the next line may be read as HTML: a fence there is none."""
        return self._is_block or self.unclosed() is not None

    def unclosed(self) -> str | None:
        if pair := next((pair for pair, is_open in self._pairs.items() if is_open), None):
            return f"a {pair[0]} that no {pair[1]} closes"
        name = next((name for name, count in self._tags.items() if count), None)
        return f"a <{name}> that is not closed as often as it is opened" if name else None


# --- what a text claims

_MARKER: Final = re.compile(
    r"\[[\s>*_~`]*(?:(?:VERIFY|NO[\s>]+DOCUMENTARY[\s>]+EVIDENCE)\b"
    r"|(?i:verify|no[\s>]+documentary[\s>]+evidence)(?=[\s*_~`]*(?:\\?\](?![(\[:])|:)))"
    r"(?:[^\]\n]|\n(?!\s*\n)){0,200}\]?"
)
"""In capitals always; in other letters unless it may be the words of a link."""


def markers_in(text: str, *, first: int = 1) -> tuple[str, ...]:
    """Return what the text says of itself that nothing bears out: `[VERIFY]` at line 3 (SPEC B-07).

    Its lines are numbered from `first`.
    """
    found = ((" ".join(each[0].split()), first + _line(text, each.start()) - 1) for each in _MARKER.finditer(text))
    return tuple(f"{marker} at line {line}" for marker, line in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A statement of the text that names its source: `"quoted words" [source: path]`."""

    path: str
    quote: str
    """Empty where the text only names the file."""
    line: int
    """Of the text."""

    @property
    def words(self) -> str:
        """As it stands there."""
        return f'"{self.quote}" [source: {self.path}]' if self.quote else f"[source: {self.path}]"


def citations_in(text: str) -> tuple[Citation, ...]:
    """Return the citations of a text, in its order."""
    return tuple(Citation(path=each.path, quote=each.quote, line=each.line) for each in cited_in(text))


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
