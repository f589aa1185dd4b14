"""Sections of `report.md` that do not depend on a protocol: the seats, what it took, notes, and how to check it."""

from collections.abc import Sequence
from typing import Final

from counterpoint.agents.base import NOT_REPORTED
from counterpoint.core.case import CaseState
from counterpoint.core.entries import NoteAdded
from counterpoint.core.outcome import SeatStatus
from counterpoint.drive.cases import LoadedCase
from counterpoint.views.markdown import Lines, code, counted, fenced, inline, items, wrapped

__all__ = ["asides_in", "checking", "seats_in", "use_in"]

_LOCAL: Final = "local"


def seats_in(case: LoadedCase) -> Lines:
    """Yield who sat in the case, and the questions that brought no accepted answer."""
    yield "## Seats"
    yield items(*(_seat(case.state, status) for status in case.outcome.seats))
    if case.state.failures:
        yield "Questions that brought no accepted answer:"
        yield items(*(f"{code(f.turn.id)}: {code(f.reason)}, {inline(f.detail)}" for f in case.state.failures))


def _seat(state: CaseState, status: SeatStatus) -> str:
    seat, sealed = state.case.seat(status.seat), state.last_seal(status.seat)
    assert seat is not None, "the outcome is about the roster"
    where = "on this machine" if seat.destination == _LOCAL else f"sent to {code(seat.destination)}"
    model = ""
    if sealed is not None and sealed.model_requested:
        reported = "" if sealed.model_reported == NOT_REPORTED else f"; {code(sealed.model_reported)} reported"
        model = f"; asked for model {code(sealed.model_requested)}{reported}"
    asked = counted(status.attempts, "question")
    return f"{code(seat.name)} ({code(seat.party)}, a {code(seat.agent)} agent, {where}): {asked}{model}"


def use_in(case: LoadedCase) -> Lines:
    """Yield the limits and what was used."""
    limits, spent, most = case.state.case.limits, case.outcome.spent, case.state.case.limits.max_rounds
    least = "" if spent.usage.known else "; not every agent reports its tokens, so these are the least it can be"
    yield "## Limits and use"
    yield items(
        f"Rounds: {case.state.round}{f' of at most {most}' if most else ', not limited'}",
        f"Calls: {spent.calls}; {f'at most {limits.max_calls}' if limits.max_calls else 'no limit'}",
        f"Tokens: {spent.usage.input_tokens} read, {spent.usage.output_tokens} written{least}",
        f"Deadline: {code(limits.deadline)}" if limits.deadline else "Deadline: none",
    )


def asides_in(case: LoadedCase) -> Lines:
    """Yield what was allowed to leave this machine, and the supervisor's notes."""
    for consent in case.state.consents:
        yield (
            f"{code(consent.by)} allowed {inline(consent.scope)} to be sent to {code(consent.destination)} "
            f"from {code(consent.granted_at)} until {code(consent.until)}; grant {code(consent.digest)}."
        )
    for block, entry in zip(case.blocks, case.entries, strict=True):
        if isinstance(entry, NoteAdded):
            yield f"Note of {code(entry.by)}, {block.stamp}:"
            yield fenced(wrapped(entry.text))


def checking(case: LoadedCase, more: Sequence[str] = ()) -> Lines:
    """Yield how to check the report; `more` are further lines for a terminal."""
    head = case.blocks[-1]
    lines = [
        f"$ counterpoint verify {case.name}            # every byte of the record, and every answer by the rules",
        *more,
        f"$ counterpoint report --stdout {case.name}   # this report again",
    ]
    yield "## How to check this"
    yield "This report is rendered from the record alone; the same record gives the same bytes."
    yield "\n".join(["```console", *lines, "```"])
    yield f"It stands on the record up to {code(f'MSG-{head.n}')}, SHA-256 {code(head.digest)}."
