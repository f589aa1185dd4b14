"""From a schema-valid reply to a submission: text made visible, words made values, commands split (SPEC D-11)."""

from typing import Any

import pytest

from counterpoint.agents.base import schema_fault
from counterpoint.core.docket import SeatKind
from counterpoint.core.findings import Disposition, FindingStatus
from counterpoint.core.values import Severity
from counterpoint.protocols.review import (
    AnswerFindings,
    CommandClaim,
    GiveVerdict,
    NameChecks,
    NamedAnswer,
    NamedFinding,
)
from counterpoint.protocols.review.codec import parse_reply, schema_for
from tests.review_case import NAMED_CHECKS, answered, claim, finding, given, verdict


def test_a_verdict_is_read_whole() -> None:
    """Every key, with what is hidden written out and a location in one line (SECURITY B.1)."""
    reply = verdict(
        finding(
            location="src/a.py\n:3\u202e", quote="x\r\n\u200b", issue="a\x00", suggestion="b\x1b", severity="nit"
        ),
        finding(id="F2", status="resolved", reason=" it\u202e is\n"),
        finding(id="F3", status="deferred", reason=" "),
        claims=[claim("pytest -q 'a b'", passes=True), claim("un'closed", passes=False)],
        candidate="abc",
        summary="s\u2028",
        responseToRebuttal="r\r\n",
    )
    assert parse_reply(SeatKind.OPINION, reply) == GiveVerdict(
        summary="s\\u{2028}",
        findings=(
            NamedFinding(
                own_id="F1",
                severity=Severity.NIT,
                location="src/a.py :3\\u{202e}",
                issue="a\\u{0}",
                suggestion="b\\u{1b}",
                status=FindingStatus.OPEN,
                quote="x\r\n\u200b",
                reason="",
            ),
            NamedFinding(
                own_id="F2",
                severity=Severity.MAJOR,
                location="src/timer.py:2",
                issue="the timer still fires twice",
                suggestion="return early",
                status=FindingStatus.SETTLED,
                quote=None,
                reason="it\\u{202e} is",
            ),
            NamedFinding(
                own_id="F3",
                severity=Severity.MAJOR,
                location="src/timer.py:2",
                issue="the timer still fires twice",
                suggestion="return early",
                status=FindingStatus.DEFERRED,
                quote=None,
                reason="",
            ),
        ),
        claims=(
            CommandClaim(statement="pytest -q 'a b' was run", argv=("pytest", "-q", "a b"), passes=True),
            CommandClaim(statement="un'closed was run", argv=("un'closed",), passes=False),
        ),
        response_to_rebuttal="r\n",
        candidate="abc",
        approved=False,
    )


def test_a_statement_is_made_visible() -> None:
    """A claim's words are shown to people, too (SECURITY B.1)."""
    reply = verdict(claims=[{"statement": "it\u202e passes", "command": "make", "passes": True}])
    submission = parse_reply(SeatKind.OPINION, reply)
    assert isinstance(submission, GiveVerdict)
    assert submission.claims == (CommandClaim(statement="it\\u{202e} passes", argv=("make",), passes=True),)


def test_commands_are_read_word_by_word() -> None:
    """Nothing is split, joined or made visible: the words have to be the docket's own."""
    assert parse_reply(SeatKind.CHECKS, {"commands": [["sh", "-c", "a && b\u202e"], ["x"]]}) == NameChecks(
        commands=(("sh", "-c", "a && b\u202e"), ("x",))
    )


def test_an_authors_answer_is_read_whole() -> None:
    """Words are made visible; ids and paths have to be what they are, letter by letter (SPEC D-13)."""
    reply = given(
        answered("fix", "F1\u202e", "a\u202eb"),
        answered("accept_risk", "critic-F2"),
        changed=["b\u202e.py", "a.py"],
        summary="s\u2028",
    )
    assert parse_reply(SeatKind.AUTHOR, reply) == AnswerFindings(
        summary="s\\u{2028}",
        answers=(
            NamedAnswer(id="F1\u202e", disposition=Disposition.FIX, reasoning="a\\u{202e}b"),
            NamedAnswer(id="critic-F2", disposition=Disposition.ACCEPT_RISK, reasoning="it returns early now"),
        ),
        changed=("b\u202e.py", "a.py"),
    )


