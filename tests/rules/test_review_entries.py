"""What may stand in a review's record, by rule: one accepted and one refused example each."""

from dataclasses import replace
from typing import Any

import pytest

from counterpoint.core.entries import (
    AttemptFailed,
    CaseClosed,
    FailureReason,
    FindingRaised,
    FindingRuled,
)
from counterpoint.core.findings import Ruling
from counterpoint.core.values import Decision, StopReason
from counterpoint.errors import Refused
from counterpoint.protocols.review import REVIEW
from tests.review_case import CRITIC, NOW, SKEPTIC, Play, finding, raised_by, refused, turn_of, verdict, verdict_of


def revealed_pair() -> Play:
    """Return a case in the middle of its reveal: both replies are open, nothing has been made of them."""
    case = Play(CRITIC, SKEPTIC)
    case.answer("critic", verdict())
    case.answer("skeptic", verdict())
    case.append(case.revealed("critic"), case.revealed("skeptic"))
    return case


def test_an_answer_and_a_failure_to_an_owed_turn_are_recorded() -> None:
    """SEAL-1 (DESIGN 4)."""
    case = Play(CRITIC, SKEPTIC)
    failed = case.fail("critic", FailureReason.BAD_REPLY)
    sealed = case.answer("critic", verdict())
    assert (case.state.failures, dict(case.state.sealed)) == ((failed,), {"critic": sealed})


def test_a_turn_is_recorded_once() -> None:
    """SEAL-1 (DESIGN 4, SECURITY R23, FIELD-FAULTS F37): a crashed driver that repeats itself changes nothing."""
    case = Play(CRITIC, SKEPTIC)
    failed = case.fail("critic")
    reason = "turn reviewing.1.critic.1 is not owed; it was answered, failed or never asked"
    with refused("SEAL-1", reason):
        case.append(failed)
    sealed = case.answer("critic", verdict())
    reason = "turn reviewing.1.critic.2 is not owed; it was answered, failed or never asked"
    with refused("SEAL-1", reason):
        case.append(sealed)
    with refused("SEAL-1", reason):
        case.append(replace(failed, turn=sealed.turn))


def test_the_sealed_reply_is_revealed() -> None:
    """SEAL-2 (SECURITY B.1): salt and reply open the seal."""
    case = Play()
    sealed = case.answer("critic", verdict())
    (revealed,) = case.append(case.revealed("critic"))
    assert dict(case.state.revealed) == {sealed.turn.id: revealed}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"reply": "{}"}, "the reply to reviewing.1.critic.1 is not the one that was sealed"),
        ({"reply": "\ud800"}, "the reply to reviewing.1.critic.1 is not the one that was sealed"),
        ({"salt": "f" * 32}, "the reply to reviewing.1.critic.1 is not the one that was sealed"),
        ({"salt": "0123456789ABCDEF" * 2}, "the reply to reviewing.1.critic.1 is not the one that was sealed"),
        ({"salt": "no salt"}, "the reply to reviewing.1.critic.1 is not the one that was sealed"),
        ({"turn": turn_of("critic", 2)}, "turn reviewing.1.critic.2 has no seal"),
        ({"turn": turn_of("skeptic")}, "turn reviewing.1.skeptic.1 has no seal"),
    ],
    ids=["reply", "surrogate", "salt", "capitals", "no salt", "other ask", "other seat"],
)
def test_a_reply_that_does_not_open_its_seal_is_refused(changes: dict[str, Any], reason: str) -> None:
    """SEAL-2 (SECURITY B.1): a reply changed after the others were known."""
    case = Play(CRITIC, SKEPTIC)
    case.answer("critic", verdict())
    revealed = case.revealed("critic")
    with refused("SEAL-2", reason):
        case.append(replace(revealed, **changes))


def test_a_reply_is_revealed_once() -> None:
    """SEAL-2 (FIELD-FAULTS F37)."""
    case = Play()
    case.answer("critic", verdict())
    revealed = case.revealed("critic")
    case.append(revealed)
    with refused("SEAL-2", "turn reviewing.1.critic.1 is revealed already"):
        case.append(revealed)


def test_what_follows_from_a_revealed_reply_is_recorded() -> None:
    """REVEAL-1 (DESIGN "Sealing")."""
    case = revealed_pair()
    case.append(raised_by("critic", "critic-F1"), verdict_of("critic", approved=False), verdict_of("skeptic"))
    assert list(case.state.verdicts) == ["critic", "skeptic"]


