"""`report.md` of a ballot, for people, from its record alone. The same record, the same bytes.

What was decided and why comes first, then every version with every vote on it, what code found of the citations, and
what it took. The text itself is in the document; here is its digest. What a seat wrote stands in code.
"""

from counterpoint.agents.base import NOT_REPORTED
from counterpoint.core.checks import EvidenceStatus, QuoteCheck
from counterpoint.core.entries import NoteAdded
from counterpoint.core.values import StopReason
from counterpoint.drive.cases import LoadedCase
from counterpoint.drive.document import COPY
from counterpoint.protocols.ballot import BALLOT, BallotState, candidate_of, objections_of, reservations_of
from counterpoint.protocols.ballot.state import failed_vote
from counterpoint.views.ballot_result import ballot_state
from counterpoint.views.markdown import Lines, code, counted, fenced, inline, items, wrapped
from counterpoint.views.report import STOPS, headline

__all__ = ["render_report"]

_FOUND = {
    EvidenceStatus.VERIFIED: "stands in its source",
    EvidenceStatus.REFUTED: "**does not stand in its source**",
    EvidenceStatus.NOT_CHECKED: "was not checked",
}


def render_report(case: LoadedCase) -> str:
    """Return the text of `report.md`."""
    state = ballot_state(case)
    rounds = (_round(state, at) for at in range(1, state.version + 1))
    sections = (_head(case, state), _open(state), *rounds, _citations(state), _seats(case, state), _use(case, state))
    return "\n\n".join(part for section in (*sections, _checking(case)) for part in section) + "\n"


def _head(case: LoadedCase, state: BallotState) -> Lines:
    opened, outcome = state.case, case.outcome
    ended = "not yet"
    if closed := state.closed:
        ended = f"{case.blocks[-1].stamp}, because {STOPS[closed.stop_reason]}: {inline(closed.detail)}"
    yield f"# {headline(case)}"
    path = opened.docket.paths[0].path if opened.docket.paths else ""
    yield items(
        f"Title: {code(opened.docket.question)}",
        f"Case: {code(case.name)}, by the rules of {code(opened.protocol)}, version {opened.rules_version}",
        f"Decision: {code(outcome.decision)}, exit code {BALLOT.exit_code(outcome)}",
        f"Text: v{state.version}, SHA-256 {code(state.docket.candidate)}",
        f"Document: {code(path)}; {code(COPY)} beside this report is what the record says" if path else "",
        f"Roster: {', '.join(code(seat) for seat in state.voters)}, all of whom had to vote",
        f"Orchestrator: {code(state.orchestrator)}, which has no vote",
        f"Opened: {case.blocks[0].stamp}",
        f"Ended: {ended}",
    )
    if opened.docket.remarks:
        yield "What code noticed while it put the case together:"
        yield items(*(inline(remark) for remark in opened.docket.remarks))


def _open(state: BallotState) -> Lines:
    """Say what is left for a person to decide."""
    if state.closed is None or state.closed.stop_reason is not StopReason.NEEDS_INPUT:
        return
    yield "## Unresolved divergence"
    yield "The rounds are spent, and the program decides nothing. What stands against the newest version:"
    for each in objections_of(state, state.version):
        yield f"{code(each.id)}, of {code(each.seat)}: {inline(each.why)}"
        yield fenced(wrapped(each.says))


