"""What follows by itself: a reveal of all, a close, and nothing before its time (DESIGN 4, "Sealing")."""

from dataclasses import replace

import pytest

from counterpoint.core.docket import Terms
from counterpoint.core.entries import CaseClosed, CaseOpened, FailureReason
from counterpoint.core.limits import Limits
from counterpoint.core.rules import AddNote, Withdraw
from counterpoint.core.values import Decision, StopReason
from counterpoint.errors import Refused, UnknownEntry
from counterpoint.protocols.review import REVIEW, Phase
from tests.review_case import (
    AUTHOR,
    CHECKS,
    CRITIC,
    NAMED_CHECKS,
    NOW,
    SKEPTIC,
    Play,
    finding,
    minutes,
    opening,
    raised_by,
    turn_of,
    verdict,
    verdict_of,
)


def closed(stop: StopReason, detail: str, decision: Decision = Decision.UNDETERMINED) -> CaseClosed:
    return CaseClosed(stop_reason=stop, decision=decision, detail=detail)


def test_a_new_case_owes_a_blind_turn_of_every_seat() -> None:
    """Side by side, in the roster's order (DESIGN 4)."""
    case = Play(SKEPTIC, CRITIC)
    assert REVIEW.due(case.state, NOW) == (turn_of("skeptic"), turn_of("critic"))
    assert REVIEW.settle(case.state, NOW, {}) == ()
    assert REVIEW.due(REVIEW.initial, NOW) == ()
    assert REVIEW.settle(REVIEW.initial, NOW, {}) == ()


def test_a_seat_that_failed_is_asked_once_more() -> None:
    """With a new id: a turn is recorded once (DESIGN 4, SPEC D-18)."""
    case = Play(CRITIC, SKEPTIC, quorum=1)
    case.fail("critic")
    assert REVIEW.due(case.state, NOW) == (turn_of("critic", 2), turn_of("skeptic"))
    case.fail("critic")
    assert REVIEW.due(case.state, NOW) == (turn_of("skeptic"),)


@pytest.mark.parametrize("reason", list(FailureReason))
def test_only_what_the_seat_did_counts_against_it(reason: FailureReason) -> None:
    """A driver that died or was interrupted spends a call and leaves the seat its questions (FIELD-FAULTS F43)."""
    case = Play(CRITIC)
    for _ in range(2):
        case.fail("critic", reason)
    is_nobodys = reason in {FailureReason.DRIVER_LOST, FailureReason.INTERRUPTED}
    assert REVIEW.due(case.state, NOW) == ((turn_of("critic", 3),) if is_nobodys else ())
    assert case.state.spent.calls == 2


def test_everything_sealed_is_revealed_at_once_in_the_rosters_order() -> None:
    """Whoever answered first; each reply is followed by what it becomes (SECURITY B.1)."""
    case = Play(CRITIC, SKEPTIC)
    case.answer("skeptic", verdict())
    assert case.settle() == ()
    case.answer("critic", verdict(finding()))
    assert case.settle() == (
        case.revealed("critic"),
        raised_by("critic", "critic-F1"),
        verdict_of("critic", approved=False),
        case.revealed("skeptic"),
        verdict_of("skeptic"),
        closed(StopReason.ROUNDS_SPENT, "2 of 2 reviewers have answered", Decision.REJECTED),
    )
    assert (case.state.phase, REVIEW.due(case.state, NOW), case.settle(10**6)) == (Phase.CLOSED, (), ())


def test_a_quorum_does_not_end_the_wait_for_the_others() -> None:
    """Every seat that was asked answers or fails before an outcome (FIELD-FAULTS F3, F21)."""
    case = Play(CRITIC, SKEPTIC, quorum=1)
    case.answer("critic", verdict())
    assert case.settle() == ()
    case.fail("skeptic")
    assert case.settle() == ()
    case.fail("skeptic")
    assert case.settle()[-1] == closed(
        StopReason.AGREED, "1 of 2 reviewers have answered; skeptic gave no valid answer", Decision.APPROVED
    )


def test_every_seat_that_failed_is_named() -> None:
    """Where the others were enough."""
    case = Play(CRITIC, SKEPTIC, CHECKS, quorum=1)
    case.answer("critic", verdict())
    for seat in ("skeptic", "skeptic", "checks", "checks"):
        case.fail(seat)
    assert case.settle()[-1] == closed(
        StopReason.AGREED, "1 of 3 reviewers have answered; skeptic, checks gave no valid answer", Decision.APPROVED
    )


