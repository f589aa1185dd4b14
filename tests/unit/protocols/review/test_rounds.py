"""How a review goes from round to round, and how it ends (DESIGN 4; docs/protocols/review.md)."""

import pytest

from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.docket import Terms
from counterpoint.core.entries import (
    AnswerRequested,
    CandidateKept,
    CandidateOffered,
    CaseClosed,
)
from counterpoint.core.findings import Answer, Disposition, FindingStatus, Ruled, Ruling
from counterpoint.core.limits import Limits
from counterpoint.core.outcome import SeatEnd
from counterpoint.core.rules import Exhibit
from counterpoint.core.values import Decision, Severity, StopReason
from counterpoint.errors import Refused
from counterpoint.protocols.review import REVIEW, Phase
from tests.review_case import (
    BASE,
    CANDIDATE,
    CHECKS,
    CRITIC,
    NAMED_CHECKS,
    NOW,
    RUFF,
    SKEPTIC,
    Play,
    Tree,
    answered,
    finding,
    turn_of,
    verdict,
)
from tests.review_rounds import OPEN, SETTLED, TIMER, end, play

APPROVED, REJECTED, UNDETERMINED = Decision.APPROVED, Decision.REJECTED, Decision.UNDETERMINED
AGREED, SPENT, STALLED = StopReason.AGREED, StopReason.ROUNDS_SPENT, StopReason.STALLED


def test_a_review_that_ends_in_agreement_goes_through_every_phase() -> None:
    """A reading, an answer, a reading of the new candidate; each of its batches is whole (DESIGN 4)."""
    case = play(CRITIC, SKEPTIC)
    assert REVIEW.due(case.state, NOW) == (turn_of("critic"), turn_of("skeptic"))
    first = case.read(OPEN, verdict())
    assert first[-1] == AnswerRequested(seat="author", round=1, findings=("critic-F1",))
    assert (case.state.phase, REVIEW.due(case.state, NOW)) == (Phase.ANSWERING, (turn_of("author"),))
    offered = case.reply(answered("fix", "critic-F1"), changed=[TIMER])
    assert isinstance(offered, CandidateOffered)
    assert (case.candidate, case.state.phase) == (offered.candidate, Phase.REVIEWING)
    assert REVIEW.due(case.state, NOW) == (turn_of("critic", number=2), turn_of("skeptic", number=2))
    last = case.read(SETTLED, verdict())
    assert last[-1] == CaseClosed(stop_reason=AGREED, decision=APPROVED, detail="2 of 2 reviewers have answered")
    assert [(v.seat, v.round, v.candidate) for v in case.state.votes] == [
        ("critic", 1, CANDIDATE),
        ("skeptic", 1, CANDIDATE),
        ("critic", 2, offered.candidate),
        ("skeptic", 2, offered.candidate),
    ]
    assert [v.approved for v in case.state.opening_votes()] == [False, True]
    assert (REVIEW.due(case.state, NOW), case.state) == ((), case.refold())


def test_what_was_said_to_a_finding_stays_with_it() -> None:
    """Every answer and every ruling, oldest first (DESIGN "Findings ledger")."""
    case = play()
    case.read(OPEN)
    case.reply(answered("rebut", reasoning="it cannot fire"))
    case.read(verdict(finding(reason="it can on Mondays")))
    case.reply(answered("fix", reasoning="Mondays are out"), changed=[TIMER])
    case.read(SETTLED)
    assert case.findings["F1"].answers == (
        Answer(round=1, disposition=Disposition.REBUT, reasoning="it cannot fire"),
        Answer(round=2, disposition=Disposition.FIX, reasoning="Mondays are out"),
    )
    assert case.findings["F1"].rulings == (
        Ruled(round=2, ruling=Ruling.STANDS, reason="it can on Mondays"),
        Ruled(round=3, ruling=Ruling.SETTLED, reason="it returns early"),
    )


def test_an_author_that_is_not_needed_is_not_asked() -> None:
    """Agreed at once; the first reading is the last."""
    case = play()
    case.read(verdict())
    assert end(case) == (AGREED, APPROVED)
    assert [seat.end for seat in case.outcome.seats] == [SeatEnd.NEVER_ANSWERED, SeatEnd.ANSWERED]


def test_a_dispute_brings_no_new_candidate_and_asks_no_approver_again() -> None:
    """SPEC D-16: nothing changed, so whoever approved exactly this has nothing to look at."""
    case = play(CRITIC, SKEPTIC, CHECKS)
    case.read(OPEN, verdict(), NAMED_CHECKS)
    assert case.reply(answered("rebut", "critic-F1")) == CandidateKept(seat="author", round=1, candidate=CANDIDATE)
    assert REVIEW.due(case.state, NOW) == (turn_of("critic", number=2),)
    case.read(SETTLED)
    assert end(case) == (AGREED, APPROVED)
    assert [(seat.seat, seat.end, seat.approved, seat.attempts) for seat in case.outcome.seats] == [
        ("author", SeatEnd.ANSWERED, False, 1),
        ("critic", SeatEnd.ANSWERED, True, 2),
        ("skeptic", SeatEnd.ANSWERED, True, 1),
        ("checks", SeatEnd.ANSWERED, True, 1),
    ]


