"""What users of such tools have met, each fault once, at the level of the rules (FIELD-FAULTS).

What only rounds can show is in `test_field_faults_of_rounds`.
"""

from dataclasses import replace

import pytest

from counterpoint.core.case import NOBODYS_FAULT
from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.entries import AttemptFailed, FailureReason
from counterpoint.core.limits import Limits
from counterpoint.core.outcome import SeatEnd
from counterpoint.core.values import Decision, StopReason
from counterpoint.errors import BadReply, Refused
from counterpoint.protocols.review import REVIEW
from tests.review_case import (
    BASE,
    CANDIDATE,
    CHECKS,
    CRITIC,
    NAMED_CHECKS,
    NOW,
    PYTEST,
    RUFF,
    SKEPTIC,
    Play,
    Replies,
    Tree,
    as_bytes,
    claim,
    ended,
    finding,
    minutes,
    opening,
    refused,
    verdict,
    verdict_of,
)

OF_THE_SEAT = [reason for reason in FailureReason if reason not in NOBODYS_FAULT]


@pytest.mark.parametrize("reason", OF_THE_SEAT)
def test_a_reviewer_that_never_ran_approves_nothing(reason: FailureReason) -> None:
    """F1: no key, no answer, an error; beside an approval, too."""
    case = Play(CRITIC, SKEPTIC)
    case.answer("critic", verdict())
    case.fail("skeptic", reason)
    case.fail("skeptic", reason)
    case.settle()
    assert (case.outcome.decision, case.outcome.stop_reason) == (Decision.UNDETERMINED, StopReason.FAILED)


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"approved",
        b'The diff says {"approved": true}, so it must be.',
        b"> " + as_bytes(verdict()),
        as_bytes(verdict()) + b"\n" + as_bytes(verdict(finding())),
        as_bytes({"result": verdict()}),
        as_bytes([verdict()]),
    ],
    ids=["empty", "a word", "quoted", "quotation", "two", "wrapped", "listed"],
)
def test_only_the_one_object_counts(reply: bytes) -> None:
    """F1: a verdict is not found in a line that the reply quotes."""
    case = Play(CRITIC)
    with pytest.raises(BadReply):
        case.answer("critic", reply)
    assert case.entries == (opening(CRITIC),)


def test_no_outcome_exists_while_a_seat_is_at_work() -> None:
    """F3: three seats, two in; only the third's answer or failure ends the wait, and all have an end then."""
    case = Play(CRITIC, SKEPTIC, CHECKS, quorum=1)
    case.answer("critic", verdict())
    case.answer("checks", NAMED_CHECKS)
    assert (case.settle(10**6), case.outcome.stop_reason) == ((), None)
    case.fail("skeptic")
    case.fail("skeptic")
    case.settle()
    assert [seat.end for seat in case.outcome.seats] == [SeatEnd.ANSWERED, SeatEnd.FAILED, SeatEnd.ANSWERED]


def test_every_source_of_findings_can_block() -> None:
    """F5: the first seat, the last seat, a command that checks ran, a command that a claim made run."""
    failing = Tree(commands={RUFF.argv: EvidenceStatus.REFUTED})
    cases = (
        ended({CRITIC: verdict(finding()), SKEPTIC: verdict(), CHECKS: NAMED_CHECKS}),
        ended({CRITIC: verdict(), SKEPTIC: verdict(finding()), CHECKS: NAMED_CHECKS}),
        ended({CRITIC: verdict(), CHECKS: NAMED_CHECKS}, tree=failing),
        ended({CRITIC: verdict(), SKEPTIC: verdict(claims=[claim("ruff check", passes=True)])}, tree=failing),
    )
    assert [case.outcome.decision for case in cases] == [Decision.REJECTED] * 4


