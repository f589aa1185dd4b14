"""`report.md`: what a case came to, for people, from its record alone. The same record, the same bytes.

It says what was decided and why, what code verified and refuted, what nobody was shown, what was spent, and how to
check all of it. It reads no clock and names no path of a machine. Whatever a seat, a person or a command wrote
stands in code, so that none of it is structure, a link or a picture.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from counterpoint.agents.base import NOT_REPORTED
from counterpoint.core.checks import CommandCheck, Evidence, EvidenceStatus
from counterpoint.core.entries import AttemptFailed, ClaimChecked, NoteAdded
from counterpoint.core.findings import Finding, FindingStatus
from counterpoint.core.outcome import SeatEnd, SeatStatus, exit_code
from counterpoint.core.values import Decision, Severity, StopReason
from counterpoint.core.wording import say_command
from counterpoint.drive.cases import LoadedCase
from counterpoint.views.markdown import code, fenced, inline, wrapped
from counterpoint.views.result import command_evidence

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
_MAX_LISTED: Final = 50
_STATUS: Final = {
    EvidenceStatus.VERIFIED: "verified",
    EvidenceStatus.REFUTED: "refuted",
    EvidenceStatus.NOT_CHECKED: "not checked",
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

Lines = Iterator[str]
"""Paragraphs; an empty line goes between two."""


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
        _findings(case),
        _refuted(case),
        _settled(case),
        _statements(case),
        _commands(case),
        _seats(case),
        _coverage(case),
        _openings(case),
        _use(case),
        _asides(case),
        _checking(case),
    )
    return "\n\n".join(part for section in sections for part in section) + "\n"


def _head(case: LoadedCase) -> Lines:
    opened, outcome = case.state.case, case.outcome
    docket = opened.docket
    yield f"# {headline(case)}"
    ended = "not yet"
    if closed := case.state.closed:
        ended = f"{case.blocks[-1].stamp}, because {STOPS[closed.stop_reason]}: {inline(closed.detail)}"
    yield _items(
        f"Case: {code(case.name)}, by the rules of {code(opened.protocol)}, version {opened.rules_version}",
        f"Decision: {code(outcome.decision)}, exit code {exit_code(outcome)}",
        f"Evidence: {_WHOLE[outcome.evidence]}",
        f"Candidate: {code(docket.candidate)}",
        f"Base: {code(docket.base)}" if docket.base else "",
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
    if docket.remarks:
        yield "What code noticed while it put the case together:"
        yield _listed(docket.remarks)


# --- what was found


def _findings(case: LoadedCase) -> Lines:
    findings = sorted(case.outcome.open_findings, key=lambda f: list(Severity).index(f.severity))
    if not findings:
        yield "## Open findings: none"
        return
    counted = [f"{sum(f.severity is s for f in findings)} {s}" for s in Severity]
    yield f"## Open findings: {', '.join(each for each in counted if not each.startswith('0 '))}"
    for finding in findings:
        yield from _finding(finding)


def _finding(finding: Finding) -> Lines:
    yield f"### {code(finding.id)}, {finding.severity}, at {code(finding.location)}"
    detail = f" ({inline(finding.detail)})" if finding.detail else ""
    yield f"Raised by {code(finding.seat)} in round {finding.round}. Evidence: {_STATUS[finding.evidence]}{detail}."
    yield fenced(wrapped(finding.issue))
    if finding.suggestion.strip():
        yield "It would be settled by:"
        yield fenced(wrapped(finding.suggestion))
    if finding.status is FindingStatus.SETTLED:
        yield f"Settled: {inline(finding.reason)}."


def _refuted(case: LoadedCase) -> Lines:
    claims = [claim for claim in case.state.claims if claim.status is EvidenceStatus.REFUTED]
    findings = case.outcome.refuted_findings
    if not claims and not findings:
        return
    yield "## Refuted by evidence"
    yield "Code looked and found otherwise. What stands here did not count."
    for finding in findings:
        yield from _finding(finding)
    for claim in claims:
        yield from _claim(claim)


def _settled(case: LoadedCase) -> Lines:
    settled = [f for f in case.state.ledger if not f.blocks and f.evidence is not EvidenceStatus.REFUTED]
    if settled:
        yield "## Settled findings"
    for finding in settled:
        yield from _finding(finding)


def _statements(case: LoadedCase) -> Lines:
    claims = [claim for claim in case.state.claims if claim.status is not EvidenceStatus.REFUTED]
    if claims:
        yield "## Statements about commands"
    for claim in claims:
        yield from _claim(claim)


def _claim(claim: ClaimChecked) -> Lines:
    says = "passes" if claim.says_passes else "fails"
    found = f"{_STATUS[claim.status].capitalize()}: {inline(claim.detail)}."
    yield f"{code(claim.seat)} stated that {code(claim.command)} {says}. {found}"
    yield fenced(wrapped(claim.statement))


def _commands(case: LoadedCase) -> Lines:
    found = command_evidence(case.state)
    yield "## Commands"
    if not found:
        yield "No command of the project ran in this case."
        return
    yield _items(*(_command(request, evidence) for request, evidence in found))
    for request, evidence in found:
        if evidence.status is not EvidenceStatus.VERIFIED and evidence.output.strip():
            yield f"The end of what {_typed(request)} printed:"
            yield fenced(evidence.output)


def _command(request: CommandCheck, evidence: Evidence) -> str:
    before = {
        True: " **Failing before:** it fails at the base too.",
        False: " It passes at the base.",
        None: "",
    }[evidence.failing_before]
    return f"{_typed(request)} ({request.purpose}) {_RESULT[evidence.status]}: {inline(evidence.detail)}.{before}"


def _typed(request: CommandCheck) -> str:
    return code(say_command(request.argv))


# --- who took part, and what they saw


def _seats(case: LoadedCase) -> Lines:
    yield "## Seats"
    yield _items(*(_seat(case, status) for status in case.outcome.seats))
    answered = sum(status.end is SeatEnd.ANSWERED for status in case.outcome.seats)
    yield f"{answered} of {len(case.outcome.seats)} answered; {case.state.case.quorum} had to."
    if case.state.failures:
        yield "Questions that brought no accepted answer:"
        yield _items(*(_failure(failure) for failure in case.state.failures))


def _seat(case: LoadedCase, status: SeatStatus) -> str:
    seat = next(seat for seat in case.state.case.roster if seat.name == status.seat)
    sealed = case.state.last_seal(seat.name)
    verdict = case.state.verdicts.get(seat.name)
    said = _ENDS[status.end]
    if verdict is not None:
        said += ", and approved" if status.approved else ", and did not approve"
    model = ""
    if sealed is not None:
        reported = f"; {code(sealed.model_reported)} reported" if sealed.model_reported != NOT_REPORTED else ""
        model = f"; asked for model {code(sealed.model_requested)}" if sealed.model_requested else "; no model"
        model += reported
    where = "on this machine" if seat.destination == "local" else f"sent to {code(seat.destination)}"
    times = f"{status.attempts} question{'' if status.attempts == 1 else 's'}"
    return f"{code(seat.name)} ({code(seat.party)}, a {code(seat.agent)} agent, {where}): {said}; {times}{model}"


def _failure(failure: AttemptFailed) -> str:
    return f"{code(failure.turn.id)}, attempt {failure.attempt}: {code(failure.reason)}, {inline(failure.detail)}"


def _coverage(case: LoadedCase) -> Lines:
    coverage = case.outcome.coverage
    yield "## Coverage"
    yield f"{_counted(len(coverage.changed), 'path')} changed."
    if coverage.unseen:
        yield "Nobody was shown these whole, and no check had them before it:"
        yield _listed(coverage.unseen)
    elif coverage.changed:
        yield "Each was before somebody whole, or before a check."
    if coverage.unread is None:
        yield "What no command opened cannot be told here."
    elif coverage.unread:
        yield "No command opened:"
        yield _listed(coverage.unread)
    else:
        yield "Every changed path was opened by a command."


def _openings(case: LoadedCase) -> Lines:
    state = case.state
    if state.verdicts:
        yield "## Opening votes"
        yield "Each seat's first answer, sealed before it could see another's."
    for verdict in state.opening_votes():
        vote = "approves" if verdict.claimed else "does not approve"
        seal = next(s for s in state.seals.values() if s.turn.seat == verdict.seat)
        yield f"{code(verdict.seat)} {vote}; sealed as {code(seal.digest)}:"
        yield fenced(wrapped(verdict.summary))


# --- what it took, and how to check it


def _use(case: LoadedCase) -> Lines:
    limits, spent = case.state.case.limits, case.outcome.spent
    most_calls = f"at most {limits.max_calls}" if limits.max_calls else "no limit"
    most_tokens = f"a threshold of {limits.max_tokens}" if limits.max_tokens else "no limit"
    unknown = "" if spent.usage.known else "; not every agent reports its tokens, so these are the least it can be"
    yield "## Limits and use"
    yield _items(
        f"Calls: {spent.calls}; {most_calls}",
        f"Tokens: {spent.usage.input_tokens} read, {spent.usage.output_tokens} written; {most_tokens}{unknown}",
        f"Rounds: at most {limits.max_rounds}; a seat is asked at most {_counted(limits.max_asks, 'time')} in one",
        f"A call may take {limits.call_timeout_s} seconds",
        f"Deadline: {code(limits.deadline)}" if limits.deadline else "Deadline: none",
    )
    for consent in case.state.consents:
        yield (
            f"{code(consent.by)} allowed {inline(consent.scope)} to be sent to {code(consent.destination)} "
            f"from {code(consent.granted_at)} until {code(consent.until)}; grant {code(consent.digest)}."
        )


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
        yield _listed([dropped.detail for dropped in case.state.dropped])


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


def _items(*items: str) -> str:
    return "\n".join(f"- {item}" for item in items if item)


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - _MAX_LISTED
    shown: Iterable[str] = (code(text) for text in texts[:_MAX_LISTED])
    return _items(*shown, f"and {more} more; `result.json` has them all" if more > 0 else "")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
