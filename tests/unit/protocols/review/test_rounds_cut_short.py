"""Rounds of checks, and what cuts a round short (DESIGN "Checks as a reviewer", "Limits"; SPEC D-18)."""

from dataclasses import replace

import pytest

from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.edits import Edit
from counterpoint.core.entries import (
    AnswerRequested,
    CandidateOffered,
    CaseClosed,
    FailureReason,
    FindingRaised,
    FindingRuled,
    VerdictGiven,
)
from counterpoint.core.findings import Ruling
from counterpoint.core.limits import Limits
from counterpoint.core.outcome import SeatEnd
from counterpoint.core.rules import AddNote, Withdraw
from counterpoint.core.values import Decision, Severity, StopReason
from counterpoint.protocols.review import REVIEW, Phase
from tests.review_case import (
    CANDIDATE,
    CHECKS,
    CRITIC,
    DOCKET,
    NAMED_CHECKS,
    NOW,
    OWNER,
    PYTEST,
    RUFF,
    SKEPTIC,
    Tree,
    answered,
    finding,
    given,
    minutes,
    turn_of,
    verdict,
)
from tests.review_rounds import OPEN, SETTLED, TIMER, end, play

APPROVED, REJECTED, UNDETERMINED = Decision.APPROVED, Decision.REJECTED, Decision.UNDETERMINED
AGREED, SPENT, STALLED = StopReason.AGREED, StopReason.ROUNDS_SPENT, StopReason.STALLED


CHECKS_F2 = "F2"


def checks_case(*results: EvidenceStatus, rounds: int = 3) -> list[list[str]]:
    """Return what a checks seat says, round by round, while `ruff check` comes out like this."""
    case = play(CHECKS, rounds=rounds)
    said = []
    for status in results:
        case.tree = Tree(commands={RUFF.argv: status})
        entries = case.read(NAMED_CHECKS)
        said.append([_said(e) for e in entries if isinstance(e, FindingRaised | FindingRuled | VerdictGiven)])
        if case.state.phase == Phase.ANSWERING:
            case.reply(answered("fix", CHECKS_F2), changed=[TIMER])
    return said


def _said(entry: FindingRaised | FindingRuled | VerdictGiven) -> str:
    match entry:
        case FindingRaised():
            return f"{entry.id} raised"
        case FindingRuled():
            return f"{entry.id} {entry.ruling}: {entry.reason}"
        case VerdictGiven():
            return "approves" if entry.approved else "does not approve"


PASSES, FAILS, UNKNOWN = EvidenceStatus.VERIFIED, EvidenceStatus.REFUTED, EvidenceStatus.NOT_CHECKED


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (PASSES, ["F2 settled: `ruff check`: exit 0", "approves"]),
        (FAILS, ["F2 stands: `ruff check`: exit 1", "does not approve"]),
        (UNKNOWN, ["does not approve"]),
    ],
)
def test_checks_rule_on_what_failed_before_by_how_it_comes_out_now(second: EvidenceStatus, said: list[str]) -> None:
    """One finding for one command; a command that shows nothing settles nothing (FIELD-FAULTS F1)."""
    assert checks_case(FAILS, second) == [["F2 raised", "does not approve"], said]


def test_a_command_that_fails_again_reopens_its_finding() -> None:
    """Under its old id; nobody has to have edited its place, which is a command."""
    case = play(CRITIC, CHECKS, rounds=3)
    for status, reply in ((FAILS, OPEN), (PASSES, OPEN), (FAILS, SETTLED)):
        case.tree = Tree(commands={RUFF.argv: status})
        case.read(reply, NAMED_CHECKS)
        case.reply(*(answered("fix", f.id) for f in case.state.ledger.unsettled()), changed=[TIMER])
    found = case.findings["checks-F2"]
    assert [r.ruling for r in found.rulings] == [Ruling.SETTLED, Ruling.STANDS]
    assert (found.is_open, found.round, found.severity) == (True, 1, Severity.BLOCKING)


