"""`report.md`: what a case came to, for people, from its record alone. The same record, the same bytes.

It says what was decided and why, what code verified and refuted, what nobody was shown, what was spent, and how to
check all of it. It reads no clock and names no path of a machine. Whatever a seat, a person or a command wrote
stands in code, so that none of it is structure, a link or a picture.
"""

from typing import Final

from counterpoint.agents.base import NOT_REPORTED
from counterpoint.core.checks import CommandCheck, Evidence, EvidenceStatus
from counterpoint.core.docket import SeatKind
from counterpoint.core.entries import AttemptFailed, NoteAdded
from counterpoint.core.findings import Finding
from counterpoint.core.outcome import SeatEnd, SeatStatus, exit_code
from counterpoint.core.values import Decision, Severity, StopReason
from counterpoint.core.wording import say_command
from counterpoint.drive.cases import LoadedCase
from counterpoint.views.course import candidates_in, rounds_in, votes_in
from counterpoint.views.ledger import findings_in
from counterpoint.views.markdown import Lines, code, counted, fenced, inline, items, listed, wrapped
from counterpoint.views.result import command_evidence
from counterpoint.views.rounds import answers_in, author_of, is_unevidenced, readings_in

__all__ = ["DECISIONS", "STOPS", "headline", "render_report"]

DECISIONS: Final = {
    Decision.APPROVED: "Approved",
    Decision.CONDITIONAL: "Approved on conditions",
    Decision.REJECTED: "Rejected",
    Decision.NEEDS_INPUT: "A person is needed",
    Decision.UNDETERMINED: "Unresolved",
}
STOPS: Final = {
    StopReason.AGREED: "everyone who had to agree did",
    StopReason.ROUNDS_SPENT: "the rounds were spent",
    StopReason.BUDGET_SPENT: "the budget was spent",
    StopReason.DEADLINE_PASSED: "the deadline passed",
    StopReason.STALLED: "nothing moved any more",
    StopReason.NEEDS_INPUT: "a person has to say something first",
    StopReason.WITHDRAWN: "it was withdrawn",
    StopReason.FAILED: "it failed",
}
_RESULT: Final = {
    EvidenceStatus.VERIFIED: "passed",
    EvidenceStatus.REFUTED: "**failed**",
    EvidenceStatus.NOT_CHECKED: "was not checked",
}
_WHOLE: Final = {
    EvidenceStatus.VERIFIED: "verified: a test of the project ran on the candidate and passed",
    EvidenceStatus.REFUTED: "refuted: a command of the project ran on the candidate and failed",
    EvidenceStatus.NOT_CHECKED: "not checked: no test of the project ran on the candidate and passed",
}
_ENDS: Final = {
    SeatEnd.ANSWERED: "answered",
    SeatEnd.FAILED: "gave no valid answer",
    SeatEnd.NEVER_ANSWERED: "never answered",
}


def headline(case: LoadedCase) -> str:
    """Return the decision and why, in one sentence."""
    if case.state.closed is None:
        return "Open: nothing is decided yet."
    failed = case.outcome.stop_reason is StopReason.FAILED
    decided = "Failed" if failed else DECISIONS[case.outcome.decision]
    return f"{decided}: {'; '.join(inline(reason) for reason in case.outcome.reasons)}".removesuffix(".") + "."


def render_report(case: LoadedCase) -> str:
    """Return the text of `report.md`."""
    sections = (
        _head(case),
        findings_in(case),
        rounds_in(case),
        candidates_in(case),
        _commands(case),
        _seats(case),
        _coverage(case),
        votes_in(case),
        _use(case),
        _asides(case),
        _checking(case),
    )
    return "\n\n".join(part for section in sections for part in section) + "\n"


