"""The page of the review protocol: its examples are what the schema takes."""

import re
from typing import Final

from counterpoint.core.docket import SeatKind
from counterpoint.core.findings import Disposition
from counterpoint.core.limits import Limits
from counterpoint.core.values import Decision
from counterpoint.protocols.review import REVIEW, AnswerFindings, GiveVerdict, NameChecks
from counterpoint.protocols.review.codec import schema_for
from tests.need import ROOT
from tests.page_examples import examples_in
from tests.review_case import AUTHOR, CHECKS, CRITIC, Play

PAGE: Final = ROOT / "docs/protocols/review.md"


def test_the_examples_are_answers_that_the_rules_accept() -> None:
    """One after the other they are a review to agreement, through the real `parse` and `admit` (SPEC D-11, D-13)."""
    verdict, again, commands, answer = examples_in(PAGE)
    case = Play(AUTHOR, CRITIC, CHECKS, limits=Limits(max_rounds=1))
    case.answer("critic", verdict)
    case.answer("checks", commands)
    case.settle()
    case.answer("author", answer)
    case.settle()
    case.answer("critic", again)
    case.answer("checks", commands)
    case.settle()
    assert case.outcome.decision is Decision.APPROVED
    kept = [type(opened.submission) for opened in case.vault.values()]
    assert kept == [GiveVerdict, NameChecks, AnswerFindings, GiveVerdict, NameChecks]


def test_the_example_of_a_verdict_shows_every_key() -> None:
    """A reader learns the whole shape from it."""
    case = Play(CRITIC)
    schema = REVIEW.schema(case.state, case.owed("critic"))
    verdict, *_ = examples_in(PAGE)
    assert verdict.keys() == schema["properties"].keys()
    assert verdict["findings"][0].keys() == schema["properties"]["findings"]["items"]["properties"].keys()
    assert verdict["claims"][0].keys() == schema["properties"]["claims"]["items"]["properties"].keys()


def test_the_example_of_an_answer_shows_every_key_and_the_page_every_word() -> None:
    """An author's script can be written from the page alone (SPEC D-13)."""
    shape = schema_for(SeatKind.AUTHOR)["properties"]
    *_, answer = examples_in(PAGE)
    assert answer.keys() == shape.keys()
    assert answer["dispositions"][0].keys() == shape["dispositions"]["items"]["properties"].keys()
    rows = re.findall(r"^\| `([a-z_]+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert [row for row in rows if row in list(Disposition)] == list(Disposition)


def test_the_reason_stands_before_the_verdict() -> None:
    """In schema and example a reviewer reasons before it names a severity or approves (DESIGN 7, 8)."""
    case = Play(CRITIC)
    schema = REVIEW.schema(case.state, case.owed("critic"))
    item = list(schema["properties"]["findings"]["items"]["properties"])
    assert list(schema["properties"])[-1] == "approved"
    assert item.index("issue") < item.index("severity") < item.index("status")


def test_a_schema_has_a_shape_for_each_kind_of_seat() -> None:
    """An opinion gives a verdict, checks name commands, an author answers; no seat has two words for it."""
    assert {kind: set(schema_for(kind)["properties"]) for kind in SeatKind} == {
        SeatKind.OPINION: {"summary", "findings", "claims", "responseToRebuttal", "candidate", "approved"},
        SeatKind.CHECKS: {"commands"},
        SeatKind.AUTHOR: {"summary", "dispositions", "changed"},
    }
