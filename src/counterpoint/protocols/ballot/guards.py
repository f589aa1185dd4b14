"""The ballot's own guards: what a case may be opened with, and what a seat may say, each by the id of its rule.

A guard returns the reason why it refuses, or None. The rules that hold in every protocol are in `core.conduct`.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from counterpoint.core.canonical import visible
from counterpoint.core.checks import Evidence, EvidenceStatus, LookUp, PathCheck, QuoteCheck
from counterpoint.core.conduct import Said
from counterpoint.core.docket import SeatKind
from counterpoint.core.entries import CaseOpened
from counterpoint.core.values import Turn
from counterpoint.protocols.ballot.forms import CastVote, Vote
from counterpoint.protocols.ballot.state import BallotState, objections_of, reservations_of
from counterpoint.protocols.ballot.text import (
    MAX_TEXT,
    Citation,
    as_text,
    candidate_of,
    citations_in,
    forged_line,
    left_open,
    markers_in,
)

__all__ = [
    "CHALLENGE_GUARDS",
    "OPENING_GUARDS",
    "REVISION_GUARDS",
    "VOTE_GUARDS",
    "WEIGHING_GUARDS",
    "Fault",
    "check_citations",
    "claim_of",
    "claims_of",
    "request_of",
    "text_fault",
    "title_fault",
]

MAX_ROUNDS: Final = 3
"""SPEC B-02."""
_SHOWN: Final = 12
_MOST_SHOWN: Final = 80

_Said = Said[BallotState]
_Guards = Mapping[str, Callable[[_Said], str | None]]


# --- what a ballot may be opened with


def _orchestrator_and_voters(case: CaseOpened) -> str | None:
    kinds = [seat.kind for seat in case.roster]
    if (found := kinds.count(SeatKind.AUTHOR)) != 1:
        return f"the roster has {found} orchestrators; a ballot has one"
    if not kinds.count(SeatKind.OPINION):
        return "the roster has nobody who votes"
    checks = next((seat.name for seat in case.roster if seat.kind is SeatKind.CHECKS), None)
    return f"{checks!r} runs commands, and a text has none to run" if checks else None


def _all_must_vote(case: CaseOpened) -> str | None:
    voters, limits = len(case.judges), case.limits
    if case.quorum != voters:
        return f"the quorum is {case.quorum}; all {voters} voters have to vote"
    if not 1 <= limits.max_rounds <= MAX_ROUNDS:
        return f"max_rounds is {limits.max_rounds}; a ballot has 1 to {MAX_ROUNDS} rounds"
    if limits.min_rounds > 1 or limits.stall_rounds:
        return "min_rounds or stall_rounds is set; a ballot ends with its votes"
    return None


def _text_is_exact(case: CaseOpened) -> str | None:
    docket = case.docket
    title = docket.question
    if not title.strip() or "\n" in title or visible(title) != title:
        return f"the title {title[:80]!r} is not one line that says something, hidden characters written out"
    if not docket.text.strip():
        return "the text says nothing"
    if docket.text != as_text(docket.text):
        return "the text is not in its byte form: LF, one empty line above and below, hidden characters written out"
    computed = candidate_of(docket.text)
    return None if docket.candidate == computed else f"the text is {computed}, and the candidate {docket.candidate}"


def _opens_with_a_plain_text(case: CaseOpened) -> str | None:
    fault = title_fault(case.docket.question) or text_fault(case.docket.text)
    return fault.reason if fault else None


def _cites_what_can_be_looked_up(case: CaseOpened) -> str | None:
    cited = citations_in(case.docket.text)
    if not cited or case.terms.sources:
        return None
    return f"the text cites {cited[0].path!r} at line {cited[0].line}, and no folder of sources is named"


OPENING_GUARDS: Final[Mapping[str, Callable[[CaseOpened], str | None]]] = MappingProxyType(
    {
        "BALLOT-1": _orchestrator_and_voters,
        "BALLOT-2": _all_must_vote,
        "DOCUMENT-1": _text_is_exact,
        "DOCUMENT-2": _opens_with_a_plain_text,
        "QUOTE-1": _cites_what_can_be_looked_up,
    }
)


class Fault(NamedTuple):
    """Why a text cannot be voted on, and what its writer can do."""

    reason: str
    hint: str


_OTHERWISE: Final = "write that line otherwise: headings of the debate are the program's"
_CLOSE: Final = "close it in the text, or leave it out"


def text_fault(text: str, *, first: int = 1, of: str = "the text") -> Fault | None:
    """Return why a text could pass for the debate below it, or hide it.

    Its lines are numbered from `first`, and are those `of` something.
    """
    if len(text) > MAX_TEXT:
        return Fault(
            f"the text has {len(text)} characters; at most {MAX_TEXT} are voted on", "vote on a shorter text"
        )
    if found := forged_line(text):
        line = f"line {first + found[0] - 1} of {of}"
        return Fault(f"{line} reads as a heading of the debate: {found[1][:_MOST_SHOWN]!r}", _OTHERWISE)
    if opened := left_open(text, first=first, of=of):
        return Fault(f"the text leaves open what would hide the debate below it: {opened}", _CLOSE)
    return None


def title_fault(title: str) -> Fault | None:
    """Return why a title could pass for the debate, or hide it."""
    line = f"# {title}"
    if len(line) > MAX_TEXT:
        said = f"the title has {len(title)} characters; with its mark at most {MAX_TEXT} are allowed"
        return Fault(said, "give it a shorter title")
    if forged_line(line):
        return Fault(f"the title reads as a heading of the debate: {line[:_MOST_SHOWN]!r}", _OTHERWISE)
    if opened := left_open(line):
        return Fault(f"the title leaves open what would hide the debate below it: {opened}", _CLOSE)
    return None


# --- votes


def _is_on_the_table(said: _Said) -> str | None:
    vote, state = said.submission, said.state
    named, current = (vote.version, vote.candidate), (state.version, state.docket.candidate)
    if named == current:
        return None
    # Whole where their beginnings are the same: two values that disagree have to look it.
    shown = None if named[1][:_SHOWN] == current[1][:_SHOWN] and named[1] != current[1] else _SHOWN
    return f"the vote is on v{named[0]} ({named[1][:shown]}); v{current[0]} ({current[1][:shown]}) is on the table"


def _reservations_fit(said: _Said) -> str | None:
    vote: CastVote = said.submission
    count = len(vote.reservations)
    if vote.vote is Vote.RESERVED:
        return None if count else f"{vote.vote.value!r} names no reservation"
    return f"{vote.vote.value!r} with {count} reservations; they belong to {Vote.RESERVED.value!r}" if count else None


def _nothing_is_marked(said: _Said) -> str | None:
    marked = markers_in(said.state.text)
    if said.submission.vote is Vote.REJECTED or not marked:
        return None
    return f"the text says that it is not borne out: {', '.join(marked[:5])}; it can only be Rejected"


def _sources_say_so(said: _Said) -> str | None:
    if said.submission.vote is Vote.REJECTED:
        return None
    cited = citations_in(said.state.text)
    if cited and not said.state.case.terms.sources:
        return f"the text cites {cited[0].path!r}, and no folder of sources is named; it can only be Rejected"
    found = {e.request: e for e in said.evidence if isinstance(e, Evidence)}
    for each in cited:
        evidence = found[request_of(said.state, each)]
        if evidence.status is not EvidenceStatus.VERIFIED:
            what = f"{each.quote[:80]!r} [source: {each.path}]" if each.quote else f"[source: {each.path}]"
            return f"{what} at line {each.line} of the text does not hold: {evidence.detail}; it can only be Rejected"
    return None


def request_of(state: BallotState, citation: Citation) -> LookUp:
    """Return what code has to look up for a citation."""
    return claim_of(citation, state.case.terms.sources)


def claims_of(text: str, sources: str) -> tuple[LookUp, ...]:
    """Return what a text claims of its sources, by their digest; each once."""
    return tuple(dict.fromkeys(claim_of(each, sources) for each in citations_in(text)))


def claim_of(citation: Citation, sources: str) -> LookUp:
    """Return what a citation claims of the sources, by their digest."""
    if citation.quote:
        return QuoteCheck(path=citation.path, text=citation.quote, candidate=sources)
    return PathCheck(path=citation.path, line=None, candidate=sources)


def check_citations(state: BallotState, _turn: Turn, vote: Any) -> tuple[LookUp, ...]:
    """Return what has to be looked up before an approval counts."""
    if vote.vote is Vote.REJECTED or not state.case.terms.sources:
        return ()
    return claims_of(state.text, state.case.terms.sources)


VOTE_GUARDS: Final[_Guards] = MappingProxyType(
    {
        "VOTE-1": _is_on_the_table,
        "VOTE-2": _reservations_fit,
        "QUOTE-2": _nothing_is_marked,
        "QUOTE-3": _sources_say_so,
    }
)


# --- what follows a vote


def _all_are_weighed_once(said: _Said) -> str | None:
    named = [each.reservation for each in said.submission.classifications]
    return _each_once(named, [each.id for each in reservations_of(said.state, said.state.round)], "classified")


WEIGHING_GUARDS: Final[_Guards] = MappingProxyType({"RESERVE-1": _all_are_weighed_once})


def _challenges_what_is_cosmetic(said: _Said) -> str | None:
    named = [each.reservation for each in said.submission.challenges]
    known = {each.reservation for each in said.state.weighed if each.round == said.state.round}
    if unknown := next((name for name in named if name not in known), None):
        return f"{unknown!r} was not classified in this round; {_listed(sorted(known))} was"
    twice = next((name for name, count in Counter(named).items() if count > 1), None)
    return f"{twice!r} is challenged twice in one answer" if twice else None


CHALLENGE_GUARDS: Final[_Guards] = MappingProxyType({"CHALLENGE-1": _challenges_what_is_cosmetic})


def _all_are_answered_once(said: _Said) -> str | None:
    named = [each.objection for each in said.submission.answers]
    return _each_once(named, [each.id for each in objections_of(said.state, said.state.round - 1)], "answered")


def _is_another_text(said: _Said) -> str | None:
    objections = objections_of(said.state, said.state.round - 1)
    is_same = as_text(said.submission.text) == said.state.text
    return (
        f"the text is v{said.state.version} again, and {objections[0].id} stands" if is_same and objections else None
    )


def _is_a_plain_text(said: _Said) -> str | None:
    fault = text_fault(as_text(said.submission.text))
    return fault.reason if fault else None


REVISION_GUARDS: Final[_Guards] = MappingProxyType(
    {"REVISE-1": _all_are_answered_once, "REVISE-2": _is_another_text, "DOCUMENT-2": _is_a_plain_text}
)


def _each_once(named: Collection[str], owed: Collection[str], done: str) -> str | None:
    if missing := [name for name in owed if name not in named]:
        return f"{_listed(missing)} is not {done}"
    if strange := [name for name in named if name not in owed]:
        return f"{strange[0]!r} is {done}, and nobody said it; {_listed(owed)} is to be {done}"
    twice = next((name for name, count in Counter(named).items() if count > 1), None)
    return f"{twice!r} is {done} twice" if twice else None


def _listed(names: Collection[str]) -> str:
    return ", ".join(names) if names else "nothing"
