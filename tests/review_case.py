"""A review played in memory: what a driver does, without a store, an agent or a clock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from counterpoint.core.canonical import digest
from counterpoint.core.case import CaseState
from counterpoint.core.checks import (
    CommandCheck,
    EditCheck,
    Evidence,
    EvidenceStatus,
    LookUp,
    PathCheck,
    Purpose,
)
from counterpoint.core.docket import ChangedPath, Docket, PathState, ProjectCommand, Seat, SeatKind, Terms
from counterpoint.core.edits import CheckResult, Edit, Made
from counterpoint.core.entries import (
    CandidateKept,
    CandidateOffered,
    CaseOpened,
    Entry,
    FindingRaised,
    VerdictGiven,
)
from counterpoint.core.findings import Finding
from counterpoint.core.limits import Limits
from counterpoint.core.rules import Materials
from counterpoint.core.values import Decision, Severity, StopReason, Turn
from counterpoint.protocols.review import REVIEW, Phase
from tests.case_play import NOW, OWNER, SALT, CasePlay, as_bytes, opened_by, refused, through_json

__all__ = [
    "AUTHOR",
    "BASE",
    "CANDIDATE",
    "CHECKS",
    "CRITIC",
    "DOCKET",
    "INVENTED",
    "MATERIALS",
    "NAMED_CHECKS",
    "NOW",
    "OWNER",
    "PATHS",
    "PYTEST",
    "RUFF",
    "SALT",
    "SKEPTIC",
    "Play",
    "Replies",
    "Tree",
    "answered",
    "as_bytes",
    "came_to",
    "claim",
    "ended",
    "finding",
    "given",
    "minutes",
    "opening",
    "raised_by",
    "refused",
    "through_json",
    "turn_of",
    "verdict",
    "verdict_of",
]

CANDIDATE: Final = "c" * 40
BASE: Final = "b" * 40
AUTHOR: Final = Seat(name="author", party="gemini", kind=SeatKind.AUTHOR)
CRITIC: Final = Seat(name="critic", party="claude")
SKEPTIC: Final = Seat(name="skeptic", party="codex")
CHECKS: Final = Seat(name="checks", party="checks", kind=SeatKind.CHECKS, agent="checks")
PYTEST: Final = ProjectCommand(argv=("pytest", "-q"), purpose=Purpose.TEST, why="found")
RUFF: Final = ProjectCommand(argv=("ruff", "check"), purpose=Purpose.LINT, why="found")
DOCKET: Final = Docket(
    question="Is this change good to merge?",
    candidate=CANDIDATE,
    base=BASE,
    rationale="the timer fired twice",
    paths=(
        ChangedPath(path="src/timer.py", state=PathState.TEXT),
        ChangedPath(path="old.py", state=PathState.DELETED),
    ),
    commands=(PYTEST, RUFF),
    change="d" * 64,
)
PATHS: Final = ("src/timer.py", "old.py")
MATERIALS: Final = Materials(change="-    return None\n+    return 1\n", shown_paths=PATHS)
NAMED_CHECKS: Final[dict[str, Any]] = {"commands": [["pytest", "-q"], ["ruff", "check"]]}


def minutes(count: int) -> datetime:
    """Return the instant that many minutes after the case was opened."""
    return NOW + timedelta(minutes=count)


def opening(
    *roster: Seat,
    docket: Docket = DOCKET,
    limits: Limits | None = None,
    terms: Terms | None = None,
    quorum: int | None = None,
) -> CaseOpened:
    """Return the opening of a review by this roster, as the rules make it."""
    return opened_by(REVIEW, roster, docket=docket, limits=limits, terms=terms, quorum=quorum)


def finding(**changes: object) -> dict[str, Any]:
    """Return a finding as a reviewer writes it."""
    written = {
        "id": "F1",
        "severity": "major",
        "location": "src/timer.py:2",
        "issue": "the timer still fires twice",
        "suggestion": "return early",
        "status": "open",
    }
    return {key: value for key, value in (written | changes).items() if value is not None}


INVENTED: Final = finding(quote="return 7")
"""Its quotation stands nowhere."""


def claim(command: str, *, passes: bool) -> dict[str, object]:
    return {"statement": f"{command} was run", "command": command, "passes": passes}


def verdict(*findings: Mapping[str, object], **changes: object) -> dict[str, Any]:
    """Return a verdict as a reviewer writes it; it approves when it has no open finding, unless stated."""
    approved = all(f["status"] != "open" for f in findings)
    written = {"summary": "looked at it", "findings": list(findings), "responseToRebuttal": "", "approved": approved}
    return written | changes


def answered(word: str, finding_id: str = "F1", reasoning: str = "it returns early now") -> dict[str, Any]:
    """Return the author's answer to one finding, as an author writes it."""
    return {"finding": finding_id, "reasoning": reasoning, "disposition": word}


def given(*answers: Mapping[str, Any], changed: Sequence[str] = (), **changes: object) -> dict[str, Any]:
    """Return an author's reply."""
    written = {"summary": "Return early", "dispositions": list(answers), "changed": list(changed)}
    return written | changes


def turn_of(seat: str, ask: int = 1, *, number: int = 1) -> Turn:
    """Return a turn of a round: the author's in its answering phase, another's in its reading."""
    is_author = seat == AUTHOR.name
    phase = Phase.ANSWERING if is_author else Phase.REVIEWING
    return Turn(phase=phase, round=number, seat=seat, ask=ask, blind=not is_author)


def verdict_of(seat: str, *, approved: bool = True, summary: str = "looked at it") -> VerdictGiven:
    return VerdictGiven(seat=seat, round=1, candidate=CANDIDATE, approved=approved, claimed=approved, summary=summary)


