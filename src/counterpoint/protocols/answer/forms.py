"""What peers are asked to fill in: the first answer, the comparison with the others' answers, the confirmation.

The keys are those of SPEC D-26, with two more for evidence. A first answer can name no peer: there is nothing to
agree with yet. Reasoning stands first, and `approved` last.
"""

from dataclasses import dataclass
from typing import Final

from counterpoint.core.forms import listed, text
from counterpoint.core.narrowing import Shown, Use

__all__ = ["LABEL", "CompareAnswers", "ConfirmCandidate", "GiveAnswer", "NamedObjection", "PeerObjection"]

LABEL: Final = "peer-[1-9][0-9]?"
_WHERE: Final = "path:line of a file in your working folder that shows it; empty if none"
_QUOTE: Final = "words copied letter by letter from that file; empty if none"
_OTHERS: Final = Shown(use=Use.CHOOSE, at="others", key="peer")
_POINT: Final = 1000
_PLACE: Final = 1000
_LONG: Final = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveAnswer:
    """The answer of round one."""

    reasoning: str = text(blank=False, about="how you come to your answer; the others do not see it")
    # N815 throughout: the key's name on the wire is SPEC's.
    keyPoints: tuple[str, ...] = listed(most=20, each=_POINT, about="what your answer rests on")
    answer: str = text(
        blank=False, about="the answer itself, complete and by itself", shown=Shown(use=Use.CHOOSE, at="options")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedObjection:
    """What is wrong with a text, and where that can be seen."""

    point: str = text(most=_POINT, blank=False, about="the statement that is wrong, or what is missing")
    reason: str = text(most=_LONG, blank=False, about="why it is wrong")
    where: str = text(most=_PLACE, about=_WHERE)
    quote: str = text(most=_LONG, about=_QUOTE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerObjection(NamedObjection):
    """What is wrong with another peer's answer."""

    peer: str = text(pattern=LABEL, about="whose answer", shown=_OTHERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareAnswers:
    """The answer of a later round, and what its seat says of the others' answers."""

    reasoning: str = text(blank=False, about="how you come to your answer; the others do not see it")
    objections: tuple[PeerObjection, ...] = listed(most=50, about="every flaw you found in another's answer")
    # As above.
    agreesWith: tuple[str, ...] = listed(
        most=99,
        each=len("peer-99"),
        pattern=LABEL,
        about="the peers whose answer may stand word for word as it is",
        shown=_OTHERS,
    )
    # As above.
    changedMind: str = text(
        most=_LONG, about="if your answer changed: the flaw in your last one that made it change; else empty"
    )
    where: str = text(most=_PLACE, about=f"for changedMind: {_WHERE}")
    quote: str = text(most=_LONG, about=f"for changedMind: {_QUOTE}")
    # As above.
    keyPoints: tuple[str, ...] = listed(most=20, each=_POINT, about="what your answer rests on")
    answer: str = text(
        blank=False,
        about="your answer now, complete and by itself; word for word the same if kept",
        shown=Shown(use=Use.BEGIN, at="your_answer.answer"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmCandidate:
    """Whether the one text may stand as it is."""

    reasoning: str = text(blank=False, about="what you held the text against")
    objections: tuple[NamedObjection, ...] = listed(most=50, about="every flaw in the text; empty if it may stand")
    candidate: str = text(
        blank=False,
        about="copy the 64 letters and digits of `candidate`; or the text itself, word for word",
        shown=Shown(use=Use.REPEAT, at="candidate"),
    )
    approved: bool
