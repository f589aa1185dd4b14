"""The scenario tables of `propose` (SPEC section 1): a script of phase and answer, and what has to come of it."""

import asyncio
from typing import Any

import pytest

from counterpoint.core.entries import FailureReason
from counterpoint.drive.cases import LoadedCase
from counterpoint.protocols.propose import PROPOSE, ProposeState
from counterpoint.protocols.propose.wire import DECISIONS, Ended, ended, status_of
from tests.propose_scenarios import SCENARIOS, START, Scenario, read_scenario


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


def test_the_tables_show_every_way_to_end() -> None:
    """All fourteen stop reasons of A-24."""
    assert {read_scenario(name).expect["stop_reason"] for name in SCENARIOS} == {why.value for why in Ended}


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_crash_between_any_two_steps_changes_nothing(name: str) -> None:
    """A-57, STYLE 7: a new driver takes each step; nobody is asked again, and it ends as if nothing had happened."""
    scenario = read_scenario(name)
    assert _of(scenario.run(fresh=True)) == scenario.expect


def test_a_crash_while_seats_are_asked_costs_a_call_and_nothing_else() -> None:
    """A-57: claims of a dead driver become failed attempts, and the seats that had answered are not asked again."""
    scenario = read_scenario("two-rounds-resolved")
    for turn in ("proposing.1.critic.1", "reviewing.1.critic.1", "revising.2.proposer.1"):
        asyncio.run(_until(scenario, turn))
        scenario.store.claim(scenario.name, turn, driver="dead", until=START)
    case = scenario.run()
    asked = dict(scenario.expect) | {"calls": scenario.expect["calls"] + 3}
    assert _of(case) == asked
    assert [failure.reason for failure in case.state.failures] == [FailureReason.DRIVER_LOST] * 3


async def _until(scenario: Scenario, turn: str) -> None:
    """Drive on until this turn is owed."""
    driver = scenario.driver()
    for _ in range(40):
        if turn in [due.id for due in PROPOSE.due(_state(scenario), scenario.clock.now())]:
            return
        await driver.advance()


def _state(scenario: Scenario) -> ProposeState:
    state = scenario.load().state
    assert isinstance(state, ProposeState)
    return state
