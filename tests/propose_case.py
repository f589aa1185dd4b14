"""A case of `propose` played in memory: what a driver does, without a store, an agent or a clock."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from counterpoint.agents.base import Reply, read_reply
from counterpoint.core.canonical import canonical_json
from counterpoint.core.checks import Evidence, EvidenceStatus, PathCheck
from counterpoint.core.codec import decode, encode, entry_type
from counterpoint.core.docket import Docket, Seat, SeatKind, Terms
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
from counterpoint.core.rules import AddNote, Materials, Opened, Withdraw
from counterpoint.core.sealing import seal, seal_evidence
from counterpoint.core.values import Turn, Usage
from counterpoint.errors import Refused
from counterpoint.protocols.propose import PROPOSE, ProposeState

__all__ = [
    "CRITIC",
    "DOCKET",
    "LIMITS",
    "NOW",
    "OWNER",
    "PROPOSER",
    "SECOND",
    "Play",
    "answer",
    "asking",
    "issue",
    "opening",
    "proposal",
    "refused",
    "review",
    "ruling",
    "scan",
    "through_json",
]

NOW: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)
OWNER: Final = "owner"
SALT: Final = "0123456789abcdef" * 2
PROPOSER: Final = Seat(name="proposer", party="pair", kind=SeatKind.AUTHOR)
CRITIC: Final = Seat(name="critic", party="pair")
SECOND: Final = Seat(name="critic-2", party="other")
DOCKET: Final = Docket(question="Let users export their data.", context="There are 40,000 of them.")
LIMITS: Final = Limits(max_rounds=4, min_rounds=2, stall_rounds=2, max_calls=0, max_asks=1)
SPENT: Final = Usage(input_tokens=100, output_tokens=10, known=True)


def proposal(*answers: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a proposal as a proposer writes it."""
    written = {
        "needs_clarification": False,
        "clarification_questions": [],
        "problem_statement": "Users cannot take their data away.",
        "goal": "An export that each user starts.",
        "success_criteria": ["an export of 1 GB ends within a minute"],
        "assumptions": [],
        "options": [{"id": "zip", "title": "A ZIP", "approach": "stream it", "tradeoffs": ["no resume"]}],
        "recommended_option_id": "zip",
        "recommendation": "Stream a ZIP.",
        "implementation_steps": ["write the endpoint"],
        "conditions": [],
        "validation_steps": ["export the largest account"],
        "public_summary": "A streamed ZIP.",
        "responses": list(answers),
    }
    return written | changes


def asking(*questions: str) -> dict[str, Any]:
    """Return a proposal that asks a person instead."""
    bare = {key: "" if isinstance(value, str) else [] for key, value in proposal().items()}
    return bare | {"needs_clarification": True, "clarification_questions": list(questions)}


def answer(issue_id: str = "I1", action: str = "fix", *, change: str = "the steps say so now") -> dict[str, Any]:
    return {"issue_id": issue_id, "summary": "It is answered.", "change": change, "action": action}


def scan(**changes: Any) -> dict[str, Any]:
    """Return a risk scan as a critic writes it."""
    area = {"id": "R1", "concern": "personal data leaks", "check": "look at the log", "severity": "high"}
    written = {
        "needs_clarification": False,
        "clarification_questions": [],
        "success_criteria": ["nobody else can fetch it"],
        "risk_areas": [area],
        "public_summary": "Mind who may fetch it.",
    }
    return written | changes


def issue(issue_id: str = "I1", severity: str = "high", **changes: Any) -> dict[str, Any]:
    written = {
        "id": issue_id,
        "title": "The link can be guessed",
        "description": "The address of an export is a counter.",
        "target": "implementation_steps",
        "resolution_criterion": "the address is random",
        "severity": severity,
    }
    return written | changes


def ruling(issue_id: str = "I1", status: str = "resolved") -> dict[str, Any]:
    return {"issue_id": issue_id, "rationale": "I read the answer.", "status": status}


def review(
    version: int = 1, *rulings: Mapping[str, Any], new: tuple[Mapping[str, Any], ...] = (), **changes: Any
) -> dict[str, Any]:
    """Return a review as a critic writes it; it accepts when nothing is open in it, unless stated."""
    is_open = bool(new) or any(r["status"] in {"open", "disputed"} for r in rulings)
    written = {
        "reviewed_version": version,
        "issue_evaluations": list(rulings),
        "new_issues": list(new),
        "conditions": [],
        "next_steps": [],
        "clarification_questions": [],
        "public_summary": "I read it.",
        "assessment": "revise" if is_open else "accept",
    }
    return written | changes


