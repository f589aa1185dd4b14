"""Checking a document that holds a debate, against itself, its snapshots, and its record (SPEC B-20)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from counterpoint.core.canonical import NotCanonical, digest, parse_json
from counterpoint.core.values import Decision
from counterpoint.drive.cases import LoadedCase
from counterpoint.drive.paths import path_text
from counterpoint.errors import SourceError
from counterpoint.protocols.ballot import BALLOT, BallotState
from counterpoint.protocols.ballot.forms import Vote
from counterpoint.protocols.ballot.layout import Document, WrittenRound, read_debate, read_document
from counterpoint.protocols.ballot.text import as_text
from counterpoint.record.safe import typed
from counterpoint.views.ballot_result import ballot_state, sealed_at

__all__ = ["Checked", "check_document", "debate_of", "document_of"]

_MAX_SNAPSHOT: Final = 1 << 23
_SHOWN: Final = 80
_APPROVING: Final = {Vote.APPROVED, Vote.RESERVED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a document was held against, and what does not hold."""

    title: str
    version: int
    candidate: str
    """SHA-256 of the text as it stands in the file."""
    case: str
    rounds: int
    snapshots: tuple[int, ...]
    """The rounds whose snapshot was there."""
    is_recorded: bool
    """Whether the case's record was there."""
    faults: tuple[str, ...]

    def fields(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "version": self.version,
            "candidate": self.candidate,
            "case": self.case,
            "rounds": self.rounds,
            "snapshots": list(self.snapshots),
            "recorded": self.is_recorded,
            "faults": list(self.faults),
        }


def document_of(case: LoadedCase) -> str:
    """Return the document of a ballot, as its record has it."""
    state = ballot_state(case)
    assert BALLOT.document is not None, "a ballot has a document"
    return BALLOT.document(state, sealed_at(case))


def debate_of(case: LoadedCase) -> str:
    """Return what stands in a ballot's document from the first debate heading on."""
    if not isinstance(case.state, BallotState):
        raise SourceError(f"{case.name} is no ballot", hint="take the debate out of the document")
    return read_document(document_of(case), name=case.name).debate


def check_document(content: str, *, name: str, snapshots: Path | None, case: LoadedCase | None) -> Checked:
    """Hold a document against everything that is there of it.

    Args:
        content: the file's text.
        name: its name.
        snapshots: the folder with `ballot-<round>.json`; None where none is known.
        case: the case that its debate names, where its record is here.

    Raises:
        SourceError: it is no document with a debate.
    """
    found = read_document(content, name=name)
    rounds = read_debate(found.debate)
    if not rounds:
        raise SourceError(f"{name} holds no debate", hint="name a document that a ballot has written")
    kept = {each.number: _snapshot(snapshots, each.number) for each in rounds} if snapshots is not None else {}
    there = {number: snapshot for number, snapshot in kept.items() if snapshot is not None}
    faults = [*_of_text(found, rounds), *_of_rounds(rounds)]
    for each in rounds:
        if each.number in there:
            faults += _of_snapshot(each, there[each.number])
        elif snapshots is not None and any(vote.at for vote in each.votes):
            faults.append(f"round {each.number}: {path_text(snapshots)} has no ballot-{each.number}.json")
    if case is not None and document_of(case) != content:
        faults.append(f"the file differs from what the record of {case.name} renders")
    return Checked(
        title=found.title,
        version=found.version,
        candidate=digest(found.text.encode()),
        case=rounds[-1].case,
        rounds=len(rounds),
        snapshots=tuple(there),
        is_recorded=case is not None,
        faults=tuple(faults),
    )


def _of_text(found: Document, rounds: tuple[WrittenRound, ...]) -> Iterator[str]:
    last, text = rounds[-1], digest(found.text.encode())
    if found.version != last.version:
        yield f"the text is v{found.version}, and the last debate is on v{last.version}"
    if text != last.candidate:
        yield f"the text has SHA-256 {text}; round {last.number} reviewed {last.candidate}"
    if found.text != as_text(found.text):
        yield "the text is not in its byte form: LF, one empty line above and below, hidden characters written out"


