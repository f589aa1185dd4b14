"""What a review may be opened with, by rule: one accepted and one refused example each."""

from dataclasses import replace
from typing import Any

import pytest

from counterpoint.core.entries import (
    NoteAdded,
)
from counterpoint.core.limits import Limits
from counterpoint.core.rules import Withdraw
from counterpoint.protocols.review import Phase
from tests.review_case import CANDIDATE, CHECKS, CRITIC, DOCKET, OWNER, PYTEST, RUFF, SKEPTIC, Play, opening, refused


def test_an_entry_that_the_table_lists_follows() -> None:
    """PHASE-1 (DESIGN 4): the phase comes from the table."""
    case = Play()
    case.append(NoteAdded(by=OWNER, text="mind the timer"))
    assert case.state.phase == Phase.REVIEWING


def test_an_entry_after_the_close_is_refused() -> None:
    """PHASE-1 (STYLE 7): nothing follows `CaseClosed`."""
    case = Play()
    case.speak(Withdraw(reason="not needed"))
    with refused("PHASE-1", "NoteAdded cannot follow in phase 'closed'"):
        case.append(NoteAdded(by=OWNER, text="one more thing"))


def test_a_roster_of_named_seats_is_accepted() -> None:
    """ROSTER-1 (SECURITY B.1): the shape of a name, and each seat once."""
    seats = (replace(CRITIC, name="0-critic"), replace(CRITIC, name="a" * 64), CHECKS)
    assert opening(*seats).roster == seats


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ((), "the roster is empty; a review needs at least one seat that judges"),
        (("critic", ""), "seat '' is not named like [a-z0-9][a-z0-9-]{0,63}"),
        (("Critic",), "seat 'Critic' is not named like [a-z0-9][a-z0-9-]{0,63}"),
        (("critic\n",), "seat 'critic\\n' is not named like [a-z0-9][a-z0-9-]{0,63}"),
        (("../x",), "seat '../x' is not named like [a-z0-9][a-z0-9-]{0,63}"),
        (("a" * 65,), f"seat '{'a' * 65}' is not named like [a-z0-9][a-z0-9-]{{0,63}}"),
        (("a", "b", "a"), "seat 'a' stands twice in the roster"),
    ],
    ids=["empty", "blank", "capital", "newline", "path", "long", "twice"],
)
def test_a_roster_that_names_no_seat_or_one_twice_is_refused(names: tuple[str, ...], reason: str) -> None:
    """ROSTER-1 (SECURITY B.1, R20): a seat's name is part of ids and of file names."""
    with refused("ROSTER-1", reason):
        opening(*(replace(CRITIC, name=name) for name in names), quorum=1)


def test_a_supervisor_without_a_seat_is_accepted() -> None:
    """ROSTER-2 (DESIGN 2): the party of a seat may be the supervisor's, its name may not."""
    seat = replace(CRITIC, party=OWNER)
    assert opening(seat).roster == (seat,)


def test_a_supervisor_with_a_seat_is_refused() -> None:
    """ROSTER-2 (DESIGN 2): who may speak at any time owes no turn, or the two could not be told apart."""
    with refused("ROSTER-2", "'owner' supervises the case and has a seat in it"):
        opening(CRITIC, replace(SKEPTIC, name=OWNER))


def test_a_docket_of_a_change_or_of_words_alone_is_accepted() -> None:
    """DOCKET-1 (SPEC D-05): a change has paths; a docket without a base is about its question."""
    words = replace(DOCKET, base="", paths=())
    assert (opening(CRITIC).docket, opening(CRITIC, docket=words).docket) == (DOCKET, words)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"candidate": ""}, "the docket names no candidate"),
        ({"paths": ()}, f"no path differs between base {DOCKET.base} and candidate {CANDIDATE}"),
        ({"paths": (DOCKET.paths[0], DOCKET.paths[0])}, "changed path 'src/timer.py' stands twice in the docket"),
    ],
    ids=["no candidate", "no paths", "path twice"],
)
def test_a_docket_without_anything_to_judge_is_refused(changes: dict[str, Any], reason: str) -> None:
    """DOCKET-1 (SPEC D-05, FIELD-FAULTS F15): nothing was before anybody where there is nothing."""
    with refused("DOCKET-1", reason):
        opening(CRITIC, docket=replace(DOCKET, **changes))


