"""Work that blocks, done in a thread, and never half: whoever is cancelled meanwhile goes only when it is done.

A thread cannot be stopped from outside. If its caller went on without it, it would still be writing while the lease
is given back, or reading out of a folder that is being removed.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

__all__ = ["in_thread"]

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """Return what `work` returns; a cancellation is raised once it has ended, however often it is repeated."""
    # A future of the executor and no task of its own: a loop that is being closed cancels every task there is.
    running = asyncio.get_running_loop().run_in_executor(None, work)
    cancelled: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait({running})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        running.exception()  # looked at, so that nobody reports it as lost; the cancellation outweighs it
        raise cancelled
    return running.result()
