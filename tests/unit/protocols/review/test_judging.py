"""What an accepted submission becomes (DESIGN "Evidence", "Checks as a reviewer")."""

from dataclasses import replace

import pytest

from counterpoint.core.checks import CommandCheck, Evidence, EvidenceStatus, Purpose
from counterpoint.core.entries import ClaimChecked, EvidenceGathered, FindingRaised, FindingRuled, VerdictGiven
from counterpoint.core.findings import Ruling
from counterpoint.core.rules import Opened
from counterpoint.core.values import Severity
from counterpoint.protocols.review.judging import entries_of
from tests.review_case import (
    CANDIDATE,
    CHECKS,
    CRITIC,
    DOCKET,
    NAMED_CHECKS,
    PYTEST,
    RUFF,
    SKEPTIC,
    Play,
    Tree,
    claim,
    finding,
    raised_by,
    verdict,
    verdict_of,
)

VERIFIED, REFUTED, NOT_CHECKED = EvidenceStatus.VERIFIED, EvidenceStatus.REFUTED, EvidenceStatus.NOT_CHECKED
RUN_PYTEST = CommandCheck(argv=PYTEST.argv, purpose=Purpose.TEST, candidate=CANDIDATE)
RUN_RUFF = CommandCheck(argv=RUFF.argv, purpose=Purpose.LINT, candidate=CANDIDATE)


def ran(request: CommandCheck, status: EvidenceStatus, tree: Tree | None = None) -> EvidenceGathered:
    return EvidenceGathered(evidence=(tree or Tree(commands={request.argv: status})).look_up(request))


def looked_up(opened: Opened) -> tuple[Evidence, ...]:
    return tuple(e for e in opened.evidence if isinstance(e, Evidence))


def failed(own_id: str, command: str, *, before: str = "") -> FindingRaised:
    return FindingRaised(
        seat="checks",
        id=own_id,
        round=1,
        candidate=CANDIDATE,
        severity=Severity.BLOCKING,
        location=command,
        issue=f"`{command}` fails: exit 1.{before}",
        suggestion=f"make `{command}` pass",
        evidence=VERIFIED,
        detail="exit 1",
    )


UNTESTED = "; tests that show nothing: pytest -q (not installed)"


@pytest.mark.parametrize(
    ("pytest_says", "ruff_says", "raised", "approved", "summary"),
    [
        (VERIFIED, VERIFIED, (), True, "2 of 2 commands passed, 0 failed, 0 not checked"),
        (VERIFIED, NOT_CHECKED, (), True, "1 of 2 commands passed, 0 failed, 1 not checked"),
        (NOT_CHECKED, VERIFIED, (), False, f"1 of 2 commands passed, 0 failed, 1 not checked{UNTESTED}"),
        (NOT_CHECKED, NOT_CHECKED, (), False, f"0 of 2 commands passed, 0 failed, 2 not checked{UNTESTED}"),
        (REFUTED, VERIFIED, (failed("F1", "pytest -q"),), False, "1 of 2 commands passed, 1 failed, 0 not checked"),
        (VERIFIED, REFUTED, (failed("F2", "ruff check"),), False, "1 of 2 commands passed, 1 failed, 0 not checked"),
        (
            REFUTED,
            REFUTED,
            (failed("F1", "pytest -q"), failed("F2", "ruff check")),
            False,
            "0 of 2 commands passed, 2 failed, 0 not checked",
        ),
    ],
)
def test_checks_raise_what_failed_and_approve_only_if_every_test_passed(
    pytest_says: EvidenceStatus,
    ruff_says: EvidenceStatus,
    raised: tuple[FindingRaised, ...],
    *,
    approved: bool,
    summary: str,
) -> None:
    """One blocking finding for each failing command; a test that shows nothing is no pass (FIELD-FAULTS F1)."""
    case = Play(CHECKS, tree=Tree(commands={PYTEST.argv: pytest_says, RUFF.argv: ruff_says}))
    _, entries = case.weigh("checks", NAMED_CHECKS)
    assert entries == (
        ran(RUN_PYTEST, pytest_says),
        ran(RUN_RUFF, ruff_says),
        *raised,
        verdict_of("checks", approved=approved, summary=summary),
    )


