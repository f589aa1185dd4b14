"""Pieces of the Markdown that report and transcript of `answer` share. What a seat wrote stands in blocks of code."""

from typing import Final

from counterpoint.core.checks import EvidenceStatus
from counterpoint.protocols.answer import AnswerState, Confirmation, Objection, Position
from counterpoint.views.markdown import Lines, code, fenced, inline, wrapped

__all__ = ["agreements_of", "change_in", "confirmation_in", "objections_in", "points_in"]

FOUND: Final = {
    EvidenceStatus.VERIFIED: "code found it there",
    EvidenceStatus.REFUTED: "**code did not find it there**",
    EvidenceStatus.NOT_CHECKED: "not checked",
}


def points_in(position: Position) -> Lines:
    """Yield what an answer rests on."""
    if position.key_points:
        yield "It rests on:"
        yield fenced("\n".join(wrapped(f"- {point}") for point in position.key_points))


def change_in(position: Position) -> Lines:
    """Yield why a peer gave way, and whether code saw what it names."""
    change = position.concession
    if change is None:
        return
    word = "evidenced" if change.is_evidenced else "**unevidenced**"
    shown = f", shown at {code(change.where)}: {_found(change.status, change.detail)}" if change.where.strip() else ""
    yield f"{code(position.seat)} gave way in round {position.round}, {word}{shown}."
    if change.why.strip():
        yield fenced(wrapped(change.why))
    else:
        yield "It named no flaw in what it had answered before."


def objections_in(objections: tuple[Objection, ...], whom: str) -> Lines:
    """Yield what is objected to; `whom` says whose text it is about where the objection does not."""
    for each in objections:
        target = f"the answer of {code(each.target)}" if each.target else whom
        place = f", at {code(each.where)} ({_found(each.status, each.detail)})" if each.where.strip() else ""
        yield f"{code(each.seat)} objects to {target}{place}:"
        parts = [each.point, each.reason, *([f"quoted: {each.quote}"] if each.quote.strip() else [])]
        yield fenced("\n\n".join(wrapped(part) for part in parts))


def confirmation_in(said: Confirmation) -> Lines:
    """Yield what a peer says of the candidate."""
    yield f"{code(said.seat)} {'confirms it' if said.approved else 'does not confirm it'}:"
    yield fenced(wrapped(said.reasoning))
    yield from objections_in(said.objections, "the candidate")


def agreements_of(state: AnswerState, position: Position) -> str:
    """Return with whom a peer agrees, and where that does not count."""
    named = [
        code(seat) if position.agrees(seat) else f"{code(seat)} (does not count: it objects to it, too)"
        for seat in state.peers
        if seat in position.agrees_with
    ]
    return ", ".join(named) or "nobody"


def _found(status: EvidenceStatus, detail: str) -> str:
    return f"{FOUND[status]}; {inline(detail)}"
