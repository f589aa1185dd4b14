import asyncio
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoint.drive.clock import ManualClock, SystemClock, format_stamp, parse_stamp

START = datetime(2026, 7, 6, 14, 7, 48, tzinfo=UTC)


def test_a_stamp_is_whole_seconds_in_utc() -> None:
    """DESIGN section 5: the stamp of an entry's header."""
    berlin = timezone(timedelta(hours=2))
    assert format_stamp(datetime(2026, 7, 6, 16, 7, 48, 999_999, tzinfo=berlin)) == "2026-07-06T14:07:48+00:00"


@given(st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001 - the strategy adds the zone
def test_a_stamp_reads_back_as_the_instant_it_was_made_of(instant: datetime) -> None:
    """Ours: every `format` and `parse` pair is tested both ways."""
    assert parse_stamp(format_stamp(instant)) == instant.replace(microsecond=0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-07-06T14:07:48Z",
        "2026-07-06T14:07:48",
        "2026-07-06T14:07:48+02:00",
        "2026-07-06 14:07:48+00:00",
        "2026-02-30T14:07:48+00:00",
        "2026-07-06T14:07:48+00:00\n",
        "٢026-07-06T14:07:48+00:00",
    ],
)
def test_another_form_of_an_instant_is_not_a_stamp(text: str) -> None:
    """DESIGN section 5: one canonical form."""
    assert parse_stamp(text) is None


def test_the_system_clock_tells_utc_and_sleeps() -> None:
    """Ours."""
    clock = SystemClock()
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(seconds=5)
    assert clock.now().utcoffset() == timedelta(0)
    asyncio.run(clock.sleep(0))


def test_sleepers_on_a_manual_clock_wake_in_order_when_their_time_has_come() -> None:
    """Ours: deadlines are tested without waiting."""

    async def play() -> list[str]:
        clock = ManualClock(START)
        woken: list[str] = []

        async def sleeper(name: str, seconds: float) -> None:
            await clock.sleep(seconds)
            woken.append(name)

        async with asyncio.TaskGroup() as group:
            for name, seconds in (("late", 20), ("early", 10), ("at once", 0), ("never", 99)):
                group.create_task(sleeper(name, seconds))
            await clock.wait_for_sleepers(3)
            clock.advance(9)
            await asyncio.sleep(0)
            assert clock.sleeping == 3
            clock.advance(11)
            assert clock.now() == START + timedelta(seconds=20)
            assert clock.sleeping == 1
            clock.advance(79)
        return woken

    assert asyncio.run(asyncio.wait_for(play(), 5)) == ["at once", "early", "late", "never"]


def test_a_cancelled_sleeper_is_forgotten() -> None:
    """Ours: a driver that gives up waiting must not break the clock for the others."""

    async def play() -> None:
        clock = ManualClock(START)
        task = asyncio.create_task(clock.sleep(5))
        watcher = asyncio.create_task(clock.wait_for_sleepers(2))
        await clock.wait_for_sleepers(1)
        watcher.cancel()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert clock.sleeping == 0
        clock.advance(10)
        second = asyncio.create_task(clock.sleep(5))
        await clock.wait_for_sleepers(1)
        clock.advance(5)
        await second

    asyncio.run(asyncio.wait_for(play(), 5))


def test_importing_the_clock_and_the_settings_does_not_import_asyncio() -> None:
    """Ours: a cold start that asks for the time or a setting alone must not pay for the loop."""
    program = "import sys, counterpoint.drive.config, counterpoint.drive.questions, counterpoint.drive.lease\n"
    program += "print({'asyncio', 'click', 'cryptography', 'difflib', 'jsonschema'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=20)
    assert done.stdout == "set()\n"