def opening(
    *roster: Seat, docket: Docket = DOCKET, limits: Limits = LIMITS, quorum: int | None = None, **terms: Any
) -> CaseOpened:
    """Return the opening of a case by this roster, as the rules make it."""
    (entry,) = PROPOSE.open(
        docket,
        roster,
        limits,
        case="propose-1",
        terms=Terms(**terms),
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

    def __init__(self, *roster: Seat, files: Mapping[str, int] | None = None, **plan: Any) -> None:
        self.files = files or {}
        """Number of lines by path, of the commit that the seats may read."""
        self.entries: tuple[Entry, ...] = ()
        self.state: ProposeState = PROPOSE.initial
        self.vault: dict[str, Opened] = {}
        self.append(opening(*(roster or (PROPOSER, CRITIC)), **plan))

    def append(self, *entries: Entry) -> tuple[Entry, ...]:
        self.state = PROPOSE.fold(entries, self.state)
        self.entries += entries
        return entries

    def owed(self, seat: str) -> Turn:
        return next(turn for turn in PROPOSE.due(self.state, NOW) if turn.seat == seat)

    def payload(self, seat: str) -> Mapping[str, Any]:
        return PROPOSE.brief(self.state, self.owed(seat), Materials(change="", shown_paths=())).payload

    def weigh(self, seat: str, reply: object, *, turn: Turn | None = None) -> Opened:
        """Read a reply through the real parser and try it against the rules; return what is kept of it."""
        turn = turn or self.owed(seat)
        content = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        raw = Reply(content=content, model_requested="m", model_reported="m")
        submission = PROPOSE.parse(self.state, turn, read_reply(raw, PROPOSE.schema(self.state, turn)))
        evidence = tuple(self.look_up(r) for r in PROPOSE.checks(self.state, turn, submission))
        assert PROPOSE.admit(self.state, seat, turn, submission, evidence=evidence, now=NOW) == ()
        return Opened(salt=SALT, content=content.decode(), submission=submission, evidence=evidence)

    def look_up(self, request: Any) -> Evidence:
        assert isinstance(request, PathCheck)
        is_there = self.files.get(request.path, -1) >= (request.line or 0)
        status = EvidenceStatus.VERIFIED if is_there else EvidenceStatus.REFUTED
        return Evidence(request=request, status=status, detail="it is there" if is_there else "it is not there")

    def answer(self, seat: str, reply: object, *, model: str = "m", usage: Usage = SPENT) -> SubmissionSealed:
        """Have a seat answer the turn it owes: read, checked, tried against the rules, kept and sealed."""
        turn, opened = self.owed(seat), self.weigh(seat, reply)
        entry = SubmissionSealed(
            turn=turn,
            digest=seal(opened.salt, opened.content.encode()),
            evidence=seal_evidence(opened.salt, opened.evidence),
            model_requested=model,
            model_reported=model,
            usage=usage,
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
        return self.append(*PROPOSE.admit(self.state, speaker, None, submission, evidence=(), now=NOW))

    def settle(self, minutes: int = 0) -> Entry | None:
        """Let follow what follows by itself so many minutes later, and return the last of it."""
        entries = PROPOSE.settle(self.state, NOW + timedelta(minutes=minutes), self.vault)
        self.append(*entries)
        return entries[-1] if entries else None

    def play(self, *replies: object) -> Entry | None:
        """Have everybody who owes a turn answer, in the roster's order, and settle; None fails one for good."""
        for turn, reply in zip(PROPOSE.due(self.state, NOW), replies, strict=True):
            if reply is None:
                self.fail(turn.seat)
            else:
                self.answer(turn.seat, reply)
        return self.settle()

    def reviewed(self, *new: Mapping[str, Any]) -> "Play":
        """Play the opening and a first review that raises these; return the case, with its proposer to revise."""
        self.play(proposal(), scan())
        self.play(review(1, new=new))
        return self

    @property
    def outcome(self) -> Outcome:
        return PROPOSE.outcome(self.state)

    def refold(self) -> ProposeState:
        """Return the state as another program reads it: every entry through JSON, from the beginning."""
        return PROPOSE.fold(tuple(through_json(entry) for entry in self.entries))
