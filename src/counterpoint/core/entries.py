"""The facts that a case's record holds. One frozen type per thing that happened; complete when it exists.

The wire name of each (`case-opened`) is in `ENTRY_TYPES` and never changes; Python names may. `codec` turns entries
into JSON and back; `wording` says them in a sentence for people.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from counterpoint.core.checks import Evidence, EvidenceStatus
from counterpoint.core.docket import ChangedPath, Docket, Seat, SeatKind, Terms
from counterpoint.core.findings import Disposition, Ruling
from counterpoint.core.limits import Limits
from counterpoint.core.values import Decision, Severity, StopReason, Turn, Usage

__all__ = [
    "ENTRY_TYPES",
    "AnswerRequested",
    "AttemptFailed",
    "CandidateKept",
    "CandidateOffered",
    "CaseClosed",
    "CaseOpened",
    "ChallengeOpened",
    "ClaimChecked",
    "ConsentGranted",
    "DispositionGiven",
    "Entry",
    "EvidenceGathered",
    "FailureReason",
    "FindingRaised",
    "FindingRuled",
    "NoteAdded",
    "ObserverDropped",
    "RevisionOffered",
    "RoundOpened",
    "SubmissionRevealed",
    "SubmissionSealed",
    "VerdictGiven",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOpened:
    """The first entry after the genesis; the fold begins here."""

    protocol: str
    rules_version: int
    case: str
    docket: Docket
    roster: tuple[Seat, ...]
    limits: Limits
    terms: Terms
    quorum: int
    """How many reviewers must have answered; stated beforehand, all of them by default."""
    supervisor: str
    seed: str
    """Hex; whatever order is shuffled is shuffled by it."""
    opened_at: str

    @property
    def author(self) -> Seat | None:
        """The seat that answers for what is judged; None where nobody does."""
        return next((seat for seat in self.roster if seat.kind is SeatKind.AUTHOR), None)

    @property
    def judges(self) -> tuple[Seat, ...]:
        """Every other seat, in the roster's order."""
        return tuple(seat for seat in self.roster if seat.kind is not SeatKind.AUTHOR)

    def seat(self, name: str) -> Seat | None:
        return next((seat for seat in self.roster if seat.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentGranted:
    """A copy of the grant under which bytes may leave this machine."""

    destination: str
    by: str
    granted_at: str
    until: str
    scope: str
    digest: str
    """SHA-256 of the grant as it lies in the user's state folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionSealed:
    """A reply has come in and been accepted; what it says stays sealed."""

    turn: Turn
    digest: str
    """SHA-256 of salt and reply."""
    evidence: str
    """SHA-256 of salt and of what code had found for the reply; what is revealed rests on nothing else."""
    model_requested: str
    model_reported: str
    usage: Usage
    shown_paths: tuple[str, ...]
    """The changed paths that the seat was shown whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionRevealed:
    """A sealed reply, opened together with all others of its round."""

    turn: Turn
    salt: str
    reply: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceGathered:
    """What a check returned; run once per candidate."""

    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimChecked:
    """A seat's statement about a project command, held against what the command returned."""

    seat: str
    statement: str
    command: str
    says_passes: bool
    status: EvidenceStatus
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRaised:
    seat: str
    id: str
    round: int
    candidate: str
    severity: Severity
    location: str
    issue: str
    suggestion: str
    evidence: EvidenceStatus
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRuled:
    """The raiser's judgement of its own finding."""

    seat: str
    id: str
    ruling: Ruling
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictGiven:
    """A seat's judgement of one candidate; `approved` is computed from the ledger, `claimed` is what it said."""

    seat: str
    round: int
    candidate: str
    approved: bool
    claimed: bool
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRequested:
    """A reading is over and nothing is agreed: the author owes an answer to these findings."""

    seat: str
    round: int
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DispositionGiven:
    """The author's answer to one finding."""

    seat: str
    round: int
    id: str
    disposition: Disposition
    reasoning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateOffered:
    """The author's edit of one round is on the table; every verdict on what was there before is void."""

    seat: str
    round: int
    previous: str
    candidate: str
    """Full id of the commit, or of the tree of the files as they lie, that holds the edit."""
    changed: tuple[str, ...]
    """The paths that this edit changed: exactly those that its author listed."""
    paths: tuple[ChangedPath, ...]
    """Everything that differs between the docket's base and this candidate."""
    change: str
    """Digest of that difference as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateKept:
    """The author answered and changed nothing: the same candidate is read again."""

    seat: str
    round: int
    candidate: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionOffered:
    """A text of a seat's is on the table; every judgement of what was there before is void."""

    seat: str
    round: int
    revision: int
    """Its number, from 1."""
    candidate: str
    """SHA-256 of exactly the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundOpened:
    """Nothing is agreed and the case goes on."""

    round: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeOpened:
    """Whoever judges may now challenge these rulings."""

    round: int
    about: tuple[str, ...]


class FailureReason(StrEnum):
    BAD_REPLY = "bad_reply"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    WRONG_IDENTITY = "wrong_identity"
    TREE_TOUCHED = "tree_touched"
    """The agent changed what it was only to read."""
    VAULT_TOUCHED = "vault_touched"
    """Somebody had put another reply where this one was to be kept."""
    DRIVER_LOST = "driver_lost"
    """The driver that had asked died before the answer was kept."""
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFailed:
    """A question that brought no accepted answer; it changes only attempts and budget."""

    turn: Turn
    attempt: int
    reason: FailureReason
    detail: str
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteAdded:
    """A word of the supervisor's; part of the record, never a vote."""

    by: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserverDropped:
    """An application's event callback raised; it is called no more, and the case goes on."""

    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseClosed:
    """The last entry. `decision` is what the rules compute from the entries before it."""

    stop_reason: StopReason
    decision: Decision
    detail: str


Entry = (
    CaseOpened
    | ConsentGranted
    | SubmissionSealed
    | SubmissionRevealed
    | EvidenceGathered
    | ClaimChecked
    | FindingRaised
    | FindingRuled
    | VerdictGiven
    | AnswerRequested
    | DispositionGiven
    | CandidateOffered
    | CandidateKept
    | RevisionOffered
    | RoundOpened
    | ChallengeOpened
    | AttemptFailed
    | NoteAdded
    | ObserverDropped
    | CaseClosed
)

ENTRY_TYPES: Mapping[str, type[Entry]] = MappingProxyType(
    {
        "case-opened": CaseOpened,
        "consent-granted": ConsentGranted,
        "submission-sealed": SubmissionSealed,
        "submission-revealed": SubmissionRevealed,
        "evidence-gathered": EvidenceGathered,
        "claim-checked": ClaimChecked,
        "finding-raised": FindingRaised,
        "finding-ruled": FindingRuled,
        "verdict-given": VerdictGiven,
        "answer-requested": AnswerRequested,
        "disposition-given": DispositionGiven,
        "candidate-offered": CandidateOffered,
        "candidate-kept": CandidateKept,
        "revision-offered": RevisionOffered,
        "round-opened": RoundOpened,
        "challenge-opened": ChallengeOpened,
        "attempt-failed": AttemptFailed,
        "note-added": NoteAdded,
        "observer-dropped": ObserverDropped,
        "case-closed": CaseClosed,
    }
)
