"""What a case may be opened with, and what is taken of a reply: the rules of `answer` by their ids.

They rest on what the speaker itself was shown: no guard sees another's sealed answer. Ids are headings in
`docs/protocols/answer.md`.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from counterpoint.core.conduct import Said
from counterpoint.core.docket import SeatKind
from counterpoint.core.entries import CaseOpened
from counterpoint.protocols.answer.counting import normalised
from counterpoint.protocols.answer.forms import CompareAnswers, ConfirmCandidate
from counterpoint.protocols.answer.state import AnswerState
from counterpoint.protocols.answer.taking import labels

__all__ = ["COMPARING_GUARDS", "CONFIRMING_GUARDS", "OPENING_GUARDS"]

_LEAST_PEERS: Final = 2
_MOST_PEERS: Final = 99
_SHOWN: Final = 80

Guard = Callable[[Said[AnswerState]], str | None]


def _peers_sit_there(case: CaseOpened) -> str | None:
    other = next((seat for seat in case.roster if seat.kind is not SeatKind.OPINION), None)
    if other is not None:
        return f"{other.name!r} is {other.kind.value}; every seat of an answer is a peer"
    number = len(case.roster)
    if _LEAST_PEERS <= number <= _MOST_PEERS:
        return None
    return f"{number} peers; {_LEAST_PEERS} to {_MOST_PEERS} can answer each other"


def _all_of_them_count(case: CaseOpened) -> str | None:
    number = len(case.roster)
    return None if case.quorum == number else f"the quorum is {case.quorum}; all {number} peers confirm or none"


def _something_is_asked(case: CaseOpened) -> str | None:
    return None if case.docket.question.strip() else "the question is empty"


def _options_can_be_told_apart(case: CaseOpened) -> str | None:
    options = case.terms.options
    if not options:
        return None
    if not case.terms.vote_only:
        return f"{len(options)} options are named, and the case is no vote"
    if len(options) < _LEAST_PEERS:
        return f"{options[0]!r} is the only option; a vote is between two at least"
    keys = [normalised(option) for option in options]
    if (bad := next((option for option, key in zip(options, keys, strict=True) if not key), None)) is not None:
        return f"the option {bad!r} says nothing"
    twice = next((o for o, key in zip(options, keys, strict=True) if keys.count(key) > 1), None)
    return f"the option {twice!r} is named twice" if twice is not None else None


OPENING_GUARDS: Final[Mapping[str, Callable[[CaseOpened], str | None]]] = MappingProxyType(
    {
        "PEER-1": _peers_sit_there,
        "PEER-2": _all_of_them_count,
        "POSITION-1": _something_is_asked,
        "POSITION-2": _options_can_be_told_apart,
    }
)


def _comparison(said: Said[AnswerState]) -> CompareAnswers:
    assert isinstance(said.submission, CompareAnswers), "TURN-2 comes first"
    return said.submission


def _peers_are_known(said: Said[AnswerState]) -> str | None:
    known, given = labels(said.state, said.speaker), _comparison(said)
    named: tuple[Any, ...] = (*given.agreesWith, *(each.peer for each in given.objections))
    unknown = next((label for label in named if label not in known), None)
    return f"{unknown[:_SHOWN]!r} is nobody here; the others are {', '.join(known)}" if unknown is not None else None


def _agreement_is_said_once(said: Said[AnswerState]) -> str | None:
    given = _comparison(said).agreesWith
    twice = next((label for label in given if given.count(label) > 1), None)
    return f"agreesWith names {twice!r} twice" if twice is not None else None


COMPARING_GUARDS: Final[Mapping[str, Guard]] = MappingProxyType(
    {"PEER-3": _peers_are_known, "PEER-4": _agreement_is_said_once}
)


def _confirmation(said: Said[AnswerState]) -> ConfirmCandidate:
    assert isinstance(said.submission, ConfirmCandidate), "TURN-2 comes first"
    return said.submission


def _same_text(said: Said[AnswerState]) -> str | None:
    echoed, wanted = _confirmation(said).candidate, said.state.docket.candidate
    if echoed in {wanted, said.state.candidate_text}:
        return None
    return f"the candidate is echoed as {echoed[:_SHOWN]!r}; {wanted} is on the table"


def _approved_means_no_objection(said: Said[AnswerState]) -> str | None:
    given = _confirmation(said)
    if given.approved and given.objections:
        return f"approved is true, and {len(given.objections)} objections are named"
    return None if given.approved or given.objections else "approved is false, and no objection is named"


CONFIRMING_GUARDS: Final[Mapping[str, Guard]] = MappingProxyType(
    {"CONFIRM-1": _same_text, "CONFIRM-2": _approved_means_no_objection}
)
