"""What a person who proposes or criticises is told and asked: nothing that the brief has decided (newcomer 24)."""

from collections.abc import Mapping
from typing import Any

from counterpoint.protocols.propose import PROPOSE
from tests.propose_case import Play, answer, issue, proposal, review, scan


def asked(case: Play, seat: str) -> Mapping[str, Any]:
    """Return the fields of the form that a person at this seat fills in."""
    brief = PROPOSE.brief(case.state, case.owed(seat), case.materials(seat))
    assert brief.words
    assert "JSON" not in brief.words
    found = (brief.narrowed or brief.schema)["properties"]
    assert isinstance(found, Mapping)
    return found


def reviewed(*new: dict[str, Any]) -> Play:
    case = Play()
    case.all_answer(proposal(), scan())
    case.all_answer(review(1, new=new))
    return case


def test_a_first_proposal_answers_nothing_and_a_scan_is_told_in_plain_words() -> None:
    """There is no issue yet that could be answered."""
    case = Play()
    assert asked(case, "proposer")["responses"]["maxItems"] == 0
    assert asked(case, "critic")


def test_a_critic_rules_on_each_of_its_issues_by_name_and_types_no_version() -> None:
    """One that is left out blocks the case; a wrong version counts for nothing."""
    case = reviewed(issue())
    case.all_answer(proposal(answer("I1")))
    form = asked(case, "critic")
    assert form["reviewed_version"]["const"] == 2
    assert [item["title"] for item in form["issue_evaluations"]["prefixItems"]] == ["I1"]


def test_a_proposer_answers_each_issue_by_name_and_keeps_the_rest_at_enter() -> None:
    """Whoever revises retypes nothing that stays."""
    case = reviewed(issue(id="I1"), issue(id="I2"))
    form = asked(case, "proposer")
    assert [item["title"] for item in form["responses"]["prefixItems"]] == ["I1", "I2"]
    before = case.state.written[-1].text
    assert form["goal"]["default"] == before.goal
    assert form["implementation_steps"]["default"] == list(before.implementation_steps)
    assert [each["id"] for each in form["options"]["default"]] == [each.id for each in before.options]