def test_checks_without_any_command_approve_nothing() -> None:
    """A project without commands was not checked (FIELD-FAULTS F1)."""
    case = Play(CHECKS, docket=replace(DOCKET, commands=()))
    _, entries = case.weigh("checks", {"commands": []})
    summary = "0 of 0 commands passed, 0 failed, 0 not checked"
    assert entries == (verdict_of("checks", approved=False, summary=summary),)


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (True, " It fails at the merge base too: it was failing before this change."),
        (False, " It passes at the merge base."),
        (None, ""),
    ],
)
def test_a_command_that_failed_before_is_reported_as_failing_before(*, before: bool | None, words: str) -> None:
    """And still blocks (DESIGN "Checks as a reviewer")."""
    case = Play(CHECKS)
    turn = case.owed("checks")
    opened, _ = case.weigh("checks", NAMED_CHECKS)
    evidence = (
        Evidence(request=RUN_PYTEST, status=REFUTED, detail="exit 1", exit_code=1, failing_before=before),
        Evidence(request=RUN_RUFF, status=VERIFIED, detail="exit 0"),
    )
    entries = entries_of(case.state, turn, opened.submission, evidence)
    assert entries[2] == failed("F1", "pytest -q", before=words)


def test_what_a_command_is_called_hides_nothing() -> None:
    """A command of the docket is shown in the ledger: hidden characters and line ends are written (SECURITY B.1)."""
    odd = replace(PYTEST, argv=("sh", "-c", "a\n\u202eb"))
    case = Play(CHECKS, docket=replace(DOCKET, commands=(odd,)), tree=Tree(commands={odd.argv: REFUTED}))
    _, entries = case.weigh("checks", {"commands": [list(odd.argv)]})
    assert entries[1] == failed("F1", "sh -c 'a\\n\\u{202e}b'")


def test_findings_keep_their_order_and_carry_what_code_saw() -> None:
    """Verified, refuted and not checked beside each other; the refuted one is shown, too (DESIGN "Evidence")."""
    case = Play(CRITIC, SKEPTIC)
    reply = verdict(
        finding(id="A", quote="return 1", severity="blocking"),
        finding(id="B", quote="return 7", severity="minor", suggestion=""),
        finding(id="C", location="the docs", severity="nit"),
        finding(id="D", status="resolved"),
    )
    assert case.weigh("critic", reply)[1] == (
        replace(raised_by("critic", "critic-A"), severity=Severity.BLOCKING, evidence=VERIFIED, detail="found"),
        replace(
            raised_by("critic", "critic-B"),
            severity=Severity.MINOR,
            suggestion="",
            evidence=REFUTED,
            detail="not in the file",
        ),
        replace(
            raised_by("critic", "critic-C"),
            severity=Severity.NIT,
            location="the docs",
            detail="the location names no file of the candidate",
        ),
        raised_by("critic", "critic-D"),
        FindingRuled(seat="critic", id="critic-D", ruling=Ruling.SETTLED, reason="raised as resolved"),
        verdict_of("critic", approved=False),
    )


@pytest.mark.parametrize(
    ("command", "passes", "result", "status", "detail"),
    [
        ("pytest -q", True, VERIFIED, VERIFIED, "exit 0"),
        ("pytest -q", True, REFUTED, REFUTED, "exit 1"),
        ("pytest -q", False, REFUTED, VERIFIED, "exit 1"),
        ("pytest -q", False, VERIFIED, REFUTED, "exit 0"),
        ("pytest -q", True, NOT_CHECKED, NOT_CHECKED, "not installed"),
        ("pytest -q", False, NOT_CHECKED, NOT_CHECKED, "not installed"),
        ("pytest  '-q'", True, VERIFIED, VERIFIED, "exit 0"),
    ],
)
def test_a_claim_is_held_against_what_the_command_returned(
    command: str, *, passes: bool, result: EvidenceStatus, status: EvidenceStatus, detail: str
) -> None:
    """Only code says that a statement is true (DESIGN "Evidence")."""
    case = Play(CRITIC, tree=Tree(commands={PYTEST.argv: result}))
    assert case.weigh("critic", verdict(claims=[claim(command, passes=passes)]))[1] == (
        ran(RUN_PYTEST, result),
        ClaimChecked(
            seat="critic",
            statement=f"{command} was run",
            command="pytest -q",
            says_passes=passes,
            status=status,
            detail=detail,
        ),
        verdict_of("critic"),
    )


