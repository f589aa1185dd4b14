"""The text that is voted on: its one byte form, what it may not hold, and what it claims of its sources.

The text is exactly the bytes of the document after the line end of the version heading, up to the first byte of the
debate block: an empty line, the body, an empty line. Line ends are LF; hidden characters are written out. Its id is
the SHA-256 of these bytes in UTF-8. A tool that knows only the two headings computes the same (SPEC B-13).

Whatever could pass for a part of the debate is refused in it: a heading that reads like one of ours, and anything
left open that would swallow the debate below it where Markdown is drawn.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from html import unescape
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
_HEADING: Final = re.compile(r"[\s>*+.)0-9-]*#{1,6}\s(.*)")
_DRAWN: Final = re.compile(r"<h[1-6](?=[\s/>])[^<>]*>([^\n]*(?:\n[^\n]+)?)", re.IGNORECASE)
_UNDERLINE: Final = re.compile(r"[\s>]*(?:=+|-+)\s*")
_ALIKE: Final = str.maketrans(
    "\u0430\u0441\u0501\u0435\u0456\u043e\u0455\u0443\u03b1\u03b5\u03b9\u03bd"
    "\u03bf\u03c4\u03c5\u0251\u0131\u0261\u0578\u057d\u0585\u0562\u0566",
    "acdeiosyaeivotuaignuogq",
)
"""Letters of other alphabets that look like ours, as far as our headings have them."""


def forged_line(text: str) -> tuple[int, str] | None:
    """Return the first line, by its number, that reads as a heading of the document's own; fences do not hide it."""
    lines, above = text.split("\n"), ""
    for number, (line, below) in enumerate(zip(lines, [*lines[1:], ""], strict=True), start=1):
        heading = _HEADING.match(line)
        bare = line.strip(" \t>")
        above = f"{above} {bare}"[:_MAX_HEADING] if bare and not heading else ""
        is_underlined = not heading and _UNDERLINE.fullmatch(below) is not None
        words = (heading[1],) if heading else (line, above) if is_underlined else ()
        if any(_OURS.match(_as_drawn(each)) for each in words):
            return number, line
        above = "" if is_underlined else above
    found = next((found for found in _DRAWN.finditer(text) if _OURS.match(_as_drawn(found[1]))), None)
    return (at := _line(text, found.start()), lines[at - 1]) if found else None


_MAX_HEADING: Final = 1_000
_INLINE_TAG: Final = re.compile(r"<[^<>]*>")


def _as_drawn(words: str) -> str:
    """Return words as a reader sees them: no tags, references and look-alikes as the letters they stand for."""
    plain = unescape(_INLINE_TAG.sub("", words))
    letters = unicodedata.normalize("NFKD", plain).casefold().translate(_ALIKE)
    return "".join(char for char in letters if not unicodedata.combining(char))


_FENCE: Final = re.compile(r"([ >]*(?:(?:[-*+]|[0-9]{1,9}[.)]) +)*)(`{3,}(?=[^`]*$)|~{3,})")
_BLOCK: Final = re.compile(r"[ >]*(?:(?:[-*+]|[0-9]{1,9}[.)]) +)*<[A-Za-z/!?]")
_PAIRS: Final = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"))
_DECLARED: Final = re.compile(r"<![A-Za-z]|>")
_HIDING: Final = frozenset(
    [
        *("audio", "canvas", "datalist", "details", "dialog", "div", "iframe", "math", "meter", "noembed"),
        *("noframes", "noscript", "object", "plaintext", "pre", "progress", "rp", "script", "section", "select"),
        *("style", "svg", "table", "template", "textarea", "title", "video", "xmp"),
    ]
)
_CLOSED_BY_ITSELF: Final = frozenset(
    [
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "p", "param", "source"),
        *("track", "wbr"),
    ]
)
_TAG: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)(?=[\s/>]|$)([^<>]*)(>|$)?")
_MAX_TAG: Final = 1_000
_STYLED: Final = re.compile(r"\s(?:class|color|dir|hidden|id|popover|size|slot|style)(?=[\s=/]|$)", re.IGNORECASE)
_WHOLE_TAG: Final = re.compile(
    r"</?[A-Za-z][A-Za-z0-9-]*(?:\s+[A-Za-z_:@][\w.:-]*(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'=<>`]+))?)*\s*/?>"
    r"|<[A-Za-z][A-Za-z0-9+.-]*:[^\s<>]*>|<[^\s<>]+@[^\s<>]+>"
)
_TORN_TAG: Final = re.compile(r"</?[A-Za-z]")


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
        self._is_declared = False
        self._tags: Counter[str] = Counter()
        self._begun = ""
        """A tag that its line does not end."""
        self._block: list[str] = []
        self._is_torn = False

    def read(self, line: str) -> None:
        for opening, end in _PAIRS:
            last = line.rfind(opening), line.rfind(end)
            if max(last) >= 0:
                self._pairs[opening, end] = last[0] > last[1]
        for found in _DECLARED.finditer(line):
            self._is_declared = found[0] != ">"
        is_blank = not line.strip(" >")
        begun, self._begun = self._begun, ""
        for tag in () if is_blank else _TAG.finditer(f"{begun} {line}" if begun else line):
            self._count(tag)
        if is_blank:
            self._is_torn, self._block = self._is_torn or self._tears(), []
        elif self._block or _BLOCK.match(line):
            self._block.append(line)

    def _count(self, tag: re.Match[str]) -> None:
        name, is_cut = tag[2].lower(), tag[4] == "" and len(tag[0]) <= _MAX_TAG
        if tag[1]:
            self._tags[name] -= self._tags[name] > 0
        elif name in _HIDING:
            self._tags[name] += 1
        elif is_cut:
            self._begun = tag[0]
        elif name not in _CLOSED_BY_ITSELF and not self._is_drawing and tag[4] is not None:
            self._tags[name] += _STYLED.search(tag[3]) is not None

    @property
    def _is_drawing(self) -> bool:
        """Whether the elements belong to a picture, which closes them all."""
        return bool(self._tags["svg"] or self._tags["math"])

    def _tears(self) -> bool:
        """Return whether a block of HTML ends within a tag, which then goes on with what follows."""
        written = _WHOLE_TAG.sub("", _without_comments("\n".join(self._block)))
        return _TORN_TAG.search(written) is not None

    @property
    def may_go_on(self) -> bool:
        """Whether the next line may be read as HTML: a fence there is none."""
        return bool(self._block) or self.unclosed() is not None

    def unclosed(self) -> str | None:
        if pair := next((pair for pair, is_open in self._pairs.items() if is_open), None):
            return f"a {pair[0]} that no {pair[1]} closes"
        if name := next((name for name, count in self._tags.items() if count), None):
            return f"a <{name}> that is not closed as often as it is opened"
        if self._is_declared:
            return "a <! that no > closes"
        return "a tag that no > closes" if self._is_torn or self._tears() else None


def _without_comments(text: str) -> str:
    kept, at = "", 0
    while (begun := text.find("<!--", at)) >= 0 and (end := text.find("-->", begun)) >= 0:
        kept, at = f"{kept}{text[at:begun]}", end + len("-->")
    return kept + text[at:]


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
