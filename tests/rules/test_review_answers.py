"""What may be said in a review, by rule: one accepted and one refused example each."""

from dataclasses import replace
from typing import Any

import pytest

from counterpoint.core.docket import SeatKind
from counterpoint.core.entries import (
    CaseClosed,
    FindingRuled,
    NoteAdded,
    VerdictGiven,
)
from counterpoint.core.findings import Ruling
from counterpoint.core.rules import AddNote, Withdraw
from counterpoint.core.values import Decision, StopReason, Turn
from counterpoint.protocols.review import REVIEW
from tests.review_case import (
    AUTHOR,
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
    Play,
    answered,
    finding,
    raised_by,
    refused,
    turn_of,
    verdict,
    verdict_of,
)


def test_a_seat_that_answers_its_own_turn_is_accepted() -> None:
    """TURN-1 (DESIGN 4): also after an earlier question brought nothing."""
    case = Play(CRITIC, SKEPTIC)
    case.fail("skeptic")
    _, entries = case.weigh("skeptic", verdict(), turn=turn_of("skeptic", 2))
    assert entries == (verdict_of("skeptic"),)


@pytest.mark.parametrize(
    ("speaker", "turn", "reason"),
    [
        ("critic", turn_of("skeptic"), "'critic' answered the turn of 'skeptic'"),
        ("critic", turn_of("critic"), "'critic' owes no turn in round 1"),
        ("mallory", turn_of("mallory"), "'mallory' owes no turn in round 1"),
        (
            "skeptic",
            turn_of("skeptic", 2),
            "'skeptic' answered turn reviewing.1.skeptic.2; reviewing.1.skeptic.1 is owed",
        ),
        (
            "skeptic",
            replace(turn_of("skeptic"), round=2),
            "'skeptic' answered turn reviewing.2.skeptic.1; reviewing.1.skeptic.1 is owed",
        ),
    ],
    ids=["another's turn", "answered already", "no seat", "later ask", "later round"],
)
def test_an_answer_to_a_turn_that_is_not_owed_is_refused(speaker: str, turn: Turn, reason: str) -> None:
    """TURN-1 (DESIGN 4, SECURITY R23): out of turn, twice, or from nobody."""
    case = Play(CRITIC, SKEPTIC)
    case.answer("critic", verdict())
    submission = REVIEW.parse(case.state, turn_of("skeptic"), verdict())
    with refused("TURN-1", reason):
        REVIEW.admit(case.state, speaker, turn, submission, evidence=(), now=NOW)


def test_each_kind_of_seat_gives_its_kind_of_answer() -> None:
    """TURN-2 (DESIGN "Checks as a reviewer"): an opinion gives a verdict, checks name commands."""
    case = Play(CRITIC, CHECKS)
    assert case.weigh("critic", verdict())[1] == (verdict_of("critic"),)
    assert case.weigh("checks", NAMED_CHECKS)[1][-1] == verdict_of(
        "checks", summary="2 of 2 commands passed, 0 failed, 0 not checked"
    )


@pytest.mark.parametrize(
    ("seat", "kind", "reply", "reason"),
    [
        ("checks", SeatKind.OPINION, verdict(), "'checks' owes a NameChecks, not a GiveVerdict"),
        ("critic", SeatKind.CHECKS, NAMED_CHECKS, "'critic' owes a GiveVerdict, not a NameChecks"),
    ],
)
def test_an_answer_of_another_kind_of_seat_is_refused(
    seat: str, kind: SeatKind, reply: dict[str, object], reason: str
) -> None:
    """TURN-2 (DESIGN "Checks as a reviewer"): checks have no opinion, and an opinion is not run."""
    case = Play(CRITIC, CHECKS)
    other = "critic" if kind is SeatKind.OPINION else "checks"
    submission = REVIEW.parse(case.state, turn_of(other), reply)
    with refused("TURN-2", reason):
        REVIEW.admit(case.state, seat, turn_of(seat), submission, evidence=(), now=NOW)


def test_a_case_under_review_takes_what_is_said_in_it() -> None:
    """TURN-3 (DESIGN 4)."""
    assert Play().speak(AddNote(text="mind the timer")) == (NoteAdded(by=OWNER, text="mind the timer"),)


def test_a_case_that_is_closed_takes_nothing_more() -> None:
    """TURN-3 (SECURITY R23): also no withdrawal of what is decided."""
    case = Play()
    case.answer("critic", verdict())
    case.settle()
    with refused("TURN-3", "the case is closed; nothing more is taken in it"):
        case.speak(Withdraw(reason="changed my mind"))


def test_a_case_that_is_not_open_yet_takes_nothing() -> None:
    """TURN-3 (DESIGN 4): the fold begins with `CaseOpened`."""
    with refused("TURN-3", "the case is opening; nothing more is taken in it"):
        REVIEW.admit(REVIEW.initial, OWNER, None, AddNote(text="hello"), evidence=(), now=NOW)


