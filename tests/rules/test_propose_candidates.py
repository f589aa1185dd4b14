"""Proposals and scans, through the real parser: one accepted and one refused example for each rule."""

from typing import Any

import pytest

from tests.propose_case import Play, answer, asking, issue, proposal, refused, scan


def test_a_question_with_its_flag_is_accepted() -> None:
    """CLARIFY-1, in a proposal and in a scan (SPEC A-13)."""
    Play().weigh("proposer", asking("Which formats?"))
    Play().weigh("critic", scan(needs_clarification=True, clarification_questions=["Whose data?"]))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"needs_clarification": True}, "clarification is asked for, with 0 questions"),
        ({"clarification_questions": ["Why?", "How?"]}, "clarification is not asked for, with 2 questions"),
        (
            {"needs_clarification": True, "clarification_questions": ["Why?", " "]},
            "a clarification question is blank",
        ),
    ],
)
def test_a_flag_without_a_question_and_a_question_without_a_flag_are_refused(
    changes: dict[str, Any], reason: str
) -> None:
    """CLARIFY-1 (SPEC A-13)."""
    with refused("CLARIFY-1", reason):
        Play().weigh("proposer", proposal(**changes))
    with refused("CLARIFY-1", reason):
        Play().weigh("critic", scan(**changes))


def test_an_answer_that_asks_with_the_flag_is_accepted() -> None:
    """CLARIFY-2 (SPEC A-14)."""
    asks = asking("Which law holds?") | {"responses": [answer(action="request_clarification", change="")]}
    Play().reviewed(issue()).weigh("proposer", asks)


def test_an_answer_that_asks_without_the_flag_is_refused() -> None:
    """CLARIFY-2 (SPEC A-14)."""
    with refused("CLARIFY-2", "I1 is answered with request_clarification, and needs_clarification is false"):
        Play().reviewed(issue()).weigh("proposer", proposal(answer(action="request_clarification")))


def test_a_recommended_option_that_is_listed_is_accepted() -> None:
    """PROPOSAL-1 (SPEC A-11)."""
    Play().weigh("proposer", proposal())


def test_an_option_twice_or_recommended_and_not_listed_is_refused() -> None:
    """PROPOSAL-1 (SPEC A-11); a proposal that asks has no option to recommend either."""
    twice = proposal()["options"] * 2
    with refused("PROPOSAL-1", "option 'zip' stands twice"):
        Play().weigh("proposer", proposal(options=twice))
    with refused("PROPOSAL-1", "'tar' is recommended; the options are zip"):
        Play().weigh("proposer", proposal(recommended_option_id="tar"))
    with refused("PROPOSAL-1", "'tar' is recommended; the options are none"):
        Play().weigh("proposer", asking("Why?") | {"recommended_option_id": "tar"})


def test_a_concrete_proposal_and_a_question_in_its_place_are_accepted() -> None:
    """PROPOSAL-2 (SPEC A-12)."""
    Play().weigh("proposer", proposal())
    Play().weigh("proposer", asking("Which formats?"))


@pytest.mark.parametrize(
    ("name", "blank"),
    [
        ("recommended_option_id", ""),
        ("problem_statement", " "),
        ("goal", ""),
        ("recommendation", "\n"),
        ("success_criteria", []),
        ("implementation_steps", [" "]),
        ("validation_steps", []),
    ],
)
def test_a_proposal_that_leaves_something_blank_is_refused(name: str, blank: object) -> None:
    """PROPOSAL-2 (SPEC A-12)."""
    with refused("PROPOSAL-2", f"{name} says nothing, and nothing is asked"):
        Play().weigh("proposer", proposal(**{name: blank}))


def test_an_answer_to_every_issue_is_accepted() -> None:
    """PROPOSAL-3: one that is resolved may be answered too (SPEC A-14)."""
    case = Play().reviewed(issue(), issue("I2", "low"))
    case.weigh("proposer", proposal(answer(), answer("I2", "rebut", change="")))


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ((answer(),), "I2 is not answered"),
        ((), "I1, I2 is not answered"),
        ((answer(), answer("I2"), answer("I3")), "'I3' is answered, and no such issue was raised"),
        ((answer(), answer("I2"), answer("I1", "rebut")), "I1 is answered twice"),
    ],
)
def test_an_issue_left_out_made_up_or_answered_twice_is_refused(
    answers: tuple[dict[str, Any], ...], reason: str
) -> None:
    """PROPOSAL-3: nothing is left out into silence (SPEC A-14, A-18)."""
    with refused("PROPOSAL-3", reason):
        Play().reviewed(issue(), issue("I2", "low")).weigh("proposer", proposal(*answers))


def test_a_first_proposal_answers_nothing() -> None:
    """PROPOSAL-3: there is no issue yet (SPEC A-07, A-14)."""
    with refused("PROPOSAL-3", "'I1' is answered, and no such issue was raised"):
        Play().weigh("proposer", proposal(answer()))


def test_a_fix_with_its_change_is_accepted() -> None:
    """PROPOSAL-4: no other answer needs one (SPEC A-14)."""
    case = Play().reviewed(issue())
    case.weigh("proposer", proposal(answer()))
    case.weigh("proposer", proposal(answer(action="rebut", change="")))


def test_a_fix_without_a_change_is_refused() -> None:
    """PROPOSAL-4 (SPEC A-14)."""
    with refused("PROPOSAL-4", "I1 is fixed by no change"):
        Play().reviewed(issue()).weigh("proposer", proposal(answer(change=" ")))


def test_risk_areas_with_different_ids_are_accepted() -> None:
    """SCAN-1 (SPEC A-11)."""
    (area,) = scan()["risk_areas"]
    Play().weigh("critic", scan(risk_areas=[area | {"id": f"R{number}"} for number in range(5)]))
    Play().weigh("critic", scan(risk_areas=[]))


def test_a_risk_area_twice_is_refused() -> None:
    """SCAN-1 (SPEC A-11)."""
    with refused("SCAN-1", "risk area 'R1' stands twice"):
        Play().weigh("critic", scan(risk_areas=scan()["risk_areas"] * 2))