def test_every_seat_sees_what_differs_from_what_it_judged_last() -> None:
    """SPEC D-14; the author and a seat that had failed see the whole change."""
    case = play(CRITIC, SKEPTIC, quorum=1)
    assert REVIEW.exhibit(case.state, case.owed("critic")) == Exhibit(base=BASE, candidate=CANDIDATE)
    case.read(OPEN, None)
    assert REVIEW.exhibit(case.state, case.owed("author")) == Exhibit(base=BASE, candidate=CANDIDATE, edits=True)
    case.reply(answered("fix", "critic-F1"), changed=[TIMER])
    second = case.candidate
    assert REVIEW.exhibit(case.state, case.owed("critic")) == Exhibit(base=CANDIDATE, candidate=second)
    assert REVIEW.exhibit(case.state, case.owed("skeptic")) == Exhibit(base=BASE, candidate=second)
    case.read(OPEN, verdict())
    assert REVIEW.exhibit(case.state, case.owed("author")) == Exhibit(base=BASE, candidate=second, edits=True)
    case.reply(answered("rebut", "critic-F1"))
    assert REVIEW.exhibit(case.state, case.owed("critic")) == Exhibit(base=second, candidate=second)


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_a_review_has_as_many_answers_as_rounds_and_one_reading_more(rounds: int) -> None:
    """The reading after the last answer ends it, wherever they stand (DESIGN 2, "Limits")."""
    case = play(rounds=rounds)
    for number in range(1, rounds + 1):
        assert case.state.round == number
        case.read(OPEN)
        case.reply(answered("accept_risk"))
    case.read(OPEN)
    assert (end(case), case.state.round, len(case.state.votes)) == ((SPENT, REJECTED), rounds + 1, rounds + 1)


def test_a_review_without_an_author_has_one_reading() -> None:
    """Whatever its limits say of rounds."""
    for rounds in (0, 1, 5):
        case = Play(CRITIC, limits=Limits(max_rounds=rounds))
        case.read(OPEN)
        assert end(case) == (SPENT, REJECTED)


@pytest.mark.parametrize(
    ("words", "decision", "reasons"),
    [
        (("rebut",), UNDETERMINED, ("F1 is open: critic holds it, and the author disputes it",)),
        (("partial",), UNDETERMINED, ("F1 is open: critic holds it, and the author disputes it",)),
        (("accept_risk",), REJECTED, ("1 open: F1",)),
        (("clarify",), REJECTED, ("1 open: F1",)),
        (("fix",), REJECTED, ("1 open: F1",)),
        (
            ("rebut", "accept_risk"),
            REJECTED,
            ("1 open: F2", "F1 is open: critic holds it, and the author disputes it"),
        ),
        (
            ("rebut", "partial"),
            UNDETERMINED,
            (
                "F1 is open: critic holds it, and the author disputes it",
                "F2 is open: critic holds it, and the author disputes it",
            ),
        ),
    ],
)
def test_what_is_open_in_the_end_is_rejected_or_where_it_is_disputed_unresolved(
    words: tuple[str, ...], decision: Decision, reasons: tuple[str, ...]
) -> None:
    """Both positions are in the ledger, and code sides with neither; an accepted risk stays open (DESIGN 4)."""
    case = play(rounds=1)
    names = [finding(id=f"F{n}") for n, _ in enumerate(words, 1)]
    case.read(verdict(*names))
    edits = {"fix", "partial"} & set(words)
    case.reply(*(answered(word, f"F{n}") for n, word in enumerate(words, 1)), changed=[TIMER] if edits else [])
    case.read(verdict(*(name | {"reason": "it stands"} for name in names)))
    assert (end(case), case.outcome.reasons) == ((SPENT, decision), reasons)
    assert [(f.answers[-1].disposition, f.rulings[-1].reason) for f in case.outcome.open_findings] == [
        (word, "it stands") for word in words
    ]


def test_a_command_that_fails_outweighs_a_dispute() -> None:
    """What code can check outranks what anyone says of it (DESIGN 7)."""
    case = play(CHECKS, rounds=1, tree=Tree(commands={RUFF.argv: EvidenceStatus.REFUTED}))
    case.read(NAMED_CHECKS)
    case.reply(answered("rebut", "F2"))
    case.read(NAMED_CHECKS)
    assert (end(case), case.outcome.reasons) == (
        (SPENT, REJECTED),
        ("failing: ruff check", "F2 is open: checks holds it, and the author disputes it"),
    )


