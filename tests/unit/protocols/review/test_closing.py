"""What a close may say: computed from the entries, also of a record that was cut or forged (FIELD-FAULTS F3, F5)."""

from dataclasses import replace
from typing import Any

import pytest

from counterpoint.core.checks import CommandCheck, EvidenceStatus, PathCheck
from counterpoint.core.entries import Entry, EvidenceGathered
from counterpoint.core.rules import Withdraw
from counterpoint.core.values import Decision, StopReason
from counterpoint.protocols.review import REVIEW
from counterpoint.protocols.review.weighing import closing
from tests.review_case import (
    CANDIDATE,
    CHECKS,
    CRITIC,
    NAMED_CHECKS,
    NOW,
    PYTEST,
    RUFF,
    SKEPTIC,
    Play,
    Tree,
    came_to,
    ended,
    finding,
    verdict,
    verdict_of,
)

VERIFIED, REFUTED, NOT_CHECKED = EvidenceStatus.VERIFIED, EvidenceStatus.REFUTED, EvidenceStatus.NOT_CHECKED
APPROVED, REJECTED, UNDETERMINED = Decision.APPROVED, Decision.REJECTED, Decision.UNDETERMINED
AGREED, SPENT, FAILED = StopReason.AGREED, StopReason.ROUNDS_SPENT, StopReason.FAILED


@pytest.mark.parametrize("stop", [s for s in StopReason if s not in {AGREED, SPENT, StopReason.STALLED}])
def test_a_case_that_stopped_early_is_undetermined_whatever_was_said(stop: StopReason) -> None:
    """FIELD-FAULTS F7: a wait that ended is not an approval, nor a rejection."""
    for reply in (verdict(), verdict(finding())):
        case = ended({CRITIC: reply})
        before = REVIEW.fold(case.entries[:-1])
        assert closing(before, stop, "why").decision is UNDETERMINED


def test_a_withdrawn_case_says_so() -> None:
    """And reveals nothing (docs/decisions/0001)."""
    case = Play(CRITIC, SKEPTIC)
    case.answer("critic", verdict())
    case.speak(Withdraw(reason="not needed any more"))
    assert came_to(case) == (
        StopReason.WITHDRAWN,
        UNDETERMINED,
        ("the case stopped before it was decided: withdrawn", "not needed any more"),
    )


def cut_reveal(*seats: str) -> Play:
    """Return a case of two sealed approvals, of which only those of `seats` have been revealed."""
    case = Play(CRITIC, SKEPTIC, quorum=1)
    case.answer("critic", verdict())
    case.answer("skeptic", verdict())
    for seat in seats:
        case.append(case.revealed(seat), verdict_of(seat))
    return case


def test_an_answer_that_is_not_revealed_keeps_a_case_from_approval() -> None:
    """FIELD-FAULTS F5: also where the quorum is reached without it. The missing one may be the rejection."""
    assert closing(cut_reveal("critic", "skeptic").state, SPENT, "").decision is APPROVED
    assert closing(cut_reveal("critic").state, SPENT, "").decision is UNDETERMINED
    case = cut_reveal()
    case.append(closing(case.state, SPENT, ""))
    assert came_to(case) == (
        SPENT,
        UNDETERMINED,
        (
            f"no verdict on {CANDIDATE} in the answer of critic, skeptic",
            "0 seats gave a verdict; the quorum is 1",
            "nobody was shown src/timer.py, old.py",
        ),
    )


def test_a_seat_that_still_owes_its_answer_keeps_a_case_from_approval() -> None:
    """FIELD-FAULTS F3, F21: every seat has an end before an outcome counts."""
    case = Play(CRITIC, SKEPTIC, CHECKS, quorum=1)
    case.answer("critic", verdict())
    case.append(case.revealed("critic"), verdict_of("critic"))
    assert closing(case.state, SPENT, "") == closing(case.state, AGREED, "")
    case.append(closing(case.state, SPENT, ""))
    assert came_to(case) == (SPENT, UNDETERMINED, ("no answer from skeptic, checks",))