def test_a_wait_that_ran_out_is_told_from_an_approval() -> None:
    """F7: the attempt says `timeout`, the close says `deadline_passed`, and neither reads as a verdict."""
    case = Play(CRITIC, SKEPTIC, limits=Limits(deadline=minutes(30).isoformat()))
    case.answer("critic", verdict())
    failed = case.fail("skeptic", FailureReason.TIMEOUT)
    case.settle(30)
    assert [e for e in case.entries if isinstance(e, AttemptFailed)] == [failed]
    assert (case.outcome.stop_reason, case.outcome.decision) == (StopReason.DEADLINE_PASSED, Decision.UNDETERMINED)
    assert "skeptic" not in case.state.verdicts


def test_a_judge_that_errs_or_leaves_something_out_is_not_neutral() -> None:
    """F9: two approvals and an error are none; a command left out is refused; one that did not run is named."""
    with_error = ended({CRITIC: verdict(), SKEPTIC: None, CHECKS: NAMED_CHECKS})
    assert with_error.outcome.decision is Decision.UNDETERMINED
    with refused("CHECKS-1", "1 commands named; the docket's 2 decide, each once, in order"):
        Play(CHECKS).weigh("checks", {"commands": [["pytest", "-q"]]})
    skipped = ended({CHECKS: NAMED_CHECKS}, tree=Tree(commands={PYTEST.argv: EvidenceStatus.NOT_CHECKED}))
    assert skipped.outcome.decision is Decision.UNDETERMINED
    assert "pytest -q (not installed)" in skipped.outcome.reasons[0]


def test_a_verdict_belongs_to_one_commit() -> None:
    """F11: a new head is a new case: nothing said of the old one counts in it, or can be said in it."""
    new = Play(CRITIC)
    with refused("BINDING-1", f"the verdict is on {BASE!r}; {CANDIDATE!r} is on the table"):
        new.weigh("critic", verdict(candidate=BASE))
    case = Play(CRITIC)
    case.answer("critic", verdict())
    case.append(
        case.revealed("critic"),
        replace(verdict_of("critic"), candidate=BASE),
    )
    assert not any(seat.approved for seat in case.outcome.seats)


def test_the_text_cannot_be_swapped_under_an_open_review() -> None:
    """F13: a case is opened once, and its docket is in its first entry; approvals of two texts make no quorum."""
    case = Play(CRITIC, SKEPTIC)
    with refused("PHASE-1", "CaseOpened cannot follow in phase 'reviewing'"):
        case.append(opening(CRITIC, SKEPTIC))
    for seat in ("critic", "skeptic"):
        case.answer(seat, verdict())
    for seat, candidate in (("critic", CANDIDATE), ("skeptic", BASE)):
        case.append(
            case.revealed(seat),
            replace(verdict_of(seat), candidate=candidate),
        )
    case.settle()
    assert case.outcome.decision is Decision.UNDETERMINED


def test_there_is_no_pass_over_a_file_that_nobody_was_shown() -> None:
    """F15: three approvals of a change of which one file did not fit into any brief."""
    seats: Replies = {CRITIC: verdict(), SKEPTIC: verdict(), replace(CRITIC, name="third"): verdict()}
    case = ended(seats, shown=("src/timer.py",))
    assert (case.outcome.decision, case.outcome.reasons) == (Decision.UNDETERMINED, ("nobody was shown old.py",))


def test_no_finding_vanishes_or_drifts() -> None:
    """F19: each is in the outcome under its id and severity, however many others there are."""
    findings = [finding(id=f"F{n}", severity=s) for n, s in enumerate(["nit", "minor", "major", "blocking"] * 50)]
    case = ended({CRITIC: verdict(*findings), SKEPTIC: verdict()})
    listed = [(f.id, str(f.severity)) for f in case.outcome.open_findings]
    assert listed == [(f"critic-{f['id']}", f["severity"]) for f in findings]


def test_a_case_is_not_satisfied_before_every_seat_has_spoken() -> None:
    """F21: the first approvals do not close it, and nobody's approval is shown to the others."""
    case = Play(CRITIC, SKEPTIC)
    case.answer("critic", verdict())
    assert case.settle() == ()
    (turn,) = REVIEW.due(case.state, NOW)
    assert turn.seat == "skeptic"
    with pytest.raises(Refused, match="CLOSE-1"):
        case.append(ended({CRITIC: verdict()}).entries[-1])
