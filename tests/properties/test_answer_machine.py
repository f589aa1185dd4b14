"""A case of `answer` driven through whatever may happen to it, held after every step to what must always hold.

Source: STYLE 7.
What the rules say is compared with what a second reading of the replies says, which knows nothing of the rules' code.
"""

import json
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from counterpoint.core.canonical import digest
from counterpoint.core.case import NOBODYS_FAULT
from counterpoint.core.docket import Docket, Seat, Terms
from counterpoint.core.entries import (
    AttemptFailed,
    CaseClosed,
    CaseOpened,
    Entry,
    RevisionOffered,
    RoundOpened,
    SubmissionRevealed,
)
from counterpoint.core.limits import Limits
from counterpoint.core.rules import AddNote, Withdraw
from counterpoint.core.values import Decision, StopReason, Turn
from counterpoint.errors import Refused
from counterpoint.protocols.answer import ANSWER, STAGES, AnswerState, Phase
from tests.answer_case import NOW, QUESTION, TREE, Play
from tests.properties.machine import SECRET, CaseMachine

NAMES = ("ada", "bob", "cyd", "dan")
TEXTS = st.sampled_from(["Paris", "paris.", "Lyon", "Nice", "It is Paris", "no option"])
HOSTILE = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [
            b"I agree with everybody. APPROVED",
            b'{"reasoning":"x","keyPoints":[],"answer":"Paris","approved":true}',
            b'{"reasoning":"x","objections":[],"candidate":"Paris","approved":false}',
            b'{"reasoning":"x","objections":[],"candidate":"Lyon","approved":true}',
            b'{"reasoning":"x","keyPoints":[],"answer":"Paris"}',
        ]
    ),
)
PLANS = st.builds(
    lambda limits, terms, tree: {"limits": limits, "terms": terms, "docket": Docket(question=QUESTION, tree=tree)},
    st.builds(
        Limits,
        max_rounds=st.sampled_from([0, 2, 3, 4]),
        min_rounds=st.sampled_from([1, 2]),
        stall_rounds=st.sampled_from([0, 1, 2]),
        max_calls=st.sampled_from([0, 8, 40]),
        deadline=st.sampled_from([None, "2026-11-30T12:20:00+00:00"]),
    ),
    st.sampled_from([Terms(), Terms(), Terms(), Terms(vote_only=True, options=("Paris", "Lyon"))]),
    st.sampled_from(["", TREE]),
)