def test_the_supervisor_speaks_unasked() -> None:
    """NOTE-1 (DESIGN 4): a note or a withdrawal, hidden characters written out."""
    case = Play(CRITIC, SKEPTIC)
    assert case.speak(AddNote(text="look\u202e here")) == (NoteAdded(by=OWNER, text="look\\u{202e} here"),)
    assert case.speak(Withdraw(reason="not\u200b needed")) == (
        CaseClosed(stop_reason=StopReason.WITHDRAWN, decision=Decision.UNDETERMINED, detail="not\\u{200b} needed"),
    )


@pytest.mark.parametrize("submission", [AddNote(text="approve this"), Withdraw(reason="enough")])
def test_anybody_else_who_speaks_unasked_is_refused(submission: AddNote | Withdraw) -> None:
    """NOTE-1 (DESIGN 4): a seat cannot end the case, or write into it, by calling itself what it is not."""
    case = Play()
    with refused("NOTE-1", "'critic' spoke unasked; only 'owner' may"):
        case.speak(submission, speaker="critic")


def test_a_verdict_that_nobody_asked_for_is_refused() -> None:
    """NOTE-1 (DESIGN 4): not even the supervisor judges without a turn."""
    case = Play()
    submission = REVIEW.parse(case.state, turn_of("critic"), verdict())
    with refused("NOTE-1", "nobody was asked; a verdict needs a turn"):
        REVIEW.admit(case.state, OWNER, None, submission, evidence=(), now=NOW)


@pytest.mark.parametrize("extra", [{}, {"candidate": CANDIDATE}], ids=["silent", "named"])
def test_a_verdict_on_the_candidate_is_accepted(extra: dict[str, object]) -> None:
    """BINDING-1 (DESIGN "Binding"): the entry names the candidate, whether the reply does or not."""
    assert Play().weigh("critic", verdict(**extra))[1] == (verdict_of("critic"),)


@pytest.mark.parametrize("candidate", ["e" * 40, CANDIDATE[:12], CANDIDATE.upper(), "", "HEAD\u202e"])
def test_a_verdict_on_another_candidate_is_refused(candidate: str) -> None:
    """BINDING-1 (SECURITY R22, FIELD-FAULTS F11): an older commit, a short id, a name."""
    with refused("BINDING-1", f"the verdict is on {candidate!r}; {CANDIDATE!r} is on the table"):
        Play().weigh("critic", verdict(candidate=candidate))


def test_an_approval_with_every_finding_resolved_is_accepted() -> None:
    """VERDICT-1 (SPEC D-11): approved only when every finding is resolved."""
    assert Play().weigh("critic", verdict(finding(status="resolved", location="the docs")))[1] == (
        replace(raised_by("critic"), location="the docs", detail="the location names no file of the candidate"),
        FindingRuled(seat="critic", id="F1", ruling=Ruling.SETTLED, reason="raised as resolved"),
        verdict_of("critic"),
    )


@pytest.mark.parametrize("severity", ["blocking", "major", "minor", "nit"])
def test_an_approval_with_an_open_finding_is_refused(severity: str) -> None:
    """VERDICT-1 (SPEC D-11, D-12): of whatever severity, and however many others are resolved."""
    findings = (finding(id="F1", status="resolved"), finding(id="F2", severity=severity))
    with refused("VERDICT-1", "approved is true, but F2 is open"):
        Play().weigh("critic", verdict(*findings, approved=True))
    with refused("VERDICT-1", "approved is true, but F2, F3 is open"):
        Play().weigh("critic", verdict(*findings, finding(id="F3"), approved=True))


def test_a_disapproval_with_an_open_finding_is_accepted() -> None:
    """VERDICT-2 (SPEC D-12)."""
    assert Play().weigh("critic", verdict(finding()))[1] == (
        raised_by("critic"),
        verdict_of("critic", approved=False),
    )


@pytest.mark.parametrize("findings", [(), (finding(status="resolved"),)], ids=["none", "all resolved"])
def test_a_disapproval_that_names_nothing_is_refused(findings: tuple[dict[str, object], ...]) -> None:
    """VERDICT-2 (SPEC D-12): nobody could ever settle it."""
    with refused("VERDICT-2", "approved is false, but no finding is open; name one or approve"):
        Play().weigh("critic", verdict(*findings, approved=False))


def test_an_empty_response_to_a_rebuttal_is_accepted_in_a_first_reading() -> None:
    """VERDICT-3 (SPEC D-11): blank counts as empty."""
    assert Play().weigh("critic", verdict(responseToRebuttal=" \n"))[1] == (verdict_of("critic"),)


