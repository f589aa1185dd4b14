"""What an accepted submission becomes: findings, checked claims, a verdict computed from them.

Code decides three things here that no reviewer can: whether a quote stands where it is said to stand, whether a
statement about a command is true, and whether a checks seat has approved. Checks of which none passed approve
nothing, and neither do checks of which a test shows nothing: it was missing, ran out of time, or ran no test.

A seat's later verdict rules on what it raised before; what it leaves out stays as it was (FIELD-FAULTS F19).
"""

from typing import Final

from counterpoint.core.case import CaseState
from counterpoint.core.checks import CommandCheck, Evidence, EvidenceStatus, LookUp, Purpose
from counterpoint.core.entries import ClaimChecked, Entry, EvidenceGathered, FindingRaised, FindingRuled, VerdictGiven
from counterpoint.core.findings import Finding, FindingStatus, Ruling
from counterpoint.core.values import Severity, Turn
from counterpoint.core.wording import say_command
from counterpoint.protocols.review.codec import CommandClaim, GiveVerdict, NameChecks, NamedFinding
from counterpoint.protocols.review.lookups import Found, requests_of, standing
from counterpoint.protocols.review.positions import ledger_id, left_open, own_findings, past_of

__all__ = ["entries_of"]


def entries_of(
    state: CaseState, turn: Turn, submission: GiveVerdict | NameChecks, evidence: tuple[Evidence, ...]
) -> tuple[Entry, ...]:
    """Return the entries of one accepted submission, its command evidence first, its verdict last.

    `evidence` answers every request of the submission once; what it answers besides is left aside. A command is in
    the record once, but for one that came out differently: the record then says both.
    """
    requests = requests_of(state.docket, submission, own_findings(state, turn.seat), past_of(state, turn.seat))
    returned = {e.request: e for e in evidence}
    assert len(returned) == len(evidence), "a request was answered twice"
    assert returned.keys() >= set(requests), f"{len(set(requests) - returned.keys())} requests were not answered"
    found = {request: returned[request] for request in requests}
    known = {(e.request, e.status) for e in state.evidence}
    gathered = tuple(
        EvidenceGathered(evidence=e)
        for request, e in found.items()
        if isinstance(request, CommandCheck) and (request, e.status) not in known
    )
    if isinstance(submission, NameChecks):
        return (*gathered, *_from_checks(state, turn, submission, found))
    return (*gathered, *_from_opinion(state, turn, submission, found))


def _from_checks(state: CaseState, turn: Turn, submission: NameChecks, found: Found) -> tuple[Entry, ...]:
    by_argv = {r.argv: e for r, e in found.items() if isinstance(r, CommandCheck)}
    known = own_findings(state, turn.seat)
    numbered = [(f"F{number}", by_argv[argv]) for number, argv in enumerate(submission.commands, 1)]
    failing = [(own_id, e) for own_id, e in numbered if e.status is EvidenceStatus.REFUTED]
    raised = tuple(_failing(state, turn, own_id, e) for own_id, e in failing if own_id not in known)
    again = [(known[own_id], e) for own_id, e in numbered if own_id in known]
    ruled = tuple(ruling for finding, e in again if (ruling := _ruled_by_code(turn, finding, e)))
    passed = sum(by_argv[argv].status is EvidenceStatus.VERIFIED for argv in submission.commands)
    unchecked = len(submission.commands) - passed - len(failing)
    summary = (
        f"{passed} of {len(submission.commands)} commands passed, {len(failing)} failed, {unchecked} not checked"
    )
    untested = [e for r, e in found.items() if _is_untested(r, e)]
    if untested:
        summary += f"; tests that show nothing: {'; '.join(_said(e) for e in untested)}"
    # A command that failed before and shows nothing now leaves its finding open.
    unsettled = [f for f, e in again if f.is_open and e.status is EvidenceStatus.NOT_CHECKED]
    approved = passed > 0 and not failing and not untested and not unsettled
    return (*raised, *ruled, _verdict(state, turn, approved=approved, claimed=approved, summary=summary))


def _is_untested(request: LookUp, evidence: Evidence) -> bool:
    is_test = isinstance(request, CommandCheck) and request.purpose is Purpose.TEST
    return is_test and evidence.status is EvidenceStatus.NOT_CHECKED


def _said(evidence: Evidence) -> str:
    assert isinstance(evidence.request, CommandCheck), "only commands are tests"
    return f"{say_command(evidence.request.argv)} ({evidence.detail})"


