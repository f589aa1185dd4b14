"""What a review's later rounds take, by rule: one accepted and one refused example each."""

from dataclasses import replace
from typing import Any

import pytest

from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.docket import SeatKind
from counterpoint.core.entries import (
    FindingRaised,
    FindingRuled,
    VerdictGiven,
)
from counterpoint.core.findings import FindingStatus, Ruling
from counterpoint.core.values import Severity
from counterpoint.protocols.review import REVIEW
from counterpoint.protocols.review.codec import parse_reply
from tests.review_case import (
    AUTHOR,
    CANDIDATE,
    CHECKS,
    CRITIC,
    NOW,
    SKEPTIC,
    Play,
    Tree,
    answered,
    finding,
    given,
    opening,
    refused,
    verdict,
)
from tests.review_rounds import NEW, ROUNDS, TIMER, asked, disputed, edited


def test_an_author_and_somebody_who_judges_are_accepted() -> None:
    """ROSTER-3 (DESIGN 2): one author beside any reviewers, wherever it stands; or none at all."""
    assert opening(CRITIC, AUTHOR, CHECKS).quorum == 2
    assert opening(AUTHOR, CHECKS).roster == (AUTHOR, CHECKS)


def test_two_authors_or_nobody_to_judge_are_refused() -> None:
    """ROSTER-3 (DESIGN 2): nobody reviews alone what it wrote."""
    with refused("ROSTER-3", "author and writer are authors; a review has one at most"):
        opening(AUTHOR, CRITIC, replace(AUTHOR, name="writer"))
    with refused("ROSTER-3", "'author' is the author, and nobody reviews"):
        opening(AUTHOR, quorum=1)


@pytest.mark.parametrize("status", ["open", "resolved", "deferred"])
def test_a_finding_that_keeps_its_severity_is_accepted(status: str) -> None:
    """FINDING-3 (SPEC D-12): ruled on under its own id, its words may change, the ledger's do not."""
    case = edited(finding(severity="minor"))
    again = finding(severity="minor", status=status, issue="other words", reason="the release")
    _, entries = case.weigh("critic", verdict(again))
    ruling = {"open": Ruling.STANDS, "resolved": Ruling.SETTLED, "deferred": Ruling.DEFERRED}[status]
    assert entries[0] == FindingRuled(seat="critic", id="F1", ruling=ruling, reason="the release")
    assert not any(isinstance(entry, FindingRaised) for entry in entries)


@pytest.mark.parametrize("status", ["open", "resolved", "deferred"])
@pytest.mark.parametrize("severity", ["blocking", "major", "nit"])
def test_a_finding_that_changes_its_severity_is_refused(severity: str, status: str) -> None:
    """FINDING-3 (SPEC D-12, FIELD-FAULTS F19): neither up to block nor down to let through, settled or not."""
    moved = finding(severity=severity, status=status, reason="it is so")
    reason = f"F1 is minor, and the verdict makes it {severity}"
    with refused("FINDING-3", reason):
        edited(finding(severity="minor")).weigh("critic", verdict(moved))
    settled = edited(finding(severity="minor", status="resolved"), finding(id="F2"))
    with refused("FINDING-3", reason):
        settled.weigh("critic", verdict(moved, finding(id="F2")))


@pytest.mark.parametrize("location", [TIMER, f"{TIMER}:1", f"b/{TIMER}:1", f"./{TIMER}"])
@pytest.mark.parametrize("severity", ["blocking", "major", "minor"])
def test_a_new_finding_at_an_edited_path_is_accepted(severity: str, location: str) -> None:
    """FINDING-4 (SPEC D-14): a regression of this round."""
    case = edited()
    reply = verdict(finding(status="resolved"), finding(**NEW, severity=severity, location=location))
    raised = [e for e in case.weigh("critic", reply)[1] if isinstance(e, FindingRaised)]
    assert [(e.id, e.round, e.candidate, e.severity) for e in raised] == [
        ("F9", 2, case.candidate, Severity(severity))
    ]


def test_everything_is_new_to_a_seat_that_reads_for_the_first_time() -> None:
    """FINDING-4 (SPEC D-14): it failed in round one, so nits and old places are its to name."""
    case = Play(AUTHOR, CRITIC, SKEPTIC, limits=ROUNDS, quorum=1)
    case.read(None, verdict(finding()))
    case.reply(answered("fix", "skeptic-F1"), changed=[TIMER])
    _, entries = case.weigh("critic", verdict(finding(severity="nit", location="old.py")))
    assert [e.id for e in entries if isinstance(e, FindingRaised)] == ["critic-F1"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"severity": "nit"}, "F9 is a new nit in round 2; nits are taken in the first reading"),
        (
            {"severity": "nit", "status": "resolved"},
            "F9 is a new nit in round 2; nits are taken in the first reading",
        ),
        ({"location": "old.py:1"}, "F9 is new, and 'old.py:1' was not edited since 'critic' judged last"),
        ({"location": "the docs"}, "F9 is new, and 'the docs' was not edited since 'critic' judged last"),
        ({"location": "timer.py"}, "F9 is new, and 'timer.py' was not edited since 'critic' judged last"),
        ({"location": "x" * 300}, f"F9 is new, and {'x' * 200!r} was not edited since 'critic' judged last"),
    ],
    ids=["nit", "resolved nit", "another path", "words", "part of a path", "long"],
)
def test_a_new_finding_that_no_edit_brought_is_refused(changes: dict[str, Any], reason: str) -> None:
    """FINDING-4 (SPEC D-14, FIELD-FAULTS F17): it was there to be seen in the first reading."""
    with refused("FINDING-4", reason):
        edited().weigh("critic", verdict(finding(status="resolved"), finding(**NEW | changes)))


