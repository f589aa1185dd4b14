"""What users have met where a review goes on for rounds, each fault at the level of the rules (FIELD-FAULTS)."""

import json
from itertools import pairwise
from typing import Any

import pytest

from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.docket import Terms
from counterpoint.core.entries import AnswerRequested, CaseClosed, VerdictGiven
from counterpoint.core.findings import FindingStatus
from counterpoint.core.limits import Limits
from counterpoint.core.values import Decision, Severity, StopReason
from counterpoint.errors import Refused
from counterpoint.protocols.review import REVIEW
from tests.review_case import (
    AUTHOR,
    CANDIDATE,
    CHECKS,
    CRITIC,
    NAMED_CHECKS,
    NOW,
    PYTEST,
    SKEPTIC,
    Play,
    Tree,
    answered,
    claim,
    finding,
    refused,
    verdict,
)
from tests.review_rounds import NEW, ROUNDS, TIMER, asked, disputed, edited

APPROVED, REJECTED, UNDETERMINED = Decision.APPROVED, Decision.REJECTED, Decision.UNDETERMINED


def decided(case: Play) -> tuple[StopReason | None, Decision]:
    return case.outcome.stop_reason, case.outcome.decision


def test_a_new_head_inherits_no_approval() -> None:
    """F11: who approved the commit before is asked again, and counts for nothing until then."""
    case = Play(AUTHOR, CRITIC, SKEPTIC, limits=ROUNDS)
    case.read(verdict(finding()), verdict())
    case.reply(answered("fix", "critic-F1"), changed=[TIMER])
    assert [turn.seat for turn in REVIEW.due(case.state, NOW)] == ["critic", "skeptic"]
    assert not any(seat.approved for seat in case.outcome.seats)
    for seat in ("critic", "skeptic"):
        with refused("BINDING-1", f"the verdict is on {CANDIDATE!r}; {case.candidate!r} is on the table"):
            case.weigh(seat, verdict(candidate=CANDIDATE))


def test_a_new_head_keeps_its_findings_as_they_were() -> None:
    """F11, F19: they are of the case; each says on which commit it was raised and is ruled on anew."""
    case = edited()
    assert [(f.id, f.candidate, f.status) for f in case.outcome.open_findings] == [
        ("F1", CANDIDATE, FindingStatus.OPEN)
    ]


def test_a_quorum_is_not_put_together_across_two_candidates() -> None:
    """F13: one approved the first, the other the second; each by itself is one of two."""
    case = Play(AUTHOR, CRITIC, SKEPTIC, limits=Limits(max_rounds=3, max_calls=5))
    case.read(verdict(finding()), verdict())
    case.reply(answered("fix", "critic-F1"), changed=[TIMER])
    case.answer("critic", verdict(finding(status="resolved")))
    case.fail("skeptic")
    case.settle()
    assert decided(case) == (StopReason.BUDGET_SPENT, UNDETERMINED)
    assert [(v.seat, v.candidate, v.approved) for v in case.state.verdicts.values()] == [
        ("critic", case.candidate, True),
        ("skeptic", CANDIDATE, True),
    ]
    before = REVIEW.fold(case.entries[:-1])
    for stop in (StopReason.AGREED, StopReason.ROUNDS_SPENT):
        with pytest.raises(Refused, match="the rules compute undetermined"):
            REVIEW.apply(before, CaseClosed(stop_reason=stop, decision=APPROVED, detail=""))


def test_an_edit_takes_away_what_a_seat_was_shown_of_it() -> None:
    """F15: an approval covers a path as it is now, not as it was before the edit."""
    case = edited(changed=(TIMER, "new.py"))
    case.read(verdict(finding(status="resolved")), shown=["new.py"])
    assert (decided(case), case.outcome.reasons) == (
        (StopReason.ROUNDS_SPENT, UNDETERMINED),
        (f"nobody was shown {TIMER}",),
    )
    whole = edited(changed=(TIMER, "new.py"))
    whole.read(verdict(finding(status="resolved")), shown=["new.py", TIMER])
    assert decided(whole) == (StopReason.AGREED, APPROVED)


def test_what_was_never_shown_stays_unseen_through_every_round() -> None:
    """F15: a later reading shows what was edited, and gives nobody the file that was left out at first."""
    case = Play(AUTHOR, CRITIC, limits=ROUNDS)
    case.read(verdict(finding()), shown=[TIMER])
    case.reply(answered("fix"), changed=[TIMER])
    case.read(verdict(finding(status="resolved")))
    assert (decided(case), case.outcome.coverage.unseen) == ((StopReason.ROUNDS_SPENT, UNDETERMINED), ("old.py",))


def test_a_seat_that_approved_another_candidate_covers_nothing_of_this_one() -> None:
    """F15, F11: what the skeptic was shown of the first candidate is no reading of the second."""
    case = Play(AUTHOR, CRITIC, SKEPTIC, limits=ROUNDS, quorum=1)
    case.read(verdict(finding()), verdict(), shown=[])
    case.reply(answered("fix", "critic-F1"), changed=[TIMER])
    case.read(verdict(finding(status="resolved")), None, shown=[TIMER])
    assert (decided(case), case.outcome.coverage.unseen) == ((StopReason.ROUNDS_SPENT, UNDETERMINED), ("old.py",))


