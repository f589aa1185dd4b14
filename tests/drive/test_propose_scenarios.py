"""The scenario tables of `propose` (SPEC section 1): a script of phase and answer, and what has to come of it."""

from typing import Any

import pytest

from counterpoint.drive.cases import LoadedCase
from counterpoint.protocols.propose import PROPOSE, ProposeState
from counterpoint.protocols.propose.wire import DECISIONS, Ended, ended, status_of
from tests.propose_scenarios import SCENARIOS, read_scenario


def _of(case: LoadedCase) -> dict[str, Any]:
    assert isinstance(case.state, ProposeState)
    why, outcome = ended(case.state), case.outcome
    state = case.state
    assert why is not None
    return {
        "stop_reason": why.value,
        "status": status_of(why).value,
        "decision": DECISIONS[outcome.decision],
        "calls": outcome.spent.calls,
        "exit_code": PROPOSE.exit_code(outcome),
        "rounds_completed": len(
            {w.round for w in state.written if len(state.reviews_of(w.version)) == len(state.case.judges)}
        ),
    }


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_comes_to_what_its_table_says(name: str) -> None:
    """Stop reason, status, decision, calls, exit code and rounds, driven for real (SPEC A-08 to A-28, A-34, A-35)."""
    scenario = read_scenario(name)
    case = scenario.run()
    assert _of(case) == scenario.expect, scenario.says
    assert case.state == PROPOSE.fold(case.entries)
    assert PROPOSE.due(case.state, scenario.clock.now()) == ()


def test_the_tables_show_every_way_to_end_but_two() -> None:
    """Twelve of the fourteen stop reasons of A-24; a cancellation and a broken vault are no answer of a seat's."""
    shown = {read_scenario(name).expect["stop_reason"] for name in SCENARIOS}
    assert set(Ended) - shown == {Ended.CANCELLED, Ended.ENGINE_ERROR}