def _head(case: LoadedCase) -> Lines:
    opened, outcome = case.state.case, case.outcome
    docket, current = opened.docket, case.state.docket.candidate
    yield f"# {headline(case)}"
    ended = "not yet"
    if closed := case.state.closed:
        ended = f"{case.blocks[-1].stamp}, because {STOPS[closed.stop_reason]}: {inline(closed.detail)}"
    yield items(
        f"Case: {code(case.name)}, by the rules of {code(opened.protocol)}, version {opened.rules_version}",
        f"Decision: {code(outcome.decision)}, exit code {exit_code(outcome)}",
        f"Evidence: {_WHOLE[outcome.evidence]}",
        f"Candidate: {code(current)}",
        f"The case opened with: {code(docket.candidate)}" if current != docket.candidate else "",
        f"Base: {code(docket.base)}" if docket.base else "",
        f"Pull request: {code(docket.pull_request)}" if docket.pull_request else "",
        *_terms(case),
        _named("Must happen before this ships", outcome.deferred_findings),
        _named("Settled without a reason", tuple(f for f in case.state.ledger if is_unevidenced(f))),
        f"Opened: {case.blocks[0].stamp}",
        f"Ended: {ended}",
    )
    for name, text in (
        ("The question", docket.question),
        ("Instructions", docket.instructions),
        ("The author's reasons for the change", docket.rationale),
    ):
        if text.strip():
            yield f"{name}:"
            yield fenced(wrapped(text))
    if docket.context.strip():
        yield (
            f"The author alone was given context, {counted(len(docket.context), 'character')}; no reviewer was shown "
            "it. The record and `result.json` have it."
        )
    if docket.remarks:
        yield "What code noticed while it put the case together:"
        yield listed(docket.remarks)


def _named(what: str, findings: tuple[Finding, ...]) -> str:
    return f"{what}: {', '.join(code(finding.id) for finding in findings)}" if findings else ""


def _terms(case: LoadedCase) -> tuple[str, ...]:
    """Return what holds in a case with an author, and where one reading decides, only what differs from the usual."""
    state, terms = case.state, case.state.case.terms
    all_block = "every open finding" if terms.block_on is Severity.NIT else f"open findings from {terms.block_on} on"
    blocks = f"What stands in the way of approval: {all_block}"
    if author_of(state) is None:
        return () if terms.block_on is Severity.NIT else (blocks,)
    taken = f"{counted(readings_in(state), 'reading')}, {counted(answers_in(state), 'answer')} of the author"
    return (f"Rounds: {taken}", f"Effort: {terms.effort}", blocks)


# --- what was run


def _commands(case: LoadedCase) -> Lines:
    found = command_evidence(case.state)
    yield "## Commands"
    if not found:
        yield "No command of the project ran in this case."
        return
    yield items(*(_command(case, request, evidence) for request, evidence in found))
    for request, evidence in found:
        if evidence.status is not EvidenceStatus.VERIFIED and evidence.output.strip():
            yield f"The end of what {_typed(request)} printed{_where(case, request)}:"
            yield fenced(evidence.output)


def _command(case: LoadedCase, request: CommandCheck, evidence: Evidence) -> str:
    before = {
        True: " **Failing before:** it fails at the base too.",
        False: " It passes at the base.",
        None: "",
    }[evidence.failing_before]
    ran = f"{_typed(request)} ({request.purpose}) {_RESULT[evidence.status]}{_where(case, request)}"
    return f"{ran}: {inline(evidence.detail)}.{before}"


def _where(case: LoadedCase, request: CommandCheck) -> str:
    """Say on which candidate a command ran, where there was more than one."""
    if not case.state.offers:
        return ""
    old = "" if request.candidate == case.state.docket.candidate else ", which is not the newest"
    return f" on {code(request.candidate[:12])}{old}"


def _typed(request: CommandCheck) -> str:
    return code(say_command(request.argv))


# --- who took part, and what they saw


def _seats(case: LoadedCase) -> Lines:
    yield "## Seats"
    yield items(*(_seat(case, status) for status in case.outcome.seats))
    authors = {seat.name for seat in case.state.case.roster if seat.kind is SeatKind.AUTHOR}
    ends = [status.end for status in case.outcome.seats if status.seat not in authors]
    answered = f"{ends.count(SeatEnd.ANSWERED)} of {len(ends)}{' reviewers' if authors else ''} answered"
    yield f"{answered}; {case.state.case.quorum} had to."
    if case.state.failures:
        yield "Questions that brought no accepted answer:"
        yield items(*(_failure(failure) for failure in case.state.failures))