def nagging(case: Play, number: int) -> dict[str, Any]:
    """Return what a reviewer says that finds something new at the edited place, round after round."""
    old = [finding(id=i, status="resolved", location=TIMER) for i in case.findings]
    return verdict(*old, finding(id=f"N{number}", location=TIMER))


@pytest.mark.parametrize(
    ("limits", "stop"),
    [
        (Limits(max_rounds=5), StopReason.ROUNDS_SPENT),
        (Limits(max_rounds=0, max_calls=40), StopReason.BUDGET_SPENT),
        (Limits(max_rounds=0, max_calls=0, max_tokens=5000), StopReason.BUDGET_SPENT),
    ],
    ids=["rounds", "calls", "tokens"],
)
def test_a_review_in_which_each_fix_opens_something_new_ends(limits: Limits, stop: StopReason) -> None:
    """F17: by its rounds, and where those are not counted by its budget; each finding is in the end."""
    case, number = Play(AUTHOR, CRITIC, limits=limits), 0
    while case.state.closed is None:
        number += 1
        case.read(nagging(case, number))
        if case.state.closed is None:
            case.reply(*(answered("fix", f.id) for f in case.state.ledger.unsettled()), changed=[TIMER])
        case.settle()
    assert decided(case)[0] is stop
    assert number <= 24
    assert list(case.findings) == [f"N{n}" for n in range(1, number + 1)]


def test_a_reviewer_of_nits_ends_where_nits_do_not_block() -> None:
    """F17: blocking is bounded by severity, and no new nit is taken after the first reading."""
    case = asked(finding(severity="major"), finding(id="F2", severity="nit"), terms=Terms(block_on=Severity.MINOR))
    case.reply(answered("fix"), changed=[TIMER])
    settled = finding(status="resolved")
    with refused("FINDING-4", "F3 is a new nit in round 2; nits are taken in the first reading"):
        case.weigh("critic", verdict(settled, finding(id="F3", severity="nit")))
    case.read(verdict(settled))
    assert decided(case) == (StopReason.AGREED, APPROVED)
    assert [f.id for f in case.outcome.open_findings] == ["F2"]


def test_a_finding_that_is_left_out_stays_open() -> None:
    """F19: a clean second verdict hides nothing, and approves nothing."""
    case = edited(finding(), finding(id="F2", severity="nit"))
    with refused("VERDICT-1", "approved is true, but F1, F2 is open"):
        case.weigh("critic", verdict())
    with refused("VERDICT-1", "approved is true, but F2 is open"):
        case.weigh("critic", verdict(finding(status="resolved")))
    case.read(verdict(approved=False))
    assert isinstance(case.entries[-1], AnswerRequested)
    assert case.entries[-1].findings == ("F1", "F2")
    assert [(f.id, f.status, f.rulings) for f in case.state.ledger] == [
        ("F1", FindingStatus.OPEN, ()),
        ("F2", FindingStatus.OPEN, ()),
    ]


def test_a_finding_does_not_come_back_under_another_number() -> None:
    """F19: refused where nothing was edited; at an edited place it is one more, and the old one stays open."""
    with refused("FINDING-4", "F7 is new, and 'src/timer.py:2' was not edited since 'critic' judged last"):
        disputed().weigh("critic", verdict(finding(id="F7")))
    case = edited()
    with refused("VERDICT-1", "approved is true, but F1 is open"):
        case.weigh("critic", verdict(finding(id="F7", status="resolved"), approved=True))
    case.read(verdict(finding(id="F7")))
    assert [f.id for f in case.outcome.open_findings] == ["F1", "F7"]


def test_severities_do_not_drift() -> None:
    """F19: a blocking finding is not let through as a nit, nor a nit made to block."""
    terms = Terms(block_on=Severity.MAJOR)
    case = edited(finding(severity="blocking"), finding(id="F2", severity="nit"), terms=terms)
    with refused("FINDING-3", "F1 is blocking, and the verdict makes it nit"):
        case.weigh("critic", verdict(finding(severity="nit", status="resolved"), approved=True))
    with refused("FINDING-3", "F2 is nit, and the verdict makes it blocking"):
        case.weigh("critic", verdict(finding(severity="blocking"), finding(id="F2", severity="blocking")))


def test_one_push_forgets_no_blocker() -> None:
    """F19: an incremental reading shows what was edited, and the brief holds every finding that may be ruled on."""
    settled = [finding(id=i, status="resolved", location=at) for i, at in (("F3", f"{TIMER}:1"), ("F4", "old.py"))]
    case = edited(finding(location="old.py:1"), finding(id="F2"), *settled)
    brief = REVIEW.brief(case.state, case.owed("critic"), case.materials("critic"))
    assert (brief.payload["edited"], brief.shown_paths) == ([TIMER], (TIMER,))
    assert [f["id"] for f in brief.payload["your_findings"]] == ["F1", "F2", "F3"]
    assert brief.payload["your_closed_findings"] == ["F4"]


