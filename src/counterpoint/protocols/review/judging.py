"""What an accepted submission becomes: findings, checked claims, a verdict computed from them.

Code decides three things here that no reviewer can: whether a quote stands where it is said to stand, whether a
statement about a command is true, and whether a checks seat has approved. Checks of which none passed approve
nothing, and neither do checks of which a test shows nothing: it was missing, ran out of time, or ran no test.
"""

from counterpoint.core.case import CaseState
from counterpoint.core.checks import CheckRequest, CommandCheck, Evidence, EvidenceStatus, Purpose
from counterpoint.core.entries import ClaimChecked, Entry, EvidenceGathered, FindingRaised, FindingRuled, VerdictGiven
from counterpoint.core.findings import FindingStatus, Ruling, finding_id
from counterpoint.core.values import Severity, Turn
from counterpoint.core.wording import say_command
from counterpoint.protocols.review.codec import CommandClaim, GiveVerdict, NameChecks, NamedFinding
from counterpoint.protocols.review.lookups import Found, requests_of, standing

__all__ = ["entries_of"]


def entries_of(
    state: CaseState, turn: Turn, submission: GiveVerdict | NameChecks, evidence: tuple[Evidence, ...]
) -> tuple[Entry, ...]:
    """Return the entries of one accepted submission, its command evidence first, its verdict last.

    `evidence` answers every request of the submission once; what it answers besides is left aside. A command is in
    the record once, but for one that came out differently: the record then says both.
    """
    requests = requests_of(state.case.docket, submission)
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


def _id(state: CaseState, seat: str, own_id: str) -> str:
    return finding_id(seat, own_id, only_reviewer=len(state.case.roster) == 1)


def _from_checks(state: CaseState, turn: Turn, submission: NameChecks, found: Found) -> tuple[Entry, ...]:
    by_argv = {r.argv: e for r, e in found.items() if isinstance(r, CommandCheck)}
    raised = tuple(
        _failing(state, turn, number, by_argv[argv])
        for number, argv in enumerate(submission.commands, 1)
        if by_argv[argv].status is EvidenceStatus.REFUTED
    )
    passed = sum(by_argv[argv].status is EvidenceStatus.VERIFIED for argv in submission.commands)
    unchecked = len(submission.commands) - passed - len(raised)
    summary = f"{passed} of {len(submission.commands)} commands passed, {len(raised)} failed, {unchecked} not checked"
    untested = [e for r, e in found.items() if _is_untested(r, e)]
    if untested:
        summary += f"; tests that show nothing: {'; '.join(_said(e) for e in untested)}"
    approved = passed > 0 and not raised and not untested
    return (*raised, _verdict(state, turn, approved=approved, claimed=approved, summary=summary))


def _is_untested(request: CheckRequest, evidence: Evidence) -> bool:
    is_test = isinstance(request, CommandCheck) and request.purpose is Purpose.TEST
    return is_test and evidence.status is EvidenceStatus.NOT_CHECKED


def _said(evidence: Evidence) -> str:
    assert isinstance(evidence.request, CommandCheck), "only commands are tests"
    return f"{say_command(evidence.request.argv)} ({evidence.detail})"


def _failing(state: CaseState, turn: Turn, number: int, evidence: Evidence) -> FindingRaised:
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
        id=_id(state, turn.seat, f"F{number}"),
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
    raised = [_raised(state, turn, finding, found) for finding in submission.findings]
    ruled = [
        FindingRuled(
            seat=turn.seat,
            id=entry.id,
            ruling=Ruling.SETTLED,
            reason="raised as resolved",
        )
        for entry, finding in zip(raised, submission.findings, strict=True)
        if finding.status is FindingStatus.SETTLED
    ]
    claims = [_claim(turn, claim, found) for claim in submission.claims]
    return (
        *claims,
        *raised,
        *ruled,
        _verdict(state, turn, approved=submission.approved, claimed=submission.approved, summary=submission.summary),
    )


def _raised(state: CaseState, turn: Turn, finding: NamedFinding, found: Found) -> FindingRaised:
    status, detail = standing(state.case.docket, finding, found)
    return FindingRaised(
        seat=turn.seat,
        id=_id(state, turn.seat, finding.own_id),
        round=turn.round,
        candidate=state.case.docket.candidate,
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
        candidate=state.case.docket.candidate,
        approved=approved,
        claimed=claimed,
        summary=summary,
    )
