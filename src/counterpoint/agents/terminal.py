"""Lines to and from the person at this terminal. Waiting does not block the event loop and can be cancelled."""

import asyncio
import io
import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Final, TextIO

from counterpoint.isolation.foreground import run_at_terminal

__all__ = ["Terminal"]

MAX_LINE: Final = 64 * 1024
_CHUNK: Final = 4096


class Terminal:
    """Lines to and from one person. Two questions at a time would mix: `lock` is held while one is open.

    `interactive` and `page` (lines a screen, 0 for no paging) are found out where they are not given.
    """

    def __init__(
        self, reads: TextIO, writes: TextIO, *, interactive: bool | None = None, page: int | None = None
    ) -> None:
        self.lock = asyncio.Lock()
        self._reads = reads
        self._writes = writes
        self._buffer = bytearray()
        self.is_interactive = reads.isatty() and writes.isatty() if interactive is None else interactive
        self._page = page if page is not None else shutil.get_terminal_size().lines - 2 if writes.isatty() else 0

    def say(self, text: str) -> None:
        self._writes.write(f"{text}\n")
        self._writes.flush()

    async def show(self, text: str) -> None:
        """Show a long text, a screen at a time.

        Raises:
            EOFError: the input is at its end.
        """
        lines = text.splitlines()
        size = self._page or len(lines) or 1
        for start in range(0, len(lines), size):
            self.say("\n".join(lines[start : start + size]))
            left = len(lines) - start - size
            if left > 0 and await self.ask(f"-- {left} lines more: Enter goes on, q skips -- ") == "q":
                return

    async def lend(self, argv: Sequence[str], env: Mapping[str, str]) -> int:
        """Let a program have the terminal until it ends; return its exit code.

        Raises:
            OSError: it cannot be started.
        """
        return await run_at_terminal(argv, env=env, reads=self._reads.fileno(), writes=self._writes.fileno())

    async def ask(self, question: str) -> str:
        """Return the line that answers, without blanks around it.

        Raises:
            EOFError: the input is at its end.
        """
        self._writes.write(question)
        self._writes.flush()
        try:
            return (await self._line()).strip()
        except asyncio.CancelledError:
            self.say("")  # what comes next begins a line
            raise

    async def _line(self) -> str:
        try:
            fd = self._reads.fileno()
        except io.UnsupportedOperation:
            line = self._reads.readline()
            if not line:
                raise EOFError from None
            return line
        while b"\n" not in self._buffer and len(self._buffer) < MAX_LINE:
            await _readable(fd)
            chunk = os.read(fd, _CHUNK)
            if not chunk and not self._buffer:
                raise EOFError
            self._buffer += chunk or b"\n"
        first, _, self._buffer = self._buffer.partition(b"\n")
        return first.decode("utf-8", "replace")


async def _readable(fd: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(fd, ready.set)
    except PermissionError:  # a plain file never makes anybody wait
        return
    try:
        await ready.wait()
    finally:
        loop.remove_reader(fd)
