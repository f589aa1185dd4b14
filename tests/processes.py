"""What tests of running programs share: a bounded event loop, shell scripts, and a look at what is left running."""

import asyncio
import os
import select
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from tests import need

__all__ = ["BOUND_S", "children", "finish", "is_gone", "pids", "shell"]

T = TypeVar("T")
BOUND_S: Final = 60.0
GONE_S: Final = 5.0


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, at most a minute."""

    async def bounded() -> T:
        return await asyncio.wait_for(coroutine, BOUND_S)

    return asyncio.run(bounded())


def shell(script: str) -> list[str]:
    return ["sh", "-c", script]


def pids(folder: Path) -> list[int]:
    """Return the process ids that a script wrote to the file `pids`."""
    return [int(text) for text in (folder / "pids").read_text().split()]


def is_gone(pid: int) -> bool:
    """Wait until the process is dead, at most five seconds; a zombie counts as dead."""
    need.linux()
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([fd], [], [], GONE_S)[0])
    finally:
        os.close(fd)


def children() -> set[int]:
    """Return the children of this process, zombies too."""
    need.linux()
    while True:
        # A thread that ends meanwhile leaves its children to another, which may have been read: all are read again.
        with suppress(FileNotFoundError, ProcessLookupError):
            tasks = list(Path("/proc/self/task").iterdir())
            return {int(pid) for task in tasks for pid in (task / "children").read_text().split()}