def test_a_quorum_that_was_not_reached_keeps_a_case_from_approval() -> None:
    """Whatever its close says: one approval and one failed seat are not two (FIELD-FAULTS F1)."""
    case = Play(CRITIC, SKEPTIC)
    case.answer("critic", verdict())
    case.fail("skeptic")
    case.fail("skeptic")
    case.append(case.revealed("critic"), verdict_of("critic"))
    case.append(closing(case.state, SPENT, ""))
    assert came_to(case) == (SPENT, UNDETERMINED, ("1 seats gave a verdict; the quorum is 2",))


@pytest.mark.parametrize("left_out", [("pytest", "-q"), ("ruff", "check"), None])
def test_an_approval_by_checks_is_borne_out_by_the_record(left_out: tuple[str, ...] | None) -> None:
    """FIELD-FAULTS F1, F5: beside opinions, too; a lint that is left out carries nothing."""
    case = Play(CRITIC, CHECKS)
    case.answer("critic", verdict())
    case.answer("checks", NAMED_CHECKS)
    kept = [e for e in REVIEW.settle(case.state, NOW, case.vault)[:-1] if _argv(e) != left_out]
    case.append(*kept)
    is_backed = left_out != PYTEST.argv
    assert closing(case.state, AGREED, "").decision is (APPROVED if is_backed else UNDETERMINED)
    case.append(closing(case.state, AGREED, ""))
    reasons = ("critic, checks approved, and nothing is open",)
    assert case.outcome.reasons == (reasons if is_backed else ("no result in the record for the approval of checks",))


def _argv(entry: Entry) -> tuple[str, ...]:
    request = entry.evidence.request if isinstance(entry, EvidenceGathered) else None
    return request.argv if isinstance(request, CommandCheck) else ()


def test_only_a_command_can_fail_a_candidate() -> None:
    """A quote that was not found, if it stands in a record as evidence, is no failing command."""
    case = cut_reveal("critic", "skeptic")
    look = PathCheck(path="no/such.py", line=None, candidate=CANDIDATE)
    case.append(EvidenceGathered(evidence=Tree().look_up(look)))
    assert closing(case.state, SPENT, "").decision is APPROVED


@pytest.mark.parametrize("candidate", ["e" * 40, CANDIDATE[:39], ""])
def test_a_verdict_on_another_candidate_counts_for_nothing(candidate: str) -> None:
    """FIELD-FAULTS F11, F13: also where it stands in the record."""
    case = cut_reveal()
    for seat in ("critic", "skeptic"):
        case.append(
            case.revealed(seat),
            replace(verdict_of(seat), candidate=candidate if seat == "skeptic" else CANDIDATE),
        )
    assert closing(case.state, SPENT, "").decision is UNDETERMINED
    case.append(closing(case.state, SPENT, ""))
    assert case.outcome.reasons == (f"no verdict on {CANDIDATE} in the answer of skeptic",)
    assert [seat.approved for seat in case.outcome.seats] == [True, False]


def test_a_command_on_another_candidate_counts_for_nothing() -> None:
    """FIELD-FAULTS F11: neither its pass nor its failure is this candidate's."""
    other = {PYTEST.argv: REFUTED, RUFF.argv: VERIFIED}
    strange = tuple(
        replace(e, request=replace(e.request, candidate="e" * 40))
        for e in (Tree(commands=other).look_up(r) for r in _run())
    )
    case = cut_reveal("critic", "skeptic")
    case.append(*(EvidenceGathered(evidence=e) for e in strange))
    assert closing(case.state, SPENT, "").decision is APPROVED
    case.append(closing(case.state, SPENT, ""))
    assert case.outcome.evidence is NOT_CHECKED


def _run() -> tuple[Any, ...]:
    case = Play(CHECKS)
    turn = case.owed("checks")
    return REVIEW.checks(case.state, turn, REVIEW.parse(case.state, turn, NAMED_CHECKS))
