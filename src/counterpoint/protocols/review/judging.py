"""What an accepted submission becomes: findings, checked claims, a verdict computed from them.

Code decides three things here that no reviewer can: whether a quote stands where it is said to stand, whether a
statement about a command is true, and whether the seat has approved.
"""

import shlex
from collections.abc import Mapping

from counterpoint.core.case import CaseState
from counterpoint.core.checks import CheckRequest, CommandCheck, Evidence, EvidenceStatus, PathCheck, QuoteCheck
from counterpoint.core.entries import ClaimChecked, Entry, EvidenceGathered, FindingRaised, FindingRuled, VerdictGiven
from counterpoint.core.findings import FindingStatus, Ruling, finding_id
from counterpoint.core.values import Severity, Turn
from counterpoint.protocols.review.codec import CommandClaim, GiveVerdict, NameChecks, NamedFinding, located

__all__ = ["entries_of"]

Found = Mapping[CheckRequest, Evidence]


def entries_of(
    state: CaseState, turn: Turn, submission: GiveVerdict | NameChecks, evidence: tuple[Evidence, ...]
) -> tuple[Entry, ...]:
    """Return the entries of one accepted submission, its command evidence first, its verdict last."""
    found = {e.request: e for e in evidence}
    known = {e.request for e in state.evidence}
    gathered = tuple(
        EvidenceGathered(evidence=e)
        for e in found.values()
        if isinstance(e.request, CommandCheck) and e.request not in known
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
    return (*raised, _verdict(state, turn, approved=not raised, claimed=not raised, summary=summary))


def _failing(state: CaseState, turn: Turn, number: int, evidence: Evidence) -> FindingRaised:
    request = evidence.request
    assert isinstance(request, CommandCheck), "a checks seat stands on commands alone"
    command = shlex.join(request.argv)
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
    status, detail = _standing(state, finding, found)
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


def _standing(state: CaseState, finding: NamedFinding, found: Found) -> tuple[EvidenceStatus, str]:
    """Say what code saw of the place and the quote that a finding rests on."""
    place = located(finding.location)
    if place is None:
        return EvidenceStatus.NOT_CHECKED, "the location names no file"
    path, line = place
    candidate = state.case.docket.candidate
    exists = found[PathCheck(path=path, line=None, candidate=candidate)]
    changed = {p.path for p in state.case.docket.paths}
    if exists.status is EvidenceStatus.REFUTED:
        if path in changed:
            return EvidenceStatus.NOT_CHECKED, "the file is deleted by the change"
        return EvidenceStatus.REFUTED, exists.detail
    if finding.quote is not None:
        quoted = found[QuoteCheck(path=path, text=finding.quote, candidate=candidate)]
        return quoted.status, quoted.detail
    if line is None:
        return EvidenceStatus.NOT_CHECKED, ""
    at_line = found[PathCheck(path=path, line=line, candidate=candidate)]
    return EvidenceStatus.NOT_CHECKED, at_line.detail if at_line.status is EvidenceStatus.REFUTED else ""


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
        command=shlex.join(claim.argv),
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
