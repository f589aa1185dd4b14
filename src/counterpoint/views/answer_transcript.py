"""`answer-<slug>.md`: header, every answer in the order of the rounds, and the candidates (SPEC D-30)."""

import re
from typing import Final

from counterpoint.drive.cases import LoadedCase
from counterpoint.protocols.answer import AnswerState, Position
from counterpoint.views.answer_facts import slug_of, state_of
from counterpoint.views.answer_parts import agreements_of, change_in, confirmation_in, objections_in, points_in
from counterpoint.views.markdown import Lines, code, fenced, items, wrapped

__all__ = ["OURS", "render_transcript", "transcript_name"]

OURS: Final = re.compile(r"answer-[a-z0-9-]{1,60}\.md")


def transcript_name(state: AnswerState) -> str:
    """Return the file's name."""
    return f"answer-{slug_of(state.case.docket.question)}.md"


def render_transcript(case: LoadedCase) -> str:
    """Return the text of the transcript."""
    state = state_of(case)
    parts = [*_head(case, state)]
    for number in range(1, state.round + 1):
        parts += _round(state, number)
    return "\n\n".join(parts) + "\n"


def _head(case: LoadedCase, state: AnswerState) -> Lines:
    docket = state.case.docket
    yield f"# Answers of {', '.join(code(seat) for seat in state.peers)}"
    yield items(
        f"Case: {code(case.name)}",
        f"Opened: {case.blocks[0].stamp}",
        f"Decision: {code(case.outcome.decision)}",
    )
    yield "Question:"
    yield fenced(wrapped(docket.question))
    if docket.context.strip():
        yield "What belongs to it:"
        yield fenced(wrapped(docket.context))


def _round(state: AnswerState, number: int) -> Lines:
    for position in state.held_in(number):
        yield f"## Round {number}: {code(position.seat)}"
        yield from _position(state, position)
    for offered in (each for each in state.offered if each.round == number):
        yield f"## Candidate {offered.revision}"
        yield f"SHA-256 {code(offered.candidate)}:"
        yield fenced(next(p.answer for p in state.held_in(number) if p.seat == offered.seat))
        for said in state.said_of(offered.revision):
            yield from confirmation_in(said)


def _position(state: AnswerState, position: Position) -> Lines:
    yield "Answer:"
    yield fenced(position.answer)
    yield from points_in(position)
    yield "Reasoning, which the others did not see:"
    yield fenced(wrapped(position.reasoning))
    if position.round > 1:
        yield f"It agrees with {agreements_of(state, position)}."
        yield from change_in(position)
        yield from objections_in(position.objections, "")
