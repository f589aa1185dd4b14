"""Progress on standard error while a case is driven: one line for each thing that happens, with its time.

While a person is asked, the terminal is theirs: what happens meanwhile is told once they have answered.
"""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from counterpoint.cli.output import tell
from counterpoint.drive.progress import DriveEvent, EventKind

__all__ = ["Watcher"]

_COLOURS: Final = {
    EventKind.ANSWERED: "green",
    EventKind.CHECKED: "cyan",
    EventKind.ATTEMPT_FAILED: "yellow",
}
_QUIET: Final = frozenset({EventKind.APPENDED, EventKind.CLOSED})
"""The result follows the close and says more."""
_ENDS: Final = frozenset({EventKind.ANSWERED, EventKind.ATTEMPT_FAILED})
_PAUSE_S: Final = 0.5
_MAX_LINE: Final = 300


class Watcher:
    """Prints drive events, an agent's own lines at most twice a second. Leaving the block prints what was kept."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._heard = float("-inf")
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
        self._print(self._line(event, now), _COLOURS.get(event.kind))
        if event.kind is EventKind.WAITING:
            self._people.add(event.seat)
        elif not self._people:
            self._release()

    def _may_repeat(self, now: float) -> bool:
        if self._people or now - self._heard < _PAUSE_S:
            return False
        self._heard = now
        return True

    def _line(self, event: DriveEvent, now: float) -> str:
        who = f"{event.seat}: " if event.seat else ""
        said = (event.text or event.kind.value).splitlines()[0]
        return f"[{now - self._began:5.1f} s] {who}{said[:_MAX_LINE]}"

    def _print(self, line: str, colour: str | None) -> None:
        self._held.append((line, colour))
        if not self._people:
            self._release()

    def _release(self) -> None:
        held, self._held = self._held, []
        for line, colour in held:
            tell(line, colour=colour)
