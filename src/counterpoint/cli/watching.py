"""Progress on standard error while a case is driven: one line for each thing that happens, with its time."""

import time

from counterpoint.cli.output import tell
from counterpoint.drive.progress import DriveEvent, EventKind

__all__ = ["Watcher"]

_COLOURS = {
    EventKind.ANSWERED: "green",
    EventKind.CHECKED: "cyan",
    EventKind.ATTEMPT_FAILED: "yellow",
    EventKind.CLOSED: "bright_white",
}
_QUIET = frozenset({EventKind.APPENDED})
_PAUSE_S = 0.5


class Watcher:
    """Prints drive events; an agent's own lines at most twice a second."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._heard = 0.0

    def __call__(self, event: DriveEvent) -> None:
        now = time.monotonic()
        if event.kind in _QUIET:
            return
        if event.kind is EventKind.HEARD:
            if now - self._heard < _PAUSE_S:
                return
            self._heard = now
        who = f"{event.seat}: " if event.seat else ""
        line = event.text.splitlines()[0] if event.text else event.kind.value
        tell(f"[{now - self._began:5.1f} s] {who}{line}", colour=_COLOURS.get(event.kind))