def _ruled_by_code(turn: Turn, finding: Finding, evidence: Evidence) -> FindingRuled | None:
    """Return what a command's new result says of the finding that its failure was; nothing where it shows nothing."""
    is_settled = evidence.status is EvidenceStatus.VERIFIED
    if evidence.status is EvidenceStatus.NOT_CHECKED or (is_settled and not finding.is_open):
        return None
    return FindingRuled(
        seat=turn.seat,
        id=finding.id,
        ruling=Ruling.SETTLED if is_settled else Ruling.STANDS,
        reason=f"`{finding.location}`: {evidence.detail}",
    )


def _failing(state: CaseState, turn: Turn, own_id: str, evidence: Evidence) -> FindingRaised:
    request = evidence.request
    assert isinstance(request, CommandCheck), "a checks seat stands on commands alone"
    command = say_command(request.argv)
    before = {
        True: " It fails at the merge base too: it was failing before this change.",
        False: " It passes at the merge base.",
        None: "",
    }[evidence.failing_before]
    return FindingRaised(
        seat=turn.seat,
        id=ledger_id(state, turn.seat, own_id),
        round=turn.round,
        candidate=request.candidate,
        severity=Severity.BLOCKING,
        location=command,
        issue=f"`{command}` fails: {evidence.detail}.{before}",
        suggestion=f"make `{command}` pass",
        evidence=EvidenceStatus.VERIFIED,
        detail=evidence.detail,
    )


def _from_opinion(state: CaseState, turn: Turn, submission: GiveVerdict, found: Found) -> tuple[Entry, ...]:
    known = own_findings(state, turn.seat)
    raised = [_raised(state, turn, finding, found) for finding in submission.findings if finding.own_id not in known]
    ruled = [
        _ruled(state, turn, finding, submission, is_new=finding.own_id not in known)
        for finding in submission.findings
        if finding.own_id in known or finding.status is not FindingStatus.OPEN
    ]
    claims = [_claim(turn, claim, found) for claim in submission.claims]
    approved = not left_open(state, turn.seat, submission)
    return (
        *claims,
        *raised,
        *ruled,
        _verdict(state, turn, approved=approved, claimed=submission.approved, summary=submission.summary),
    )


_RULINGS: Final = {
    FindingStatus.OPEN: Ruling.STANDS,
    FindingStatus.SETTLED: Ruling.SETTLED,
    FindingStatus.DEFERRED: Ruling.DEFERRED,
}


def _ruled(
    state: CaseState, turn: Turn, finding: NamedFinding, submission: GiveVerdict, *, is_new: bool
) -> FindingRuled:
    unsaid = "raised as resolved" if is_new else "no reason given"
    return FindingRuled(
        seat=turn.seat,
        id=ledger_id(state, turn.seat, finding.own_id),
        ruling=_RULINGS[finding.status],
        reason=finding.reason or submission.response_to_rebuttal.strip() or unsaid,
    )


def _raised(state: CaseState, turn: Turn, finding: NamedFinding, found: Found) -> FindingRaised:
    status, detail = standing(state.docket, finding, found, past_of(state, turn.seat))
    return FindingRaised(
        seat=turn.seat,
        id=ledger_id(state, turn.seat, finding.own_id),
        round=turn.round,
        candidate=state.docket.candidate,
        severity=finding.severity,
        location=finding.location,
        issue=finding.issue,
        suggestion=finding.suggestion,
        evidence=status,
        detail=detail,
    )


def _claim(turn: Turn, claim: CommandClaim, found: Found) -> ClaimChecked:
    by_argv = {r.argv: e for r, e in found.items() if isinstance(r, CommandCheck)}
    evidence = by_argv.get(claim.argv)
    if evidence is None:
        status, detail = EvidenceStatus.NOT_CHECKED, "not one of the project's commands; it was not run"
    elif evidence.status is EvidenceStatus.NOT_CHECKED:
        status, detail = EvidenceStatus.NOT_CHECKED, evidence.detail
    else:
        is_true = (evidence.status is EvidenceStatus.VERIFIED) == claim.passes
        status, detail = EvidenceStatus.VERIFIED if is_true else EvidenceStatus.REFUTED, evidence.detail
    return ClaimChecked(
        seat=turn.seat,
        statement=claim.statement,
        command=say_command(claim.argv),
        says_passes=claim.passes,
        status=status,
        detail=detail,
    )


def _verdict(state: CaseState, turn: Turn, *, approved: bool, claimed: bool, summary: str) -> VerdictGiven:
    return VerdictGiven(
        seat=turn.seat,
        round=turn.round,
        candidate=state.docket.candidate,
        approved=approved,
        claimed=claimed,
        summary=summary,
    )
