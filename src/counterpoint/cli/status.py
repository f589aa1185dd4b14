"""`counterpoint status`: where a case stands, from another terminal or at any time."""

import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

import click

from counterpoint.cli.manual import Manual, json_option
from counterpoint.cli.output import print_json, say, styled
from counterpoint.cli.where import Where, case_argument, where_options
from counterpoint.core.docket import SeatKind
from counterpoint.core.findings import FindingStatus
from counterpoint.core.values import Severity
from counterpoint.core.wording import in_line
from counterpoint.drive.clock import format_stamp
from counterpoint.drive.lease import current_holder
from counterpoint.views.kinds import view_of
from counterpoint.views.progress import say_names, say_open, say_round, say_span, say_tokens
from counterpoint.views.status import CaseStatus, Move, Pulse, SeatNow, SeatState, status_of

__all__ = ["status"]

_COLOURS: Final = {Pulse.DRIVEN: "green", Pulse.OVERDUE: "red", Pulse.WAITING: "yellow", Pulse.STOPPED: "yellow"}
_SHOWN_PATHS: Final = 3


@click.command(
    cls=Manual,
    examples=[
        ("counterpoint status last", "the newest case"),
        ("counterpoint status last --repo ../shop", "that of another repository"),
        ("counterpoint status last --json", "for a program"),
    ],
)
@case_argument
@json_option
@where_options
def status(where: Where, case: str, *, as_json: bool) -> None:
    """Say where CASE stands: round, seats, findings, commits, what is spent, and whether it gets on.

    CASE is a case's name, any unambiguous beginning or end of it, or `last`. All of it comes from the record, the
    lease and the claims, also while another process drives the case; that one is not disturbed, and nothing is
    written. A case that gets on names who was asked and until when; one that is stuck, who is late, that nothing
    moved in the last reading, or that nobody drives it, and the command that goes on.
    """
    # The lease first: a case that ends in between is closed, and not one that nobody drives.
    name = where.find(case)
    holder = current_holder(where.cases / name)
    found = status_of(where.load(name), where.store.claims(name), holder, datetime.now(UTC))
    resume = where.command_line("resume", name)
    if as_json:
        print_json(found.fields(resume=resume))
        return
    say(f"case:      {name}")
    for label, lines in _parts(found, resume, where.command_line("report", name)):
        for number, line in enumerate(lines):
            colour = _COLOURS.get(found.pulse) if label == "pulse" else None
            head = f"{label}:" if number == 0 else ""
            # The only control characters here are our own colours.
            click.echo(f"{head:11}{styled(in_line(line), colour, sys.stdout)}")


def _parts(found: CaseStatus, resume: str, report: str) -> Iterator[tuple[str, Sequence[str]]]:
    progress, state = found.progress, found.case.state
    phase = view_of(found.case).phases.get(state.phase, state.phase)
    yield "round", [f"{say_round(progress).removeprefix('round ')}; {phase}"]
    yield "pulse", [_pulse(found)]
    if found.moved is not None:
        yield "moved", [_moved(found.moved)]
    yield "seats", _seats(found)
    if tuple(state.ledger) or not progress.stage:
        yield "findings", _findings(found)
    if state.docket.candidate:
        yield "candidate", _candidate(found)
    yield "spent", [_spent(found)]
    yield "time", [_time(found)]
    if found.holder is not None:
        yield "driven by", [f"{found.holder.name}, since {found.holder.since}"]
    elif found.pulse is Pulse.CLOSED:
        yield "read it", [report]
    else:
        ends = "it ends the case, since the deadline has passed; who owed an answer is not asked any more"
        yield "go on", [resume, ends] if found.is_past else [resume]


def _pulse(found: CaseStatus) -> str:
    age = "of unknown age" if found.written_at is None else f"{_passed(found.written_at, found)} old"
    last = f"the last entry is {age}"
    asked = [seat for seat in found.seats if seat.state is SeatState.ASKED]
    match found.pulse:
        case Pulse.CLOSED:
            closed = found.case.state.closed
            assert closed is not None, "a closed case has its last entry"
            return f"closed: {closed.decision} ({closed.stop_reason})"
        case Pulse.OVERDUE:
            return f"late: the time of {say_names(found.late)} is over, and the driver still waits; {last}"
        case Pulse.DRIVEN if asked:
            return f"at work: {say_names([seat.seat.name for seat in asked])} {_is(asked)} awaited; {last}"
        case Pulse.DRIVEN:
            return f"at work between two questions; {last}"
        case Pulse.WAITING:
            waits = [seat.seat.name for seat in found.seats if seat.state is SeatState.OWES]
            return f"waiting for {say_names(waits)}; {last}"
        case Pulse.STOPPED:
            return f"stopped: nobody drives it; {last}"


def _is(seats: Sequence[SeatNow]) -> str:
    return "is" if len(seats) == 1 else "are"


