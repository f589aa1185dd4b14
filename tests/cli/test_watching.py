"""Progress lines on standard error (cli/watching.py): what is told, when, and what is not."""

import pytest

from counterpoint.cli.watching import Watcher
from counterpoint.drive.progress import DriveEvent, EventKind


class Told:
    """Events a second apart, unless stated, and the lines that come of them."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.now = 0.0
        self.watcher = Watcher(lambda: self.now)
        self._capsys = capsys

    def __call__(self, seat: str, kind: EventKind, text: str = "", *, after: float = 1.0) -> list[str]:
        self.now += after
        self.watcher(DriveEvent(kind=kind, case="review-1", seat=seat, text=text))
        return self.lines()

    def lines(self) -> list[str]:
        return self._capsys.readouterr().err.splitlines()


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    return Told(capsys)


def test_each_thing_that_happens_is_one_line_with_its_time(told: Told) -> None:
    """Several lines of text, hidden characters and length do not break it; without a text the kind is told."""
    assert told("critic", EventKind.ASKED, "asked") == ["[  1.0 s] critic: asked"]
    assert told("critic", EventKind.ATTEMPT_FAILED, "one\ntwo \x1b[2J") == ["[  2.0 s] critic: one"]
    assert told("critic", EventKind.RESUMED, "x\x1b" + "y" * 1000)[0].startswith("[  3.0 s] critic: x\\u{1b}yyy")
    assert told("critic", EventKind.CHECKED, "y" * 1000) == [f"[  4.0 s] critic: {'y' * 300}"]
    assert told("", EventKind.ANSWERED) == ["[  5.0 s] answered"]


def test_appends_and_the_close_are_quiet(told: Told) -> None:
    """The result follows the close and says more."""
    assert told("", EventKind.APPENDED, "MSG-3") == []
    assert told("", EventKind.CLOSED, "approved") == []


def test_an_agents_own_lines_are_told_twice_a_second_at_most(told: Told) -> None:
    """However much it prints; everything else is told at once."""
    assert told("critic", EventKind.HEARD, "reading") == ["[  1.0 s] critic: reading"]
    assert told("critic", EventKind.HEARD, "thinking", after=0.25) == []
    assert told("critic", EventKind.CHECKING, "running", after=0.0) == ["[  1.2 s] critic: running"]
    assert told("critic", EventKind.HEARD, "thinking", after=0.25) == ["[  1.5 s] critic: thinking"]


def test_while_a_person_is_asked_the_terminal_is_theirs(told: Told) -> None:
    """What happens meanwhile is told when they have answered, in order; chatter is dropped."""
    assert told("ana", EventKind.WAITING, "a person is asked") == ["[  1.0 s] ana: a person is asked"]
    assert told("critic", EventKind.ASKED, "asked") == []
    assert told("ana", EventKind.HEARD, "waiting for a person") == []
    assert told("ben", EventKind.WAITING, "a person is asked") == []
    assert told("ana", EventKind.ANSWERED, "answered") == []
    assert told("ben", EventKind.ATTEMPT_FAILED, "refused") == [
        "[  2.0 s] critic: asked",
        "[  4.0 s] ben: a person is asked",
        "[  5.0 s] ana: answered",
        "[  6.0 s] ben: refused",
    ]


def test_what_is_held_back_is_told_in_the_end(told: Told) -> None:
    """Also where the person never answers."""
    with told.watcher:
        told("ana", EventKind.WAITING, "a person is asked")
        assert told("critic", EventKind.ANSWERED, "answered") == []
    assert told.lines() == ["[  2.0 s] critic: answered"]
