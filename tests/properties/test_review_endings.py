"""Whatever the seats say, a review ends as the oracle says; whatever is left out of its reveal, it gains nothing."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterpoint.core.docket import Seat, SeatKind
from counterpoint.core.entries import AnswerRequested, CaseClosed, Entry, SubmissionRevealed, VerdictGiven
from counterpoint.core.limits import Limits
from counterpoint.core.values import Decision, StopReason
from counterpoint.errors import Refused
from counterpoint.protocols.review import REVIEW, Phase
from tests.properties.oracle import decision_of
from tests.properties.review_inputs import (
    ANSWERS,
    DOCKETS,
    OBJECTIONS,
    ROSTERS,
    TERMS,
    TREES,
    VERDICTS,
    agreement,
    reply_of,
)
from tests.review_case import AUTHOR, NOW, Play, finding, minutes, verdict

MINUTES = 30
DEADLINE = minutes(MINUTES)
AGREED = CaseClosed(stop_reason=StopReason.AGREED, decision=Decision.APPROVED, detail="")

AGREES = st.just("agrees")
INVENTS = st.just(verdict(finding(quote="return 7")))
SAYS = st.one_of(AGREES, AGREES, INVENTS, VERDICTS, st.just("fails"), st.just("waits"))
"""What a seat does: a verdict, settling all, no answer as often as it is asked, or none at all."""


@st.composite
def played(draw: st.DrawFn) -> Play:
    """Return a case in whose newest reading every seat has done what it does, not settled yet."""
    roster, docket = draw(ROSTERS), draw(DOCKETS)
    limits = Limits(max_rounds=draw(st.integers(0, 2)), deadline=DEADLINE.isoformat())
    quorum = draw(st.integers(1, sum(seat.kind is not SeatKind.AUTHOR for seat in roster)))
    case = Play(*roster, docket=docket, tree=draw(TREES), limits=limits, terms=draw(TERMS), quorum=quorum)
    for _ in range(draw(st.integers(0, 2))):
        _act_all(draw, case, OBJECTIONS)
        case.settle()
        if case.state.phase != Phase.ANSWERING:
            break
        _act(case, AUTHOR, {}, draw(ANSWERS), [])
        case.settle()
    _act_all(draw, case, SAYS)
    return case


def _act_all(draw: st.DrawFn, case: Play, says: st.SearchStrategy[dict[str, Any] | str]) -> None:
    paths = [changed.path for changed in case.state.docket.paths]
    due = {turn.seat for turn in REVIEW.due(case.state, NOW)}
    for seat in draw(st.permutations([seat for seat in case.state.case.roster if seat.name in due])):
        _act(case, seat, draw(says), {}, draw(st.sampled_from([paths, paths, paths[:1]])))


def _act(case: Play, seat: Seat, says: dict[str, Any] | str, answer: dict[str, Any], shown: list[str]) -> None:
    match says:
        case "waits":
            return
        case "fails":
            case.fail(seat.name)
            case.fail(seat.name)
            return
        case str():
            reply = agreement(case.state, seat)
        case _:
            reply = reply_of(case.state, seat, says, answer)
    case.answer(seat.name, reply, shown=shown if seat.kind is SeatKind.OPINION else None)


@settings(max_examples=300)
@given(played())
def test_a_review_ends_as_its_entries_say(case: Play) -> None:
    """The oracle shares no code with the rules; every kept reply is open at the end (DESIGN 4, "Sealing")."""
    case.settle()
    is_early = case.state.closed is None
    case.settle(MINUTES)
    closed = case.state.closed
    assert closed is not None
    assert closed.decision is REVIEW.outcome(case.state).decision is decision_of(case.entries, closed.stop_reason)
    assert {sealed.turn.id for sealed in case.state.seals.values()} == case.state.revealed.keys()
    assert is_early is (closed.stop_reason is StopReason.DEADLINE_PASSED)
    asked = sum(isinstance(entry, AnswerRequested) for entry in case.entries)
    assert not case.state.case.limits.max_rounds or asked <= case.state.case.limits.max_rounds
    assert case.state == case.refold()


def _reveal(case: Play) -> tuple[Entry, ...]:
    return REVIEW.settle(case.state, DEADLINE, case.vault)[:-1]


@settings(max_examples=300)
@given(played(), st.data())
def test_leaving_entries_out_of_a_reveal_gains_no_approval(case: Play, data: st.DataObject) -> None:
    """Of a reveal that was cut or forged, only what amounts to an approval by itself is one (FIELD-FAULTS F5)."""
    made = _reveal(case)
    places = st.sets(st.sampled_from(range(len(made))), max_size=3) if made else st.just(set[int]())
    left_out = data.draw(places)
    entries = (*case.entries, *(entry for place, entry in enumerate(made) if place not in left_out))
    with suppress(Refused):
        REVIEW.fold((*entries, AGREED))
        assert decision_of(entries, StopReason.AGREED) is Decision.APPROVED


@settings(max_examples=300)
@given(played(), st.data())
def test_changing_a_reveal_gains_no_approval(case: Play, data: st.DataObject) -> None:
    """No reply but the sealed one is opened, and a verdict on another candidate counts for nothing (F11, F13)."""
    made = _reveal(case)
    reveals = [place for place, entry in enumerate(made) if isinstance(entry, SubmissionRevealed | VerdictGiven)]
    if not reveals:
        return
    place = data.draw(st.sampled_from(reveals))
    entry = made[place]
    if isinstance(entry, SubmissionRevealed):
        changed: Entry = replace(entry, reply=entry.reply + " ")
        with pytest.raises(Refused, match="SEAL-2"):
            REVIEW.fold((*case.entries, *made[:place], changed))
        return
    assert isinstance(entry, VerdictGiven)
    entries = (*case.entries, *made[:place], replace(entry, candidate="e" * 40), *made[place + 1 :])
    with pytest.raises(Refused, match="CLOSE-1"):
        REVIEW.fold((*entries, AGREED))
