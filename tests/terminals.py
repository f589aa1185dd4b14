"""A program at a terminal of its own: what it shows, what is typed, and the keys that interrupt it."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

__all__ = ["CTRL_C", "Terminal"]

BOUND_S: Final = 30.0
CTRL_C: Final = "\x03"
_CHUNK: Final = 65536
_AT_TERMINAL: Final = ': < "$1"; shift; exec "$@"'
"""The first terminal that a new session opens is the one whose keys are its signals."""


class Terminal:
    """Runs one program with standard input, output and error at a terminal of 24 lines and 100 columns."""

    def __init__(self, argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str]) -> None:
        self.shown = ""
        self._outer, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        self._program = subprocess.Popen(
            ["sh", "-c", _AT_TERMINAL, "sh", os.ttyname(inner), *argv],
            cwd=cwd,
            env=dict(environment),
            stdin=inner,
            stdout=inner,
            stderr=inner,
            start_new_session=True,
        )
        os.close(inner)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._program.poll() is None:
            self._program.kill()
        self._program.wait(BOUND_S)
        os.close(self._outer)

    @property
    def pid(self) -> int:
        return self._program.pid

    def wait_for(self, text: str) -> str:
        """Return what is shown up to and with `text`, and forget it."""
        ends = time.monotonic() + BOUND_S
        while text not in self.shown:
            assert self._read(ends), f"{text!r} was not shown, but: {self.shown!r}"
        before, found, self.shown = self.shown.partition(text)
        return before + found

    def type(self, keys: str) -> None:
        os.write(self._outer, keys.encode())

    def end(self) -> tuple[int, str]:
        """Wait until the program has ended; return its exit code and the rest of what it showed."""
        ends = time.monotonic() + BOUND_S
        while self._read(ends):
            pass
        return self._program.wait(BOUND_S), self.shown

    def _read(self, ends: float) -> bool:
        """Read once; return False at the end of the program."""
        ready, _, _ = select.select([self._outer], [], [], max(0.0, ends - time.monotonic()))
        assert ready, f"nothing more was shown in time after: {self.shown!r}"
        try:
            chunk = os.read(self._outer, _CHUNK)
        except OSError:  # how Linux tells that nobody is at the other side any more
            return False
        self.shown += chunk.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(chunk)