def test_a_command_that_passes_on_rules_once() -> None:
    """What is settled is not settled again, round after round."""
    case = play(CRITIC, CHECKS)
    for status in (FAILS, PASSES, PASSES):
        case.tree = Tree(commands={RUFF.argv: status})
        case.read(OPEN, NAMED_CHECKS)
        case.reply(*(answered("fix", f.id) for f in case.state.ledger.unsettled()), changed=[TIMER])
    assert [r.ruling for r in case.findings["checks-F2"].rulings] == [Ruling.SETTLED]


def test_a_command_that_is_left_without_a_result_keeps_its_finding_open() -> None:
    """Also where the command is no test, and another passed."""
    case = play(CHECKS, rounds=1)
    case.tree = Tree(commands={RUFF.argv: FAILS})
    case.read(NAMED_CHECKS)
    case.reply(answered("fix", CHECKS_F2), changed=[TIMER])
    case.tree = Tree(commands={RUFF.argv: UNKNOWN})
    case.read(NAMED_CHECKS)
    assert (end(case), case.outcome.reasons) == ((SPENT, REJECTED), ("1 open: F2",))


def test_a_command_that_passed_on_an_older_candidate_counts_for_nothing_on_the_newer() -> None:
    """FIELD-FAULTS F11: code looks again at each candidate."""
    case = play(CHECKS, rounds=1)
    case.tree = Tree(commands={RUFF.argv: FAILS})
    case.read(NAMED_CHECKS)
    assert case.outcome.evidence is FAILS
    case.reply(answered("fix", CHECKS_F2), changed=[TIMER])
    assert case.outcome.evidence is UNKNOWN
    case.tree = Tree(commands={PYTEST.argv: UNKNOWN})
    case.read(NAMED_CHECKS)
    assert (case.outcome.evidence, end(case)) == (UNKNOWN, (SPENT, UNDETERMINED))


@pytest.mark.parametrize(
    ("limits", "stop", "detail"),
    [
        (Limits(max_rounds=3, max_calls=2), StopReason.BUDGET_SPENT, "2 of 2 calls are spent"),
        (Limits(max_rounds=3, max_tokens=110), StopReason.BUDGET_SPENT, "110 of 110 tokens are spent"),
        (
            Limits(max_rounds=3, deadline=minutes(30).isoformat()),
            StopReason.DEADLINE_PASSED,
            f"the deadline was {minutes(30).isoformat()}",
        ),
    ],
    ids=["calls", "tokens", "deadline"],
)
def test_a_limit_ends_the_wait_for_an_author(limits: Limits, stop: StopReason, detail: str) -> None:
    """Undetermined: nobody has said whether the findings can be answered (FIELD-FAULTS F7)."""
    case = play(limits=limits)
    case.read(OPEN)
    case.fail("author", FailureReason.INTERRUPTED)
    assert case.settle(29) == () or stop is StopReason.BUDGET_SPENT
    case.settle(30)
    assert case.state.closed == CaseClosed(stop_reason=stop, decision=UNDETERMINED, detail=detail)
    assert [seat.end for seat in case.outcome.seats] == [SeatEnd.NEVER_ANSWERED, SeatEnd.ANSWERED]


def test_an_answer_that_is_in_is_taken_though_a_limit_is_reached_with_it() -> None:
    """What was made is not lost; then the limit ends the case (FIELD-FAULTS F43)."""
    case = play(limits=Limits(max_rounds=3, max_calls=2))
    case.read(OPEN)
    case.answer("author", given(answered("fix"), changed=[TIMER]))
    assert isinstance(case.settle(60)[-1], CandidateOffered)
    case.settle(60)
    assert end(case) == (StopReason.BUDGET_SPENT, UNDETERMINED)
    assert [seat.end for seat in case.outcome.seats] == [SeatEnd.ANSWERED, SeatEnd.ANSWERED]


