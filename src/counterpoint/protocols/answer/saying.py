"""A revealed reply in words, for the readers of the record. Text of a seat is quoted, never in the open."""

from collections.abc import Iterator
from typing import Final, assert_never

from counterpoint.core.entries import SubmissionRevealed
from counterpoint.core.forms import read_text
from counterpoint.core.values import Turn
from counterpoint.core.wording import describe, in_line, quoted
from counterpoint.errors import Refused
from counterpoint.protocols.answer.forms import CompareAnswers, ConfirmCandidate, GiveAnswer, NamedObjection
from counterpoint.protocols.answer.table import Phase

__all__ = ["FORMS", "say"]

FORMS: Final = {
    Phase.ANSWERING: GiveAnswer,
    Phase.COMPARING: CompareAnswers,
    Phase.CONFIRMING: ConfirmCandidate,
}
"""What is filled in in which phase."""

_Filled = GiveAnswer | CompareAnswers | ConfirmCandidate


def say(entry: SubmissionRevealed) -> str:
    """Return a revealed reply in words, as Markdown; one that fits no form as it stands."""
    said = _read(entry)
    return describe(entry) if said is None else "\n\n".join(_parts(entry.turn, said))


def _read(entry: SubmissionRevealed) -> _Filled | None:
    form = next((form for phase, form in FORMS.items() if phase == entry.turn.phase), None)
    try:
        return None if form is None else read_text(form, entry.reply)
    except Refused:
        return None


def _parts(turn: Turn, said: _Filled) -> Iterator[str]:
    seat = turn.seat
    match said:
        case GiveAnswer():
            yield _quote(f"{seat} had answered:", said.answer)
            yield from _rest("It rests on:", said.keyPoints)
        case CompareAnswers():
            yield _quote(f"{seat} holds in round {turn.round}:", said.answer)
            yield from _rest("It rests on:", said.keyPoints)
            if said.changedMind.strip():
                yield _quote(f"It changed its mind (shown at {said.where or 'no place'}):", said.changedMind)
            yield in_line(f"It agrees with {', '.join(said.agreesWith) or 'nobody'}.")
            yield from (_objects(each, f" to {each.peer}") for each in said.objections)
        case ConfirmCandidate():
            word = "confirms" if said.approved else "does not confirm"
            yield _quote(f"{seat} {word} the candidate:", said.reasoning)
            yield from (_objects(each, "") for each in said.objections)
        case _:
            assert_never(said)


def _rest(lead: str, points: tuple[str, ...]) -> Iterator[str]:
    if points:
        yield _quote(lead, "\n".join(f"- {point}" for point in points))


def _objects(said: NamedObjection, whom: str) -> str:
    shown = "\n\n".join(part for part in (said.point, said.reason, said.quote) if part.strip())
    return _quote(f"It objects{whom} (shown at {said.where or 'no place'}):", shown)


def _quote(lead: str, text: str) -> str:
    return f"{in_line(lead)}\n\n{quoted(text)}"
