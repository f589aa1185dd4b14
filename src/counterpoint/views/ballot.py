"""How ballots are shown: the report, the JSON object, the lines at the end, and a snapshot of each round's votes."""

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from counterpoint.core.canonical import visible
from counterpoint.core.values import StopReason
from counterpoint.core.wording import in_line
from counterpoint.drive.cases import LoadedCase
from counterpoint.drive.document import COPY
from counterpoint.protocols.ballot import BallotState, Phase
from counterpoint.protocols.ballot.state import failed_vote
from counterpoint.views.ballot_report import render_report
from counterpoint.views.ballot_result import result_of, snapshot_of
from counterpoint.views.kinds import CaseView, Paint, SeatWords
from counterpoint.views.summary import COLOURS, closing_line

__all__ = ["VIEW"]

_STAYS: Final = "this debate stays in its case"
_SNAPSHOT: Final = re.compile(r"ballot-[0-9]{1,6}\.json")


def _summary(case: LoadedCase, paint: Paint) -> Iterator[str]:
    state, outcome = case.state, case.outcome
    assert isinstance(state, BallotState), "a ballot's case has a ballot's state"
    if outcome.stop_reason is StopReason.NEEDS_INPUT:
        line = f"A person is needed: {in_line('; '.join(outcome.reasons))}."
    else:
        line = closing_line(outcome)
    yield paint(line, COLOURS.get(outcome.decision, "yellow"))
    for at in range(1, state.version + 1):
        votes = [f"{cast.seat} {cast.vote.value}" for cast in state.cast_in(at)]
        votes += [f"{seat} without a vote" for seat in state.missing_in(at)]
        yield f"  v{at}: {visible(', '.join(votes))}"
        if outcome.stop_reason is not StopReason.FAILED:  # which names it itself
            failed = {seat: failed_vote(state, seat, at) for seat in state.missing_in(at)}
            yield from (f"      {visible(seat)}: {in_line(why)}" for seat, why in failed.items() if why)
    yield f"text:     v{state.version}, SHA-256 {state.docket.candidate}"
    if paths := state.docket.paths:
        path = visible(paths[0].path)
        yield f"document: {path}; {COPY} in the case's folder is what the record says"
        if outcome.stop_reason is StopReason.NEEDS_INPUT:
            yield f"next:     decide: edit the text in {path}, and begin a new ballot on it; {_STAYS}"


def _files(case: LoadedCase) -> Mapping[str, str]:
    state = case.state
    assert isinstance(state, BallotState), "a ballot's case has a ballot's state"
    rounds = [at for at in range(1, state.version + 1) if state.cast_in(at)]
    return MappingProxyType({f"ballot-{at}.json": _json(snapshot_of(case, at)) for at in rounds})


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=True) + "\n"


VIEW: Final = CaseView(
    report=render_report,
    result=result_of,
    summary=_summary,
    words=SeatWords(author="orchestrator", judges="voters"),
    phases=MappingProxyType(
        {
            Phase.VOTING: "the voters vote",
            Phase.VOTED: "the record was cut in a reveal",
            Phase.CLASSIFYING: "the orchestrator classifies the reservations",
            Phase.CLASSIFIED: "the record was cut in a reveal",
            Phase.CHALLENGING: "the voters may challenge what is called cosmetic",
            Phase.CHALLENGED: "the record was cut in a reveal",
            Phase.REVISING: "the orchestrator writes the next version",
            Phase.REVISED: "the record was cut in a reveal",
            Phase.CLOSED: "closed",
        }
    ),
    files=_files,
    is_old_file=lambda name: _SNAPSHOT.fullmatch(name) is not None,
)
