"""Files for people who script: what each reviewer said in each reading, and what the author answered.

- `verdict-NNN.json`, or `verdict-NNN-<seat>.json` where several review: the shape of SPEC D-11, with the findings of
  that seat as they stood after reading NNN. What was deferred is `resolved` there, as D-17 has it.
- `section-NNN-2-<seat>.md`: the author's answer to that reading, one entry for each finding (SPEC D-13).

Rendered from the record alone: the same record, the same bytes. What counts is the record.
"""

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from counterpoint.agents.base import MAX_REPLY_BYTES
from counterpoint.core.canonical import NotCanonical, parse_json, visible
from counterpoint.core.case import CaseState
from counterpoint.core.docket import SeatKind
from counterpoint.core.entries import DispositionGiven, VerdictGiven
from counterpoint.core.findings import Finding, Ruling
from counterpoint.core.values import NAME
from counterpoint.drive.cases import LoadedCase
from counterpoint.views.markdown import code, counted, fenced, wrapped
from counterpoint.views.rounds import DISPOSITIONS, Round, author_of, rounds_of

__all__ = ["files_of", "is_old_file"]

_OURS: Final = re.compile(rf"verdict-[0-9]{{3,}}(-{NAME.pattern})?\.json|section-[0-9]{{3,}}-2-{NAME.pattern}\.md")


def files_of(case: LoadedCase) -> Mapping[str, str]:
    """Return the text of each file by its name, in the order of the rounds."""
    return MappingProxyType(dict(_files(case)))


def is_old_file(name: str) -> bool:
    """Return whether a file is named like one of these."""
    return bool(_OURS.fullmatch(name))


def _files(case: LoadedCase) -> Iterator[tuple[str, str]]:
    is_alone = sum(seat.kind is not SeatKind.AUTHOR for seat in case.state.case.roster) == 1
    author = author_of(case.state)
    for found in rounds_of(case):
        for verdict in found.verdicts:
            seat = "" if is_alone else f"-{verdict.seat}"
            yield f"verdict-{found.number:03}{seat}.json", _verdict(case.state, verdict)
        if found.is_answered:
            assert author is not None, "only an author answers"
            yield f"section-{found.number:03}-2-{author.name}.md", _section(case.state, found, author.name)


def _verdict(state: CaseState, verdict: VerdictGiven) -> str:
    raised = [finding for finding in state.ledger.raised_by(verdict.seat) if finding.round <= verdict.round]
    shape = {
        "approved": verdict.approved,
        "summary": verdict.summary,
        "findings": [_finding(finding, verdict.round) for finding in raised],
        "responseToRebuttal": _response(state, verdict),
    }
    return json.dumps(shape, indent=2, ensure_ascii=True) + "\n"


def _finding(finding: Finding, reading: int) -> dict[str, str]:
    ruled = [each.ruling for each in finding.rulings if each.round <= reading]
    return {
        "id": finding.id,
        "severity": finding.severity.value,
        "location": finding.location,
        "issue": finding.issue,
        "suggestion": finding.suggestion,
        "status": "open" if not ruled or ruled[-1] is Ruling.STANDS else "resolved",
    }


def _response(state: CaseState, verdict: VerdictGiven) -> str:
    """Return what the seat answered to the author as a whole: it stands in its reply alone, as the seat wrote it."""
    replies = {(each.turn.seat, each.turn.round): each.reply for each in state.revealed.values()}
    try:
        said: Any = parse_json(replies.get((verdict.seat, verdict.round), ""), max_bytes=MAX_REPLY_BYTES)
    except NotCanonical:
        return ""
    words = said.get("responseToRebuttal") if isinstance(said, dict) else None
    return visible(words) if isinstance(words, str) else ""


def _section(state: CaseState, found: Round, author: str) -> str:
    parts = [
        f"# Round {found.number}: {code(author)} answers {counted(len(found.dispositions), 'finding')}",
        _edit(found),
    ]
    for given in found.dispositions:
        parts += _entry(state.ledger.by_id[given.id], given)
    return "\n\n".join(parts) + "\n"


def _edit(found: Round) -> str:
    if found.offered is None:
        return "Nothing was changed."
    entry = found.offered.entry
    return f"Offered {code(entry.candidate)}, which changes {', '.join(code(path) for path in entry.changed)}."


def _entry(finding: Finding, given: DispositionGiven) -> list[str]:
    return [
        f"## {code(finding.id)}: {DISPOSITIONS[given.disposition]}",
        f"Raised by {code(finding.seat)}, {finding.severity}, at {code(finding.location)}:",
        fenced(wrapped(finding.issue)),
        "Answer:",
        fenced(wrapped(given.reasoning)),
    ]
