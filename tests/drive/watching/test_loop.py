"""Who watches, and watching to an end: the lock, the lines, the exits (SPEC C-049, C-061)."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from counterpoint.drive.watching.config import WatcherConfig
from counterpoint.drive.watching.lock import WatcherHeld, current_holder, hold_watcher, lock_path
from counterpoint.drive.watching.loop import Exit, watch
from counterpoint.errors import RecordError
from tests import need
from tests.drive.watching.examples import NOW, Place

STAMP: Final = NOW.isoformat()


def watched(
    place: Place, *, until_close: bool = False, max_ticks: int | None = None, sleep: Callable[[float], None] = print
) -> tuple[Exit, list[str]]:
    place.lines.clear()
    watcher = place.watcher()
    ended = watch(watcher, interval_s=7, until_close=until_close, max_ticks=max_ticks, sleep=sleep)
    return ended, list(place.lines)


def test_the_lock_names_its_holder_and_outlives_it(tmp_path: Path) -> None:
    """Three lines; the kernel says whether they hold, never the file (C-061)."""
    state = str(tmp_path / "w.json")
    assert current_holder(state) is None
    with hold_watcher(state, root="/c", stamp=STAMP):
        assert Path(lock_path(state)).read_text() == f"{os.getpid()}\n{STAMP}\n/c\n"
        holder = current_holder(state)
        assert holder is not None
        assert (holder.pid, holder.since, holder.channel) == (os.getpid(), STAMP, "/c")
        need.linux()
        assert holder.cwd == str(Path.cwd())
        with (
            pytest.raises(WatcherHeld, match=f"refused: another watcher is driving {state}.lock - pid {os.getpid()}"),
            hold_watcher(state, root="/c", stamp=STAMP),
        ):
            pass
    assert current_holder(state) is None
    with hold_watcher(state, root="/d", stamp=STAMP):
        pass
    assert Path(lock_path(state)).read_text() == f"{os.getpid()}\n{STAMP}\n/d\n"


def test_a_lock_that_is_no_plain_file_is_refused(tmp_path: Path) -> None:
    """Neither a link nor a pipe nor a folder is locked or waited for."""
    for name, make in (("link", lambda p: p.symlink_to("x")), ("pipe", os.mkfifo), ("folder", Path.mkdir)):
        state = tmp_path / name
        make(Path(lock_path(str(state))))
        with pytest.raises(RecordError), hold_watcher(str(state), root="/c", stamp=STAMP):
            pass


def test_a_note_that_is_just_being_written_names_nobody(tmp_path: Path) -> None:
    """A probe may land between two writes."""
    state = str(tmp_path / "w.json")
    with hold_watcher(state, root="/c", stamp=STAMP):
        os.truncate(lock_path(state), 0)
        holder = current_holder(state)
        assert holder is not None
        assert (holder.pid, holder.cwd) == (None, "")
        with pytest.raises(WatcherHeld, match="pid unknown"), hold_watcher(state, root="/c", stamp=STAMP):
            pass


def test_a_watched_thread_is_driven_to_its_close(place: Place) -> None:
    """Every line carries the watcher's name; the interval is waited out between ticks (C-049)."""
    place.begin()
    place.wire()
    slept: list[float] = []
    said = iter([("glm", "info"), ("claude", "info"), ("glm", "close")])

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        place.say(*next(said))

    place.say("claude", "question")
    ended, lines = watched(place, until_close=True, sleep=sleep)
    assert (ended, slept) == (Exit.CLOSED, [7, 7, 7])
    assert lines == [
        f"[w] watching {place.root} | state {place.state}",
        "[w] retry MSG-1 claude question: said",
        "[w] invoked glm for seq 1: ok",
        "[w] retry MSG-2 glm info: said",
        "[w] invoked claude for seq 2: ok",
        "[w] retry MSG-3 claude info: said",
        "[w] invoked glm for seq 3: ok",
        "[w] retry MSG-4 glm close: said",
        "[w] thread closed after 4 tick(s) - exiting",
    ]


def test_watching_ends_when_its_ticks_are_spent_or_a_person_is_needed(place: Place) -> None:
    """Exits 5 and 4, and 4 again while nothing has changed (C-049)."""
    place.begin()
    place.wire()
    assert watched(place, max_ticks=2) == (
        Exit.TICKS_SPENT,
        [f"[w] watching {place.root} | state {place.state}", "[w] max ticks (2) reached - exiting"],
    )
    place.say("owner", "info")
    escalated = "[w] ESCALATE: invalid managed channel: open thread 'retry' has no party turn"
    for _ in range(2):
        ended, lines = watched(place, max_ticks=2)
        assert (ended, lines[-1]) == (Exit.ESCALATED, escalated)


@contextmanager
def another_watcher(config: WatcherConfig) -> Iterator[None]:
    program = (
        "import sys; from counterpoint.drive.watching.lock import hold_watcher\n"
        "with hold_watcher(sys.argv[1], root='/c', stamp='then'):\n print(flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, config.state_path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        yield
        other.communicate(timeout=10)


def test_a_second_watcher_says_so_and_goes(place: Place) -> None:
    """Exit 6 (C-049)."""
    place.begin()
    place.wire()
    place.state.parent.mkdir()
    with another_watcher(place.watcher().config):
        assert watched(place) == (
            Exit.HELD,
            [
                f"[w] watching {place.root} | state {place.state}",
                f"[w] another watcher is driving {place.state}.lock - exiting",
            ],
        )


def test_a_writer_that_stays_costs_a_tick_and_not_the_watcher(place: Place) -> None:
    """The public tool's watcher ends there; the channel would go unwatched until somebody looks."""
    place.begin()
    place.wire()
    place.say("claude", "question")
    lock = place.root / f"{place.channel}.lock"
    lock.touch()
    ended = watch(place.impatient(), interval_s=1, until_close=False, max_ticks=2, sleep=lambda _: lock.unlink())
    assert ended is Exit.TICKS_SPENT
    assert place.lines[1].endswith("; trying again on the next tick")
    assert place.lines[2:4] == ["[w] retry MSG-1 claude question: said", "[w] invoked glm for seq 1: ok"]


def test_asking_who_watches_turns_no_watcher_away(tmp_path: Path) -> None:
    """Whoever asks locks for an instant; a watcher that begins then tries again."""
    state = str(tmp_path / "w.json")
    asking = os.open(lock_path(state), os.O_RDWR | os.O_CREAT)
    fcntl.flock(asking, fcntl.LOCK_SH)
    with hold_watcher(state, root="/c", stamp=STAMP, sleep=lambda _: os.close(asking)):
        assert current_holder(state) is not None