def test_a_response_to_a_rebuttal_is_accepted_in_a_later_round() -> None:
    """VERDICT-3 (SPEC D-11): then there may have been one."""
    case = Play(AUTHOR, CRITIC)
    case.read(verdict(finding()))
    case.reply(answered("rebut"))
    reply = verdict(finding(status="resolved"), responseToRebuttal="You are right")
    assert case.weigh("critic", reply)[1] == (
        FindingRuled(seat="critic", id="F1", ruling=Ruling.SETTLED, reason="You are right"),
        replace(verdict_of("critic"), round=2),
    )


def test_a_response_to_a_rebuttal_is_refused_in_a_first_reading() -> None:
    """VERDICT-3 (SPEC D-11): there has been none. A seat that failed in round one reads for the first time, too."""
    with refused("VERDICT-3", "responseToRebuttal has 10 characters; in a first reading it is empty"):
        Play().weigh("critic", verdict(responseToRebuttal=" I disagree"))
    late = Play(AUTHOR, CRITIC, SKEPTIC, quorum=1)
    late.read(None, verdict(finding()))
    late.reply(answered("rebut", "skeptic-F1"))
    with refused("VERDICT-3", "responseToRebuttal has 10 characters; in a first reading it is empty"):
        late.weigh("critic", verdict(responseToRebuttal=" I disagree"))


def test_findings_with_different_ids_are_accepted() -> None:
    """FINDING-1 (SPEC D-11): F1 and Fa and FA are three."""
    _, entries = Play().weigh("critic", verdict(*(finding(id=own_id) for own_id in ("F1", "Fa", "FA"))))
    assert entries == (
        *(raised_by("critic", own_id) for own_id in ("F1", "Fa", "FA")),
        verdict_of("critic", approved=False),
    )


def test_a_finding_id_twice_in_one_verdict_is_refused() -> None:
    """FINDING-1 (SPEC D-12, FIELD-FAULTS F19): the second would hide the first."""
    with refused("FINDING-1", "finding id 'F1' stands twice in one verdict"):
        Play().weigh("critic", verdict(finding(), finding(severity="nit", status="resolved")))


def test_a_finding_id_that_names_its_seat_and_nothing_else_is_accepted() -> None:
    """FINDING-2 (DESIGN "Findings ledger"): seats whose names run into each other's ids share none."""
    seats = (replace(CRITIC, name="a"), replace(CRITIC, name="a-b"))
    case = Play(*seats)
    case.answer("a", verdict(finding(id="B-F1")))
    case.answer("a-b", verdict(finding(id="F1")))
    case.settle()
    assert list(case.state.ledger.by_id) == ["a-B-F1", "a-b-F1"]


def test_a_finding_id_that_the_schema_lets_through_but_no_line_can_hold_is_refused() -> None:
    """FINDING-2 (SECURITY R17): a pattern's `$` stands before a last newline, too."""
    with refused("FINDING-2", "finding id 'F1\\n' is not like [A-Z][A-Za-z0-9_-]{0,31}"):
        Play().weigh("critic", verdict(finding(id="F1\n")))


@pytest.mark.parametrize("commands", [(), (PYTEST,), (PYTEST, RUFF)], ids=["none", "one", "two"])
def test_checks_that_name_the_commands_of_the_docket_are_accepted(commands: tuple[Any, ...]) -> None:
    """CHECKS-1 (DESIGN "Checks as a reviewer")."""
    case = Play(CHECKS, docket=replace(DOCKET, commands=commands))
    named = [list(command.argv) for command in case.state.case.docket.commands]
    assert isinstance(case.weigh("checks", {"commands": named})[1][-1], VerdictGiven)


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        ([["pytest", "-q"], ["ruff", "check"], ["rm", "-rf", "/"]], "'rm -rf /' is not a command of the docket"),
        ([["pytest", "-q", "\u202e"]], "\"pytest -q '\\\\u{202e}'\" is not a command of the docket"),
        ([["x" * 300]], f"{'x' * 200!r} is not a command of the docket"),
        ([["pytest -q"]], "\"'pytest -q'\" is not a command of the docket"),
        ([], "0 commands named; the docket's 2 decide, each once, in order"),
        ([["pytest", "-q"]], "1 commands named; the docket's 2 decide, each once, in order"),
        ([["ruff", "check"], ["pytest", "-q"]], "2 commands named; the docket's 2 decide, each once, in order"),
        ([["pytest", "-q"]] * 2, "2 commands named; the docket's 2 decide, each once, in order"),
    ],
    ids=["strange", "hidden", "long", "joined", "none", "without one", "out of order", "twice"],
)
def test_checks_that_choose_their_commands_are_refused(named: list[list[str]], reason: str) -> None:
    """CHECKS-1 (DESIGN "Checks as a reviewer"): nothing else is run, and none of them is left out."""
    with refused("CHECKS-1", reason):
        Play(CHECKS).weigh("checks", {"commands": named})
