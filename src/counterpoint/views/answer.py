"""How cases of `answer` are shown: the report, the JSON object, the lines at the end, and the transcript."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from counterpoint.core.canonical import visible
from counterpoint.core.wording import in_line
from counterpoint.drive.cases import LoadedCase
from counterpoint.protocols.answer import Phase
from counterpoint.views.answer_facts import changes_of, gain_of, state_of
from counterpoint.views.answer_report import gain_line, opening_line, render_report
from counterpoint.views.answer_result import result_of
from counterpoint.views.answer_transcript import OURS, render_transcript, transcript_name
from counterpoint.views.kinds import CaseView, Paint, SeatWords
from counterpoint.views.summary import COLOURS, closing_line

__all__ = ["VIEW"]

_SHORT: Final = 300


def _summary(case: LoadedCase, paint: Paint) -> Iterator[str]:
    state, outcome = state_of(case), case.outcome
    gain, word = gain_of(state, outcome), "Voted: " if state.case.terms.vote_only else "Agreed: "
    line = closing_line(outcome).replace("Approved: ", word, 1)
    yield paint(line, COLOURS.get(outcome.decision, "yellow"))
    if gain.final is not None:
        yield from (f"  {visible(each)}" for each in gain.final.split("\n"))
    else:
        newest = next((state.held_in(n) for n in range(state.round, 0, -1) if state.held_in(n)), ())
        yield from (f"  {visible(position.seat)}: {_cut(position.answer)}" for position in newest)
    yield f"opening:  {opening_line(state, gain.opening)}"
    if not state.case.terms.vote_only:
        yield f"debate:   gain {gain_line(gain)}"
    for position in changes_of(state):
        change = position.concession
        assert change is not None, "it is a change"
        word = "evidenced" if change.is_evidenced else "unevidenced"
        yield f"  {visible(position.seat)} gave way in round {position.round}, {word}: {_cut(change.why)}"
    yield f"answers:  {transcript_name(state)} in the case's folder"


def _cut(text: str) -> str:
    line = in_line(text.strip()) or "no reason given"
    return line if len(line) <= _SHORT else f"{line[:_SHORT]}…"


def _files(case: LoadedCase) -> Mapping[str, str]:
    return {transcript_name(state_of(case)): render_transcript(case)}


VIEW: Final = CaseView(
    report=render_report,
    result=result_of,
    summary=_summary,
    words=SeatWords(author="", judges="peers"),
    phases=MappingProxyType(
        {
            Phase.ANSWERING: "each peer answers for itself",
            Phase.ANSWERED: "the record was cut in a reveal",
            Phase.COMPARING: "each peer holds the others' answers against its own",
            Phase.COMPARED: "the record was cut in a reveal",
            Phase.CONFIRMING: "all judge the one text that they stand by",
            Phase.CONFIRMED: "the record was cut in a reveal",
            Phase.CLOSED: "closed",
        }
    ),
    files=_files,
    is_old_file=lambda name: OURS.fullmatch(name) is not None,
)