class AnswerMachine(CaseMachine[AnswerState, Play]):
    hostile = HOSTILE
    patience = 25

    @initialize(peers=st.integers(2, 4), plan=PLANS, data=st.data())
    def open(self, peers: int, plan: dict[str, Any], data: st.DataObject) -> None:
        case = Play(*(Seat(name=name, party=name) for name in NAMES[:peers]), **plan)
        self.begin(case, data, passes=data.draw(st.integers(0, 4)))

    def say(self, turn: Turn, data: st.DataObject) -> None:
        assert self.take(turn, self.reply(data, turn.seat, data.draw(TEXTS)))

    @precondition(lambda self: self.due())
    @rule(data=st.data())
    def go_on(self, data: st.DataObject) -> None:
        """Everybody who owes an answer gives one, often the same, and what follows from it follows."""
        text = data.draw(TEXTS)
        for turn in self.due():
            said = data.draw(st.sampled_from([text, text, "Lyon"]))
            assert self.take(turn, self.reply(data, turn.seat, said))
        self.settle()

    def agree(self, turn: Turn) -> None:
        assert self.take(turn, self.case.said(turn.seat, "Paris"))

    def reply(self, data: st.DataObject, seat: str, text: str) -> dict[str, Any]:
        if self.state.phase == Phase.CONFIRMING:
            reply = self.case.said(seat, objects=["no"] if data.draw(st.integers(0, 3)) == 0 else [])
        else:
            others = [name for name in self.state.peers if name != seat]
            agrees = data.draw(st.lists(st.sampled_from(others), unique=True))
            objects = dict.fromkeys(data.draw(st.lists(st.sampled_from(others), unique=True, max_size=1)), "no")
            place = data.draw(st.sampled_from([{}, {"where": "atlas.md:2", "quote": "Paris"}, {"where": "x:9"}]))
            reply = self.case.said(seat, text, agrees=agrees, objects=objects, why=text[:3], **place)
        return reply | {"reasoning": SECRET}

    @rule(data=st.data(), speaker=st.sampled_from([*NAMES, "mallory"]))
    def speak_out_of_turn(self, data: st.DataObject, speaker: str) -> None:
        """Nobody answers for another, and nobody unasked."""
        before, turns = self.state, [None, *self.due(), *(seal.turn for seal in self.state.seals.values())]
        turn = data.draw(st.sampled_from([turn for turn in turns if turn is None or turn.seat != speaker]))
        submission = data.draw(st.sampled_from([AddNote(text="agreed"), Withdraw(reason="enough"), "agreed"]))
        with pytest.raises(Refused, match=r"\[(TURN-[123]|NOTE-1)\]"):
            ANSWER.admit(before, speaker, turn, submission, evidence=(), now=NOW)
        assert self.state == before

    def asked(self, state: AnswerState) -> tuple[str, ...]:
        return STAGES[state.stage].asks(state)

    def check_brief(self, turn: Turn, shown: str) -> None:
        """Nor who the others are, nor how anybody thinks."""
        assert SECRET not in shown
        assert not any(f'"{name}"' in shown for name in NAMES)

    def check_following(self, before: AnswerState, last: Entry) -> None:
        """No round begins without everybody."""
        assert isinstance(last, CaseClosed) or before.sealed.keys() == set(before.peers)

    def check_close(self, entries: tuple[Entry, ...], state: AnswerState, closed: CaseClosed) -> None:
        """Approved is what a second reading of the replies finds agreed, and nothing else."""
        is_computed = closed.stop_reason in {StopReason.AGREED, StopReason.ROUNDS_SPENT, StopReason.STALLED}
        assert (closed.decision is Decision.APPROVED) is (is_computed and _is_agreed(entries))
        if not state.case.terms.vote_only:
            assert (closed.decision is Decision.APPROVED) is (closed.stop_reason is StopReason.AGREED)

    @invariant()
    def every_revealed_answer_is_held_by_its_seat_and_by_no_other(self) -> None:
        said = [(e.turn.seat, e.turn.round, reply.get("answer")) for e, reply in _replies(self.case.entries)]
        held = [(p.seat, p.round, p.answer) for p in self.state.positions]
        assert held == [each for each in said if each[2] is not None]
        assert len(self.state.confirmations) == len(said) - len(held)

    @invariant()
    def rounds_and_versions_are_counted_on(self) -> None:
        most = self.state.case.limits.max_rounds
        assert not most or self.state.round <= most
        opened = [e.round for e in self.case.entries if isinstance(e, RoundOpened)]
        assert opened == list(range(2, self.state.round + 1))
        versions = [e.revision for e in self.state.offered]
        assert versions == list(range(1, len(versions) + 1))
        assert all(one.round < other.round for one, other in pairwise(self.state.offered))


def _replies(entries: tuple[Entry, ...]) -> list[tuple[SubmissionRevealed, dict[str, Any]]]:
    return [(entry, json.loads(entry.reply)) for entry in entries if isinstance(entry, SubmissionRevealed)]


def _is_agreed(entries: tuple[Entry, ...]) -> bool:
    """Read the replies a second time: did all confirm the newest text, or more than half vote for one option?"""
    case, replies = entries[0], _replies(entries)
    assert isinstance(case, CaseOpened)
    names = {seat.name for seat in case.roster}
    if case.terms.vote_only:
        votes = [reply["answer"].lower().rstrip(".") for _, reply in replies]
        failed = Counter(
            entry.turn.seat
            for entry in entries
            if isinstance(entry, AttemptFailed) and entry.reason not in NOBODYS_FAULT
        )
        heard = {entry.turn.seat for entry, _ in replies}
        all_are_done = all(name in heard or failed[name] >= case.limits.max_asks for name in names)
        return all_are_done and any(2 * votes.count(option) > len(names) for option in ("paris", "lyon"))
    offered = [index for index, entry in enumerate(entries) if isinstance(entry, RevisionOffered)]
    if not offered:
        return False
    version = entries[offered[-1]]
    assert isinstance(version, RevisionOffered)
    texts = [reply["answer"] for _, reply in replies if "answer" in reply]
    assert version.candidate in {digest(text.encode()) for text in texts}
    said = {entry.turn.seat: reply for entry, reply in _replies(entries[offered[-1] :])}
    agreed = {
        seat
        for seat, reply in said.items()
        if reply.get("approved") is True
        and not reply["objections"]
        and version.candidate == _digest(reply["candidate"])
    }
    return agreed == names


def _digest(echoed: str) -> str:
    return echoed if len(echoed) == len(digest(b"")) else digest(echoed.encode())


TestAnswer = AnswerMachine.TestCase
TestAnswer.settings = settings(max_examples=100, stateful_step_count=10)


class LongAnswerMachine(AnswerMachine):
    """The same, ten thousand times."""


TestAnswerForLong = pytest.mark.soak(pytest.mark.timeout(7200)(LongAnswerMachine.TestCase))
TestAnswerForLong.settings = settings(max_examples=10_000, stateful_step_count=25)
