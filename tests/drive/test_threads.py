"""Work in a thread outlives no cancellation: whoever is cancelled goes when it is done (drive/threads.py)."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from counterpoint.drive.threads import Gathered, in_thread
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


class Batches:
    """Work that notes what it was given at once, and waits for leave to end."""

    def __init__(self) -> None:
        self.seen: list[list[int]] = []
        self.began = threading.Event()
        self.may_end = threading.Event()

    def work(self, items: Sequence[int]) -> list[str | BaseException]:
        self.seen.append(list(items))
        self.began.set()
        assert self.may_end.wait(5)
        return [ValueError(f"not {item}") if item < 0 else f"did {item}" for item in items]


def test_those_who_wait_together_are_served_together_and_each_is_told_its_own() -> None:
    """What goes wrong for one is no news for another; who comes while work is done is served after it."""
    batches = Batches()

    async def serve() -> None:
        gathered = Gathered(batches.work, asyncio.Lock())
        first = [asyncio.create_task(gathered.do(item)) for item in (1, -2, 3)]
        await asyncio.to_thread(batches.began.wait, 5)
        later = [asyncio.create_task(gathered.do(item)) for item in (4, 5)]
        await asyncio.sleep(0)
        batches.may_end.set()
        found = await asyncio.gather(*first, *later, return_exceptions=True)
        assert [str(each) for each in found] == ["did 1", "not -2", "did 3", "did 4", "did 5"]
        assert isinstance(found[1], ValueError)

    finish(serve())
    assert batches.seen == [[1, -2, 3], [4, 5]]


@pytest.mark.parametrize("who", [0, 1])
def test_who_is_cancelled_goes_when_its_work_is_done_and_the_others_are_served(who: int) -> None:
    """Whoever of them began it: half done is nothing, and nobody waits for ever."""
    batches = Batches()

    async def serve() -> None:
        gathered = Gathered(batches.work, asyncio.Lock())
        tasks = [asyncio.create_task(gathered.do(item)) for item in (1, 2)]
        await asyncio.to_thread(batches.began.wait, 5)
        for _ in range(2):
            tasks[who].cancel()
            await asyncio.sleep(0)
            assert not tasks[who].done()
        batches.may_end.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(found[who], asyncio.CancelledError)
        assert found[1 - who] == f"did {2 - who}"

    finish(serve())


def test_who_is_cancelled_before_its_turn_was_begun_is_not_served() -> None:
    """Nothing is done for somebody who has gone."""
    batches = Batches()

    async def serve() -> None:
        gathered = Gathered(batches.work, asyncio.Lock())
        first = asyncio.create_task(gathered.do(1))
        await asyncio.to_thread(batches.began.wait, 5)
        gone, later = asyncio.create_task(gathered.do(2)), asyncio.create_task(gathered.do(3))
        await asyncio.sleep(0)
        gone.cancel()
        batches.may_end.set()
        assert [*await asyncio.gather(first, later)] == ["did 1", "did 3"]
        with pytest.raises(asyncio.CancelledError):
            await gone

    finish(serve())
    assert batches.seen == [[1], [3]]


def test_work_that_fails_as_a_whole_is_told_to_all() -> None:
    """Even what no ordinary handler takes: the power of the machine, in the tests of this project."""

    class Cut(BaseException):
        pass

    def fail(_items: Sequence[int]) -> list[str | BaseException]:
        raise Cut

    async def serve() -> None:
        gathered = Gathered(fail, asyncio.Lock())
        found = await asyncio.gather(gathered.do(1), gathered.do(2), return_exceptions=True)
        assert [type(each) for each in found] == [Cut, Cut]

    finish(serve())
