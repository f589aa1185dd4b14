"""The course of a case in `report.md`: its rounds, what the author offered, and what debate changed of the votes."""

from collections import Counter
from typing import Final

from counterpoint.core.docket import Seat
from counterpoint.core.entries import VerdictGiven
from counterpoint.drive.cases import LoadedCase
from counterpoint.views.markdown import Lines, code, counted, fenced, items, wrapped
from counterpoint.views.rounds import (
    DISPOSITIONS,
    Offered,
    Round,
    Votes,
    answers_in,
    author_of,
    final_votes,
    opening_votes,
    rounds_of,
)

__all__ = ["candidates_in", "rounds_in", "votes_in"]

_MAX_PATHS: Final = 20
_SHORT: Final = 12
_PERSON: Final = "human"


def rounds_in(case: LoadedCase) -> Lines:
    """Yield each round; nothing where nobody answers."""
    author = author_of(case.state)
    if author is None:
        return
    yield "## Rounds"
    yield "A round is a reading and the author's answer to it. The reading after the last answer ends the case."
    for found in rounds_of(case):
        yield f"### Round {found.number}, of {code(found.candidate[:_SHORT])}"
        yield items(
            *(_read(verdict) for verdict in found.verdicts), *map(_stood, found.stood), _answer(author, found)
        )


def _read(verdict: VerdictGiven) -> str:
    return f"{code(verdict.seat)} {'approved' if verdict.approved else 'did not approve'}"


def _stood(seat: str) -> str:
    return f"{code(seat)} had approved exactly this, and was not asked again"


def _answer(author: Seat, found: Round) -> str:
    if not found.is_answered:
        return "" if found.verdicts else "no verdict was given"
    given = Counter(entry.disposition for entry in found.dispositions)
    said = ", ".join(f"{given[each]} {word}" for each, word in DISPOSITIONS.items() if given[each])
    offered = f"offered {code(found.offered.entry.candidate[:_SHORT])}" if found.offered else "changed nothing"
    return f"{code(author.name)} answered ({said}) and {offered}"


def candidates_in(case: LoadedCase) -> Lines:
    """Yield what the author offered, from what the case opened with to the newest (SPEC D-20)."""
    author = author_of(case.state)
    if author is None:
        return
    docket, commits = case.state.case.docket, case.state.case.terms.commits
    offers = [found.offered for found in rounds_of(case) if found.offered]
    yield f"## {'Commits' if commits else 'Candidates'} of the case: {len(offers)}"
    if not offers:
        yield "The author changed nothing."
    elif commits:
        yield "Each is a commit by the driver, of exactly the paths that the author listed. Nothing was pushed."
    else:
        yield "The edits were not committed: each candidate is a tree of the files as they lay in the work tree."
    opening = f"The case opened with {code(docket.candidate)}"
    yield items(
        f"{opening}, against the base {code(docket.base)}" if docket.base else opening,
        *(_offered(offered) for offered in offers),
    )
    if any(failure.turn.seat == author.name for failure in case.state.failures):
        yield _came_to_nothing(case, author)


def _offered(offered: Offered) -> str:
    entry = offered.entry
    more = len(entry.changed) - _MAX_PATHS
    paths = ", ".join(code(path) for path in entry.changed[:_MAX_PATHS]) + (f" and {more} more" if more > 0 else "")
    return f"Round {entry.round}, {offered.at}: {code(entry.candidate)} changes {paths}"


def _came_to_nothing(case: LoadedCase, author: Seat) -> str:
    """Say where the edits are of a question that brought no accepted answer."""
    if author.agent == _PERSON:
        return "A question to the author brought no accepted answer. What a person edits stays in the work tree."
    return (
        "A question to the author brought no accepted answer. Edits that were put away for it are kept in the "
        f"repository; {code(f'git for-each-ref refs/counterpoint/{case.name}')} lists them."
    )


def votes_in(case: LoadedCase) -> Lines:
    """Yield each reviewer's first verdict, and what debate changed of it (DESIGN 7.1)."""
    state = case.state
    if not state.votes:
        return
    yield "## Opening votes"
    yield "Each seat's first answer, sealed before it could see another's."
    for verdict in state.opening_votes():
        yield from _vote(case, verdict)
    if not answers_in(state):
        return
    opening, final = opening_votes(state), final_votes(state)
    yield "## Gain of debate over the opening vote"
    yield items(
        f"Opening vote: {_said(opening)}",
        f"Final verdicts on the newest candidate: {_said(final)}",
        f"Gain: {_gain(final.approvals - opening.approvals)}",
    )
    first = {verdict.seat: verdict for verdict in state.opening_votes()}
    for seat, verdict in state.verdicts.items():
        if verdict is not first[seat]:
            yield f"{code(seat)}, last, in round {verdict.round}, of {code(verdict.candidate[:_SHORT])}:"
            yield fenced(wrapped(verdict.summary))


def _vote(case: LoadedCase, verdict: VerdictGiven) -> Lines:
    vote = "approves" if verdict.claimed else "does not approve"
    seal = next(seal for seal in case.state.seals.values() if seal.turn.seat == verdict.seat)
    yield f"{code(verdict.seat)} {vote}; sealed as {code(seal.digest)}:"
    yield fenced(wrapped(verdict.summary))


def _said(votes: Votes) -> str:
    return f"{votes.approvals} of {counted(votes.verdicts, 'verdict')} approved"


def _gain(more: int) -> str:
    return f"{counted(abs(more), 'approval')} {'fewer' if more < 0 else 'more'}" if more else "none"
