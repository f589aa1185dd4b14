"""Whole cases of `answer`, each a script in `tests/data/answer/scenarios.json` with what it comes to."""

import json
from typing import Any, Final

import pytest

from counterpoint.core.docket import Seat, Terms
from counterpoint.core.entries import CaseClosed
from counterpoint.core.limits import Limits
from counterpoint.protocols.answer import ANSWER
from tests.answer_case import NOW, Play
from tests.need import ROOT

SCENARIOS: Final[list[dict[str, Any]]] = json.loads((ROOT / "tests/data/answer/scenarios.json").read_text("utf-8"))


def played(script: dict[str, Any]) -> Play:
    peers = [Seat(name=name, party=name) for name in script.get("peers", ["ada", "bob"])]
    limits = Limits(**{"max_rounds": 3, **script.get("limits", {})})
    named: dict[str, Any] = dict(script.get("terms", {}))
    terms = Terms(vote_only=named.get("vote_only", False), options=tuple(named.get("options", ())))
    case = Play(*peers, limits=limits, terms=terms)
    for stage in script["stages"]:
        case.all_say(**stage)
    case.settle()
    return case


@pytest.mark.parametrize("script", SCENARIOS, ids=[script["name"].replace(" ", "-") for script in SCENARIOS])
def test_a_case_comes_to_what_its_script_says(script: dict[str, Any]) -> None:
    """Issue 6, SPEC D-25 to D-28, D-32: stop reason, decision, exit code, calls, rounds and candidates."""
    case = played(script)
    outcome = case.outcome
    assert outcome.stop_reason is not None
    assert [outcome.stop_reason.value, outcome.decision.value, ANSWER.exit_code(outcome)] == script["ends"]
    state = case.state
    assert (outcome.spent.calls, state.round, len(state.offered)) == (
        script["calls"],
        script["rounds"],
        script["candidates"],
    )
    assert ANSWER.due(state, NOW) == ()
    assert case.refold() == state


def test_every_way_to_end_is_in_a_script() -> None:
    """Ours: those that are left need no script of answers."""
    ends = {script["ends"][0] for script in SCENARIOS}
    assert ends == {"agreed", "rounds_spent", "stalled", "failed", "budget_spent"}


def test_a_script_without_its_last_stage_is_still_open() -> None:
    """Ours: no case ends before its script does."""
    for script in SCENARIOS:
        case = played({**script, "stages": script["stages"][:-1]})
        assert not isinstance(case.entries[-1], CaseClosed), script["name"]
