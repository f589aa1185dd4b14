"""Progress lines on standard error (cli/watching.py): what is told, when, and what is not."""

import asyncio
import fcntl
import os
import pty
import struct
import termios
from dataclasses import replace

import pytest

from counterpoint.cli import watching
from counterpoint.cli.watching import Watcher
from counterpoint.core.limits import Spent
from counterpoint.core.values import Severity, Usage
from counterpoint.drive.progress import DriveEvent, EventKind, Progress


class Told:
    """Events a second apart, unless stated, and the lines that come of them."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.now = 0.0
        self.columns = 300
        self.watcher = Watcher(lambda: self.now, columns=lambda: self.columns)
        self._capsys = capsys

    def __call__(
        self,
        seat: str,
        kind: EventKind,
        text: str = "",
        *,
        after: float = 1.0,
        number: int = 0,
        progress: Progress | None = None,
    ) -> list[str]:
        self.now += after
        event = DriveEvent(kind=kind, case="review-1", seat=seat, text=text, round=number, progress=progress)
        self.watcher(event)
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
        "[  5.0 s] ana: answered; critic and ben are awaited",
        "[  6.0 s] ben: refused",
    ]


def test_what_is_held_back_is_told_in_the_end(told: Told) -> None:
    """Also where the person never answers."""
    with told.watcher:
        told("ana", EventKind.WAITING, "a person is asked")
        assert told("critic", EventKind.ANSWERED, "answered") == []
    assert told.lines() == ["[  2.0 s] critic: answered; ana is awaited"]


def at(number: int, *awaited: str, max_rounds: int = 3, usage: Usage | None = None, **found: int) -> Progress:
    """Return how far a review by checks and critic is, `ana` being its author."""
    return Progress(
        round=number,
        max_rounds=max_rounds,
        author="ana",
        stage="",
        awaited=awaited,
        open_findings={severity: found.get(severity.value, 0) for severity in Severity},
        spent=Spent(calls=2, usage=usage or Usage(input_tokens=12_000, output_tokens=345, known=True)),
        elapsed_s=1,
    )


def test_after_a_reading_one_line_says_what_is_open_what_it_cost_and_who_is_awaited(told: Told) -> None:
    """By severity, the heaviest first (FIELD-FAULTS F17)."""
    owes = "ana owes 4 answers"
    progress = at(1, "ana", blocking=1, minor=1, nit=2)
    assert told("", EventKind.ROUND, owes, progress=progress) == [
        f"[  1.0 s] round 1 of at most 3 read: 1 blocking, 1 minor, 2 nits open; 12,345 tokens; {owes}"
    ]
    some = Usage(input_tokens=5, known=False)
    assert told("", EventKind.ROUND, owes, progress=at(2, "ana", max_rounds=0, usage=some)) == [
        f"[  2.0 s] round 2 (until they agree) read: nothing open; 5 tokens or more; {owes}"
    ]
    none = at(1, "ana", usage=Usage())
    assert told("", EventKind.ROUND, owes, progress=none)[0].split("; ")[1:] == ["tokens not reported", owes]


def test_after_an_answer_one_line_says_what_is_read_and_by_whom(told: Told) -> None:
    """The reading after the last answer is called so (F17)."""
    read = "the edit of ana is read next"
    assert told("", EventKind.ROUND, read, progress=at(2, "checks", "critic", major=1)) == [
        f"[  1.0 s] round 2 of at most 3: {read}; checks and critic are awaited"
    ]
    assert told("", EventKind.ROUND, read, progress=at(4, "a", "b", "c", "d", "e")) == [
        f"[  2.0 s] last reading, after 3 rounds: {read}; a, b, c and 2 more are awaited"
    ]
    assert told("", EventKind.ROUND, read, progress=at(2, "a", "b", "c", "d", max_rounds=1)) == [
        f"[  3.0 s] last reading, after 1 round: {read}; a, b, c and d are awaited"
    ]
    assert told("", EventKind.ROUND, read) == [f"[  4.0 s] {read}"]


def test_who_is_asked_in_a_round_that_was_not_told_is_told_which(told: Told) -> None:
    """As after `resume`."""
    assert told("critic", EventKind.ASKED, "asked", number=1) == ["[  1.0 s] critic: asked"]
    assert told("ana", EventKind.ASKED, "asked", number=2) == ["[  2.0 s] ana: asked in round 2"]
    told("", EventKind.ROUND, "on", progress=at(3, "critic"))
    assert told("critic", EventKind.ASKED, "asked", number=3) == ["[  4.0 s] critic: asked"]


def test_chatter_ends_at_the_edge_of_the_screen_and_what_counts_does_not(told: Told) -> None:
    """An agent's own line is cut; why it failed is not (F17)."""
    told.columns = 40
    (line,) = told("critic", EventKind.HEARD, "y" * 1000)
    assert (len(line), line[-1]) == (40, "…")
    assert told("critic", EventKind.ATTEMPT_FAILED, "y" * 200) == [f"[  2.0 s] critic: {'y' * 200}"]