def test_the_answers_are_valid_under_their_schemas() -> None:
    """With and without what may be left out."""
    full = verdict(finding(quote="x", reason="y"), claims=[claim("make", passes=True)], candidate="c" * 40)
    for kind, reply in (
        (SeatKind.OPINION, verdict()),
        (SeatKind.OPINION, full),
        (SeatKind.CHECKS, NAMED_CHECKS),
        (SeatKind.AUTHOR, given()),
        (SeatKind.AUTHOR, given(answered("clarify"), changed=["a.py"])),
    ):
        assert schema_fault(reply, schema_for(kind)) == ""


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"approved": True},
        verdict(approved="true"),
        verdict(approved=1),
        verdict(approved=None),
        verdict(verdict="PASS"),
        verdict(summary=""),
        verdict(summary=" \n\t"),
        verdict(summary="x" * 20_001),
        verdict(responseToRebuttal=None),
        verdict(candidate=None),
        verdict(candidate="c" * 201),
        verdict(findings={}),
        verdict(*[finding(id=f"F{n}") for n in range(201)]),
        verdict(claims=[claim("make", passes=True)] * 51),
        verdict(claims=[{"statement": "x", "command": "make"}]),
        verdict(claims=[claim(" ", passes=True)]),
        verdict(finding(id="")),
        verdict(finding(id="f1")),
        verdict(finding(id="critic-F1")),
        verdict(finding(id="F" * 33)),
        verdict(finding(id="F1|x")),
        verdict(finding(severity="critical")),
        verdict(finding(severity="BLOCKING")),
        verdict(finding(status="closed"), approved=True),
        verdict(finding(location=" ")),
        verdict(finding(location="x" * 1001)),
        verdict(finding(quote="")),
        verdict(finding(quote="x" * 4001)),
        verdict(finding(issue=" ")),
        verdict(finding(suggestion="x" * 20_001)),
        verdict(finding(file="x")),
        verdict({"id": "F1", "status": "open"}),
    ],
    ids=str,
)
def test_a_verdict_of_another_shape_is_not_valid(reply: dict[str, Any]) -> None:
    """Closed objects, closed words, bounded text; nothing is coerced (SPEC D-11, SECURITY S4)."""
    assert schema_fault(reply, schema_for(SeatKind.OPINION)) != ""


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"commands": None},
        {"commands": ["pytest -q"]},
        {"commands": [[]]},
        {"commands": [["x", 1]]},
        {"commands": [], "approved": True},
        {"commands": [["x"]] * 201},
        {"commands": [["x"] * 1001]},
        {"commands": [["x" * 20_001]]},
    ],
    ids=lambda reply: str(reply)[:40],
)
def test_named_checks_of_another_shape_are_not_valid(reply: dict[str, Any]) -> None:
    """A checks seat says commands and nothing else: it has no opinion to state."""
    assert schema_fault(reply, schema_for(SeatKind.CHECKS)) != ""


@pytest.mark.parametrize(
    "reply",
    [
        {},
        given(summary=" "),
        given(summary="x" * 2001),
        given(changed=[""]),
        given(changed=["x" * 4001]),
        given() | {"changed": "a.py"},
        given(dispositions={}),
        given(answered("settled")),
        given(answered("fixed")),
        given(answered("fix", "")),
        given(answered("fix", reasoning=" ")),
        given(answered("fix") | {"severity": "nit"}),
        given(answered("fix") | {"status": "resolved"}),
        given(rulings=[{"id": "F1", "ruling": "settled"}]),
        given(approved=True),
        given(findings=[]),
    ],
    ids=lambda reply: str(reply)[:60],
)
def test_an_authors_answer_of_another_shape_is_not_valid(reply: dict[str, Any]) -> None:
    """There is no word by which it could close, rule, approve or weigh (DESIGN "Findings ledger")."""
    assert schema_fault(reply, schema_for(SeatKind.AUTHOR)) != ""
