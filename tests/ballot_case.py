"""A ballot played in memory: what a driver does, without a store, an agent or a clock."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from counterpoint.agents.base import NOT_REPORTED, Reply, read_reply
from counterpoint.core.canonical import canonical_json
from counterpoint.core.checks import Evidence, EvidenceStatus, PathCheck, QuoteCheck
from counterpoint.core.codec import decode, encode, entry_type
from counterpoint.core.docket import Docket, Seat, SeatKind, Terms
from counterpoint.core.entries import (
    AnswerRequested,
    AttemptFailed,
    CaseOpened,
    Entry,
    FailureReason,
    SubmissionRevealed,
    SubmissionSealed,
)
from counterpoint.core.limits import Limits
from counterpoint.core.outcome import Outcome
from counterpoint.core.rules import AddNote, Materials, Opened, Withdraw
from counterpoint.core.sealing import seal, seal_evidence
from counterpoint.core.values import Turn, Usage
from counterpoint.errors import Refused
from counterpoint.protocols.ballot import BALLOT, BallotState, as_text, candidate_of, reservations_of

__all__ = [
    "ANN",
    "BEN",
    "CAT",
    "NOW",
    "ORCHESTRATOR",
    "OWNER",
    "SOURCES",
    "TEXT",
    "Play",
    "challenge",
    "docket_of",
    "opening",
    "refused",
    "revision",
    "through_json",
    "vote",
    "weights",
]

NOW: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)
OWNER: Final = "owner"
SALT: Final = "0123456789abcdef" * 2
SPENT: Final = Usage(input_tokens=100, output_tokens=10, known=True)
ORCHESTRATOR: Final = Seat(name="orchestrator", party="gemini", kind=SeatKind.AUTHOR)
ANN: Final = Seat(name="ann", party="claude")
BEN: Final = Seat(name="ben", party="codex")
CAT: Final = Seat(name="cat", party="owner-of-it", agent="human")
SOURCES: Final = "5" * 64
BODY: Final = "A timer fires once.\n\n- It never fires twice.\n"
TEXT: Final = as_text(BODY)


def docket_of(body: str = BODY, *, title: str = "Timers", **more: Any) -> Docket:
    text = as_text(body)
    return Docket(question=title, candidate=candidate_of(text), text=text, **more)


def opening(
    *roster: Seat,
    docket: Docket | None = None,
    limits: Limits | None = None,
    terms: Terms | None = None,
    quorum: int | None = None,
) -> CaseOpened:
    """Return the opening of a ballot by this roster, as the rules make it."""
    (entry,) = BALLOT.open(
        docket or docket_of(),
        roster,
        limits or Limits(max_rounds=3),
        case="ballot-1",
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


class Play:
    """One case: its entries, their fold, and the vault of what is sealed."""

    def __init__(self, *roster: Seat, sources: Mapping[str, str] | None = None, **plan: Any) -> None:
        self.sources = sources
        if sources is not None:
            plan.setdefault("terms", Terms(sources=SOURCES))
        self.entries: tuple[Entry, ...] = ()
        self.state: BallotState = BALLOT.initial
        self.vault: dict[str, Opened] = {}
        self.append(opening(*(roster or (ORCHESTRATOR, ANN, BEN)), **plan))

    def append(self, *entries: Entry) -> tuple[Entry, ...]:
        self.state = BALLOT.fold(entries, self.state)
        self.entries += entries
        return entries

    def owed(self, seat: str) -> Turn:
        return next(turn for turn in BALLOT.due(self.state, NOW) if turn.seat == seat)

    def payload(self, seat: str) -> Mapping[str, Any]:
        return BALLOT.brief(self.state, self.owed(seat), Materials(change="", shown_paths=())).payload

    def weigh(self, seat: str, reply: object, *, turn: Turn | None = None) -> Opened:
        """Read a reply through the real parser and try it against the rules; return what is kept of it."""
        turn = turn or self.owed(seat)
        content = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        raw = Reply(content=content, model_requested="m", model_reported=NOT_REPORTED)
        submission = BALLOT.parse(self.state, turn, read_reply(raw, BALLOT.schema(self.state, turn)))
        evidence = tuple(self.look_up(r) for r in BALLOT.checks(self.state, turn, submission))
        assert BALLOT.admit(self.state, seat, turn, submission, evidence=evidence, now=NOW) == ()
        return Opened(salt=SALT, content=content.decode(), submission=submission, evidence=evidence)

    def look_up(self, request: Any) -> Evidence:
        assert isinstance(request, QuoteCheck | PathCheck)
        text = (self.sources or {}).get(request.path)
        is_there = text is not None and (isinstance(request, PathCheck) or request.text in text)
        status = EvidenceStatus.VERIFIED if is_there else EvidenceStatus.REFUTED
        return Evidence(request=request, status=status, detail="it stands there" if is_there else "it is not there")

    def answer(self, seat: str, reply: object) -> SubmissionSealed:
        """Have a seat answer the turn it owes: read, checked, tried against the rules, kept and sealed."""
        turn, opened = self.owed(seat), self.weigh(seat, reply)
        entry = SubmissionSealed(
            turn=turn,
            digest=seal(opened.salt, opened.content.encode()),
            evidence=seal_evidence(opened.salt, opened.evidence),
            model_requested="m",
            model_reported=NOT_REPORTED,
            usage=SPENT,
            shown_paths=(),
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

    def speak(self, submission: AddNote | Withdraw, speaker: str = OWNER) -> tuple[Entry, ...]:
        return self.append(*BALLOT.admit(self.state, speaker, None, submission, evidence=(), now=NOW))

    def settle(self, minutes: int = 0) -> Entry:
        """Let follow what follows by itself so many minutes later, and return the last of it."""
        entries = BALLOT.settle(self.state, NOW + timedelta(minutes=minutes), self.vault)
        self.append(*entries)
        return entries[-1]

    def settle_rest(self) -> Entry:
        """Reveal what is still sealed of a vote, and have its reservations classified."""
        seats = [s.turn.seat for s in self.state.sealed.values() if s.turn.id not in self.state.revealed]
        self.append(*(self.revealed(seat) for seat in seats))
        ids = tuple(each.id for each in reservations_of(self.state, self.state.round))
        asked = AnswerRequested(seat=self.state.orchestrator, round=self.state.round, findings=ids)
        return self.append(asked)[-1]

    def all_answer(self, *replies: object) -> Entry:
        """Have everybody who owes a turn answer, in the roster's order, and settle; None fails one for good."""
        for turn, reply in zip(BALLOT.due(self.state, NOW), replies, strict=True):
            if reply is None:
                for _ in range(self.state.case.limits.max_asks):
                    self.fail(turn.seat)
            else:
                self.answer(turn.seat, reply(self) if callable(reply) else reply)
        return self.settle()

    @property
    def outcome(self) -> Outcome:
        return BALLOT.outcome(self.state)

    def refold(self) -> BallotState:
        """Return the state as another program reads it: every entry through JSON, from the beginning."""
        return BALLOT.fold(tuple(through_json(entry) for entry in self.entries))


def vote(case: Play, word: str = "Approved", *points: str, needs: str = "nothing", **changes: Any) -> dict[str, Any]:
    """Return a vote on what is on the table, as a voter writes it; with points it has reservations."""
    word = {"yes": "Approved", "but": "Approved with reservations", "no": "Rejected"}.get(word, word)
    written = {
        "reason": f"{word}, since I read it",
        "reservations": [{"point": point, "needs": needs} for point in points],
        "version": case.state.version,
        "candidate": case.state.docket.candidate,
        "vote": word,
    }
    return written | changes


def weights(**given: str) -> dict[str, Any]:
    """Return a classification; `v1_R1="cosmetic"` names the reservation `v1-R1`."""
    named = [
        {"reservation": key.replace("_", "-"), "reason": f"it is {word}", "weight": word}
        for key, word in given.items()
    ]
    return {"classifications": named}


def challenge(*ids: str) -> dict[str, Any]:
    return {"challenges": [{"reservation": each, "reason": "it changes the meaning"} for each in ids]}


def revision(body: str, *answered: str) -> dict[str, Any]:
    """Return the orchestrator's next version with an answer to each of these."""
    return {"answers": [{"objection": each, "answer": "I changed it"} for each in answered], "text": body}