def test_a_claim_about_another_command_is_not_checked() -> None:
    """It is not run, and its name hides nothing (FIELD-FAULTS F25: no substring counts)."""
    case = Play(CRITIC)
    assert case.weigh("critic", verdict(claims=[claim("pytest -q; 'rm\n\u202e'", passes=True)]))[1] == (
        ClaimChecked(
            seat="critic",
            statement="pytest -q; 'rm\n\\u{202e}' was run",
            command="pytest '-q;' 'rm\\n\\u{202e}'",
            says_passes=True,
            status=NOT_CHECKED,
            detail="not one of the project's commands; it was not run",
        ),
        verdict_of("critic"),
    )


def test_a_command_is_in_the_record_once() -> None:
    """Whoever asks for it after the first finds it there (DESIGN "Checks as a reviewer")."""
    case = Play(CRITIC, CHECKS)
    case.answer("critic", verdict(claims=[claim("pytest -q", passes=True)] * 2))
    case.answer("checks", NAMED_CHECKS)
    gathered = [entry for entry in case.settle() if isinstance(entry, EvidenceGathered)]
    assert gathered == [ran(RUN_PYTEST, VERIFIED), ran(RUN_RUFF, VERIFIED)]


def test_a_command_that_came_out_differently_is_in_the_record_twice() -> None:
    """A failure is not hidden by an earlier pass of the same command."""
    case = Play(CRITIC, CHECKS)
    case.answer("critic", verdict(claims=[claim("pytest -q", passes=True)]))
    case.tree = Tree(commands={PYTEST.argv: REFUTED})
    case.answer("checks", NAMED_CHECKS)
    gathered = [entry for entry in case.settle() if isinstance(entry, EvidenceGathered)]
    assert gathered == [ran(RUN_PYTEST, VERIFIED), ran(RUN_PYTEST, REFUTED), ran(RUN_RUFF, VERIFIED)]
    assert case.outcome.reasons == ("1 open: checks-F1", "failing: pytest -q")


def test_evidence_that_nobody_asked_for_is_left_aside() -> None:
    """A driver may hand over all that it has."""
    case = Play(CRITIC)
    opened, entries = case.weigh("critic", verdict(claims=[claim("pytest -q", passes=True)]))
    more = (*looked_up(opened), Tree().look_up(RUN_RUFF), Tree().look_up(replace(RUN_PYTEST, candidate="e" * 40)))
    assert entries_of(case.state, case.owed("critic"), opened.submission, more) == entries


def test_evidence_that_is_missing_or_doubled_is_our_own_mistake() -> None:
    """No verdict is made of half of what was to be looked up (STYLE 5: us, so assert)."""
    case = Play(CRITIC)
    opened, _ = case.weigh("critic", verdict(finding(quote="return 1")))
    found = looked_up(opened)
    for evidence, words in ((found[:-1], "1 requests were not"), (found * 2, "answered twice")):
        with pytest.raises(AssertionError, match=words):
            entries_of(case.state, case.owed("critic"), opened.submission, evidence)


def test_the_only_reviewer_keeps_its_own_ids() -> None:
    """With several, an id carries its seat (DESIGN "Findings ledger")."""
    alone, among = Play(CRITIC), Play(CRITIC, SKEPTIC)
    ids = [case.weigh("critic", verdict(finding()))[1][0] for case in (alone, among)]
    assert ids == [raised_by("critic", "F1"), raised_by("critic", "critic-F1")]


def test_a_verdict_is_what_was_claimed_on_the_candidate() -> None:
    """Round, candidate and words of the seat (DESIGN "Binding")."""
    _, entries = Play(CRITIC).weigh("critic", verdict(summary="all good"))
    assert entries == (
        VerdictGiven(seat="critic", round=1, candidate=CANDIDATE, approved=True, claimed=True, summary="all good"),
    )