def test_a_round_is_not_over_before_every_seat_has_spoken() -> None:
    """F21: neither for the author's turn nor for the close, in the second reading as in the first."""
    case = Play(AUTHOR, CRITIC, SKEPTIC, CHECKS, limits=ROUNDS)
    for _ in (1, 2):
        case.answer("critic", verdict(finding()))
        assert case.settle() == ()
        case.answer("checks", NAMED_CHECKS)
        assert case.settle() == ()
        case.answer("skeptic", verdict())
        assert isinstance(case.settle()[-1], AnswerRequested)
        case.reply(answered("fix", "critic-F1"), changed=[TIMER])


def test_politeness_ends_in_a_stall() -> None:
    """F21: two seats that go on thanking each other move nothing."""
    case = asked(limits=Limits(max_rounds=0))
    for number in range(2):
        case.reply(answered("accept_risk", reasoning=f"thank you, {number}"))
        case.read(verdict(finding(), responseToRebuttal=f"no, thank you, {number}"))
    assert decided(case) == (StopReason.STALLED, REJECTED)


def test_fast_unanimity_does_not_outweigh_what_code_refutes() -> None:
    """F23: both approve at once and say that the tests pass; they were run, and fail."""
    says = verdict(claims=[claim("pytest -q", passes=True)])
    case = Play(AUTHOR, CRITIC, SKEPTIC, limits=ROUNDS, tree=Tree(commands={PYTEST.argv: EvidenceStatus.REFUTED}))
    case.read(says, says)
    assert (decided(case), case.outcome.reasons) == (
        (StopReason.ROUNDS_SPENT, REJECTED),
        ("failing: pytest -q",),
    )
    assert [(c.seat, c.status) for c in case.state.claims] == [
        ("critic", EvidenceStatus.REFUTED),
        ("skeptic", EvidenceStatus.REFUTED),
    ]


def _size(case: Play, seat: str) -> int:
    brief = REVIEW.brief(case.state, case.owed(seat), case.materials(seat))
    return len(json.dumps([brief.instructions, brief.payload], default=dict).encode())


def test_a_brief_does_not_grow_with_the_rounds() -> None:
    """F35: thirty rounds with answers and rulings of a kilobyte; the thirtieth brief is as long as the third."""
    words = "so it goes " * 100
    case = Play(AUTHOR, CRITIC, limits=Limits(max_rounds=40))
    sizes: dict[str, list[int]] = {"author": [], "critic": []}
    for _ in range(30):
        sizes["critic"].append(_size(case, "critic"))
        case.read(verdict(finding(issue=words, reason=words)))
        sizes["author"].append(_size(case, "author"))
        case.reply(answered("fix", reasoning=words), changed=[TIMER])
    for seat, found in sizes.items():
        assert max(found[2:]) - min(found[2:]) < 10, (seat, found)


def test_what_is_settled_adds_its_id_to_later_briefs_and_no_more() -> None:
    """F35: one regression settled in each of thirty rounds, at a place that is not edited again."""
    case = Play(AUTHOR, CRITIC, limits=Limits(max_rounds=40))
    case.read(verdict(finding(location="old.py")))
    sizes, old = [], finding(location="old.py")
    for number in range(1, 31):
        path = f"src/{number:02}.py"
        case.reply(*(answered("fix", f.id) for f in case.state.ledger.unsettled()), changed=[path])
        sizes.append(_size(case, "critic"))
        named = finding(id=f"N{number}", location=path, issue="so it goes " * 100, status="resolved")
        case.read(verdict(old, named))
    assert all(after - before < 20 for before, after in pairwise(sizes[1:])), sizes


def test_an_author_closes_nothing_by_what_it_says() -> None:
    """SPEC D-13: whatever it answers, the finding is open until its raiser rules."""
    for word in ("fix", "partial", "rebut", "accept_risk", "clarify"):
        case = asked()
        case.reply(answered(word), changed=[TIMER] if word in {"fix", "partial"} else [])
        assert [f.id for f in case.outcome.open_findings] == ["F1"]
        assert not any(isinstance(e, VerdictGiven) and e.approved for e in case.entries)


def test_a_reviewer_rules_on_nobodys_finding_but_its_own() -> None:
    """SPEC D-12: it cannot name another's, and its own `F1` is its own."""
    case = Play(AUTHOR, CRITIC, SKEPTIC, limits=ROUNDS)
    case.read(verdict(finding()), verdict(finding(severity="nit")))
    case.reply(answered("rebut", "critic-F1"), answered("rebut", "skeptic-F1"))
    case.read(verdict(finding()), verdict(finding(severity="nit", status="resolved")))
    assert [(f.id, f.is_open) for f in case.state.ledger] == [("critic-F1", True), ("skeptic-F1", False)]


def test_a_new_finding_of_the_edit_blocks_like_any_other() -> None:
    """SPEC D-14: an author does not get rid of a reviewer by breaking something else."""
    case = edited()
    case.read(verdict(finding(status="resolved"), finding(**NEW, location=TIMER)))
    assert isinstance(case.entries[-1], AnswerRequested)
    assert case.entries[-1].findings == ("F9",)
