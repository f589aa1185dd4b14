"""What `watch` shows on a terminal below its lines: who holds the turn, for how long, and what was said last.

The lines themselves scroll past as they do everywhere; the block under them is drawn anew each second. It is never
part of what is printed into a pipe or a file.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from types import TracebackType
from typing import Final, Self, TextIO

from counterpoint.core.canonical import visible
from counterpoint.drive.channels import open_channels
from counterpoint.drive.reading import Standing, standing
from counterpoint.drive.watching.tick import Watcher
from counterpoint.errors import CounterpointError
from counterpoint.record.store import Block

__all__ = ["Live", "describer", "live_lines"]

_EVERY_S: Final = 1.0
_NEWEST: Final = 3
_NO_WRAP, _WRAP = "\x1b[?7l", "\x1b[?7h"
_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"
_MINUTE, _HOUR = 60, 3600


def live_lines(found: Standing, *, calling: str, called_since: datetime | None, now: datetime) -> Iterator[str]:
    """Yield what a channel looks like now.

    Args:
        found: how it stands.
        calling: the party whose command runs.
        called_since: since when.
        now: this moment.
    """
    turn, thread = found.doorbell.state.turn, found.doorbell.state.thread
    if not thread:
        yield "no open thread"
        return
    if not turn:
        yield f"{thread}: {len(found.thread)} entries, nobody's turn; the supervisor has to close it"
    else:
        age_s = None if found.parked is None else found.parked.age_s
        since = "" if age_s is None else f" for {_duration(age_s)}"
        yield f"{thread}: {len(found.thread)} entries, the turn is {turn}'s{since}"
    for block in found.thread[-_NEWEST:]:
        yield f"  {_said(block)}"
    if calling and called_since is not None:
        yield f"{calling} is at work for {_duration(int((now - called_since).total_seconds()))}"


def describer(watcher: Watcher, root: str, *, now: Callable[[], datetime]) -> Callable[[], Sequence[str]]:
    """Return what describes the channel of a watcher at the moment it is called."""
    store, began = open_channels(root, os.environ), dict[str, datetime]()

    def describe() -> Sequence[str]:
        moment, calling = now(), watcher.calling
        if calling not in began:
            began.clear()
            began[calling] = moment
        try:
            found = standing(store, watcher.config.channel, now=moment)
        except CounterpointError as error:  # the next tick says what is wrong
            return [str(error)]
        return list(live_lines(found, calling=calling, called_since=began[calling], now=moment))

    return describe


def _said(block: Block) -> str:
    first = next((line.strip() for line in block.text.splitlines() if line.strip()), "(empty)")
    return f"MSG-{block.n} {block.sender} {block.type}: {first}"


def _duration(seconds: int) -> str:
    if seconds < _MINUTE:
        return f"{seconds}s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE}m{seconds % _MINUTE:02d}s"
    return f"{seconds // _HOUR}h{seconds % _HOUR // _MINUTE:02d}m"


class Live:
    """A block at the end of a terminal that is drawn anew each second, below the lines that are said.

    Args:
        describe: returns the block's lines; called in a thread of its own.
        stream: the terminal.
        colour: whether it may be dimmed.
    """

    def __init__(
        self, describe: Callable[[], Sequence[str]], *, stream: TextIO = sys.stdout, colour: bool = True
    ) -> None:
        self._describe = describe
        self._stream = stream
        self._colour = colour
        self._height = 0
        # An interruption may come while a line is being said.
        self._drawing = threading.RLock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="live", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        with self._drawing:
            self._erase()
            self._stream.flush()

    def say(self, line: str) -> None:
        """Say a line above the block."""
        with self._drawing:
            self._erase()
            self._stream.write(f"{visible(line)}\n")
            self._stream.flush()

    def draw(self) -> None:
        """Draw the block as it is now."""
        lines = self._describe()
        with self._drawing:
            self._erase()
            shown = "".join(f"{visible(line)}\n" for line in lines)
            dim, plain = (_DIM, _PLAIN) if self._colour else ("", "")
            self._stream.write(f"{_NO_WRAP}{dim}{shown}{plain}{_WRAP}")
            self._stream.flush()
            self._height = len(lines)

    def _erase(self) -> None:
        if self._height:
            self._stream.write(f"\x1b[{self._height}A\r\x1b[J")
            self._height = 0

    def _run(self) -> None:
        while not self._ended.wait(_EVERY_S):
            self.draw()
