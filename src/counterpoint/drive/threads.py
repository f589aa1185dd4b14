"""Work that blocks, done in a thread, and never half: whoever is cancelled meanwhile goes only when it is done.

A thread cannot be stopped from outside. If its caller went on without it, it would still be writing while the lease
is given back, or reading out of a folder that is being removed.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

__all__ = ["Gathered", "in_thread"]

A = TypeVar("A")
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


class Gathered(Generic[A, T]):
    """Work of one kind, done for everybody who waits for it at once: in one thread, at one time.

    Args:
        work: does it for several, in their order, and returns for each what it came to or what went wrong.
        lock: held meanwhile.
    """

    def __init__(self, work: Callable[[Sequence[A]], Sequence[T | BaseException]], lock: asyncio.Lock) -> None:
        self._work = work
        self._lock = lock
        self._waiting: list[tuple[A, asyncio.Future[T]]] = []

    async def do(self, item: A) -> T:
        """Return what the work came to for one item, or raise what went wrong.

        Whoever is cancelled goes at once where it was not begun, and else when it is done.
        """
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        mine = item, done
        self._waiting.append(mine)
        try:
            await asyncio.sleep(0)  # whoever is ready as well comes along
            async with self._lock:
                if mine in self._waiting:
                    await self._do_all()
        except asyncio.CancelledError:
            if mine in self._waiting:
                self._waiting.remove(mine)
                raise
            await _ended(done)
            raise
        return done.result()

    async def _do_all(self) -> None:
        batch, self._waiting = self._waiting, []
        found: list[T | BaseException] = []

        def work() -> None:
            try:
                found.extend(self._work([item for item, _ in batch]))
            except BaseException as error:  # noqa: BLE001 - whoever waits is told, whatever it is
                found[:] = [error for _ in batch]

        try:
            await in_thread(work)
        finally:  # also where we are cancelled: the others' work is done
            for (_, done), result in zip(batch, found, strict=True):
                if isinstance(result, BaseException):
                    done.set_exception(result)
                    done.exception()  # looked at: whoever is cancelled does not
                else:
                    done.set_result(result)


async def _ended(done: "asyncio.Future[T]") -> None:
    while not done.done():
        try:
            await asyncio.wait({done})
        except asyncio.CancelledError:
            continue