def _round(state: BallotState, at: int) -> Lines:
    yield f"## Round {at}: v{at}"
    yield f"SHA-256 of the text: {code(candidate_of(state.text_of(at)))}"
    votes = [f"{code(cast.seat)}: **{cast.vote}**" for cast in state.cast_in(at)]
    missing = [
        f"{code(seat)}: no valid vote, which counts as Rejected: {inline(why)}"
        if (why := failed_vote(state, seat, at))
        else f"{code(seat)}: no valid vote, which counts as Rejected"
        for seat in state.missing_in(at)
    ]
    yield items(*votes, *(missing if at < state.version or state.closed else ()))
    for cast in state.cast_in(at):
        yield f"{code(cast.seat)} says:"
        yield fenced(wrapped(cast.reason))
    weights = {each.reservation: each for each in state.weighed if each.round == at}
    for each in reservations_of(state, at):
        weight = weights.get(each.id)
        said = f", classified as {weight.weight} ({inline(weight.reason)})" if weight else ""
        yield f"Reservation {code(each.id)} of {code(each.seat)}, needs {each.needs}{said}:"
        yield fenced(wrapped(each.point))
    for heard in (each for each in state.heard if each.round == at):
        for reservation, reason in heard.challenges:
            yield f"{code(heard.seat)} challenges {code(reservation)}: {inline(reason)}"
    for to, answer in next((each.answers for each in state.revisions if each.version == at + 1), ()):
        yield f"The orchestrator answers {code(to)}:"
        yield fenced(wrapped(answer))


def _citations(state: BallotState) -> Lines:
    if not state.evidence:
        return
    yield "## Citations"
    lines = []
    for evidence in state.evidence:
        request = evidence.request
        what = f"{code(request.text)}, " if isinstance(request, QuoteCheck) else ""
        path = getattr(request, "path", "")
        lines.append(f"{what}source {code(path)}: {_FOUND[evidence.status]} ({inline(evidence.detail)})")
    yield items(*lines)


def _seats(case: LoadedCase, state: BallotState) -> Lines:
    yield "## Seats"
    lines = []
    for status in case.outcome.seats:
        seat, sealed = state.case.seat(status.seat), state.last_seal(status.seat)
        assert seat is not None, "the outcome is about the roster"
        where = "on this machine" if seat.destination == "local" else f"sent to {code(seat.destination)}"
        model = ""
        if sealed is not None and sealed.model_requested:
            reported = "" if sealed.model_reported == NOT_REPORTED else f"; {code(sealed.model_reported)} reported"
            model = f"; asked for model {code(sealed.model_requested)}{reported}"
        asked = counted(status.attempts, "question")
        lines.append(f"{code(seat.name)} ({code(seat.party)}, a {code(seat.agent)} agent, {where}): {asked}{model}")
    yield items(*lines)
    if state.failures:
        yield "Questions that brought no accepted answer:"
        yield items(*(f"{code(f.turn.id)}: {code(f.reason)}, {inline(f.detail)}" for f in state.failures))


def _use(case: LoadedCase, state: BallotState) -> Lines:
    limits, spent = state.case.limits, case.outcome.spent
    least = "" if spent.usage.known else "; not every agent reports its tokens, so these are the least it can be"
    yield "## Limits and use"
    yield items(
        f"Rounds: {state.version} of at most {limits.max_rounds}",
        f"Calls: {spent.calls}; {f'at most {limits.max_calls}' if limits.max_calls else 'no limit'}",
        f"Tokens: {spent.usage.input_tokens} read, {spent.usage.output_tokens} written{least}",
        f"Deadline: {code(limits.deadline)}" if limits.deadline else "Deadline: none",
    )
    for consent in state.consents:
        yield (
            f"{code(consent.by)} allowed {inline(consent.scope)} to be sent to {code(consent.destination)} "
            f"from {code(consent.granted_at)} until {code(consent.until)}; grant {code(consent.digest)}."
        )
    notes = [(b, e) for b, e in zip(case.blocks, case.entries, strict=True) if isinstance(e, NoteAdded)]
    for block, note in notes:
        yield f"Note of {code(note.by)}, {block.stamp}:"
        yield fenced(wrapped(note.text))


def _checking(case: LoadedCase) -> Lines:
    head = case.blocks[-1]
    yield "## How to check this"
    yield "This report is rendered from the record alone; the same record gives the same bytes."
    yield (
        "```console\n"
        f"$ counterpoint verify {case.name}            # every byte of the record, and every answer by the rules\n"
        f"$ counterpoint ballot verify DOC.md          # the document, against the record and its snapshots\n"
        f"$ counterpoint report --stdout {case.name}   # this report again\n"
        "```"
    )
    yield f"It stands on the record up to {code(f'MSG-{head.n}')}, SHA-256 {code(head.digest)}."
