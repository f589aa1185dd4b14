"""Marks in the environment of programs, by which whatever they started is found again (Linux).

All descendants of a run share its mark, also those that left its process group. One that wiped its environment is not
found. A driver marks everything of a case as well, so that the driver that resumes the case ends what a killed one
has left running.
"""

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

__all__ = ["MARK", "end_marked", "marked", "with_mark"]

MARK: Final = "COUNTERPOINT_RUN"
"""The variable; several marks are parted by colons, the outermost first."""
_MARK: Final = MARK.encode()


def with_mark(env: Mapping[str, str], mark: str) -> dict[str, str]:
    """Return `env` with a mark more."""
    # Inside another run the outer mark is kept, so that the outer end still finds everything below it.
    outer = os.environ.get(MARK, "")
    return {**env, MARK: f"{outer}:{mark}" if outer else mark}


@contextmanager
def marked(mark: str) -> Iterator[None]:
    """Give every program that is started in the block `mark` as well; a later process can then end what is left."""
    outer = os.environ.get(MARK)
    os.environ[MARK] = with_mark({}, mark)[MARK]
    try:
        yield
    finally:
        if outer is None:
            del os.environ[MARK]
        else:
            os.environ[MARK] = outer


def end_marked(mark: str) -> None:
    """Kill every process of this machine whose environment carries `mark`, until a look finds no new one."""
    killed = {os.getpid()}
    while found := _marked_pids(mark.encode()) - killed:
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        killed |= found


def _marked_pids(mark: bytes) -> set[int]:
    pids = set()
    for folder in Path("/proc").glob("[0-9]*"):  # none on macOS
        with suppress(OSError):
            if mark in _marks((folder / "environ").read_bytes()):
                pids.add(int(folder.name))
    return pids


def _marks(environment: bytes) -> list[bytes]:
    parted = (variable.partition(b"=") for variable in environment.split(b"\0"))
    return [mark for name, _, value in parted if name == _MARK for mark in value.split(b":")]
