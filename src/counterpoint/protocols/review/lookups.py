"""What code looks up for a submission, and what may be said of a finding by it.

- A location is `path:line`, `path`, or words. A diff's `a/` and `b/`, `./`, backslashes and the reviewer's own folder
  are seen through where what remains is a changed path.
- A quote is looked for in the candidate, and for a changed path in the base and in the candidate that the reviewer
  judged last, too: a finding may quote what the change or the newest edit took away.
- Refuted is said only of what code could look at: a quote that stands in none of them, or a line of a file that there
  is not. Whatever else was not found is not checked, and blocks as it stands.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from counterpoint.core.checks import CommandCheck, Evidence, EvidenceStatus, LookUp, PathCheck, QuoteCheck
from counterpoint.core.docket import Docket, PathState
from counterpoint.protocols.review.codec import GiveVerdict, NameChecks, NamedFinding

__all__ = ["NO_PAST", "Found", "Past", "Place", "located", "requests_of", "standing"]

Found = Mapping[LookUp, Evidence]

_LOCATION: Final = re.compile(r"(?P<path>.+?)(?::(?P<line>[0-9]{1,7})(?:[-:][0-9]{1,7})?)?")
_READS_AS_PATH: Final = re.compile(r"[^\s:]*[./][^\s:]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A file, and the line in it where one is named."""

    path: str
    line: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What a reviewer has judged before, and what was edited since."""

    candidate: str = ""
    edited: frozenset[str] = frozenset()


NO_PAST: Final = Past()


def located(location: str, changed: Collection[str]) -> Place | None:
    """Return the place that a location names, or None where it names no file of the tree."""
    found = _LOCATION.fullmatch(location.strip())
    if found is None:
        return None
    line = int(found["line"]) if found["line"] else None
    path = _changed_path(found["path"], changed)
    if path is not None:
        return Place(path=path, line=line)
    written = found["path"].removeprefix("./")
    is_inside = not written.startswith("/") and ".." not in written.split("/")
    return Place(path=written, line=line) if is_inside and _READS_AS_PATH.fullmatch(written) else None


def _changed_path(written: str, changed: Collection[str]) -> str | None:
    spellings = (written.replace("\\", "/"), *(written.removeprefix(p) for p in ("./", "a/", "b/")))
    if (exact := next((s for s in spellings if s in changed), None)) is not None:
        return exact
    inside = [path for path in changed if written.startswith("/") and written.endswith(f"/{path}")]
    return max(inside, key=len, default=None)


def requests_of(
    docket: Docket, submission: GiveVerdict | NameChecks, known: Collection[str] = (), past: Past = NO_PAST
) -> tuple[LookUp, ...]:
    """Return what code must look up before the submission is admitted, each once.

    A finding that the seat has raised before, whose own id is in `known`, was looked up then.
    """
    listed = {command.argv: command for command in docket.commands}
    requests: list[LookUp] = []
    if isinstance(submission, NameChecks):
        argvs = submission.commands
    else:
        argvs = tuple(claim.argv for claim in submission.claims)
        for finding in submission.findings:
            requests += _of_finding(docket, finding, past) if finding.own_id not in known else []
    requests += [
        CommandCheck(argv=argv, purpose=listed[argv].purpose, candidate=docket.candidate)
        for argv in argvs
        if argv in listed
    ]
    return tuple(dict.fromkeys(requests))


def _states(docket: Docket, past: Past) -> dict[str, PathState]:
    """Return what became of each path; one that was edited and differs no more is as it was before, or gone."""
    gone = dict.fromkeys(past.edited, PathState.DELETED)
    return gone | {changed.path: changed.state for changed in docket.paths}


def _before(docket: Docket, past: Past) -> tuple[str, ...]:
    """Return what was there before the candidate, the base first."""
    return tuple(dict.fromkeys(s for s in (docket.base, past.candidate) if s and s != docket.candidate))


def _of_finding(docket: Docket, finding: NamedFinding, past: Past) -> list[LookUp]:
    changed = _states(docket, past)
    place = located(finding.location, changed)
    if place is None:
        return []
    requests: list[LookUp] = [
        PathCheck(path=place.path, line=line, candidate=docket.candidate) for line in (None, place.line)
    ]
    if finding.quote is not None:
        requests.append(QuoteCheck(path=place.path, text=finding.quote, candidate=docket.candidate))
        if place.path in changed:
            requests += [
                QuoteCheck(path=place.path, text=finding.quote, candidate=source) for source in _before(docket, past)
            ]
    return requests


def standing(docket: Docket, finding: NamedFinding, found: Found, past: Past = NO_PAST) -> tuple[EvidenceStatus, str]:
    """Return what code saw of the place and the quote that a finding rests on."""
    changed = _states(docket, past)
    place = located(finding.location, changed)
    if place is None:
        return EvidenceStatus.NOT_CHECKED, "the location names no file of the candidate"
    exists = found[PathCheck(path=place.path, line=None, candidate=docket.candidate)]
    if exists.status is EvidenceStatus.REFUTED:
        return _without_file(place, changed, exists)
    if finding.quote is not None:
        return _of_quote(docket, place.path, finding.quote, found, past)
    at_line = found[PathCheck(path=place.path, line=place.line, candidate=docket.candidate)]
    return EvidenceStatus.NOT_CHECKED, at_line.detail if at_line.status is EvidenceStatus.REFUTED else ""


def _without_file(place: Place, changed: Mapping[str, PathState], exists: Evidence) -> tuple[EvidenceStatus, str]:
    state = changed.get(place.path)
    if state is PathState.DELETED:
        return EvidenceStatus.NOT_CHECKED, "the change deletes the file"
    if state is not None:
        return EvidenceStatus.NOT_CHECKED, f"the change has the file ({state}), but it could not be looked at"
    if place.line is None:  # a word with a dot or a slash in it reads as a path, too
        return EvidenceStatus.NOT_CHECKED, exists.detail
    return EvidenceStatus.REFUTED, exists.detail


def _of_quote(docket: Docket, path: str, quote: str, found: Found, past: Past) -> tuple[EvidenceStatus, str]:
    here = found[QuoteCheck(path=path, text=quote, candidate=docket.candidate)]
    if here.status is not EvidenceStatus.REFUTED:
        return here.status, here.detail
    for source in _before(docket, past):
        before = found.get(QuoteCheck(path=path, text=quote, candidate=source))
        if before is None or before.status is EvidenceStatus.REFUTED:
            continue
        if before.status is EvidenceStatus.NOT_CHECKED:
            return EvidenceStatus.NOT_CHECKED, before.detail
        took = "base; the change" if source == docket.base else "candidate before; the edit"
        return EvidenceStatus.NOT_CHECKED, f"the quote stands in the {took} took it away"
    return here.status, here.detail