def _passed(instant: datetime, found: CaseStatus) -> str:
    return say_span((found.now - instant).total_seconds())


def _moved(moves: Sequence[Move]) -> str:
    if not moves:
        return "nothing, in the last reading"
    return f"in the last reading, {', '.join(map(_move, moves))}"


def _move(move: Move) -> str:
    now, answer = move.after
    if move.before is None:
        return f"{move.finding} was raised"
    if now != move.before[0]:
        return f"{move.finding} was {'opened again' if now == FindingStatus.OPEN else now}"
    return f"{move.finding} stands after the answer {answer}"


def _seats(found: CaseStatus) -> list[str]:
    width = max(len(seat.seat.name) for seat in found.seats)
    return [f"{seat.seat.name:{width}}  {_seat(seat, found)}" for seat in found.seats]


def _seat(seat: SeatNow, found: CaseStatus) -> str:
    is_author, words = seat.seat.kind is SeatKind.AUTHOR, view_of(found.case).words
    said = {
        SeatState.ASKED: _asked(seat, found),
        SeatState.SEALED: f"has answered, sealed{_at(seat, found)}",
        SeatState.ANSWERED: f"{'has answered' if is_author else _verdict(seat)}{_at(seat, found)}",
        SeatState.STANDS: "stands by its approval of this candidate",
        SeatState.OUT: "is not asked again in this round",
        SeatState.OWES: "owes an answer, and is not being asked",
        SeatState.WAITS: f"waits for the {words.judges}" if is_author else "waits",
    }[seat.state]
    if found.pulse is Pulse.CLOSED and seat.state is SeatState.WAITS:
        said = "was not asked" if is_author else "never answered"
    times = {0: "", 1: "; gave no valid answer once"}.get(seat.failed, f"; gave no valid answer {seat.failed} times")
    return f"{f'{words.author}: ' if is_author else ''}{said}{times}"


def _asked(seat: SeatNow, found: CaseStatus) -> str:
    if seat.since is None and seat.until is None:
        return "is asked now"
    since = f" {_passed(seat.since, found)} ago ({_clock(seat.since, found.now)})" if seat.since else ""
    until = f", may take until {_clock(seat.until, found.now)}" if seat.until else ""
    return f"was asked{since}{until}"


def _verdict(seat: SeatNow) -> str:
    words = {True: "approves", False: "does not approve", None: "has answered"}
    return words[seat.approves]


def _at(seat: SeatNow, found: CaseStatus) -> str:
    return f" ({_clock(seat.since, found.now)})" if seat.since else ""


def _clock(instant: datetime, now: datetime) -> str:
    """Return a time of this day, or the whole stamp of another."""
    stamp = format_stamp(instant)
    day, _, time = stamp.partition("T")
    return f"{time.removesuffix('+00:00')} UTC" if day == format_stamp(now).partition("T")[0] else stamp


def _findings(found: CaseStatus) -> list[str]:
    counts = {
        f"disputed by the {view_of(found.case).words.author}": found.disputed,
        "refuted by evidence": found.refuted,
        "settled": found.count(FindingStatus.SETTLED),
        "deferred": found.count(FindingStatus.DEFERRED),
    }
    others = [f"{number} {word}" for word, number in counts.items() if number]
    block_on = found.case.state.case.terms.block_on
    lines = ["; ".join([say_open(found.progress), *others])]
    return lines if block_on is Severity.NIT else [*lines, f"what is below {block_on} does not block"]


def _candidate(found: CaseStatus) -> list[str]:
    docket = found.case.state.docket
    taken = "committed" if found.case.state.case.terms.commits else "taken"
    against = f" against {docket.base[:12]}" if docket.base else ""
    return [
        f"{docket.candidate[:12]}{against}",
        *(
            f"round {offer.round}: {_paths(offer.changed)}, {taken} as {offer.candidate[:12]}"
            for offer in found.offers
        ),
    ]


def _paths(paths: Sequence[str]) -> str:
    more = len(paths) - _SHOWN_PATHS
    return ", ".join(paths[:_SHOWN_PATHS]) + (f" and {more} more" if more > 0 else "")


def _spent(found: CaseStatus) -> str:
    spent, limits = found.progress.spent, found.case.state.case.limits
    tokens = say_tokens(spent) + (f" of {limits.max_tokens:,}" if limits.max_tokens else "")
    calls = f"{spent.calls} of {found.most_calls} calls" if found.most_calls else f"{spent.calls} calls"
    return f"{calls}, {tokens}"


def _time(found: CaseStatus) -> str:
    elapsed, deadline = found.progress.elapsed_s, found.case.state.case.limits.deadline
    passed = "unknown" if elapsed is None else say_span(elapsed)
    until = f"deadline {deadline}{', which has passed' if found.is_past else ''}" if deadline else "no deadline"
    return f"{passed} since {found.case.blocks[0].stamp}; {until}"
