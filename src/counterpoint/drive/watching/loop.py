"""Watching in the foreground: hold the lock for life, tick, wait, until something ends it (SPEC C-049).

Every line carries the state's name, so that the logs of two watchers can be told apart.
"""

from collections.abc import Callable
from enum import IntEnum

from counterpoint.drive.clock import format_stamp
from counterpoint.drive.watching.lock import WatcherHeld, hold_watcher, lock_path
from counterpoint.drive.watching.state import make_folder_of
from counterpoint.drive.watching.tick import Watcher
from counterpoint.errors import LockBusy

__all__ = ["Exit", "watch"]


class Exit(IntEnum):
    """How watching ended, as an exit code."""

    CLOSED = 0
    ESCALATED = 4
    TICKS_SPENT = 5
    HELD = 6


def watch(
    watcher: Watcher,
    *,
    interval_s: int,
    until_close: bool,
    max_ticks: int | None,
    sleep: Callable[[float], None],
) -> Exit:
    """Watch until a person is needed, the thread is closed (`until_close`) or the ticks are spent.

    A writer that holds the channel for too long costs a tick, not the watcher.

    Raises:
        ConfigError: as `Watcher.tick`.
        RecordError: as `Watcher.tick`.
    """
    config, said = watcher.config, watcher.emit
    watcher.emit = lambda line: said(f"[{config.name}] {line}")
    watcher.emit(f"watching {config.root} | state {config.state_path}")
    make_folder_of(watcher.fs, config.state_path)
    try:
        with hold_watcher(config.state_path, root=config.root, stamp=format_stamp(watcher.now())):
            return _ticks(watcher, interval_s=interval_s, until_close=until_close, max_ticks=max_ticks, sleep=sleep)
    except WatcherHeld:
        watcher.emit(f"another watcher is driving {lock_path(config.state_path)} - exiting")
        return Exit.HELD
    finally:
        watcher.emit = said


def _ticks(
    watcher: Watcher, *, interval_s: int, until_close: bool, max_ticks: int | None, sleep: Callable[[float], None]
) -> Exit:
    ticks = 0
    while True:
        try:
            if watcher.tick().escalated:
                return Exit.ESCALATED
        except LockBusy as error:
            watcher.emit(f"{error}; trying again on the next tick")
        else:
            if until_close and not watcher.open_thread():
                watcher.emit(f"thread closed after {ticks + 1} tick(s) - exiting")
                return Exit.CLOSED
        ticks += 1
        if max_ticks is not None and ticks >= max_ticks:
            watcher.emit(f"max ticks ({max_ticks}) reached - exiting")
            return Exit.TICKS_SPENT
        sleep(interval_s)
