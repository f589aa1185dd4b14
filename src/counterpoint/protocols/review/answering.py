"""What the author's accepted answer becomes: a disposition for each finding, and a candidate or none.

An author closes nothing: whether an answer settles a finding is for its raiser to say. A candidate is offered only if
code found that exactly the listed paths had changed, and has made a commit or a tree of just that.
"""

from counterpoint.core.case import CaseState
from counterpoint.core.checks import EditCheck
from counterpoint.core.edits import CheckResult, Edit
from counterpoint.core.entries import CandidateKept, CandidateOffered, DispositionGiven, Entry
from counterpoint.core.findings import Finding
from counterpoint.core.values import Turn
from counterpoint.core.wording import in_line
from counterpoint.protocols.review.codec import AnswerFindings, NamedAnswer

__all__ = ["edit_in", "edit_of", "entries_of_answer"]

_SUBJECT = 72
_SENTENCE = 200


def edit_of(state: CaseState, turn: Turn, submission: AnswerFindings) -> EditCheck:
    """Return what code must look at before the answer is admitted."""
    return EditCheck(
        turn=turn.id,
        start=state.docket.candidate,
        paths=tuple(sorted(submission.changed)),
        commits=state.case.terms.commits,
        message=_message(state, turn, submission),
    )


def edit_in(evidence: tuple[CheckResult, ...]) -> Edit:
    """Return the one edit among what code found for an author's answer."""
    (edit,) = (found for found in evidence if isinstance(found, Edit))
    return edit


def entries_of_answer(
    state: CaseState, turn: Turn, submission: AnswerFindings, evidence: tuple[CheckResult, ...]
) -> tuple[Entry, ...]:
    """Return the entries of an accepted answer: its dispositions, then what is on the table now."""
    given = tuple(
        DispositionGiven(
            seat=turn.seat,
            round=turn.round,
            id=answer.id,
            disposition=answer.disposition,
            reasoning=answer.reasoning,
        )
        for answer in submission.answers
    )
    current, made = state.docket.candidate, edit_in(evidence).made
    if made is None:
        return (*given, CandidateKept(seat=turn.seat, round=turn.round, candidate=current))
    offered = CandidateOffered(
        seat=turn.seat,
        round=turn.round,
        previous=current,
        candidate=made.candidate,
        changed=tuple(sorted(submission.changed)),
        paths=made.paths,
        change=made.change,
    )
    return (*given, offered)


def _message(state: CaseState, turn: Turn, submission: AnswerFindings) -> str:
    """Return the commit's message: a subject, each finding with its answer, and where to find the rest."""
    found = [(state.ledger.by_id[a.id], a) for a in submission.answers if a.id in state.ledger.by_id]
    lines = [_cut(in_line(submission.summary.strip()), _SUBJECT), ""]
    for finding, answer in found:
        lines += [*_answered(finding, answer), ""]
    case = state.case
    return "\n".join(
        [
            *lines,
            f"Counterpoint-Case: {case.case}",
            f"Counterpoint-Round: {turn.round}",
            f"Counterpoint-Author: {turn.seat}",
        ]
    )


def _answered(finding: Finding, answer: NamedAnswer) -> list[str]:
    said = _cut(in_line(finding.issue.strip().split("\n")[0]), _SENTENCE)
    why = _cut(in_line(answer.reasoning.strip()), 2 * _SENTENCE)
    return [
        f"{finding.id} ({finding.severity}) {in_line(finding.location)}: {said}",
        f"  {answer.disposition}: {why}",
    ]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
