"""A case of any protocol played in memory: what a driver does, without a store, an agent or a clock."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final, Generic, TypeVar

import pytest

from counterpoint.agents.base import NOT_REPORTED, Reply, read_reply
from counterpoint.core.canonical import canonical_json
from counterpoint.core.case import CaseState
from counterpoint.core.checks import CheckRequest, Evidence, EvidenceStatus, LookUp
from counterpoint.core.codec import decode, encode, entry_type
from counterpoint.core.docket import Docket, Seat, SeatKind, Terms
from counterpoint.core.edits import CheckResult
from counterpoint.core.entries import (
    AttemptFailed,
    CaseOpened,
    Entry,
    FailureReason,
    SubmissionRevealed,
    SubmissionSealed,
)
from counterpoint.core.limits import Limits
from counterpoint.core.outcome import Outcome
from counterpoint.core.rules import AddNote, Materials, Opened, Rules, Withdraw
from counterpoint.core.sealing import seal, seal_evidence
from counterpoint.core.values import Turn, Usage
from counterpoint.errors import Refused

__all__ = [
    "NOTHING_SHOWN",
    "NOW",
    "OWNER",
    "SALT",
    "SPENT",
    "CasePlay",
    "as_bytes",
    "as_looked_up",
    "opened_by",
    "refused",
    "through_json",
]

S = TypeVar("S", bound=CaseState)

NOW: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)
OWNER: Final = "owner"
SALT: Final = "0123456789abcdef" * 2
SPENT: Final = Usage(input_tokens=100, output_tokens=10, known=True)
NOTHING_SHOWN: Final = Materials(change="", shown_paths=())


def opened_by(
    rules: Rules[S],
    roster: tuple[Seat, ...],
    *,
    docket: Docket,
    limits: Limits | None = None,
    terms: Terms | None = None,
    quorum: int | None = None,
) -> CaseOpened:
    """Return the opening of a case by this roster, as the rules make it; everybody but an author is needed."""
    (entry,) = rules.open(
        docket,
        roster,
        limits or Limits(),
        case=f"{rules.name}-1",
        terms=terms or Terms(),
        quorum=sum(seat.kind is not SeatKind.AUTHOR for seat in roster) if quorum is None else quorum,
        supervisor=OWNER,
        seed="5eed",
        now=NOW,
    )
    assert isinstance(entry, CaseOpened)
    return entry


@contextmanager
def refused(rule: str, reason: str) -> Iterator[None]:
    """Expect a refusal by this rule, with exactly these words."""
    with pytest.raises(Refused) as caught:
        yield
    assert (caught.value.rule, caught.value.reason) == (rule, reason)


def through_json(entry: Entry) -> Entry:
    """Return the entry as it comes back from a record."""
    return decode(entry_type(entry), json.loads(canonical_json(encode(entry))))


def as_bytes(reply: object) -> bytes:
    return reply if isinstance(reply, bytes) else json.dumps(reply).encode()


def as_looked_up(request: LookUp, *, is_there: bool, missing: str = "it is not there") -> Evidence:
    """Return what code says of something that it looked for in a text."""
    status = EvidenceStatus.VERIFIED if is_there else EvidenceStatus.REFUTED
    return Evidence(request=request, status=status, detail="it stands there" if is_there else missing)


class CasePlay(ABC, Generic[S]):
    """One case: its entries, their fold, and the vault of what is sealed."""

    reports: ClassVar[str] = NOT_REPORTED
    """What a seat says its model is, unless stated."""

    def __init__(self, rules: Rules[S], opening: CaseOpened) -> None:
        self.rules = rules
        self.entries: tuple[Entry, ...] = ()
        self.state: S = rules.initial
        self.vault: dict[str, Opened] = {}
        self.sent: list[tuple[Turn, Mapping[str, Any]]] = []
        """What each seat that answered was sent."""
        self.append(opening)

    @abstractmethod
    def look_up(self, request: Any) -> CheckResult:
        """Return what code finds when it looks."""

    def materials(self, seat: str) -> Materials:
        """Return what a driver shows a seat beside what the record says."""
        return NOTHING_SHOWN

    def append(self, *entries: Entry) -> tuple[Entry, ...]:
        self.state = self.rules.fold(entries, self.state)
        self.entries += entries
        return entries

    def due(self) -> tuple[Turn, ...]:
        return self.rules.due(self.state, NOW)

    def owed(self, seat: str) -> Turn:
        return next(turn for turn in self.due() if turn.seat == seat)

    def payload(self, seat: str) -> Mapping[str, Any]:
        return self.rules.brief(self.state, self.owed(seat), self.materials(seat)).payload

    def weigh(self, seat: str, reply: object, *, turn: Turn | None = None) -> tuple[Opened, tuple[Entry, ...]]:
        """Read a reply through the real parser and try it; return what is kept of it, and what it would become."""
        turn, rules = turn or self.owed(seat), self.rules
        content = as_bytes(reply)
        raw = Reply(content=content, model_requested="m", model_reported=NOT_REPORTED)
        submission = rules.parse(self.state, turn, read_reply(raw, rules.schema(self.state, turn)))
        requests: tuple[CheckRequest, ...] = rules.checks(self.state, turn, submission)
        evidence = tuple(self.look_up(request) for request in requests)
        entries = rules.admit(self.state, seat, turn, submission, evidence=evidence, now=NOW)
        return Opened(salt=SALT, content=content.decode(), submission=submission, evidence=evidence), entries

    def answer(
        self,
        seat: str,
        reply: object,
        *,
        model: str | None = None,
        usage: Usage = SPENT,
        shown: Sequence[str] | None = None,
    ) -> SubmissionSealed:
        """Have a seat answer the turn it owes: read, checked, tried against the rules, kept and sealed."""
        turn = self.owed(seat)
        opened, _ = self.weigh(seat, reply)
        brief = self.rules.brief(self.state, turn, self.materials(seat))
        self.sent.append((turn, brief.payload))
        entry = SubmissionSealed(
            turn=turn,
            digest=seal(opened.salt, opened.content.encode()),
            evidence=seal_evidence(opened.salt, opened.evidence),
            model_requested=model or "m",
            model_reported=model or self.reports,
            usage=usage,
            shown_paths=brief.shown_paths if shown is None else tuple(shown),
        )
        self.append(entry)
        self.vault[turn.id] = opened
        return entry

    def revealed(self, seat: str) -> SubmissionRevealed:
        """Return the entry that opens what the seat has sealed."""
        turn = self.state.sealed[seat].turn
        return SubmissionRevealed(turn=turn, salt=SALT, reply=self.vault[turn.id].content)

    def fail(
        self, seat: str, reason: FailureReason = FailureReason.TIMEOUT, detail: str = "no answer"
    ) -> AttemptFailed:
        turn = self.owed(seat)
        entry = AttemptFailed(turn=turn, attempt=turn.ask, reason=reason, detail=detail, usage=Usage())
        self.append(entry)
        return entry

    def fail_for_good(self, seat: str) -> None:
        """Fail as often as the seat is asked."""
        for _ in range(self.state.case.limits.max_asks):
            self.fail(seat)

    def speak(self, submission: AddNote | Withdraw, speaker: str = OWNER) -> tuple[Entry, ...]:
        return self.append(*self.rules.admit(self.state, speaker, None, submission, evidence=(), now=NOW))

    def settle(self, minutes: int = 0) -> tuple[Entry, ...]:
        """Let follow what follows by itself so many minutes later."""
        return self.append(*self.rules.settle(self.state, NOW + timedelta(minutes=minutes), self.vault))

    def all_answer(self, *replies: object) -> Entry:
        """Have all who owe a turn answer, in the roster's order, and settle; None fails one. Return what followed."""
        for turn, reply in zip(self.due(), replies, strict=True):
            if reply is None:
                self.fail_for_good(turn.seat)
            else:
                self.answer(turn.seat, reply)
        return self.settle()[-1]

    @property
    def outcome(self) -> Outcome:
        return self.rules.outcome(self.state)

    def refold(self) -> S:
        """Return the state as another program reads it: every entry through JSON, from the beginning."""
        return self.rules.fold(tuple(through_json(entry) for entry in self.entries))