def test_a_quorum_that_cannot_be_reached_ends_the_case_at_once() -> None:
    """What is sealed is revealed, and decides nothing (FIELD-FAULTS F1, F43: no answer is lost)."""
    case = Play(CRITIC, SKEPTIC, CHECKS, quorum=3)
    case.answer("critic", verdict(finding()))
    case.fail("skeptic", detail="exit code 1")
    case.fail("skeptic", FailureReason.BAD_REPLY, "the reply is empty")
    assert case.settle() == (
        case.revealed("critic"),
        raised_by("critic", "critic-F1"),
        verdict_of("critic", approved=False),
        closed(StopReason.FAILED, "skeptic gave no valid answer: the reply is empty"),
    )


@pytest.mark.parametrize(
    ("limits", "stop", "detail"),
    [
        (Limits(max_calls=2), StopReason.BUDGET_SPENT, "2 of 2 calls are spent"),
        (Limits(max_tokens=110), StopReason.BUDGET_SPENT, "110 of 110 tokens are spent"),
        (
            Limits(deadline="2026-11-30T12:30:00Z"),
            StopReason.DEADLINE_PASSED,
            "the deadline was 2026-11-30T12:30:00Z",
        ),
    ],
    ids=["calls", "tokens", "deadline"],
)
def test_a_limit_ends_the_wait_and_opens_what_came_in(limits: Limits, stop: StopReason, detail: str) -> None:
    """FIELD-FAULTS F7: the case says that it was cut short; one approval of two is none."""
    case = Play(CRITIC, SKEPTIC, limits=limits)
    case.answer("critic", verdict())
    case.fail("skeptic")
    before = REVIEW.settle(case.state, minutes(29), case.vault)
    assert (before == ()) is (stop is StopReason.DEADLINE_PASSED)
    assert case.settle(30) == (case.revealed("critic"), verdict_of("critic"), closed(stop, detail))


def test_answers_that_are_all_in_are_weighed_though_a_limit_is_reached_with_the_last() -> None:
    """The last answer may cost the last call, and the weighing may come late (docs/decisions/0001)."""
    limits = Limits(max_calls=2, max_tokens=220, deadline="2026-11-30T12:30:00Z")
    case = Play(CRITIC, SKEPTIC, limits=limits)
    case.answer("critic", verdict())
    case.answer("skeptic", verdict())
    assert case.settle(60)[-1] == closed(StopReason.AGREED, "2 of 2 reviewers have answered", Decision.APPROVED)


def test_a_reply_that_is_gone_or_changed_ends_the_case_as_failed() -> None:
    """Never left out and never asked again: the missing one may be the rejection (SECURITY B.1)."""
    for change in ("gone", "changed", "swapped", "other evidence", "no evidence"):
        case = Play(CRITIC, SKEPTIC, quorum=1)
        critic = case.answer("critic", verdict())
        skeptic = case.answer("skeptic", verdict(finding()))
        kept = case.vault.pop(skeptic.turn.id)
        if change == "changed":
            case.vault[skeptic.turn.id] = replace(kept, content=kept.content + " ")
        elif change == "swapped":
            case.vault[skeptic.turn.id] = case.vault[critic.turn.id]
        elif change == "other evidence":
            case.vault[skeptic.turn.id] = replace(kept, evidence=tuple(reversed(kept.evidence)))
        elif change == "no evidence":
            case.vault[skeptic.turn.id] = replace(kept, evidence=())
        assert case.settle() == (
            case.revealed("critic"),
            verdict_of("critic"),
            closed(StopReason.FAILED, "the sealed reply of skeptic cannot be opened"),
        )


def test_all_replies_that_cannot_be_opened_are_named() -> None:
    """Whatever else would have ended the case."""
    case = Play(CRITIC, SKEPTIC, CHECKS, limits=Limits(deadline="2026-11-30T12:30:00Z"))
    case.answer("critic", verdict())
    case.answer("checks", NAMED_CHECKS)
    case.vault.clear()
    assert case.settle(31) == (closed(StopReason.FAILED, "the sealed reply of critic, checks cannot be opened"),)


def test_a_record_that_was_cut_in_a_reveal_is_closed_as_failed() -> None:
    """A batch is whole or absent; if it is not, nothing is made up (DESIGN 5)."""
    case = Play(CRITIC)
    case.answer("critic", verdict())
    case.append(case.revealed("critic"))
    assert REVIEW.due(case.state, NOW) == ()
    assert case.settle() == (closed(StopReason.FAILED, "the record ends in the middle of a reveal"),)


