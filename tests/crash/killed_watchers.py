"""Kill a watcher with SIGKILL at every step of a thread between two commands, go on with the next, say what is left.

Run as a program: `python -m tests.crash.killed_watchers` reads one JSON object and prints one. It imports everything
once and forks for each watcher, so that a watcher costs milliseconds and a kill is a real one.
"""

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from counterpoint.drive.beginning import Form
from counterpoint.drive.watching.hands import Hands
from counterpoint.drive.watching.loop import Exit, watch
from counterpoint.isolation.marks import MARK
from counterpoint.protocols.mailbox import Parties
from counterpoint.record.files import FileStore, Layout
from tests.crash.kill_points import KillingFiles
from tests.drive.watching.examples import Place

LAST: Final = 10
"""The entry that closes the thread."""
MAX_WATCHERS: Final = 200
_PARTIES: Final = Parties(parties=("claude", "glm"), supervisor="owner")

DYING: Final = """
import os, signal, sys, time
if os.path.exists(sys.argv[1]):
    os.unlink(sys.argv[1])
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(300)
os.execv(sys.argv[2], sys.argv[2:])
"""
"""Kills the watcher that calls it where a file says so, and then stays; otherwise it is the command behind it."""


@dataclass(slots=True)
class Thread:
    """One thread, watched by one watcher after the other."""

    place: Place
    steps: list[int]
    """Of each watcher, the operation before which it dies, or with a minus after which; 0: during the call. One that
    lives follows each."""
    faults: list[str] = field(default_factory=list)
    kills: int = 0

    def play(self) -> None:
        for watchers in range(MAX_WATCHERS):
            dies = watchers % 2 == 0 and bool(self.steps)
            step = self.steps.pop(0) if dies else None
            if step == 0:
                (self.place.top / "die").touch()
            ended = self._watch(step)
            (self.place.top / "die").unlink(missing_ok=True)
            self.kills += ended == -signal.SIGKILL
            with contextlib.suppress(FileNotFoundError):  # a dead holder's lock of the public tool, grown old
                os.utime(self.place.root / f"{self.place.channel}.lock", (1, 1))
            if ended == Exit.CLOSED:
                break
            if ended not in {Exit.TICKS_SPENT, -signal.SIGKILL}:
                self.faults.append(f"a watcher ended with {ended}")
                break
        self.faults += self._left()

    def _watch(self, step: int | None) -> int:
        """Fork a watcher of one tick, and return how it ended."""
        child = os.fork()
        if child:
            _, status = os.waitpid(child, 0)
            return os.waitstatus_to_exitcode(status)
        code = 1
        with contextlib.suppress(BaseException):
            with (self.place.top / "log").open("a") as log:
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
            code = self._tick(step)
        os._exit(code)

    def _tick(self, step: int | None) -> int:
        place = self.place
        place.now = datetime.now(UTC)
        fs = KillingFiles(abs(step or 0), after=step is not None and step < 0)
        watcher = place.watcher()
        watcher.emit = lambda line: print(line, flush=True)
        watcher.fs = fs
        store = FileStore(str(place.root), Layout.SHARED, fs=fs)
        watcher.hands = lambda: Hands(store, place.channel, _PARTIES)
        return watch(watcher, interval_s=0, until_close=True, max_ticks=1, sleep=time.sleep)

    def _left(self) -> Iterator[str]:
        store = FileStore(str(self.place.root), Layout.SHARED)
        said = [(block.n, block.sender, block.text) for block in store.read(self.place.channel, 0)]
        senders = ["claude", "glm"] * (LAST // 2)
        texts = ["open", *(f"entry {n}" for n in range(2, LAST + 1))]
        if said != [(n + 1, senders[n], texts[n]) for n in range(LAST)]:
            yield f"the thread says {said}"
        if not store.verify(self.place.channel).is_clean:
            yield "it does not verify"
        counts = {n: each["count"] for n, each in self.place.memory()["invocations"].items()}
        if max(counts.values()) > 2 or list(counts) != sorted(map(str, range(1, LAST)), key=str):
            yield f"called {counts}"
        if left := list(_running(self.place.top)):
            yield f"still running: {left}"
        lines = (self.place.top / "log").read_text()
        if "ESCALATE" in lines or "STUCK" in lines or "Traceback" in lines:
            yield lines


def _running(top: Path) -> Iterator[str]:
    """Yield the command lines of what a watcher of this folder has left behind."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"{MARK}=".encode() in (folder / "environ").read_bytes():
                command = (folder / "cmdline").read_bytes()
                if str(top).encode() in command:
                    yield command.decode(errors="replace")


def play(given: dict[str, Any], top: Path, steps: list[int]) -> Thread:
    top.mkdir()
    place = Place(top, environment=dict(os.environ), now=datetime.now(UTC))
    os.chdir(top)
    place.begin(Form(given["form"]))
    commands = {party: _dying(top, command) for party, command in given["commands"].items()}
    place.wire(commands=commands, retry_seconds=0)
    place.say("claude", "question", "open")
    thread = Thread(place, steps)
    thread.play()
    return thread


def _dying(top: Path, command: Sequence[str]) -> list[str]:
    return [sys.executable, "-c", DYING, str(top / "die"), *command]


def main(read: Callable[[], str] = sys.stdin.read) -> None:
    """Play threads until every step has been died at, and print what was wrong."""
    given = json.loads(read())
    Path(given["top"]).mkdir()
    steps = list(given["steps"])
    faults, kills, threads = [], 0, 0
    while steps:
        threads += 1
        played = play(given, Path(given["top"]) / str(threads), steps[: LAST - 1])
        del steps[: LAST - 1]
        faults += [f"thread {threads}: {fault}" for fault in played.faults]
        kills += played.kills
    print(json.dumps({"faults": faults, "kills": kills, "threads": threads}))


if __name__ == "__main__":
    main()
