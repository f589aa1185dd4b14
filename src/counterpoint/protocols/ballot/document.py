"""The document as its case's record has it: the newest text, and below it the debate, a block for each round.

Rendered from the fold and from the instants at which votes were sealed; the same record, the same bytes (SPEC B-03,
B-19). Whatever a seat wrote stands in a block of code whose fence is longer than every run of backticks in it: it is
shown, and it is no part of the debate's structure. Sessions of agents are not in a record, so none is named (B-05).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from counterpoint.core.canonical import visible
from counterpoint.core.docket import Seat
from counterpoint.core.values import StopReason
from counterpoint.protocols.ballot.forms import Vote
from counterpoint.protocols.ballot.grammar import SEALED
from counterpoint.protocols.ballot.layout import head_of
from counterpoint.protocols.ballot.state import (
    BallotState,
    failed_vote,
    objections_of,
    reservations_of,
    why_missing,
    why_not,
)
from counterpoint.protocols.ballot.table import Phase
from counterpoint.protocols.ballot.text import candidate_of, debate_heading

__all__ = ["render_document"]

_MOST_TICKS: Final = re.compile("`{3,}")


def render_document(state: BallotState, sealed_at: Mapping[str, str]) -> str:
    """Return the text of the document.

    Args:
        state: where the case stands.
        sealed_at: the instant at which each accepted answer was sealed, by its turn's id.
    """
    head = head_of(state.case.docket.question, state.version)
    blocks = [
        part for at in range(1, state.round + 1) if at <= state.version for part in _block(state, at, sealed_at)
    ]
    return head + state.text + "\n\n".join((*blocks, *_divergence(state))) + "\n"


def _block(state: BallotState, at: int, sealed_at: Mapping[str, str]) -> Iterator[str]:
    case = state.case
    yield debate_heading(at)
    yield "\n".join(
        (
            f"- Case: `{case.case}`, round {at} of at most {case.limits.max_rounds}",
            f"- Reviewed: v{at}, SHA-256 `{candidate_of(state.text_of(at))}`",
            f"- Orchestrator: `{state.orchestrator}`, which has no vote",
            f"- Roster: {', '.join(f'`{seat}`' for seat in state.voters)}",
            f"- Deadline: `{case.limits.deadline}`" if case.limits.deadline else "- Deadline: none",
        )
    )
    if _is_sealed(state, at):
        yield SEALED
        return
    for seat in case.judges:
        yield from _seat(state, seat, at, sealed_at)
    yield from _classification(state, at, sealed_at)
    yield from _challenges(state, at, sealed_at)
    yield from _end(state, at, sealed_at)


def _is_sealed(state: BallotState, at: int) -> bool:
    """Return whether nobody may know the round's votes yet; one that ended without any has none to hide."""
    return at == state.round and state.stage == Phase.VOTING and state.phase != Phase.CLOSED


def _seat(state: BallotState, seat: Seat, at: int, sealed_at: Mapping[str, str]) -> Iterator[str]:
    cast = next((cast for cast in state.cast_in(at) if cast.seat == seat.name), None)
    yield f"### `{seat.name}`"
    who = f"- Agent: `{seat.agent}`, party `{seat.party}`; its session, if it keeps one, is not written here"
    if cast is None:
        late = f"**{Vote.REJECTED}** on v{at}, since {why_missing(state, seat.name, at)}"
        yield f"{who}\n- Vote: {f'none on v{at}' if _is_cut_short(state, seat.name, at) else late}"
        if failed := failed_vote(state, seat.name, at):
            yield _fenced(failed)
        return
    yield "\n".join(
        (who, f"- Date: {_when(sealed_at, Phase.VOTING, at, seat.name)}", f"- Vote: **{cast.vote}** on v{at}")
    )
    yield _fenced(cast.reason)
    for each in reservations_of(state, at):
        if each.seat == seat.name:
            yield f"Reservation `{each.id}`, which needs {each.needs}:"
            yield _fenced(each.point)