def test_what_is_sealed_decides_nothing_before_its_time() -> None:
    """A note, a failure, the clock: settling stays empty while a seat owes its answer."""
    case = Play(CRITIC, CHECKS)
    case.answer("checks", NAMED_CHECKS)
    case.speak(AddNote(text="take your time"))
    case.fail("critic", FailureReason.INTERRUPTED)
    assert case.settle(10**6) == ()


def test_trying_an_answer_records_nothing() -> None:
    """`admit` says what a blind answer would become; its seal is what goes into the record (DESIGN "Sealing")."""
    case = Play(CRITIC)
    before = case.state
    _, entries = case.weigh("critic", verdict())
    assert entries == (verdict_of("critic"),)
    assert case.state == before
    with pytest.raises(Refused, match="PHASE-1"):
        case.append(*entries)


@pytest.mark.parametrize(("protocol", "version"), [("ballot", 1), ("review", 3), ("review", 0)])
def test_a_case_of_other_rules_is_not_folded_by_these(protocol: str, version: int) -> None:
    """A newer version is unknown, not refused (STYLE 4: fails closed on read)."""
    other = replace(opening(CRITIC), protocol=protocol, rules_version=version)
    with pytest.raises(UnknownEntry) as caught:
        REVIEW.apply(REVIEW.initial, other)
    assert (caught.value.entry_type, caught.value.reason) == (
        "case-opened",
        f"{protocol} in version {version}; these are the rules of review in 2",
    )


def test_a_case_of_the_first_rules_has_no_author() -> None:
    """They knew none: a record that says otherwise was not written by them."""
    first = replace(opening(CRITIC), rules_version=1)
    assert REVIEW.apply(REVIEW.initial, first).case.rules_version == 1
    with pytest.raises(UnknownEntry):
        REVIEW.apply(REVIEW.initial, replace(first, roster=(AUTHOR, CRITIC)))


def test_a_forged_opening_is_refused_when_it_is_read() -> None:
    """The opening rules hold for a record, too: nobody's quorum is no quorum (FIELD-FAULTS F1)."""
    forged = replace(opening(CRITIC), quorum=0, roster=())
    with pytest.raises(Refused, match="ROSTER-1"):
        REVIEW.apply(REVIEW.initial, forged)
    with pytest.raises(Refused, match="QUORUM-1"):
        REVIEW.apply(REVIEW.initial, replace(opening(CRITIC), quorum=0))


def test_an_opening_says_what_it_was_opened_with() -> None:
    """Everything that the fold needs is in the first entry (DESIGN 4)."""
    assert opening(CRITIC, CHECKS, quorum=1) == CaseOpened(
        protocol="review",
        rules_version=2,
        case="review-1",
        docket=opening(CRITIC).docket,
        roster=(CRITIC, CHECKS),
        limits=Limits(),
        terms=Terms(),
        quorum=1,
        supervisor="owner",
        seed="5eed",
        opened_at="2026-11-30T12:00:00+00:00",
    )


def test_an_opening_is_stamped_to_the_second() -> None:
    """As every stamp in a record (DESIGN 5)."""
    case = opening(CRITIC)
    (entry,) = REVIEW.open(
        case.docket,
        case.roster,
        case.limits,
        case=case.case,
        terms=case.terms,
        quorum=case.quorum,
        supervisor=case.supervisor,
        seed=case.seed,
        now=NOW.replace(microsecond=999_999),
    )
    assert entry == case


def test_a_withdrawal_closes_and_reveals_nothing() -> None:
    """Sealed replies stay sealed (docs/decisions/0001)."""
    case = Play(CRITIC, SKEPTIC)
    case.answer("critic", verdict())
    case.speak(Withdraw(reason="not needed"))
    assert (dict(case.state.revealed), case.settle(), REVIEW.due(case.state, NOW)) == ({}, (), ())


def test_a_turn_of_the_wrong_shape_owes_nothing() -> None:
    """Turns compare whole: a blind turn is not an open one (SECURITY R23)."""
    case = Play(CRITIC)
    submission = REVIEW.parse(case.state, turn_of("critic"), verdict())
    for turn in (
        replace(turn_of("critic"), blind=False),
        replace(turn_of("critic"), phase="other"),
    ):
        with pytest.raises(Refused, match="TURN-1"):
            REVIEW.admit(case.state, "critic", turn, submission, evidence=(), now=NOW)