@pytest.mark.parametrize(("word", "decision"), [("rebut", UNDETERMINED), ("accept_risk", REJECTED)])
def test_a_review_until_agreement_ends_when_nothing_moves(word: str, decision: Decision) -> None:
    """A stall is structural: the same stances as before, in whatever words (DESIGN "Limits")."""
    case = play(rounds=0)
    for number in range(1, 3):
        case.read(verdict(finding(reason=f"in words of round {number}")))
        case.reply(answered(word, reasoning=f"in words of round {number}"))
    case.read(OPEN)
    assert (end(case), case.state.round) == ((STALLED, decision), 3)


def test_a_review_until_agreement_goes_on_while_something_moves() -> None:
    """Each reading settles one finding; that is more rounds than are counted by default."""
    case = play(rounds=0)
    names = [finding(id=f"F{n}") for n in range(1, 7)]
    case.read(verdict(*names))
    for number in range(1, 7):
        case.reply(*(answered("fix", f.id) for f in case.state.ledger.unsettled()), changed=[TIMER])
        for name in names[:number]:
            name["status"] = "resolved"
        case.read(verdict(*names))
    assert (end(case), case.state.round) == ((AGREED, APPROVED), 7)


def test_a_review_that_goes_round_in_circles_stalls() -> None:
    """FIELD-FAULTS F17, F21: an author that changes its word each time moves nothing either."""
    case = play(rounds=0)
    for word in ("rebut", "clarify", "rebut"):
        case.read(OPEN)
        case.reply(answered(word))
    case.read(OPEN)
    assert end(case) == (STALLED, UNDETERMINED)


def test_rounds_that_are_counted_do_not_stall() -> None:
    """Their number ends the case."""
    case = play(rounds=4)
    for _ in range(4):
        case.read(OPEN)
        case.reply(answered("rebut"))
    case.read(OPEN)
    assert end(case) == (SPENT, UNDETERMINED)


@pytest.mark.parametrize("block_on", Severity)
def test_only_what_the_terms_say_must_be_settled(block_on: Severity) -> None:
    """FIELD-FAULTS F17: findings below are in the outcome, and end no case in anything but agreement."""
    light = [finding(id=s.name.capitalize(), severity=s.value) for s in Severity if not s.is_at_least(block_on)]
    case = play(terms=Terms(block_on=block_on))
    case.read(verdict(*light, approved=True))
    assert end(case) == (AGREED, APPROVED)
    assert [f.severity for f in case.outcome.open_findings] == [s for s in Severity if not s.is_at_least(block_on)]
    names = ", ".join(f["id"] for f in light)
    rest = f"what is open is below {block_on}: {names}" if light else "nothing is open"
    assert case.outcome.reasons == (f"critic approved, and {rest}",)


@pytest.mark.parametrize("block_on", Severity)
def test_what_must_be_settled_blocks_and_is_answered(block_on: Severity) -> None:
    """The author owes an answer to that and may give one to the rest; the end hangs on that alone."""
    case = play(terms=Terms(block_on=block_on))
    every = [finding(id=s.name.capitalize(), severity=s.value) for s in Severity]
    heavy = tuple(s.name.capitalize() for s in Severity if s.is_at_least(block_on))
    with pytest.raises(Refused, match="VERDICT-1"):
        case.weigh("critic", verdict(*every, approved=True))
    assert case.read(verdict(*every))[-1] == AnswerRequested(seat="author", round=1, findings=heavy)
    case.reply(*(answered("fix", f["id"]) for f in every), changed=[TIMER])
    case.read(verdict(*(finding(id=f["id"], severity=f["severity"], status="resolved") for f in every[: len(heavy)])))
    assert end(case) == (AGREED, APPROVED)
    assert len(case.outcome.open_findings) == 4 - len(heavy)


def test_a_reviewer_that_holds_back_for_less_than_the_terms_say_approves() -> None:
    """The verdict is computed from the ledger; what the seat said stands beside it (DESIGN "Findings ledger")."""
    case = play(terms=Terms(block_on=Severity.MAJOR))
    case.read(verdict(finding(severity="nit")))
    given_ = case.state.verdicts["critic"]
    assert (given_.claimed, given_.approved, end(case)) == (False, True, (AGREED, APPROVED))


def test_what_is_deferred_does_not_block_and_is_named_in_the_end() -> None:
    """SPEC D-17: for a gate outside the change; the report shows it."""
    case = play()
    case.read(OPEN)
    case.reply(answered("clarify", reasoning="the release does that"))
    case.read(verdict(finding(status="deferred", reason="the release of 2.0")))
    assert end(case) == (AGREED, APPROVED)
    (deferred,) = case.outcome.deferred_findings
    assert (deferred.id, deferred.status, deferred.reason) == ("F1", FindingStatus.DEFERRED, "the release of 2.0")
    assert (case.outcome.open_findings, case.outcome.refuted_findings) == ((), ())