def test_where_nothing_was_edited_nothing_is_new() -> None:
    """FINDING-4 (SPEC D-14): a dispute opens no new front."""
    with refused("FINDING-4", f"F9 is new, and {TIMER!r} was not edited since 'critic' judged last"):
        disputed().weigh("critic", verdict(finding(), finding(**NEW, location=TIMER)))


def test_an_edit_before_the_last_reading_is_not_one_since() -> None:
    """FINDING-4 (SPEC D-14): what was to be seen in the second reading is not new in the third."""
    case = edited()
    case.read(verdict(finding()))
    case.reply(answered("rebut"))
    with refused("FINDING-4", f"F9 is new, and {TIMER!r} was not edited since 'critic' judged last"):
        case.weigh("critic", verdict(finding(), finding(**NEW, location=TIMER)))


def test_a_settled_finding_whose_place_was_edited_is_reopened() -> None:
    """FINDING-5 (SPEC D-14): the edit may have brought it back."""
    case = edited(finding(status="resolved"), finding(id="F2"))
    assert [f.status for f in case.state.ledger] == [FindingStatus.SETTLED, FindingStatus.OPEN]
    _, entries = case.weigh("critic", verdict(finding(reason="it is back"), finding(id="F2", status="resolved")))
    assert entries[0] == FindingRuled(seat="critic", id="F1", ruling=Ruling.STANDS, reason="it is back")


@pytest.mark.parametrize(("status", "word"), [("resolved", "settled"), ("deferred", "deferred")])
def test_a_settled_finding_is_not_reopened_for_nothing(status: str, word: str) -> None:
    """FINDING-5 (FIELD-FAULTS F17): nothing at its place was edited since; the author cannot settle it twice."""
    closed = finding(status=status, location="old.py:1", reason="the release")
    case = edited(closed, finding(id="F2"))
    with refused("FINDING-5", f"F1 was {word}, and nothing at its place was edited since"):
        case.weigh("critic", verdict(closed | {"status": "open"}, finding(id="F2")))


def test_a_deferral_that_names_its_gate_is_accepted() -> None:
    """DEFER-1 (SPEC D-17): it does not block, in whichever reading, and it is no approval of the defect."""
    case = Play(AUTHOR, CRITIC, limits=ROUNDS)
    _, entries = case.weigh("critic", verdict(finding(status="deferred", reason="the release notes are signed off")))
    ruled, given_ = entries[1:]
    assert ruled == FindingRuled(
        seat="critic", id="F1", ruling=Ruling.DEFERRED, reason="the release notes are signed off"
    )
    assert isinstance(given_, VerdictGiven)
    assert given_.approved


@pytest.mark.parametrize("reason", [None, "", " \n"])
def test_a_deferral_without_a_reason_is_refused(reason: str | None) -> None:
    """DEFER-1 (SPEC D-17): only for a true gate, so it is named; a general answer to the author names none."""
    said = finding(status="deferred", reason=reason)
    with refused("DEFER-1", "F1 is deferred without a reason; name what it waits for"):
        Play(AUTHOR, CRITIC, limits=ROUNDS).weigh("critic", verdict(said))
    with refused("DEFER-1", "F1 is deferred without a reason; name what it waits for"):
        disputed().weigh("critic", verdict(said, responseToRebuttal="as you say"))


def admit_as(case: Play, kind: SeatKind, seat: str, reply: dict[str, Any]) -> None:
    """Have a seat say what a seat of another kind says."""
    REVIEW.admit(case.state, seat, case.owed(seat), parse_reply(kind, reply), evidence=(), now=NOW)


def test_a_checks_seat_and_an_author_give_their_own_kinds_of_answer() -> None:
    """TURN-2 (DESIGN "Findings ledger"): an author has no verdict, and a reviewer no disposition."""
    case = asked()
    for kind, reply, name in (
        (SeatKind.OPINION, verdict(), "GiveVerdict"),
        (SeatKind.CHECKS, {"commands": []}, "NameChecks"),
    ):
        with refused("TURN-2", f"'author' owes a AnswerFindings, not a {name}"):
            admit_as(case, kind, "author", reply)
    reading = edited()
    with refused("TURN-2", "'critic' owes a GiveVerdict, not a AnswerFindings"):
        admit_as(reading, SeatKind.AUTHOR, "critic", given())


def test_a_file_that_the_edit_deleted_again_is_no_invention() -> None:
    """FINDING-4, DESIGN "Evidence": it is in neither base nor candidate, and a regression may be about it."""
    case = edited(changed=(TIMER, "gone.py"), tree=Tree(restored=("gone.py",)))
    case.read(verdict(finding(status="resolved"), finding(**NEW, location="gone.py:3")))
    new = case.findings["F9"]
    assert (new.evidence, new.detail, new.blocks) == (
        EvidenceStatus.NOT_CHECKED,
        "the change deletes the file",
        True,
    )


def test_a_quote_of_what_the_edit_took_away_is_no_invention() -> None:
    """FINDING-4, DESIGN "Evidence": a regression may quote a line that was in neither base nor the new candidate."""
    case = edited(tree=Tree(others={CANDIDATE: {TIMER: "lock()\n"}}))
    reply = verdict(finding(status="resolved"), finding(**NEW, location=f"{TIMER}:1", quote="lock()"))
    case.read(reply)
    new = case.findings["F9"]
    assert (new.evidence, new.detail, new.blocks) == (
        EvidenceStatus.NOT_CHECKED,
        "the quote stands in the candidate before; the edit took it away",
        True,
    )
