"""What may stand in the record after what the table lets follow: the rules by their ids.

They hold for every entry that is folded, also one that a driver makes by itself or reads from a file. PHASE-1 is the
table's and LEDGER-1 the ledger's (`core`). Ids are headings in `docs/protocols/review.md`.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from counterpoint.core.case import CaseState
from counterpoint.core.conduct import reply_is_the_sealed_one, turn_is_owed
from counterpoint.core.entries import (
    AnswerRequested,
    CandidateKept,
    CandidateOffered,
    CaseClosed,
    ClaimChecked,
    DispositionGiven,
    Entry,
    FindingRaised,
    FindingRuled,
    VerdictGiven,
)
from counterpoint.core.values import StopReason
from counterpoint.protocols.review.table import author_of, owed
from counterpoint.protocols.review.weighing import closing, may_go_on, to_answer, unheard

__all__ = ["ENTRY_GUARDS"]

_Author = DispositionGiven | CandidateOffered | CandidateKept


def _seat_has_revealed(state: CaseState, entry: Entry) -> str | None:
    if not isinstance(entry, ClaimChecked | FindingRaised | FindingRuled | VerdictGiven | _Author):
        return None
    sealed = state.sealed.get(entry.seat)
    is_revealed = sealed is not None and sealed.turn.id in state.revealed
    return None if is_revealed else f"{type(entry).__name__} of {entry.seat!r}, which has revealed no reply"


def _answer_is_the_authors(state: CaseState, entry: Entry) -> str | None:
    if not isinstance(entry, AnswerRequested | _Author):
        return None
    author = author_of(state.case)
    wanted = (author.name if author else "nobody", state.round)
    if (entry.seat, entry.round) != wanted:
        return (
            f"{type(entry).__name__} of {entry.seat!r} in round {entry.round}; {wanted[0]!r} answers in {wanted[1]}"
        )
    return _reading_is_over(state, entry) if isinstance(entry, AnswerRequested) else None


def _reading_is_over(state: CaseState, entry: AnswerRequested) -> str | None:
    asked = tuple(f.id for f in to_answer(state))
    if entry.findings != asked:
        return f"an answer to {_named(entry.findings)} is asked for; {_named(asked)} is open"
    if silent := unheard(state):
        return f"an answer is asked for, and {_named(silent)} has not been heard in round {state.round}"
    close = closing(state, StopReason.ROUNDS_SPENT, "")
    if close.stop_reason is not StopReason.ROUNDS_SPENT or not may_go_on(state):
        return f"an answer is asked for in round {state.round}; the rules end the case ({close.stop_reason})"
    return None


def _named(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "nothing"


def _candidate_follows(state: CaseState, entry: Entry) -> str | None:
    if not isinstance(entry, CandidateKept | CandidateOffered):
        return None
    current = state.docket.candidate
    if isinstance(entry, CandidateKept):
        return f"{entry.candidate} is kept; {current} is on the table" if entry.candidate != current else None
    if entry.previous != current:
        return f"{entry.candidate} is offered in place of {entry.previous}; {current} is on the table"
    if entry.candidate == current:
        return f"{entry.candidate} is offered in place of itself"
    return None if entry.changed else f"{entry.candidate} is offered, and no path changed"


def _close_is_computed(state: CaseState, entry: Entry) -> str | None:
    if not isinstance(entry, CaseClosed):
        return None
    computed = closing(state, entry.stop_reason, entry.detail)
    if entry == computed:
        return None
    return (
        f"the entry says {entry.decision} ({entry.stop_reason});"
        f" the rules compute {computed.decision} ({computed.stop_reason})"
    )


ENTRY_GUARDS: Final[Mapping[str, Callable[[CaseState, Entry], str | None]]] = MappingProxyType(
    {
        "SEAL-1": turn_is_owed(owed),
        "SEAL-2": reply_is_the_sealed_one,
        "REVEAL-1": _seat_has_revealed,
        "ANSWER-3": _answer_is_the_authors,
        "OFFER-1": _candidate_follows,
        "CLOSE-1": _close_is_computed,
    }
)