def _is_cut_short(state: BallotState, seat: str, at: int) -> bool:
    """Return whether the case ended for another reason while the seat could still have voted."""
    closed = state.closed
    is_in_time = closed is not None and closed.stop_reason is not StopReason.DEADLINE_PASSED
    return is_in_time and at == state.round and state.stage == Phase.VOTING and not state.is_out(seat)


def _when(sealed_at: Mapping[str, str], phase: str, at: int, seat: str) -> str:
    """Return when a seat's answer of a stage was sealed."""
    start = f"{phase}.{at}.{seat}."
    return next(stamp for turn, stamp in sealed_at.items() if turn.startswith(start))


def _classification(state: BallotState, at: int, sealed_at: Mapping[str, str]) -> Iterator[str]:
    weighed = [each for each in state.weighed if each.round == at]
    if not weighed:
        return
    yield f"### `{state.orchestrator}` classifies"
    yield f"- Date: {_when(sealed_at, Phase.CLASSIFYING, at, state.orchestrator)}"
    for each in weighed:
        yield f"`{_code(each.reservation)}` is {each.weight}:"
        yield _fenced(each.reason)


def _challenges(state: BallotState, at: int, sealed_at: Mapping[str, str]) -> Iterator[str]:
    for heard in (each for each in state.heard if each.round == at):
        yield f"### `{heard.seat}` {'challenges' if heard.challenges else 'lets it pass'}"
        yield f"- Date: {_when(sealed_at, Phase.CHALLENGING, at, heard.seat)}"
        for reservation, reason in heard.challenges:
            yield f"`{_code(reservation)}` is not cosmetic:"
            yield _fenced(reason)


def _end(state: BallotState, at: int, sealed_at: Mapping[str, str]) -> Iterator[str]:
    """Say what the round came to, where it is over, and what the orchestrator made of it."""
    closed = state.closed if at == state.version else None
    if closed is None and at >= state.round:
        return
    yield "### What it came to"
    against = [_code(reason) for reason in why_not(state, at)] or [f"v{at} is approved by all voters."]
    decided = [f"Decision: **{closed.decision}** ({closed.stop_reason})"] if closed is not None else []
    yield "\n".join(f"- {line}" for line in (*decided, *against))
    revision = next((each for each in state.revisions if each.version == at + 1), None)
    if revision is None:
        return
    yield f"### `{state.orchestrator}` writes v{at + 1}"
    yield f"- Date: {_when(sealed_at, Phase.REVISING, at + 1, state.orchestrator)}"
    for to, answer in revision.answers:
        yield f"To `{_code(to)}`:"
        yield _fenced(answer)


def _divergence(state: BallotState) -> Iterator[str]:
    """Say both positions where the rounds are spent and nothing is agreed: a person decides (SPEC B-02)."""
    closed = state.closed
    if closed is None or closed.stop_reason is not StopReason.NEEDS_INPUT:
        return
    yield "## Unresolved Divergence"
    yield (
        f"{state.round} of {state.case.limits.max_rounds} rounds are spent, and v{state.version} is not approved by"
        " all. The program decides nothing here; a person has to."
    )
    yield f"### The position of `{state.orchestrator}`"
    yield f"v{state.version}, as it stands above."
    for to, answer in state.revisions[-1].answers if state.revisions else ():
        yield f"To `{_code(to)}`, of the round before:"
        yield _fenced(answer)
    yield "### The position of those who do not approve it"
    for each in objections_of(state, state.round):
        yield f"`{each.seat}`, `{each.id}`:"
        yield _fenced(f"{each.says}\n\n({each.why})")
    if missing := state.missing_in(state.round):
        yield f"Without a valid vote: {', '.join(f'`{seat}`' for seat in missing)}."


def _fenced(text: str) -> str:
    """Return text of a seat's as a block of code that it cannot close."""
    shown = visible(text).strip("\n")
    longest = max((len(run) for run in _MOST_TICKS.findall(shown)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{shown}\n{fence}"


def _code(text: str) -> str:
    """Return what is made of names and ids, in one line."""
    return visible(text).replace("\n", " ").replace("`", "'")
