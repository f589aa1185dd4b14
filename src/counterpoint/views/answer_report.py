"""`report.md` of `answer`, for people, from its record alone. The same record, the same bytes.

The text that stands comes first. Then what debate changed of the opening vote, the opening answers, every change with
its reason, and round by round who agreed and objected. The transcript has every answer whole.
"""

from typing import Final

from counterpoint.drive.cases import LoadedCase
from counterpoint.protocols.answer import ANSWER, AnswerState, Tally, count
from counterpoint.views.answer_facts import Gain, changes_of, gain_of, state_of
from counterpoint.views.answer_parts import agreements_of, change_in, confirmation_in, objections_in, points_in
from counterpoint.views.answer_transcript import transcript_name
from counterpoint.views.markdown import Lines, code, counted, fenced, inline, items, wrapped
from counterpoint.views.report import STOPS, headline
from counterpoint.views.sections import asides_in, checking, seats_in, use_in

__all__ = ["gain_line", "headline_of", "opening_line", "render_report"]

_DECIDED: Final = "Approved: "


def headline_of(case: LoadedCase) -> str:
    """Return what the case came to and why, in one sentence."""
    word = "Voted: " if state_of(case).case.terms.vote_only else "Agreed: "
    return headline(case).replace(_DECIDED, word, 1)


def render_report(case: LoadedCase) -> str:
    """Return the text of `report.md`."""
    state = state_of(case)
    gain = gain_of(state, case.outcome)
    sections = (
        _head(case, state),
        _answer(state, gain),
        _gain(state, gain),
        _openings(state),
        _changes(state),
        _rounds(state),
        _candidates(state),
        seats_in(case),
        use_in(case),
        asides_in(case),
        checking(case),
    )
    return "\n\n".join(part for section in sections for part in section) + "\n"


def _head(case: LoadedCase, state: AnswerState) -> Lines:
    opened, outcome = state.case, case.outcome
    ended = "not yet"
    if closed := state.closed:
        ended = f"{case.blocks[-1].stamp}, because {STOPS[closed.stop_reason]}: {inline(closed.detail)}"
    yield f"# {headline_of(case)}"
    yield "Question:"
    yield fenced(wrapped(opened.docket.question))
    yield items(
        f"Case: {code(case.name)}, by the rules of {code(opened.protocol)}, version {opened.rules_version}",
        f"Decision: {code(outcome.decision)}, exit code {ANSWER.exit_code(outcome)}",
        f"Peers: {', '.join(code(seat) for seat in state.peers)}",
        f"Options: {', '.join(code(option) for option in opened.terms.options)}" if opened.terms.options else "",
        f"Files they could read: commit {code(opened.docket.tree)}" if opened.docket.tree else "",
        f"Opened: {case.blocks[0].stamp}",
        f"Ended: {ended}",
        f"Every answer whole: {code(transcript_name(state))} beside this report",
    )
    if opened.docket.remarks:
        yield "What code noticed while it put the case together:"
        yield items(*(inline(remark) for remark in opened.docket.remarks))


def _answer(state: AnswerState, gain: Gain) -> Lines:
    yield "## The answer"
    if gain.final is None:
        yield "There is none that they agreed on."
        yield from _positions(state)
        return
    who = ", ".join(code(seat) for seat in gain.behind)
    if state.case.terms.vote_only:
        yield f"Chosen by {who}, {len(gain.behind)} of {counted(len(state.peers), 'peer')}:"
    else:
        yield f"Confirmed word for word by {who}, SHA-256 {code(state.docket.candidate)}:"
    yield fenced(gain.final)
    yield "No program checked whether it is right: that they agree is no proof."


def _positions(state: AnswerState) -> Lines:
    """Yield what each peer held last, where nothing came of it."""
    if state.closed is None or state.case.terms.vote_only:
        return
    for seat in state.peers:
        last = next((p for p in reversed(state.positions) if p.seat == seat), None)
        if last is not None:
            yield f"{code(seat)} held in round {last.round}:"
            yield fenced(wrapped(last.answer))


