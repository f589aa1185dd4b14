"""Work in a thread outlives no cancellation: whoever is cancelled goes when it is done (drive/threads.py)."""

import asyncio
import threading

import pytest

from counterpoint.drive.threads import in_thread
from tests.processes import finish


def test_what_the_work_returns_or_raises_comes_back() -> None:
    """As if it had been called."""

    def fail() -> None:
        raise ValueError("no")

    async def both() -> None:
        assert await in_thread(lambda: threading.current_thread() is threading.main_thread()) is False
        with pytest.raises(ValueError, match="no"):
            await in_thread(fail)

    finish(both())


@pytest.mark.parametrize("fails", [False, True])
def test_a_cancellation_waits_for_the_end_of_the_work_however_often_it_comes(*, fails: bool) -> None:
    """Also where the loop is being closed, which cancels a second time; a failure of the work is then no news."""
    began, may_end, ended = threading.Event(), threading.Event(), []

    def work() -> None:
        began.set()
        assert may_end.wait(5)
        ended.append(True)
        if fails:
            raise ValueError("too late")

    async def cancel_twice() -> None:
        task = asyncio.create_task(in_thread(work))
        await asyncio.to_thread(began.wait, 5)
        for _ in range(2):
            task.cancel()
            await asyncio.sleep(0)
            assert not task.done()
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended == [True]

    finish(cancel_twice())