def _of_rounds(rounds: tuple[WrittenRound, ...]) -> Iterator[str]:
    first = rounds[0]
    if [each.number for each in rounds] != list(range(1, len(rounds) + 1)):
        yield f"the rounds are {', '.join(str(each.number) for each in rounds)}; they count from 1"
    if len(rounds) > first.most:
        yield f"there are {len(rounds)} rounds; at most {first.most} were allowed"
    for each in rounds:
        frozen = (each.case, each.orchestrator, each.roster, each.deadline, each.most)
        if frozen != (first.case, first.orchestrator, first.roster, first.deadline, first.most):
            yield f"round {each.number}: case, orchestrator, roster, deadline or limit is not that of round 1"
        if not each.orchestrator:
            yield f"round {each.number}: nobody is named as its orchestrator"
        if each.strays:
            more = f" and {len(each.strays) - 1} more" if len(each.strays) > 1 else ""
            yield f"round {each.number}: no debate has the line {each.strays[0][:_SHOWN]!r}{more} there"
        if each.decision and each is not rounds[-1]:
            yield f"round {each.number}: it was decided, and a later round is there"
        if each.is_over:
            yield from _of_votes(each)
        elif each is not rounds[-1] or each.votes or each.decision:
            more = "they are there" if each.votes or each.decision else "a later round is there"
            yield f"round {each.number}: its votes are sealed, and {more}"


def _of_votes(each: WrittenRound) -> Iterator[str]:
    voted, approved = [vote.seat for vote in each.votes], Decision.APPROVED.value
    if each.decision == approved and (no := [vote.seat for vote in each.votes if vote.vote not in _APPROVING]):
        yield f"round {each.number}: it was decided as {approved}, and {', '.join(no)} did not approve"
    if each.decision not in {"", approved} and {vote.vote for vote in each.votes} == {Vote.APPROVED}:
        yield f"round {each.number}: it was decided as {each.decision}, and everybody approved"
    if sorted(voted) != sorted(each.roster):
        yield f"round {each.number}: votes of {', '.join(voted) or 'nobody'}; the roster is {', '.join(each.roster)}"
    for vote in each.votes:
        at = f"round {each.number}, {vote.seat}"
        if vote.version != each.version:
            yield f"{at}: the vote is on v{vote.version}; v{each.version} was reviewed"
        if not vote.at and vote.vote not in {"", Vote.REJECTED}:
            yield f"{at}: {vote.vote} without a date"
        if vote.at and each.deadline and _instant(vote.at) > _instant(each.deadline):
            yield f"{at}: the vote is of {vote.at}; the deadline was {each.deadline}"


def _instant(stamp: str) -> datetime:
    try:
        found = datetime.fromisoformat(stamp)
    except ValueError:
        found = None
    if found is None or found.utcoffset() is None:
        raise SourceError(f"{stamp!r} is no instant with its offset", hint="compare the debate with its case")
    return found


def _snapshot(folder: Path, number: int) -> Mapping[str, Any] | None:
    path = folder / f"ballot-{number}.json"
    if not path.is_file():
        return None
    with typed(f"{path_text(path)} cannot be read"), path.open("rb") as file:
        content = file.read(_MAX_SNAPSHOT)
    try:
        found = parse_json(content, max_bytes=_MAX_SNAPSHOT)
    except NotCanonical as error:
        raise SourceError(f"{path_text(path)}: {error}", hint="write it again with `counterpoint report`") from None
    return found if isinstance(found, dict) else {}


def _written(vote: object) -> tuple[object, ...]:
    return (vote.get("seat"), vote.get("at"), vote.get("vote")) if isinstance(vote, dict) else (vote,)


def _of_snapshot(each: WrittenRound, snapshot: Mapping[str, Any]) -> Iterator[str]:
    at, text = f"round {each.number}", snapshot.get("text")
    computed = digest(text.encode()) if isinstance(text, str) else "no text"
    if computed != snapshot.get("candidate"):
        yield f"{at}: the snapshot's text is {computed}, and it says {snapshot.get('candidate')}"
    if snapshot.get("candidate") != each.candidate:
        yield f"{at}: the snapshot is of {snapshot.get('candidate')}, the debate of {each.candidate}"
    said = {"case": each.case, "round": each.number, "version": each.version, "roster": list(each.roster)}
    said |= {"deadline": each.deadline or None, "max_rounds": each.most, "orchestrator": each.orchestrator}
    for key, value in said.items():
        if snapshot.get(key) != value:
            yield f"{at}: the snapshot's {key} is {snapshot.get(key)!r}, the debate's {value!r}"
    votes = snapshot.get("votes")
    kept = [_written(vote) for vote in votes] if isinstance(votes, list) else []
    written = [(vote.seat, vote.at, vote.vote) for vote in each.votes if vote.at]
    if each.is_over and sorted(kept, key=str) != sorted(written, key=str):
        yield f"{at}: the votes of the snapshot are not those of the debate"
