"""What a report of `propose` is made of: the parts that Markdown and HTML each draw in their own way."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Badge", "Facts", "Heading", "Listed", "Notice", "Part", "Quoted", "Sentence", "Tone", "Verdict"]


class Tone(StrEnum):
    """How a word looks where there are colours; it says nothing that the word does not."""

    GOOD = "good"
    FAIR = "fair"
    BAD = "bad"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A word of ours about what a heading names."""

    text: str
    tone: Tone


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the case came to. It stands at the top."""

    text: str
    tone: Tone
    status: str
    """Whether it came to its end; empty where the text says so."""
    why: str
    """Names seats, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A sentence of ours that is not to be missed; what stands between backticks is code."""

    label: str
    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    text: str = ""
    """Ours."""
    badges: tuple[Badge, ...] = ()
    ref: str = ""
    """The id of what it is about, a text of others."""
    name: str = ""
    """The same of its title."""
    level: int = 2
    is_foot: bool = False
    """Whether what follows is about the report itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A paragraph of ours; what stands between backticks is code."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Labels of ours, each with a text of others."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    label: str
    texts: tuple[str, ...]
    is_ordered: bool = False
    """Whether one comes after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    label: str
    text: str
    name: str = ""
    """Of whoever said it, a text of others."""
    is_lead: bool = False
    """Whether it is what the report is about."""


Part = Verdict | Notice | Heading | Sentence | Facts | Listed | Quoted
