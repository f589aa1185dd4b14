"""How ballots end: scripts of phase and answer through the real driver, and closes that the rules do not compute."""

import json
from datetime import timedelta
from typing import Any, Final

import pytest

import counterpoint
from counterpoint.core.entries import CaseClosed, FailureReason, RoundOpened
from counterpoint.core.limits import Limits
from counterpoint.core.rules import AddNote, Withdraw
from counterpoint.core.values import Decision, StopReason
from counterpoint.drive.cases import load_case
from counterpoint.errors import Refused
from counterpoint.protocols.ballot import BALLOT
from counterpoint.record.memory import MemoryStore
from tests.ballot_case import NOW, Play, challenge, docket_of, revision, vote, weights
from tests.balloting import ToldAgent
from tests.need import ROOT

SCRIPTS: Final = json.loads((ROOT / "tests/data/ballot/endings.json").read_text("utf-8"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script["name"])
def test_a_script_of_answers_ends_as_it_must(script: dict[str, Any]) -> None:
    """SPEC B-02, B-09, B-10, B-14, B-17: stop reason, decision, calls and versions of each."""
    store = MemoryStore()
    seats = {name: ToldAgent(script["says"].get(name)) for name in ("orchestrator", "ann", "ben", "cat")}
    limits = Limits(max_rounds=script.get("rounds", 3), max_calls=script.get("max_calls", 40))
    result = counterpoint.run("ballot", docket_of(), seats, store=store, limits=limits, author="orchestrator")
    state = load_case(store, ROOT, result.case).state
    outcome = result.outcome
    found = (outcome.stop_reason, outcome.decision, outcome.spent.calls, len(state.offered) + 1)
    assert found == (script["stop"], script["decision"], script["calls"], script["versions"])
    codes = {"agreed": 0, "failed": 1, "budget_spent": 3, "needs_input": 4}
    assert BALLOT.exit_code(outcome) == codes[script["stop"]]


def _late(case: Play) -> CaseClosed:
    *_, entry = case.settle(minutes=60)
    assert isinstance(entry, CaseClosed)
    return entry


def _limited() -> Play:
    deadline = (NOW + timedelta(minutes=60)).isoformat()
    return Play(limits=Limits(max_rounds=3, deadline=deadline))


def test_a_vote_that_is_not_there_at_the_deadline_counts_as_rejected() -> None:
    """SPEC B-10, B-14: the votes that were there are revealed, and the text is not approved."""
    case = _limited()
    case.answer("ann", vote(case, "yes"))
    closed = _late(case)
    assert (closed.stop_reason, closed.decision) == (StopReason.DEADLINE_PASSED, Decision.REJECTED)
    assert case.outcome.reasons[0] == "ben gave no valid vote on v1 in time, which counts as Rejected"
    assert BALLOT.exit_code(case.outcome) == 3
    approvals = {seat.seat: seat.approved for seat in case.outcome.seats}
    assert approvals == {"orchestrator": False, "ann": True, "ben": False}


@pytest.mark.parametrize(
    ("reasons", "said"),
    [
        ("refused refused", "its answer was not accepted\n\n```text\nquote 2 [QUOTE-3]\n```\n"),
        ("timeout bad_reply", "its answer was not accepted\n\n```text\nquote 2 [QUOTE-3]\n```\n"),
        ("bad_reply unreachable", "it gave no answer\n\n```text\nquote 2 [QUOTE-3]\n```\n"),
        ("driver_lost refused", "no valid vote came in time\n\n```text\nquote 2 [QUOTE-3]\n```\n"),
        ("interrupted", "no valid vote came in time\n\n###"),
    ],
)
def test_the_document_says_why_a_vote_is_missing(reasons: str, said: str) -> None:
    """SPEC B-10, B-17: too late, refused, or never given; what was said of it is quoted."""
    case = _limited()
    ann = case.answer("ann", vote(case, "no"))
    for number, reason in enumerate(reasons.split(), start=1):
        case.fail("ben", FailureReason(reason), f"quote {number} [QUOTE-3]")
    case.settle(minutes=60)
    assert BALLOT.document is not None
    found = BALLOT.document(case.state, {ann.turn.id: "2026-01-01T00:00:00+00:00"})
    assert f"- Vote: **Rejected** on v1, since {said}" in found


def test_votes_that_were_all_there_in_time_count_after_the_deadline() -> None:
    """SPEC B-10: the driver was late, and nobody else."""
    case = _limited()
    case.answer("ann", vote(case, "yes"))
    case.answer("ben", vote(case, "yes"))
    assert _late(case).stop_reason is StopReason.AGREED


def test_a_deadline_while_challenges_are_heard_approves_nothing() -> None:
    """SPEC B-15: until everybody has let it pass, it has not passed."""
    case = _limited()
    case.all_answer(vote(case, "but", "a comma"), vote(case, "yes"))
    case.all_answer(weights(v1_R1="cosmetic"))
    case.answer("ann", challenge())
    closed = _late(case)
    assert (closed.stop_reason, closed.decision) == (StopReason.DEADLINE_PASSED, Decision.UNDETERMINED)


def test_a_withdrawn_ballot_decides_nothing() -> None:
    """DESIGN 4: and a note of the supervisor's is no vote."""
    case = Play()
    case.speak(AddNote(text="Approved by me"))
    case.answer("ann", vote(case, "yes"))
    (closed,) = case.speak(Withdraw(reason="superseded"))
    assert closed == CaseClosed(stop_reason=StopReason.WITHDRAWN, decision=Decision.UNDETERMINED, detail="superseded")


def _closes(case: Play) -> set[tuple[StopReason, Decision]]:
    """Return every ending that the rules would let stand where the case is now."""
    every = [CaseClosed(stop_reason=s, decision=d, detail="") for s in StopReason for d in Decision]
    return {(close.stop_reason, close.decision) for close in every if _may_stand(case, close)}


def _may_stand(case: Play, close: CaseClosed) -> bool:
    try:
        BALLOT.apply(case.state, close)
    except Refused:
        return False
    return True


UNDECIDED: Final = {
    (stop, Decision.UNDETERMINED)
    for stop in (StopReason.WITHDRAWN, StopReason.FAILED, StopReason.BUDGET_SPENT, StopReason.DEADLINE_PASSED)
}
LATE: Final = {(StopReason.DEADLINE_PASSED, Decision.REJECTED)}
WHILE_VOTING: Final = (UNDECIDED - {(StopReason.DEADLINE_PASSED, Decision.UNDETERMINED)}) | LATE


def test_no_record_holds_an_approval_or_a_deadlock_before_its_time() -> None:
    """CLOSE-1: in no phase, whatever was said so far."""
    case = Play(limits=Limits(max_rounds=1))
    assert _closes(case) == WHILE_VOTING
    case.answer("ann", vote(case, "but", "a comma"))
    assert _closes(case) == WHILE_VOTING
    case.answer("ben", vote(case, "yes"))
    assert _closes(case) == WHILE_VOTING
    case.append(case.revealed("ann"))
    assert _closes(case) == WHILE_VOTING
    case.settle_rest()
    assert _closes(case) == UNDECIDED
    case.all_answer(weights(v1_R1="cosmetic"))
    assert _closes(case) == UNDECIDED
    case.answer("ann", challenge())
    case.fail("ben")
    assert _closes(case) == UNDECIDED
    case.fail("ben")
    case.append(case.revealed("ann"))
    assert _closes(case) == UNDECIDED | {(StopReason.NEEDS_INPUT, Decision.NEEDS_INPUT)}


def test_a_round_more_than_there_are_cannot_stand_in_a_record() -> None:
    """FOLLOW-1, SPEC B-02."""
    case = Play(limits=Limits(max_rounds=1))
    case.answer("ann", vote(case, "no"))
    case.answer("ben", vote(case, "no"))
    case.append(case.revealed("ann"), case.revealed("ben"))
    assert _closes(case) == WHILE_VOTING | {(StopReason.NEEDS_INPUT, Decision.NEEDS_INPUT)}
    with pytest.raises(Refused, match="FOLLOW-1"):
        case.append(RoundOpened(round=2, reason="ann rejected v1; ben rejected v1"))


def test_a_case_that_goes_on_is_undetermined_and_its_last_round_ends_it() -> None:
    """SPEC B-02: an open case has decided nothing, and its last round is not over before its version is voted on."""
    case = Play(limits=Limits(max_rounds=2))
    case.all_answer(vote(case, "no"), vote(case, "yes"))
    case.answer("orchestrator", revision("Two.", "v1-N1"))
    assert (case.outcome.decision, case.outcome.reasons) == (Decision.UNDETERMINED, ("the case is open",))
    assert _closes(case) == UNDECIDED
