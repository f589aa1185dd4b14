"""Limits: which is reached, at exactly which value (DESIGN "Limits")."""

from datetime import UTC, datetime, timedelta

import pytest

from counterpoint.core.limits import Limits, Spent, calls_left, reached
from counterpoint.core.values import StopReason, Usage

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
ONE_CALL = Spent().plus(Usage(input_tokens=90, output_tokens=10, known=True))


def test_every_call_and_its_usage_is_spent() -> None:
    """A call whose agent reports nothing counts as a call and makes the sum unknown."""
    assert Spent() == Spent(calls=0, usage=Usage(known=True))
    assert Spent(calls=1, usage=Usage(input_tokens=90, output_tokens=10, known=True)) == ONE_CALL
    assert ONE_CALL.plus(Usage()) == Spent(calls=2, usage=Usage(input_tokens=90, output_tokens=10, known=False))
    assert ONE_CALL.plus(Usage()).plus(Usage(known=True)).usage.known is False
    assert ONE_CALL.usage.tokens == 100


def test_the_defaults_are_those_that_the_documents_name() -> None:
    """One round, forty calls, half an hour for each, one second question (DESIGN "Limits", SPEC D-18)."""
    assert Limits() == Limits(
        max_rounds=1, max_calls=40, max_tokens=0, call_timeout_s=1800, max_asks=2, deadline=None
    )


@pytest.mark.parametrize(
    ("limits", "spent", "now", "expected"),
    [
        (Limits(), Spent(), NOON, None),
        (Limits(max_calls=2), ONE_CALL, NOON, None),
        (Limits(max_calls=1), ONE_CALL, NOON, (StopReason.BUDGET_SPENT, "1 of 1 calls are spent")),
        (Limits(max_calls=0), Spent(calls=10**6), NOON, None),
        (Limits(max_tokens=101), ONE_CALL, NOON, None),
        (Limits(max_tokens=100), ONE_CALL, NOON, (StopReason.BUDGET_SPENT, "100 of 100 tokens are spent")),
        (Limits(max_tokens=0), ONE_CALL, NOON, None),
        (Limits(deadline="2026-11-30T12:00:01Z"), Spent(), NOON, None),
        (
            Limits(deadline="2026-11-30T13:00:00+01:00"),
            Spent(),
            NOON,
            (StopReason.DEADLINE_PASSED, "the deadline was 2026-11-30T13:00:00+01:00"),
        ),
        (
            Limits(deadline="2026-11-30T12:00:00Z", max_calls=1, max_tokens=1),
            ONE_CALL,
            NOON + timedelta(days=1),
            (StopReason.DEADLINE_PASSED, "the deadline was 2026-11-30T12:00:00Z"),
        ),
    ],
    ids=[
        "none",
        "calls left",
        "calls spent",
        "any calls",
        "tokens left",
        "tokens",
        "any tokens",
        "before",
        "at",
        "all",
    ],
)
def test_a_limit_is_reached_at_its_value(
    limits: Limits, spent: Spent, now: datetime, expected: tuple[StopReason, str] | None
) -> None:
    """The value itself is the end; zero and None are no limit; the deadline is named first (FIELD-FAULTS F7)."""
    assert reached(limits, spent, now) == expected


@pytest.mark.parametrize(("max_calls", "calls", "left"), [(0, 5, None), (3, 0, 3), (3, 2, 1), (3, 3, 0), (3, 4, 0)])
def test_calls_left_never_fall_below_none(max_calls: int, calls: int, left: int | None) -> None:
    """A driver that died may have spent more than was allowed."""
    assert calls_left(Limits(max_calls=max_calls), Spent(calls=calls)) == left