def test_nothing_is_recorded_for_a_seat_whose_reply_is_sealed() -> None:
    """REVEAL-1 (DESIGN "Sealing"): no verdict is put into the mouth of a seat that has not spoken."""
    case = Play(CRITIC, SKEPTIC)
    case.answer("critic", verdict())
    sealed = case.answer("skeptic", verdict(finding()))
    case.append(case.revealed("critic"))
    for seat in (sealed.turn.seat, "mallory"):
        with refused("REVEAL-1", f"VerdictGiven of {seat!r}, which has revealed no reply"):
            case.append(verdict_of(seat))
        with refused("REVEAL-1", f"FindingRaised of {seat!r}, which has revealed no reply"):
            case.append(raised_by(seat))


def test_the_raiser_rules_on_its_finding() -> None:
    """LEDGER-1 (DESIGN "Findings ledger")."""
    case = revealed_pair()
    case.append(
        raised_by("critic", "critic-F1"),
        FindingRuled(seat="critic", id="critic-F1", ruling=Ruling.SETTLED, reason="it is mended"),
    )
    assert case.state.ledger.blocking() == ()


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (raised_by("skeptic"), "'skeptic' raises 'F1', which is in the ledger"),
        (raised_by("critic"), "'critic' raises 'F1', which is in the ledger"),
        (
            FindingRuled(seat="skeptic", id="F1", ruling=Ruling.SETTLED, reason="I do not mind it"),
            "'skeptic' rules on 'F1', which 'critic' raised",
        ),
        (
            FindingRuled(seat="skeptic", id="F2", ruling=Ruling.SETTLED, reason="never mind"),
            "'skeptic' rules on 'F2', which nobody raised",
        ),
    ],
    ids=["another's id", "own id", "another's finding", "no finding"],
)
def test_a_finding_is_not_replaced_or_settled_by_another(entry: FindingRaised | FindingRuled, reason: str) -> None:
    """LEDGER-1 (DESIGN "Findings ledger", FIELD-FAULTS F19): not by its raiser under the same id, either."""
    case = revealed_pair()
    case.append(raised_by("critic"))
    with refused("LEDGER-1", reason):
        case.append(entry)


def test_a_close_that_says_what_the_rules_compute_is_recorded() -> None:
    """CLOSE-1 (DESIGN 4): the outcome is derived."""
    case = Play()
    case.answer("critic", verdict())
    assert case.settle()[-1] == CaseClosed(
        stop_reason=StopReason.AGREED, decision=Decision.APPROVED, detail="1 of 1 reviewers have answered"
    )


@pytest.mark.parametrize(
    ("stop", "decision", "computed"),
    [
        (StopReason.AGREED, Decision.APPROVED, "rejected (rounds_spent)"),
        (StopReason.AGREED, Decision.REJECTED, "rejected (rounds_spent)"),
        (StopReason.ROUNDS_SPENT, Decision.APPROVED, "rejected (rounds_spent)"),
        (StopReason.ROUNDS_SPENT, Decision.CONDITIONAL, "rejected (rounds_spent)"),
        (StopReason.DEADLINE_PASSED, Decision.APPROVED, "undetermined (deadline_passed)"),
    ],
)
def test_a_close_that_says_anything_else_is_refused(stop: StopReason, decision: Decision, computed: str) -> None:
    """CLOSE-1 (FIELD-FAULTS F1, F7): a decision that is not what its entries come to."""
    case = revealed_pair()
    case.append(raised_by("critic"), verdict_of("critic", approved=False), verdict_of("skeptic"))
    with refused("CLOSE-1", f"the entry says {decision} ({stop}); the rules compute {computed}"):
        case.append(CaseClosed(stop_reason=stop, decision=decision, detail=""))


def test_a_refusal_of_a_seat_names_the_seat() -> None:
    """TURN-1: the driver records a refusal under the seat whose reply it was."""
    case = Play()
    submission = REVIEW.parse(case.state, turn_of("critic"), verdict())
    with pytest.raises(Refused) as caught:
        REVIEW.admit(case.state, "mallory", turn_of("critic"), submission, evidence=(), now=NOW)
    assert caught.value.fields() == {
        "code": "refused",
        "message": "'mallory' answered the turn of 'critic' [TURN-1]",
        "hint": "",
        "rule": "TURN-1",
        "seat": "mallory",
        "reason": "'mallory' answered the turn of 'critic'",
    }


def test_an_attempt_of_no_seat_is_refused() -> None:
    """SEAL-1: nobody outside the roster uses up the budget."""
    failed = AttemptFailed(
        turn=turn_of("mallory"), attempt=1, reason=FailureReason.TIMEOUT, detail="", usage=Play().state.spent.usage
    )
    reason = "turn reviewing.1.mallory.1 is not owed; it was answered, failed or never asked"
    with refused("SEAL-1", reason):
        Play().append(failed)
