"""What a protocol is: a value of pure functions, and the shapes that pass between them and the driver.

The driver repeats: fold the record, `settle`, ask whoever is `due`, look up `checks`, `admit`, append. A blind turn's
submission is only tried against `admit` when it arrives; its seal is recorded, and `settle` reveals all of a round
together from what the driver opens out of the vault.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from counterpoint.core.briefs import Brief
from counterpoint.core.case import CaseState
from counterpoint.core.checks import CheckRequest
from counterpoint.core.docket import Docket, Seat, Terms
from counterpoint.core.edits import CheckResult
from counterpoint.core.entries import CaseOpened, Entry
from counterpoint.core.limits import Limits
from counterpoint.core.outcome import Outcome, exit_code
from counterpoint.core.values import Turn
from counterpoint.core.wording import describe
from counterpoint.errors import Refused

__all__ = ["SUPERVISOR_TURN", "AddNote", "Exhibit", "Materials", "Opened", "Rules", "Withdraw", "step_phase"]

S = TypeVar("S", bound=CaseState)
S_contra = TypeVar("S_contra", bound=CaseState, contravariant=True)

SUPERVISOR_TURN = None
"""Passed as the turn for speech that nobody was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddNote:
    """The supervisor says something into the record."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdraw:
    """The supervisor ends the case without a decision."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """What one turn is about, by id: the driver hands out the bytes."""

    base: str
    """What the seat is shown the difference from: the docket's base, or the candidate that it judged last."""
    candidate: str
    edits: bool = False
    """Whether the seat works in the work tree itself, and may change it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Materials:
    """Bytes that the docket only names by digest, handed to briefs by the driver."""

    change: str
    """The change as text."""
    shown_paths: tuple[str, ...]
    """Changed paths whose change stands whole in `change`."""
    not_shown: tuple[str, ...] = ()
    """One line per changed path that did not fit, with its size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A sealed reply as the vault gives it back."""

    salt: str
    content: str
    submission: Any
    """What the protocol's `parse` made of it."""
    evidence: tuple[CheckResult, ...]
    """What the submission's check requests returned, in their order."""


class _Open(Protocol):
    def __call__(
        self,
        docket: Docket,
        roster: tuple[Seat, ...],
        limits: Limits,
        *,
        case: str,
        terms: Terms,
        quorum: int,
        supervisor: str,
        seed: str,
        now: datetime,
    ) -> tuple[Entry, ...]: ...


class _Admit(Protocol[S_contra]):
    def __call__(
        self,
        state: S_contra,
        speaker: str,
        turn: Turn | None,
        submission: Any,
        *,
        evidence: tuple[CheckResult, ...],
        now: datetime,
    ) -> tuple[Entry, ...]: ...


def _nothing_is_edited(_case: CaseOpened) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules(Generic[S]):
    """One protocol."""

    name: str
    version: int
    initial: S
    table: Mapping[str, Mapping[type[Entry], str]]
    """Which entry may follow in which phase, and the phase it leads to."""
    open: _Open
    """Return the entries that open a case, `CaseOpened` first; raises `Refused`."""
    apply: Callable[[S, Entry], S]
    """Return the state after an entry; raises `Refused` (PHASE-1) where the table has no such step."""
    due: Callable[[S, datetime], tuple[Turn, ...]]
    """Return the turns now owed; on a settled state empty exactly when the case is closed."""
    exhibit: Callable[[S, Turn], Exhibit]
    brief: Callable[[S, Turn, Materials], Brief]
    schema: Callable[[S, Turn], Mapping[str, Any]]
    """Return the JSON Schema of the one object that answers a turn."""
    parse: Callable[[S, Turn, Mapping[str, Any]], Any]
    """Return the typed submission in a schema-valid reply."""
    checks: Callable[[S, Turn, Any], tuple[CheckRequest, ...]]
    """Return what code must look up before `admit`."""
    admit: _Admit[S]
    """Return the entries that a submission becomes; raises `Refused`."""
    settle: Callable[[S, datetime, Mapping[str, Opened]], tuple[Entry, ...]]
    """Return what follows by itself: a deadline, a budget, a reveal, a close. Idempotent."""
    outcome: Callable[[S], Outcome]
    edits: Callable[[CaseOpened], bool] = _nothing_is_edited
    """Return whether somebody in this case works in the work tree itself, and may change it."""
    describe: Callable[[Entry], str] = describe
    """Return what an entry says to people, as Markdown; text of others in one line or in a quotation."""
    exit_code: Callable[[Outcome], int] = exit_code
    """Return the exit code of a command that ends with this outcome."""
    document: Callable[[S, Mapping[str, str]], str] | None = None
    """Return the file that a case of this protocol keeps up to date, where it was begun on one; given are the state
    and the instant at which each accepted answer was sealed, by its turn's id."""

    def fold(self, entries: tuple[Entry, ...], state: S | None = None) -> S:
        """Return the state after `entries`, from `state` or from the beginning."""
        folded = self.initial if state is None else state
        for entry in entries:
            folded = self.apply(folded, entry)
        return folded


def step_phase(table: Mapping[str, Mapping[type[Entry], str]], phase: str, entry: Entry) -> str:
    """Return the phase after `entry`.

    Raises:
        Refused: PHASE-1, the table has no such step.
    """
    found = table[phase].get(type(entry))
    if found is None:
        raise Refused("PHASE-1", f"{type(entry).__name__} cannot follow in phase {str(phase)!r}")
    return found