def test_an_author_that_gives_no_valid_answer_ends_the_case_as_failed() -> None:
    """SPEC D-18: asked once more with the reason, then it is no disagreement but a failure."""
    case = play()
    case.read(OPEN)
    case.fail("author", FailureReason.REFUSED, "no answer to F1 [ANSWER-1]")
    brief = REVIEW.brief(case.state, case.owed("author"), case.materials("author"))
    assert brief.payload["your_last_answer_was_not_accepted"] == "no answer to F1 [ANSWER-1]"
    assert case.settle() == ()
    case.fail("author", FailureReason.TIMEOUT, "no answer in time")
    assert case.settle() == (
        CaseClosed(
            stop_reason=StopReason.FAILED,
            decision=UNDETERMINED,
            detail="author gave no valid answer: no answer in time",
        ),
    )
    assert case.outcome.seats[0].end is SeatEnd.FAILED


def test_a_reading_in_which_nobody_answers_asks_the_author_again() -> None:
    """The others' approvals stand, and who held the finding failed; it has its questions again in the next round."""
    case = play(CRITIC, SKEPTIC, quorum=1)
    case.read(OPEN, verdict())
    case.reply(answered("rebut", "critic-F1"))
    assert case.read(None) == (AnswerRequested(seat="author", round=2, findings=("critic-F1",)),)
    case.reply(answered("fix", "critic-F1"), changed=[TIMER])
    case.read(SETTLED, verdict())
    assert end(case) == (AGREED, APPROVED)


def test_an_authors_attempts_are_counted_in_each_round() -> None:
    """As a reviewer's are: one bad start does not end a later round."""
    case = play(CRITIC, SKEPTIC)
    for number in (1, 2):
        case.fail("critic")
        case.read(OPEN, verdict())
        case.fail("author")
        assert case.owed("author") == turn_of("author", 2, number=number)
        case.reply(answered("fix", "critic-F1"), changed=[TIMER])
    assert case.state.closed is None


@pytest.mark.parametrize("how", ["gone", "changed", "another edit"])
def test_an_answer_that_cannot_be_opened_ends_the_case_as_failed(how: str) -> None:
    """Nothing is offered of it: what code had found of the edit is sealed with the reply (SECURITY B.1)."""
    case = play()
    case.read(OPEN)
    sealed = case.answer("author", given(answered("fix"), changed=[TIMER]))
    kept = case.vault.pop(sealed.turn.id)
    if how == "changed":
        case.vault[sealed.turn.id] = replace(kept, content=kept.content + " ")
    elif how == "another edit":
        (edit,) = kept.evidence
        assert isinstance(edit, Edit)
        case.vault[sealed.turn.id] = replace(kept, evidence=(replace(edit, made=None),))
    assert case.settle() == (
        CaseClosed(
            stop_reason=StopReason.FAILED, decision=UNDETERMINED, detail="the reply of author cannot be opened"
        ),
    )
    assert case.candidate == CANDIDATE


def test_a_supervisor_speaks_and_withdraws_while_the_author_is_at_work() -> None:
    """SPEC D-17: a stop by hand keeps what was said."""
    case = play()
    case.read(OPEN)
    case.speak(AddNote(text="take your time"))
    case.speak(Withdraw(reason="enough"))
    assert end(case) == (StopReason.WITHDRAWN, UNDETERMINED)
    assert [note.by for note in case.state.notes] == [OWNER]
    assert [f.id for f in case.outcome.open_findings] == ["F1"]


def test_a_record_that_was_cut_in_an_answer_is_closed_as_failed() -> None:
    """A batch is whole or absent; if it is not, nothing is made up (DESIGN 5)."""
    case = play()
    case.read(OPEN)
    case.answer("author", given(answered("rebut")))
    case.append(case.revealed("author"))
    assert (case.state.phase, REVIEW.due(case.state, NOW)) == (Phase.ANSWERED, ())
    case.settle()
    assert end(case) == (StopReason.FAILED, UNDETERMINED)


def test_an_author_may_edit_a_case_of_words() -> None:
    """A docket without a base has paths once something was edited."""
    words = replace(DOCKET, base="", paths=(), commands=())
    case = play(docket=words)
    case.read(verdict(finding(location="the second sentence")))
    case.reply(answered("fix"), changed=["text.md"])
    assert [p.path for p in case.state.docket.paths] == ["text.md"]
    case.read(verdict(finding(location="the second sentence", status="resolved")), shown=["text.md"])
    assert end(case) == (AGREED, APPROVED)
