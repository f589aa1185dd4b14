"""The list of cases: where each stands, and that none of them can spoil it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from counterpoint.core.docket import Seat
from counterpoint.core.values import Decision
from counterpoint.drive.cases import load_case
from counterpoint.drive.lease import Holder
from counterpoint.record.memory import MemoryStore
from counterpoint.views.overview import CaseLine, Standing, line_of, list_lines
from tests.example_cases import CHECKS, NAMED, PASSING, Play, play

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
PERSON = Seat(name="me", party="owner", agent="human")


def _line(example: str, holder: Holder | None = None) -> CaseLine:
    store = MemoryStore()
    return line_of(load_case(store, Path(), play(example, store)), holder, NOW)


@pytest.mark.parametrize(
    ("example", "decision", "findings"),
    [
        ("approved", Decision.APPROVED, 0),
        ("rejected", Decision.REJECTED, 5),
        ("failed", Decision.UNDETERMINED, 0),
        ("to-agreement", Decision.APPROVED, 0),
        ("unresolved", Decision.UNDETERMINED, 2),
    ],
)
def test_a_closed_case_is_listed_by_its_decision(example: str, decision: Decision, findings: int) -> None:
    """The decision, and how many findings are open."""
    line = _line(example)
    assert (line.standing, line.decision, line.open_findings) == (Standing.CLOSED, decision, findings)
    assert line.state == decision.value


@pytest.mark.parametrize(
    ("example", "line"),
    [("to-agreement", (3, 2, 1)), ("unresolved", (2, 0, 0)), ("hostile-rounds", (2, 1, 1)), ("approved", (1, 0, 0))],
)
def test_a_case_of_rounds_is_listed_with_its_round_commits_and_what_was_deferred(
    example: str, line: tuple[int, int, int]
) -> None:
    """How far it came, what it left on the branch, and what must happen before it ships (SPEC D-17)."""
    fields = _line(example).fields()
    assert (fields["round"], fields["commits"], fields["deferred_findings"]) == line


def test_an_open_case_is_open_and_names_who_drives_it() -> None:
    """A case that is still asked about has no decision to show (F41)."""
    holder = Holder(name="pid 4711 on host", since="2026-11-30T11:00:00+00:00")
    line = _line("open-and-waiting", holder)
    assert (line.standing, line.decision, line.state) == (Standing.OPEN, None, "open")
    assert line.fields()["driven_by"] == {"name": "pid 4711 on host", "since": "2026-11-30T11:00:00+00:00"}


def test_a_case_waits_when_a_person_owes_a_turn_and_nobody_drives_it() -> None:
    """As soon as somebody drives it, the person is being asked; once they have answered, nothing waits."""
    store = MemoryStore()
    case = Play(store, roster=(CHECKS, PERSON), found=PASSING)
    loaded = load_case(store, Path(), case.name)
    assert line_of(loaded, None, NOW).standing is Standing.WAITING
    assert line_of(loaded, Holder(name="pid 1 on host", since="unknown"), NOW).standing is Standing.OPEN
    case.answer("checks", NAMED)
    assert line_of(load_case(store, Path(), case.name), None, NOW).standing is Standing.WAITING


def test_a_case_that_cannot_be_read_is_a_line_of_its_own(tmp_path: Path) -> None:
    """The others are listed all the same (issue 2 point 7)."""
    store = MemoryStore()
    name = play("approved", store)
    for folder in (name, "review-20261130t101600z-deadbeef", "not a case"):
        (tmp_path / folder).mkdir()
    good, bad = list_lines(store, tmp_path, NOW)
    assert (good.name, good.standing) == (name, Standing.CLOSED)
    assert (bad.name, bad.standing, bad.state) == (
        "review-20261130t101600z-deadbeef",
        Standing.UNREADABLE,
        "unreadable",
    )
    assert bad.error is not None
    assert bad.fields()["error"]["code"] == "record"


def test_no_folder_is_no_case(tmp_path: Path) -> None:
    """A repository that was never reviewed."""
    assert list(list_lines(MemoryStore(), tmp_path / "missing", NOW)) == []
