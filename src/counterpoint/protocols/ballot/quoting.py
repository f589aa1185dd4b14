"""Which words of a text a citation below them is about: `"quoted words" [source: path]`, read as a person would.

Straight and curly quotes of one stroke or two, and guillemets, in a pair or within each other, also by HTML's names
for them. Between the last quote and the citation may stand what says nothing: points, brackets, emphasis, tags.
What can be read in more than one way is read as the longest quotation, which no source has, and so is one that is cut
where it is too long: such a text is not approved.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import Final

__all__ = ["Cited", "cited_in"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A citation as it stands in a text."""

    path: str
    quote: str
    """Empty where the text only names the file."""
    line: int


_MARKS: Final = "\"'“”„‟\u2018\u2019\u201a\u201b«»\u2039\u203a"
_SINGLE: Final = "'\u2019"
"""These are apostrophes, too."""
_OPENED_BY: Final = {
    '"': '"',
    "'": "'",
    "”": "“„‟”",
    "“": "„",
    "\u2019": "\u2018\u201a\u201b\u2019",
    "\u2018": "\u201a",
    "»": "«",
    "«": "»",
    "\u203a": "\u2039",
    "\u2039": "\u203a",
}
_PATH: Final = r"(?:[^\]\n]|\n(?![ \t>]*(?:\n|\Z)))"
_TOKEN: Final = re.compile(
    rf"(?P<cited>\[\s*sources?\s*:(?P<path>{_PATH}*)\]?)|(?P<mark>[{_MARKS}])|(?P<blank>\n[ \t>]*(?=\n))",
    re.IGNORECASE,
)
_NOTHING: Final = re.compile(r"(?:[\s.,;:!?()*_~`>\\|/\u2013—…-]|<[^<>]*>|\\u\{[0-9a-f]+\})*")
_BEFORE_WORDS: Final = "([{<>*_~`|/\u2013—-"
_ENTITY: Final = re.compile(r"&#?[0-9A-Za-z]{1,12};")
_LINE_END: Final = re.compile(r"\n[ \t>]*")
_MAX_PATH: Final = 1_000
_MAX_QUOTE: Final = 2_000


def cited_in(text: str) -> Iterator[Cited]:
    """Yield the citations of a text, in its order."""
    text = _ENTITY.sub(_mark_of, text)
    marks, line, counted = _Marks(text), 1, 0
    for token in _TOKEN.finditer(text):
        if token["mark"]:
            marks.read(token.start())
        elif token["blank"] is not None:
            marks = _Marks(text, start=token.end())
        else:
            at = token.start()
            line, counted = line + text.count("\n", counted, at), at
            path = " ".join(token["path"].split())[:_MAX_PATH]
            yield Cited(path=path, quote=marks.quotation_before(at), line=line)


def _mark_of(entity: re.Match[str]) -> str:
    """Return a quote or a bracket that HTML has a name or a number for; every other one stands as it was written."""
    found = unescape(entity[0])
    return found if found in {*_MARKS, "[", "]", ":"} else entity[0]


@dataclass(slots=True, kw_only=True)
class _Kind:
    """The marks of one pair in a paragraph: where those stand that are open, and where the first one was opened."""

    opened: list[int] = field(default_factory=list)
    first: int | None = None


class _Marks:
    """The quotation marks of one paragraph, as far as they have been read."""

    def __init__(self, text: str, start: int = 0) -> None:
        self._text = text
        self._start = start
        self._kinds: dict[str, _Kind] = {}
        self._last: tuple[int | None, int] | None = None
        """The quotation that was closed last: where it begins, and its closing mark."""

    def read(self, at: int) -> None:
        mark = self._text[at]
        before, after = self._text[at - 1 : at] or " ", self._text[at + 1 : at + 2] or " "
        if mark in _SINGLE and before.isalnum() and after.isalnum():
            return
        by = _OPENED_BY.get(mark, "")
        opens = (before.isspace() or before in _BEFORE_WORDS or before in _MARKS) and not after.isspace()
        found = next((kind for char in by if (kind := self._kinds.get(char)) and kind.opened), None)
        if found is not None and not (opens and mark in by):
            begun = found.opened.pop()
            self._last = (found.opened[0] if found.opened else begun), at
        elif mark not in by or not after.isspace():
            self._open(mark, at)
        else:
            self._last = self._begun(mark, by), at

    def _open(self, mark: str, at: int) -> None:
        kind = self._kinds.setdefault(mark, _Kind())
        kind.opened.append(at)
        kind.first = at if kind.first is None else kind.first

    def _begun(self, mark: str, by: str) -> int | None:
        """Return where a quotation may have begun that is closed and not opened; None for an apostrophe."""
        seen = [kind.first for char in by if (kind := self._kinds.get(char)) and kind.first is not None]
        return min(seen) if seen else None if mark in _SINGLE else self._start - 1

    def quotation_before(self, at: int) -> str:
        """Return the words that a citation at this place is about, or "".

        These are what a quotation says that ends before it, or that is not closed where it stands.
        """
        begun, closed = self._last or (None, self._start)
        if begun is None or not _NOTHING.fullmatch(self._text, closed + 1, at):
            still = [kind.opened[0] for mark, kind in self._kinds.items() if kind.opened and mark != "'"]
            begun, closed = min(still, default=None), at
        if begun is None:
            return ""
        words = " ".join(_LINE_END.sub(" ", self._text[begun + 1 : min(closed, begun + _MAX_QUOTE)]).split())
        return words if closed <= begun + _MAX_QUOTE else f"{words}…"