def test_the_width_is_that_of_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal's own, and none where it is none."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 33, 0, 0))
    with os.fdopen(outer, "rb", buffering=0) as screen, os.fdopen(inner, "w") as terminal:
        monkeypatch.setattr("sys.stderr", terminal)
        Watcher(lambda: 0.0)(DriveEvent(kind=EventKind.HEARD, case="c", seat="critic", text="y" * 100))
        terminal.flush()
        shown = screen.read(1000).decode().rstrip("\r\n")
    assert (len(shown), shown[-1]) == (33, "…")


def test_a_long_review_is_told_in_minutes(told: Told) -> None:
    """Nobody reads thousands of seconds."""
    assert told("critic", EventKind.ASKED, "asked", after=4000.0) == ["[1 h 6 min] critic: asked"]


def test_a_stage_is_told_in_the_words_of_its_entry(told: Told) -> None:
    """No reading and no author's answer in a case that has neither: what follows, and who is awaited."""
    progress = replace(at(2, "ana", "critic"), stage="comparing")
    assert told("", EventKind.ROUND, "the answers differ", progress=progress) == [
        "[  1.0 s] round 2 of at most 3: the answers differ; ana and critic are awaited"
    ]
    last = replace(at(3, "ana"), stage="revising")
    assert told("", EventKind.ROUND, "ana owes 2 answers", progress=last) == [
        "[  2.0 s] round 3 of at most 3: ana owes 2 answers; ana is awaited"
    ]


def beats(told: Told, *seconds: float) -> list[str]:
    for after in seconds:
        told.now += after
        told.watcher.beat()
    return told.lines()


def test_silence_is_broken_by_who_is_awaited_ever_more_rarely(told: Told) -> None:
    """Newcomer 36: nobody has to wonder whether it hangs, and a log does not fill; what happens begins it anew."""
    assert beats(told, 100.0) == []
    told("ada", EventKind.ASKED, "asked")
    told("bob", EventKind.ASKED, "asked", after=0.0)
    assert beats(told, 14.0) == []
    assert beats(told, 1.0, 15.0, 14.0) == ["[116.0 s] ada and bob are awaited"]
    assert beats(told, 1.0) == ["[146.0 s] ada and bob are awaited"]
    assert told("ada", EventKind.ANSWERED, "answered") == ["[147.0 s] ada: answered; bob is awaited"]
    assert beats(told, 15.0) == ["[162.0 s] bob is awaited"]
    told("bob", EventKind.ANSWERED, "answered")
    assert beats(told, 100.0) == []


def test_a_person_who_is_asked_is_not_hurried(told: Told) -> None:
    """The terminal is theirs."""
    told("ada", EventKind.ASKED, "asked")
    told("me", EventKind.WAITING, "a person is asked")
    assert beats(told, 100.0) == []
    assert told("me", EventKind.ANSWERED, "answered") == ["[103.0 s] me: answered; ada is awaited"]


def test_what_is_driven_is_watched_meanwhile(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is looked at while a seat works, and no longer; what it comes to is returned."""
    monkeypatch.setattr(watching, "_BEAT_S", 0.0)
    told("ada", EventKind.ASKED, "asked")
    told.now += 15.0

    async def drive() -> str:
        lines: list[str] = []
        while not lines:
            await asyncio.sleep(0)
            lines = told.lines()
        return lines[0]

    async def whole() -> tuple[str, int]:
        said = await watching.watched(asyncio.wait_for(drive(), 30.0), told.watcher)
        await asyncio.sleep(0)
        return said, len(asyncio.all_tasks())

    assert asyncio.run(whole()) == ("[ 16.0 s] ada is awaited", 1)