def _seat(case: LoadedCase, status: SeatStatus) -> str:
    seat = next(seat for seat in case.state.case.roster if seat.name == status.seat)
    sealed = case.state.last_seal(seat.name)
    verdict = case.state.verdicts.get(seat.name)
    said = _ENDS[status.end]
    if verdict is not None and verdict.candidate == case.state.docket.candidate:
        said += ", and approved" if status.approved else ", and did not approve"
    elif verdict is not None:
        said += f"; its verdict is on {code(verdict.candidate[:12])} and counts for nothing now"
    model = ""
    if sealed is not None:
        reported = f"; {code(sealed.model_reported)} reported" if sealed.model_reported != NOT_REPORTED else ""
        model = f"; asked for model {code(sealed.model_requested)}" if sealed.model_requested else "; no model"
        model += reported
    where = "on this machine" if seat.destination == "local" else f"sent to {code(seat.destination)}"
    times = counted(status.attempts, "question")
    kind = "the author, " if seat.kind is SeatKind.AUTHOR else ""
    return (
        f"{code(seat.name)} ({kind}{code(seat.party)}, a {code(seat.agent)} agent, {where}): {said}; {times}{model}"
    )


def _failure(failure: AttemptFailed) -> str:
    return f"{code(failure.turn.id)}, attempt {failure.attempt}: {code(failure.reason)}, {inline(failure.detail)}"


def _coverage(case: LoadedCase) -> Lines:
    coverage = case.outcome.coverage
    yield "## Coverage"
    newest = " in the newest candidate" if case.state.offers else ""
    yield f"{counted(len(coverage.changed), 'path')} changed{newest}."
    if coverage.unseen:
        yield "Nobody was shown these whole, and no check had them before it:"
        yield listed(coverage.unseen)
    elif coverage.changed:
        yield "Each was before somebody whole, or before a check."
    if coverage.unread is None:
        yield "What no command opened cannot be told here."
    elif coverage.unread:
        yield "No command opened:"
        yield listed(coverage.unread)
    else:
        yield "Every changed path was opened by a command."


# --- what it took, and how to check it


def _use(case: LoadedCase) -> Lines:
    limits, spent = case.state.case.limits, case.outcome.spent
    most_calls = f"at most {limits.max_calls}" if limits.max_calls else "no limit"
    most_tokens = f"a threshold of {limits.max_tokens}" if limits.max_tokens else "no limit"
    unknown = "" if spent.usage.known else "; not every agent reports its tokens, so these are the least it can be"
    yield "## Limits and use"
    yield items(
        f"Calls: {spent.calls}; {most_calls}",
        f"Tokens: {spent.usage.input_tokens} read, {spent.usage.output_tokens} written; {most_tokens}{unknown}",
        f"Rounds: {_most_rounds(case)}; a seat is asked at most {counted(limits.max_asks, 'time')} in one",
        f"A call may take {limits.call_timeout_s} seconds",
        f"Deadline: {code(limits.deadline)}" if limits.deadline else "Deadline: none",
    )
    for consent in case.state.consents:
        yield (
            f"{code(consent.by)} allowed {inline(consent.scope)} to be sent to {code(consent.destination)} "
            f"from {code(consent.granted_at)} until {code(consent.until)}; grant {code(consent.digest)}."
        )


def _most_rounds(case: LoadedCase) -> str:
    most = case.state.case.limits.max_rounds
    if author_of(case.state) is None:
        return "one reading, since nobody answers"
    return f"at most {most}, and one more reading" if most else "until they agree, or nothing moves"


def _asides(case: LoadedCase) -> Lines:
    notes = [
        (block, entry) for block, entry in zip(case.blocks, case.entries, strict=True) if isinstance(entry, NoteAdded)
    ]
    if notes:
        yield "## Notes"
    for block, note in notes:
        yield f"{code(note.by)}, {block.stamp}:"
        yield fenced(wrapped(note.text))
    if case.state.dropped:
        yield "## Observers that failed and were called no more"
        yield listed([dropped.detail for dropped in case.state.dropped])


def _checking(case: LoadedCase) -> Lines:
    head = case.blocks[-1]
    yield "## How to check this"
    yield "This report is rendered from the record alone; the same record gives the same bytes. In the repository:"
    yield (
        "```console\n"
        f"$ counterpoint verify {case.name}            # every byte of the record\n"
        f"$ counterpoint show {case.name}              # the record, for reading\n"
        f"$ counterpoint report --stdout {case.name}   # this report again\n"
        "```"
    )
    yield f"It stands on the record up to {code(f'MSG-{head.n}')}, SHA-256 {code(head.digest)}."
