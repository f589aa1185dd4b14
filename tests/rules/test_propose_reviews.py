"""Reviews of a version, through the real parser: one accepted and one refused example for each rule."""

from typing import Any

import pytest

from tests.propose_case import (
    CRITIC,
    PROPOSER,
    SECOND,
    Play,
    answer,
    issue,
    proposal,
    refused,
    review,
    ruling,
    scan,
)


def _second(*answers: dict[str, Any], **changes: Any) -> Play:
    """Return a case whose second version is on the table, after I1 and I2 were answered like this."""
    case = Play().reviewed(issue(), issue("I2", "low"))
    case.all_answer(proposal(*(answers or (answer(), answer("I2"))), **changes))
    return case


def test_a_review_of_the_version_on_the_table_is_accepted() -> None:
    """ASSESS-1 (SPEC A-10)."""
    _second().weigh("critic", review(2, ruling(), ruling("I2")))


@pytest.mark.parametrize("version", [0, 1, 3])
def test_a_review_of_another_version_is_refused(version: int) -> None:
    """ASSESS-1: an old version is not approved, nor one that nobody wrote (SPEC A-10)."""
    with refused("ASSESS-1", f"version {version} is reviewed; version 2 is on the table"):
        _second().weigh("critic", review(version, ruling(), ruling("I2")))


def test_a_ruling_on_every_issue_is_accepted() -> None:
    """ISSUE-1: each once; whoever asks a person first need not (SPEC A-15)."""
    case = _second()
    case.weigh("critic", review(2, ruling("I2", "disputed"), ruling("I1", "open")))
    asks: dict[str, Any] = {"assessment": "needs_clarification", "clarification_questions": ["Which law holds?"]}
    case.weigh("critic", review(2, **asks))
    case.weigh("critic", review(2, ruling(), **asks))


@pytest.mark.parametrize(
    ("rulings", "reason"),
    [
        ((ruling(),), "I2 is not ruled on"),
        ((ruling(), ruling("I2"), ruling("I3")), "'I3' is ruled on, and 'critic' has not raised it before"),
        ((ruling(), ruling("I2"), ruling("I1", "open")), "I1 is ruled on twice"),
    ],
)
def test_an_issue_left_out_ruled_on_twice_or_not_its_own_is_refused(
    rulings: tuple[dict[str, Any], ...], reason: str
) -> None:
    """ISSUE-1: also of what is resolved none is left out (SPEC A-15)."""
    with refused("ISSUE-1", reason):
        _second().weigh("critic", review(2, *rulings))


def test_a_resolved_issue_is_ruled_on_again_and_may_be_reopened() -> None:
    """ISSUE-1, ISSUE-2: it may stay as it is without a new answer (SPEC A-15, A-17)."""
    case = _second()
    case.all_answer(review(2, ruling(), ruling("I2", "open")))
    case.all_answer(proposal(answer("I2")))
    with refused("ISSUE-1", "I1 is not ruled on"):
        case.weigh("critic", review(3, ruling("I2")))
    case.weigh("critic", review(3, ruling(), ruling("I2")))
    case.all_answer(review(3, ruling("I1", "open"), ruling("I2")))
    assert [finding.standing.value for finding in case.state.findings] == ["open", "resolved"]


def test_a_critic_rules_on_its_own_issues_alone() -> None:
    """ISSUE-1: what one critic raised, another cannot settle (issue 6)."""
    case = Play(PROPOSER, CRITIC, SECOND)
    case.all_answer(proposal(), scan(), scan())
    case.all_answer(review(1, new=(issue("A1"),)), review(1))
    case.all_answer(proposal(answer("critic-A1")))
    with refused("ISSUE-1", "'A1' is ruled on, and 'critic-2' has not raised it before"):
        case.weigh("critic-2", review(2, ruling("A1")))
    case.weigh("critic-2", review(2))


def test_an_answered_issue_is_settled() -> None:
    """ISSUE-2: resolved by a fix or a rebuttal, and an accepted risk after any answer (SPEC A-16)."""
    case = _second(answer(), answer("I2", "accept_risk", change=""))
    case.weigh("critic", review(2, ruling(), ruling("I2", "accepted_risk")))
    _second(answer(action="rebut", change=""), answer("I2")).weigh("critic", review(2, ruling(), ruling("I2")))


def test_an_issue_is_not_settled_without_the_answer_that_settles_it() -> None:
    """ISSUE-2: accept_risk and request_clarification resolve nothing; nor does an older answer (SPEC A-16)."""
    with refused("ISSUE-2", "I2 is resolved, and its answer is accept_risk"):
        _second(answer(), answer("I2", "accept_risk", change="")).weigh("critic", review(2, ruling(), ruling("I2")))
    case = _second()
    case.all_answer(review(2, ruling(), ruling("I2", "open")))
    case.all_answer(proposal(answer("I2")))
    with refused("ISSUE-2", "I1 is accepted_risk, and version 3 has no answer to it"):
        case.weigh("critic", review(3, ruling("I1", "accepted_risk"), ruling("I2")))


def test_a_new_issue_under_a_new_id_is_accepted() -> None:
    """ISSUE-3: five at most, beside the rulings on the old ones (SPEC A-11, A-17)."""
    new = tuple(issue(f"N{number}") for number in range(5))
    _second().weigh("critic", review(2, ruling(), ruling("I2"), new=new))


def test_a_new_issue_under_an_old_id_or_twice_is_refused() -> None:
    """ISSUE-3 (SPEC A-17)."""
    with refused("ISSUE-3", "I2 is raised as new, and stands in the ledger"):
        _second().weigh("critic", review(2, ruling(), ruling("I2"), new=(issue("I2", "critical"),)))
    with refused("ISSUE-3", "I3 is raised twice"):
        _second().weigh("critic", review(2, ruling(), ruling("I2"), new=(issue("I3"), issue("I3", "low"))))


def test_critics_may_use_the_same_ids() -> None:
    """ISSUE-3: the ledger tells them apart by seat, however seats and ids are spelt (issue 6)."""
    case = Play(PROPOSER, CRITIC, SECOND)
    case.all_answer(proposal(), scan(), scan())
    case.all_answer(review(1, new=(issue(), issue("a-1"))), review(1, new=(issue(),)))
    assert [f.id for f in case.state.findings] == ["critic-I1", "critic-_a-1", "critic-2-I1"]
    case.weigh("proposer", proposal(*(answer(f.id) for f in case.state.findings)))
