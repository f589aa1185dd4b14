"""Progress on standard error while a case is driven: one line for each thing that happens, with its time.

- After a reading a line says the round, what is open by severity, the tokens so far and who is awaited; after an
  author's answer or a stage, what comes next and who is awaited.
- Who is still awaited is said with each answer that comes in.
- Where nothing happens for a while, a line says who is awaited; the next one takes twice as long to come.
- While a person is asked, the terminal is theirs: what happens meanwhile is told once they have answered.
"""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from counterpoint.cli.output import tell
from counterpoint.core.canonical import visible
from counterpoint.drive.progress import DriveEvent, EventKind, Progress
from counterpoint.views.progress import say_names, say_open, say_round, say_span, say_tokens

__all__ = ["Watcher", "watched"]

T = TypeVar("T")

_COLOURS: Final = {
    EventKind.ANSWERED: "green",
    EventKind.CHECKED: "cyan",
    EventKind.LANDED: "green",
    EventKind.PUT_AWAY: "yellow",
    EventKind.ATTEMPT_FAILED: "yellow",
}
_QUIET: Final = frozenset({EventKind.APPENDED, EventKind.CLOSED})
"""The result follows the close and says more."""
_ASKS: Final = frozenset({EventKind.ASKED, EventKind.WAITING})
_ENDS: Final = frozenset({EventKind.ANSWERED, EventKind.ATTEMPT_FAILED})
_CHATTER: Final = frozenset({EventKind.HEARD, EventKind.CHECKING})
"""Cut at the edge of the screen; what somebody has to know is not."""
_PAUSE_S: Final = 0.5
_MAX_LINE: Final = 300
_LONG_S: Final = 600
_SILENCE_S: Final = 15.0
_BEAT_S: Final = 1.0


def _columns() -> int:
    """Return how wide a line of standard error may be."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _MAX_LINE
    except (OSError, ValueError, AttributeError):  # no terminal, or none at all
        return _MAX_LINE


class Watcher:
    """Prints drive events, an agent's own lines at most twice a second. Leaving the block prints what was kept."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, columns: Callable[[], int] = _columns) -> None:
        self._clock = clock
        self._columns = columns
        self._began = clock()
        self._heard = float("-inf")
        self._told_at = self._began
        self._silence = _SILENCE_S
        self._round = 1
        """The round that was told last."""
        self._asked: list[str] = []
        self._people: set[str] = set()
        self._held: list[tuple[str, str | None]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    def __call__(self, event: DriveEvent) -> None:
        now = self._clock()
        if event.kind in _QUIET or (event.kind is EventKind.HEARD and not self._may_repeat(now)):
            return
        if event.kind in _ENDS:
            self._people.discard(event.seat)
            self._asked = [seat for seat in self._asked if seat != event.seat]
        self._print(self._line(event, now), _COLOURS.get(event.kind))
        if event.kind in _ASKS:
            self._asked.append(event.seat)
        if event.kind is EventKind.WAITING:
            self._people.add(event.seat)
        elif not self._people:
            self._release()

    def beat(self) -> None:
        """Say who is awaited, if nothing was told for so long that somebody could think it hangs."""
        now = self._clock()
        if self._people or not self._asked or now - self._told_at < self._silence:
            return
        longer = self._silence * 2
        self._print(f"[{_since(now - self._began)}] {_awaited(self._asked)}", None)
        self._silence = longer

    def _may_repeat(self, now: float) -> bool:
        if self._people or now - self._heard < _PAUSE_S:
            return False
        self._heard = now
        return True

    def _line(self, event: DriveEvent, now: float) -> str:
        who = f"{event.seat}: " if event.seat else ""
        said = visible(event.text or event.kind.value).split("\n")[0][:_MAX_LINE]
        line = f"[{_since(now - self._began)}] {who}{self._told(event, said)}"
        most = min(self._columns(), _MAX_LINE) if event.kind in _CHATTER else len(line)
        return line if len(line) <= most else f"{line[: most - 1]}…"

    def _told(self, event: DriveEvent, said: str) -> str:
        if event.kind is EventKind.ROUND and event.progress is not None:
            self._round = event.progress.round
            return _round(event.progress, said)
        if event.kind in _ASKS and event.round not in {0, self._round}:
            return f"{said} in round {event.round}"
        if event.kind is EventKind.ANSWERED and self._asked:
            return f"{said}; {_awaited(self._asked)}"
        return said

    def _print(self, line: str, colour: str | None) -> None:
        self._held.append((line, colour))
        self._told_at, self._silence = self._clock(), _SILENCE_S
        if not self._people:
            self._release()

    def _release(self) -> None:
        held, self._held = self._held, []
        for line, colour in held:
            tell(line, colour=colour)


async def watched(driven: Coroutine[Any, Any, T], watcher: Watcher) -> T:
    """Return what is driven, and let the watcher look at its clock meanwhile."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(_BEAT_S)
            watcher.beat()

    beating = asyncio.create_task(beat())
    try:
        return await driven
    finally:
        beating.cancel()


def _since(passed: float) -> str:
    return f"{passed:5.1f} s" if passed < _LONG_S else say_span(passed)


def _round(progress: Progress, said: str) -> str:
    if progress.awaited == (progress.author,) and not progress.stage:
        return f"{say_round(progress)} read: {say_open(progress)}; {say_tokens(progress.spent)}; {said}"
    return f"{say_round(progress)}: {said}; {_awaited(progress.awaited)}"


def _awaited(seats: list[str] | tuple[str, ...]) -> str:
    return f"{say_names(seats)} {'is' if len(seats) == 1 else 'are'} awaited"