def test_a_docket_with_distinct_commands_is_accepted() -> None:
    """DOCKET-2 (DESIGN "Checks as a reviewer"): each command runs once per commit; none at all is possible."""
    assert opening(CHECKS, docket=replace(DOCKET, commands=())).docket.commands == ()
    assert opening(CHECKS).docket.commands == (PYTEST, RUFF)


@pytest.mark.parametrize(
    ("commands", "reason"),
    [
        ((PYTEST, RUFF, PYTEST), "command 'pytest -q' stands twice in the docket"),
        ((replace(PYTEST, argv=()),), "a command of the docket has no words"),
    ],
    ids=["twice", "empty"],
)
def test_a_docket_with_a_command_twice_or_empty_is_refused(commands: tuple[Any, ...], reason: str) -> None:
    """DOCKET-2 (DESIGN "Checks as a reviewer"): a command is known by its words."""
    with refused("DOCKET-2", reason):
        opening(CHECKS, docket=replace(DOCKET, commands=commands))


@pytest.mark.parametrize("quorum", [1, 2])
def test_a_quorum_within_the_roster_is_accepted(quorum: int) -> None:
    """QUORUM-1 (DESIGN "Findings ledger"): a quorum is stated beforehand."""
    assert opening(CRITIC, SKEPTIC, quorum=quorum).quorum == quorum


@pytest.mark.parametrize("quorum", [-1, 0, 3])
def test_a_quorum_of_nobody_or_of_more_than_there_are_is_refused(quorum: int) -> None:
    """QUORUM-1 (FIELD-FAULTS F1): nobody's silence is an approval."""
    with refused("QUORUM-1", f"a quorum of {quorum} with 2 reviewers; between 1 and 2 is possible"):
        opening(CRITIC, SKEPTIC, quorum=quorum)


@pytest.mark.parametrize(
    "limits",
    [
        Limits(),
        Limits(max_asks=1, call_timeout_s=1, max_rounds=0, max_calls=0, max_tokens=0),
        Limits(max_calls=2),
    ],
    ids=["default", "least", "calls for the quorum"],
)
def test_limits_under_which_a_case_can_end_are_accepted(limits: Limits) -> None:
    """LIMIT-1 (DESIGN "Limits"): zero means that there is no such limit."""
    assert opening(CRITIC, SKEPTIC, limits=limits).limits == limits


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(max_asks=0), "max_asks is 0; at least 1 is possible"),
        (Limits(call_timeout_s=0), "call_timeout_s is 0; at least 1 is possible"),
        (Limits(max_rounds=-1), "max_rounds is -1; at least 0 is possible"),
        (Limits(max_calls=-1), "max_calls is -1; at least 0 is possible"),
        (Limits(max_tokens=-1), "max_tokens is -1; at least 0 is possible"),
        (Limits(max_calls=1), "1 calls cannot bring the 2 answers of the quorum"),
    ],
    ids=["asks", "timeout", "rounds", "calls", "tokens", "calls for the quorum"],
)
def test_limits_under_which_no_case_can_be_decided_are_refused(limits: Limits, reason: str) -> None:
    """LIMIT-1 (DESIGN "Limits")."""
    with refused("LIMIT-1", reason):
        opening(CRITIC, SKEPTIC, limits=limits)


@pytest.mark.parametrize(
    "deadline", [None, "2026-11-30T13:00:00+00:00", "2026-11-30T13:00:00Z", "2026-11-30T13:00+05:30"]
)
def test_a_deadline_with_its_offset_is_accepted(deadline: str | None) -> None:
    """LIMIT-2 (DESIGN "Limits"): a deadline is an absolute instant."""
    limits = Limits(deadline=deadline)
    assert opening(CRITIC, limits=limits).limits == limits


@pytest.mark.parametrize("deadline", ["", "tomorrow", "2026-11-30T13:00:00", "2026-11-30"])
def test_a_deadline_that_is_no_instant_is_refused(deadline: str) -> None:
    """LIMIT-2 (DESIGN "Limits"): a time without its offset cannot be compared with one that has it."""
    reason = f"the deadline {deadline!r} is not an ISO 8601 instant with its offset"
    with refused("LIMIT-2", reason):
        opening(CRITIC, limits=Limits(deadline=deadline))