def raised_by(seat: str, own_id: str = "F1") -> FindingRaised:
    """Return the entry that `finding()` becomes."""
    return FindingRaised(
        seat=seat,
        id=own_id,
        round=1,
        candidate=CANDIDATE,
        severity=Severity.MAJOR,
        location="src/timer.py:2",
        issue="the timer still fires twice",
        suggestion="return early",
        evidence=EvidenceStatus.NOT_CHECKED,
        detail="",
    )


@dataclass(frozen=True, kw_only=True)
class Tree:
    """What code finds when it looks: files of candidate and base, and how commands come out."""

    files: Mapping[str, str] = field(default_factory=lambda: {"src/timer.py": "def fire():\n    return 1\n"})
    """Of every candidate that is not in `others`."""
    before: Mapping[str, str] = field(
        default_factory=lambda: {"src/timer.py": "def fire():\n    return None\n", "old.py": "x = 1\n"}
    )
    others: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Files of further candidates, by their ids."""
    commands: Mapping[tuple[str, ...], EvidenceStatus] = field(default_factory=dict)
    """Every other command passes."""
    unread: Mapping[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    """What each command says it did not open; another cannot tell."""
    faults: tuple[str, ...] = ()
    """What is wrong with every edit."""
    restored: tuple[str, ...] = ()
    """Edited paths that are as in the base again."""

    def look_up(self, request: LookUp) -> Evidence:
        if isinstance(request, CommandCheck):
            status = self.commands.get(request.argv, EvidenceStatus.VERIFIED)
            said = {EvidenceStatus.VERIFIED: ("exit 0", 0), EvidenceStatus.REFUTED: ("exit 1", 1)}
            detail, code = said.get(status, ("not installed", None))
            return Evidence(
                request=request,
                status=status,
                detail=detail,
                exit_code=code,
                paths_unread=self.unread.get(request.argv),
            )
        files = {BASE: self.before, **self.others}.get(request.candidate, self.files)
        text = files.get(request.path)
        if text is None:
            is_there, missing = False, "no such file"
        elif isinstance(request, PathCheck):
            is_there, missing = request.line is None or request.line <= text.count("\n"), "no such line"
        else:
            is_there, missing = request.text in text, "not in the file"
        status = EvidenceStatus.VERIFIED if is_there else EvidenceStatus.REFUTED
        return Evidence(request=request, status=status, detail="found" if is_there else missing)


def _text(path: str) -> ChangedPath:
    return ChangedPath(path=path, state=PathState.TEXT)


class Play(CasePlay[CaseState]):
    """A review in which code finds what this tree says."""

    def __init__(self, *roster: Seat, tree: Tree | None = None, **plan: Any) -> None:
        self.tree = tree or Tree()
        super().__init__(REVIEW, opening(*(roster or (CRITIC,)), **plan))

    def look_up(self, request: LookUp | EditCheck) -> CheckResult:
        return self.edited(request) if isinstance(request, EditCheck) else self.tree.look_up(request)

    def edited(self, request: EditCheck) -> Edit:
        """Return what code finds of an edit of exactly the listed paths: a new candidate that has them as text."""
        made = None
        if request.paths and not self.tree.faults:
            before = [p for p in self.state.docket.paths if p.path not in request.paths]
            made = Made(
                candidate=digest(f"{request.start} {request.turn}".encode())[:40],
                paths=(*before, *(_text(path) for path in request.paths if path not in self.tree.restored)),
                change=digest(request.turn.encode()),
            )
        return Edit(request=request, faults=self.tree.faults, made=made)

    def materials(self, seat: str) -> Materials:
        """Return what a driver shows a seat: all of the change, or what was edited since it judged last."""
        exhibit = REVIEW.exhibit(self.state, self.owed(seat))
        if exhibit.base == BASE:
            return MATERIALS
        edited = sorted(self.state.changed_since(exhibit.base))
        return Materials(change="".join(f"edited {path}\n" for path in edited), shown_paths=tuple(edited))

    def read(self, *replies: Mapping[str, Any] | None, shown: Sequence[str] | None = None) -> tuple[Entry, ...]:
        """Have the seats that owe a reading answer, in the roster's order, and settle; None fails it for good."""
        for turn, reply in zip(self.due(), replies, strict=True):
            if reply is None:
                self.fail_for_good(turn.seat)
            else:
                self.answer(turn.seat, reply, shown=None if "commands" in reply else shown)
        return self.settle()

    def reply(self, *answers: Mapping[str, Any], changed: Sequence[str] = (), **changes: object) -> Entry:
        """Have the author answer, settle, and return what is on the table then."""
        self.answer(AUTHOR.name, given(*answers, changed=changed, **changes))
        *_, last = self.settle()
        assert isinstance(last, CandidateOffered | CandidateKept)
        return last

    @property
    def candidate(self) -> str:
        return self.state.docket.candidate

    @property
    def findings(self) -> Mapping[str, Finding]:
        return self.state.ledger.by_id

    def with_limits(self, **changes: Any) -> Limits:
        return replace(self.state.case.limits, **changes)


Replies = dict[Seat, dict[str, Any] | None]
"""What each seat answers, in the roster's order; None for one that fails until it is asked no more."""


def came_to(case: Play) -> tuple[StopReason | None, Decision, tuple[str, ...]]:
    return case.outcome.stop_reason, case.outcome.decision, case.outcome.reasons


def ended(replies: Replies, *, shown: tuple[str, ...] | None = None, **setting: Any) -> Play:
    """Return a settled case of these replies, for which each opinion was shown these paths."""
    case = Play(*replies, **setting)
    for seat, reply in replies.items():
        if reply is None:
            case.fail_for_good(seat.name)
        else:
            case.answer(seat.name, reply, shown=None if seat is CHECKS else shown)
    case.settle()
    return case
