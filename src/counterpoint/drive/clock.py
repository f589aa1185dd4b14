"""Time as an argument: the clock that the driver is given, and the one form in which instants are written.

`SystemClock` tells the machine's time. `ManualClock` stands still until it is advanced; tests and simulations use
it. Instants are aware datetimes in UTC. A stamp is `2026-07-06T14:07:48+00:00`: whole seconds, always UTC.
"""

import heapq
import re
from abc import ABC, abstractmethod
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import asyncio

__all__ = ["Clock", "ManualClock", "SystemClock", "format_stamp", "parse_stamp"]

_STAMP: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\+00:00")


def format_stamp(instant: datetime) -> str:
    """Return the stamp of an aware instant; fractions of a second are cut off."""
    assert instant.tzinfo is not None, "an instant without a zone is no instant"
    return instant.astimezone(UTC).replace(microsecond=0).isoformat()


def parse_stamp(text: str) -> datetime | None:
    """Return the instant that `text` is the stamp of, or None where it is not a stamp."""
    if not _STAMP.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:  # the 30th of February
        return None


class Clock(ABC):
    """What time it is, and waiting."""

    @abstractmethod
    def now(self) -> datetime:
        """Return the present instant in UTC."""

    @abstractmethod
    async def sleep(self, seconds: float) -> None:
        """Wait until `seconds` have passed on this clock."""


class SystemClock(Clock):
    """The machine's own clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        import asyncio  # noqa: PLC0415 - costs 40 ms, and a command that asks for the time alone need not pay it

        await asyncio.sleep(seconds)


class ManualClock(Clock):
    """A clock that moves when it is told to; whoever sleeps on it wakes then, the earliest first."""

    def __init__(self, start: datetime) -> None:
        assert start.tzinfo is not None, "an instant without a zone is no instant"
        self._now = start.astimezone(UTC)
        self._sleepers: list[tuple[datetime, int, asyncio.Future[None]]] = []
        self._slept = 0
        self._watchers: list[asyncio.Future[None]] = []

    def now(self) -> datetime:
        return self._now

    @property
    def sleeping(self) -> int:
        """How many tasks wait on this clock now."""
        return sum(not woken.done() for _, _, woken in self._sleepers)

    async def sleep(self, seconds: float) -> None:
        import asyncio  # noqa: PLC0415 - as in SystemClock

        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._slept += 1
        heapq.heappush(self._sleepers, (self._now + timedelta(seconds=seconds), self._slept, woken))
        while self._watchers:
            watcher = self._watchers.pop()
            if not watcher.done():
                watcher.set_result(None)
        await woken

    async def wait_for_sleepers(self, count: int) -> None:
        """Return once `count` tasks wait on this clock, so that a test knows when to advance it."""
        import asyncio  # noqa: PLC0415 - as in SystemClock

        while self.sleeping < count:
            watcher: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._watchers.append(watcher)
            await watcher

    def advance(self, seconds: float) -> None:
        """Move time on by `seconds` and wake everyone whose time has come. Call it from the loop's own thread."""
        assert seconds >= 0, "time does not run backwards"
        self._now += timedelta(seconds=seconds)
        while self._sleepers and self._sleepers[0][0] <= self._now:
            woken = heapq.heappop(self._sleepers)[2]
            if not woken.done():
                woken.set_result(None)
