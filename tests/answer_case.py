"""A case of `answer` played in memory: what a driver does, without a store, an agent or a clock."""

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
from counterpoint.core.docket import Docket, Seat, Terms
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
from counterpoint.core.shuffling import labels_of
from counterpoint.core.values import Turn, Usage
from counterpoint.errors import Refused
from counterpoint.protocols.answer import ANSWER, AnswerState, Phase

__all__ = [
    "ADA",
    "BOB",
    "CYD",
    "FILES",
    "NOW",
    "OWNER",
    "QUESTION",
    "SALT",
    "SPENT",
    "TREE",
    "Play",
    "opening",
    "refused",
    "through_json",
]

NOW: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)
OWNER: Final = "owner"
SALT: Final = "0123456789abcdef" * 2
SPENT: Final = Usage(input_tokens=100, output_tokens=10, known=True)
QUESTION: Final = "Which city is the capital of France?"
TREE: Final = "e" * 40
FILES: Final[Mapping[str, str]] = {"atlas.md": "France\nThe capital is Paris.\n"}
ADA: Final = Seat(name="ada", party="claude")
BOB: Final = Seat(name="bob", party="codex")
CYD: Final = Seat(name="cyd", party="gemini")


def opening(
    *roster: Seat,
    docket: Docket | None = None,
    limits: Limits | None = None,
    terms: Terms | None = None,
    quorum: int | None = None,
) -> CaseOpened:
    """Return the opening of a case by this roster, as the rules make it."""
    (entry,) = ANSWER.open(
        docket or Docket(question=QUESTION),
        roster,
        limits or Limits(max_rounds=3),
        case="answer-1",
        terms=terms or Terms(),
        quorum=len(roster) if quorum is None else quorum,
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
    """One case: its entries, their fold, and the vault of what is sealed. It has files if its docket names a tree."""

    def __init__(self, *roster: Seat, **plan: Any) -> None:
        self.entries: tuple[Entry, ...] = ()
        self.state: AnswerState = ANSWER.initial
        self.vault: dict[str, Opened] = {}
        self.append(opening(*(roster or (ADA, BOB)), **plan))

    def append(self, *entries: Entry) -> tuple[Entry, ...]:
        self.state = ANSWER.fold(entries, self.state)
        self.entries += entries
        return entries

    # --- replies, as a peer writes them

    def label(self, reader: str, seat: str) -> str:
        """Return under which label one peer knows another."""
        labels = labels_of(self.state.case.seed, reader, self.state.peers)
        return next(label for label, name in labels.items() if name == seat)

    def said(self, seat: str, answer: str = "", **named: Any) -> dict[str, Any]:
        """Return the reply that a seat owes now.

        `agrees`: names of peers; `objects`: what is objected to, by peer or, of a candidate, as a list of points;
        `why`, `where` and `quote`: of a change of mind, the last two also of each objection.
        """
        if self.state.phase == Phase.CONFIRMING:
            return self._confirmed(**named)
        first = {"reasoning": "I know it.", "keyPoints": list(named.get("points", ["as is known"])), "answer": answer}
        if self.state.phase == Phase.ANSWERING:
            return first
        place = {"where": named.get("where", ""), "quote": named.get("quote", "")}
        objections = [
            {"point": point, "reason": "it is not so", **place, "peer": self.label(seat, peer)}
            for peer, point in named.get("objects", {}).items()
        ]
        agrees = [self.label(seat, peer) for peer in named.get("agrees", ())]
        return {
            **first,
            "objections": objections,
            "agreesWith": agrees,
            "changedMind": named.get("why", ""),
            **place,
        }

    def _confirmed(self, **named: Any) -> dict[str, Any]:
        place = {"where": named.get("where", ""), "quote": named.get("quote", "")}
        objections = [{"point": point, "reason": "it is not so", **place} for point in named.get("objects", ())]
        return {
            "reasoning": "I read it once more.",
            "objections": objections,
            "candidate": named.get("candidate", self.state.docket.candidate),
            "approved": named.get("approved", not objections),
        }

    # --- turns

    def owed(self, seat: str) -> Turn:
        return next(turn for turn in ANSWER.due(self.state, NOW) if turn.seat == seat)

    def payload(self, seat: str) -> Mapping[str, Any]:
        return ANSWER.brief(self.state, self.owed(seat), Materials(change="", shown_paths=())).payload

    def weigh(self, seat: str, reply: object, *, turn: Turn | None = None) -> Opened:
        """Read a reply through the real parser and try it against the rules; return what is kept of it."""
        turn = turn or self.owed(seat)
        content = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        raw = Reply(content=content, model_requested="m", model_reported=NOT_REPORTED)
        submission = ANSWER.parse(self.state, turn, read_reply(raw, ANSWER.schema(self.state, turn)))
        evidence = tuple(self.look_up(r) for r in ANSWER.checks(self.state, turn, submission))
        assert ANSWER.admit(self.state, seat, turn, submission, evidence=evidence, now=NOW) == ()
        return Opened(salt=SALT, content=content.decode(), submission=submission, evidence=evidence)

    def look_up(self, request: Any) -> Evidence:
        assert isinstance(request, QuoteCheck | PathCheck)
        text = FILES.get(request.path)
        if isinstance(request, QuoteCheck):
            is_there = text is not None and request.text in text
        else:
            is_there = text is not None and (request.line or 0) <= text.count("\n")
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
        return self.append(*ANSWER.admit(self.state, speaker, None, submission, evidence=(), now=NOW))

    def settle(self, minutes: int = 0) -> tuple[Entry, ...]:
        """Let follow what follows by itself so many minutes later."""
        return self.append(*ANSWER.settle(self.state, NOW + timedelta(minutes=minutes), self.vault))

    def all_say(self, **given: dict[str, Any] | str | None) -> Entry:
        """Have everybody who owes a turn answer and settle; return what followed.

        A text is an answer, an object the arguments of `said`, None fails the seat for good.
        """
        for turn in ANSWER.due(self.state, NOW):
            named = given[turn.seat]
            if named is None:
                for _ in range(self.state.case.limits.max_asks):
                    self.fail(turn.seat)
            else:
                self.answer(
                    turn.seat,
                    self.said(turn.seat, named) if isinstance(named, str) else self.said(turn.seat, **named),
                )
        return self.settle()[-1]

    @property
    def outcome(self) -> Outcome:
        return ANSWER.outcome(self.state)

    def refold(self) -> AnswerState:
        """Return the state as another program reads it: every entry through JSON, from the beginning."""
        return ANSWER.fold(tuple(through_json(entry) for entry in self.entries))
