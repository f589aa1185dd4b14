"""How long ids and lists of a reply to `propose` may be, through the real parser (SPEC A-11)."""

from typing import Any

import pytest

from counterpoint.errors import BadReply, Refused
from tests.propose_case import Play, asking, issue, proposal, review, scan

OPTION = {"id": "o1", "title": "One", "approach": "as it says", "tradeoffs": []}
RISK = {"id": "r1", "severity": "low", "concern": "the address", "check": "look at it"}


def _options(*names: str) -> dict[str, Any]:
    return proposal(options=[OPTION | {"id": name} for name in names], recommended_option_id=names[0])


@pytest.mark.parametrize("name", ["A", "a1", "z_-9", "a" * 64])
def test_an_id_is_a_letter_and_up_to_63_more(name: str) -> None:
    """A-11: of options, risks and issues alike."""
    case = Play()
    case.weigh("proposer", _options(name))
    case.weigh("critic", scan(risk_areas=[RISK | {"id": name}]))
    case.all_answer(proposal(), scan())
    case.weigh("critic", review(1, new=(issue(name),)))


@pytest.mark.parametrize("name", ["", "1a", "-a", "_a", "a b", "a.b", "\u00e9", "a\n", "a" * 65])
def test_another_id_is_refused(name: str) -> None:
    """A-11."""
    case = Play()
    with pytest.raises((BadReply, Refused)):
        case.weigh("proposer", _options(name))
    with pytest.raises((BadReply, Refused)):
        case.weigh("critic", scan(risk_areas=[RISK | {"id": name}]))
    case.all_answer(proposal(), scan())
    with pytest.raises((BadReply, Refused)):
        case.weigh("critic", review(1, new=(issue(name),)))


def test_as_many_as_are_allowed_are_taken() -> None:
    """A-07, A-11: three options, three questions, five risks, five new issues."""
    case = Play()
    case.weigh("proposer", _options("a", "b", "c"))
    case.weigh("proposer", asking("1?", "2?", "3?"))
    case.weigh("critic", scan(risk_areas=[RISK | {"id": f"r{n}"} for n in range(5)]))
    case.all_answer(proposal(), scan())
    case.weigh("critic", review(1, new=tuple(issue(f"I{n}") for n in range(5))))


def test_one_more_is_refused() -> None:
    """A-07, A-11."""
    case = Play()
    with pytest.raises((BadReply, Refused)):
        case.weigh("proposer", _options("a", "b", "c", "d"))
    with pytest.raises((BadReply, Refused)):
        case.weigh("proposer", asking("1?", "2?", "3?", "4?"))
    with pytest.raises((BadReply, Refused)):
        case.weigh("critic", scan(risk_areas=[RISK | {"id": f"r{n}"} for n in range(6)]))
    case.all_answer(proposal(), scan())
    with pytest.raises((BadReply, Refused)):
        case.weigh("critic", review(1, new=tuple(issue(f"I{n}") for n in range(6))))


def test_a_boolean_is_no_number_and_a_number_no_boolean() -> None:
    """SPEC 1.1: the forms are closed, and types are exact."""
    case = Play()
    with pytest.raises((BadReply, Refused)):
        case.weigh("proposer", proposal(needs_clarification=0))
    case.all_answer(proposal(), scan())
    with pytest.raises((BadReply, Refused)):
        case.weigh("critic", review(1) | {"reviewed_version": True})