def opening_line(state: AnswerState, tally: Tally) -> str:
    """Return what the opening vote came to, in one sentence."""
    if not state.held_in(1):
        return "no opening answer was revealed"
    if (won := tally.majority) is not None:
        return f"{len(won.seats)} of {counted(tally.peers, 'peer')} gave the same answer"
    if len(tally.leaders) > 1:
        return f"a tie: {len(tally.leaders)} answers, {len(tally.votes[0].seats)} of {tally.peers} votes each"
    if tally.votes:
        return f"no majority: {len(tally.votes[0].seats)} of {tally.peers} gave the most given answer"
    return "none of the answers counts"


def gain_line(gain: Gain) -> str:
    """Return the gain of debate over the opening vote, in one sentence."""
    more = f"{counted(abs(gain.more), 'peer')} {'fewer' if gain.more < 0 else 'more'}" if gain.more else "none"
    match gain.differs:
        case True:
            return f"{more}, and the final text is not what the majority opened with"
        case False:
            return f"{more}, and the final text is what the majority opened with"
        case None:
            return more


def _gain(state: AnswerState, gain: Gain) -> Lines:
    if state.case.terms.vote_only:
        yield from _count(gain.opening)
        return
    yield "## Gain of debate over the opening vote"
    final = f"{len(gain.behind)} of {counted(len(state.peers), 'peer')}"
    end = f"{final} stand behind the final text"
    if gain.final is None:
        end = f"no text is agreed on; {final} give the most given answer of the last round"
    yield items(
        f"Opening vote: {opening_line(state, gain.opening)}",
        f"At the end: {end}",
        f"Gain: {gain_line(gain)}",
    )
    won = gain.opening.majority
    if gain.final is None and won is not None:
        yield "The opening vote had a majority, which often is worth more than the debate that follows it:"
        yield fenced(won.answer)


def _count(tally: Tally) -> Lines:
    yield "## The count"
    lines = [
        f"{counted(len(votes.seats), 'vote')} for {code(votes.answer)}: {', '.join(code(s) for s in votes.seats)}"
        for votes in tally.votes
    ]
    none = ", ".join(code(seat) for seat in tally.uncounted)
    yield items(*lines, f"for none: {none}" if none else "", "a tie" if len(tally.leaders) > 1 else "")


def _openings(state: AnswerState) -> Lines:
    yield "## Opening answers"
    yield "Each peer's first answer, sealed before it could see another's."
    uncounted = count(state, state.held_in(1)).uncounted if state.case.terms.options else ()
    for position in state.held_in(1):
        seal = next(seal for seal in state.seals.values() if (seal.turn.seat, seal.turn.round) == (position.seat, 1))
        none = "; it counts for none of the options" if position.seat in uncounted else ""
        yield f"{code(position.seat)}, sealed as {code(seal.digest)}{none}:"
        yield fenced(wrapped(position.answer))
        yield from points_in(position)
    if silent := [seat for seat in state.peers if state.position_of(seat, 1) is None]:
        yield f"No opening answer was revealed of {', '.join(code(seat) for seat in silent)}."


def _changes(state: AnswerState) -> Lines:
    if state.round == 1:
        return
    yield "## What changed, and why"
    changes = changes_of(state)
    if not changes:
        yield "Nobody changed its answer."
        return
    yield (
        "A change is evidenced if its peer named the flaw in its last answer, and code found the words or the line"
        " that show it. Code says that they stand there, not that they show it."
    )
    for position in changes:
        yield from change_in(position)


def _rounds(state: AnswerState) -> Lines:
    for number in range(2, state.round + 1):
        held = state.held_in(number)
        if not held:
            continue
        yield f"## Round {number}"
        yield items(*(f"{code(p.seat)} agrees with {agreements_of(state, p)}" for p in held))
        for position in held:
            yield from objections_in(position.objections, "")


def _candidates(state: AnswerState) -> Lines:
    for offered in state.offered:
        said = state.said_of(offered.revision)
        yield f"## Candidate {offered.revision}, in round {offered.round}"
        text = next(p.answer for p in state.held_in(offered.round) if p.seat == offered.seat)
        yield f"The text of {code(offered.seat)}, which every peer stood by, SHA-256 {code(offered.candidate)}:"
        yield fenced(text)
        for each in said:
            yield from confirmation_in(each)
        if any(not each.approved for each in said):
            yield "So it was dropped."
