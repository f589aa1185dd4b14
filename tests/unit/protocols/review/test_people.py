"""What a person who reviews or has written the change is told and asked: nothing that the brief has decided."""

from jsonschema import Draft202012Validator

from counterpoint.core.briefs import Brief
from counterpoint.protocols.review import REVIEW
from tests.review_case import CRITIC, MATERIALS, NOW, Play, finding, verdict
from tests.review_rounds import asked, edited


def brief_of(case: Play) -> Brief:
    (turn,) = REVIEW.due(case.state, NOW)
    brief = REVIEW.brief(case.state, turn, MATERIALS)
    assert "JSON" in brief.instructions
    assert brief.words
    assert "JSON" not in brief.words
    Draft202012Validator.check_schema(dict(brief.narrowed))
    return brief


def fits(brief: Brief, reply: object) -> bool:
    """Say whether a person's form takes a reply; what it takes, the seat's schema takes."""
    if not Draft202012Validator(brief.narrowed).is_valid(reply):
        return False
    assert Draft202012Validator(brief.schema).is_valid(reply)
    return True


def test_a_first_verdict_has_numbered_findings_and_no_rebuttal_to_answer() -> None:
    """SPEC D-11: a person types no id, and no finding of theirs is settled before anybody knows of it."""
    brief = brief_of(Play(CRITIC))
    assert fits(brief, verdict(finding(id="F1"), finding(id="F2")))
    assert not fits(brief, verdict(finding(id="F2")))
    assert not fits(brief, verdict(finding(status="resolved")))
    assert not fits(brief, verdict(responseToRebuttal="why"))
    assert "candidate" not in brief.narrowed["properties"]


def test_a_later_verdict_rules_on_each_finding_by_name_and_gives_others_new_ids() -> None:
    """SPEC D-12: the finding stays what it was; only what became of it is asked (newcomer 24)."""
    brief = brief_of(edited(finding()))
    (item, new, *_) = brief.narrowed["properties"]["findings"]["prefixItems"]
    assert item["title"] == "F1"
    assert item["description"].startswith("severity: major; location: src/timer.py")
    assert [key for key, part in item["properties"].items() if "const" not in part] == ["reason", "status"]
    assert new["properties"]["id"] == {"const": "F2"}
    assert fits(brief, verdict(finding(status="resolved", reason="it is gone"), responseToRebuttal="so"))
    assert not fits(brief, verdict())
    assert not fits(brief, verdict(finding(severity="nit")))


def test_an_author_answers_each_finding_by_name() -> None:
    """SPEC D-13: each once, and none that needs no answer."""
    brief = brief_of(asked(finding(), finding(id="F2")))
    items = brief.narrowed["properties"]["dispositions"]
    assert [item["title"] for item in items["prefixItems"]] == ["F1", "F2"]
    assert (items["minItems"], items["maxItems"]) == (2, 2)
