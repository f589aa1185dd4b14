"""Findings in `report.md`: each with both positions, what the author answered and what its raiser ruled, by round."""

from typing import Final

from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.entries import ClaimChecked
from counterpoint.core.findings import Answer, Finding, FindingStatus, Ruled, Ruling
from counterpoint.core.values import Severity
from counterpoint.drive.cases import LoadedCase
from counterpoint.views.markdown import Lines, code, fenced, inline, wrapped
from counterpoint.views.rounds import DISPOSITIONS, author_of, is_unevidenced

__all__ = ["findings_in"]

_STATUS: Final = {
    EvidenceStatus.VERIFIED: "verified",
    EvidenceStatus.REFUTED: "refuted",
    EvidenceStatus.NOT_CHECKED: "not checked",
}
_RULINGS: Final = {
    Ruling.SETTLED: "it is settled",
    Ruling.STANDS: "it stands",
    Ruling.DEFERRED: "it must happen before this ships",
}


def findings_in(case: LoadedCase) -> Lines:
    """Yield every finding and every statement about a command, what blocks first."""
    yield from _open(case)
    yield from _deferred(case)
    yield from _refuted(case)
    yield from _settled(case)
    yield from _statements(case)


def _open(case: LoadedCase) -> Lines:
    findings = sorted(case.outcome.open_findings, key=lambda f: list(Severity).index(f.severity))
    if not findings:
        yield "## Open findings: none"
        return
    counts = [f"{sum(f.severity is s for f in findings)} {s}" for s in Severity]
    yield f"## Open findings: {', '.join(each for each in counts if not each.startswith('0 '))}"
    for finding in findings:
        yield from _finding(case, finding)


def _deferred(case: LoadedCase) -> Lines:
    findings = case.outcome.deferred_findings
    if not findings:
        return
    yield f"## Must happen before this ships: {len(findings)}"
    yield "Nothing in the change can settle these. Whoever raised them names what does; they did not block."
    for finding in findings:
        yield from _finding(case, finding)


def _refuted(case: LoadedCase) -> Lines:
    claims = [claim for claim in case.state.claims if claim.status is EvidenceStatus.REFUTED]
    findings = [f for f in case.outcome.refuted_findings if f.status is not FindingStatus.DEFERRED]
    if not claims and not findings:
        return
    yield "## Refuted by evidence"
    yield "Code looked and found otherwise. What stands here did not count."
    for finding in findings:
        yield from _finding(case, finding)
    for claim in claims:
        yield from _claim(claim)


def _settled(case: LoadedCase) -> Lines:
    settled = [
        f for f in case.state.ledger if f.status is FindingStatus.SETTLED and f.evidence is not EvidenceStatus.REFUTED
    ]
    if settled:
        yield "## Settled findings"
    for finding in settled:
        yield from _finding(case, finding)


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


def _finding(case: LoadedCase, finding: Finding) -> Lines:
    yield f"### {code(finding.id)}, {finding.severity}, at {code(finding.location)}"
    detail = f" ({inline(finding.detail)})" if finding.detail else ""
    yield f"Raised by {code(finding.seat)} in round {finding.round}. Evidence: {_STATUS[finding.evidence]}{detail}."
    if finding.is_disputed:
        yield "**Disputed**: the author denies it, and whoever raised it holds it. Both positions follow."
    if is_unevidenced(finding):
        yield "**Unevidenced concession**: the author did not fix it, and it was settled without a reason."
    yield fenced(wrapped(finding.issue))
    if finding.suggestion.strip():
        yield "It would be settled by:"
        yield fenced(wrapped(finding.suggestion))
    yield from _positions(case, finding)


def _positions(case: LoadedCase, finding: Finding) -> Lines:
    """Yield answers and rulings in turn: a reading is the beginning of its round, the answer its end."""
    author = author_of(case.state)
    said: list[Ruled | Answer] = [*finding.rulings, *finding.answers]
    for each in sorted(said, key=lambda one: (one.round, isinstance(one, Answer))):
        if isinstance(each, Ruled):
            yield f"Round {each.round}, {code(finding.seat)} rules that {_RULINGS[each.ruling]}:"
            yield fenced(wrapped(each.reason))
        else:
            assert author is not None, "only an author answers"
            yield f"Round {each.round}, {code(author.name)} answers, **{DISPOSITIONS[each.disposition]}**:"
            yield fenced(wrapped(each.reasoning))
