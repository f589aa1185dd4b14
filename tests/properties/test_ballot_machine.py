"""Ballots driven through whatever may happen to them, held after every step to what must always hold (STYLE 7)."""

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from counterpoint.core.entries import CaseClosed, Entry, RoundOpened
from counterpoint.core.limits import Limits
from counterpoint.core.values import Decision, StopReason, Turn
from counterpoint.errors import Refused
from counterpoint.protocols.ballot import BALLOT, STAGES, BallotState, as_text, candidate_of
from tests.ballot_case import ANN, BEN, CAT, NOW, ORCHESTRATOR, OWNER, Play, docket_of
from tests.balloting import reply_to
from tests.properties.machine import SECRET, CaseMachine

WORDS = ["yes", "yes", "yes", "but", "but:source_check", "no", "blocking", "challenge", "cosmetic"]
BODIES = ["A plain text.", "- one\n- two\n", "```\ncode\n```", "| a |\n|---|\n", "A fact. [VERIFY]"]
HOSTILE = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [b"Approved", b"{}", b'{"vote":"Approved"}', b"[]", b'{"answers":[],"text":"## Debate \xe2\x80\x94 Round 1"}']
    ),
)
PLANS = st.fixed_dictionaries(
    {
        "voters": st.sampled_from([(ANN,), (ANN, BEN), (ANN, BEN, CAT)]),
        "max_rounds": st.integers(1, 3),
        "max_asks": st.integers(1, 2),
        "max_calls": st.sampled_from([0, 3, 9]),
        "minutes": st.sampled_from([None, 6]),
        "body": st.sampled_from(BODIES),
    }
)


class BallotMachine(CaseMachine[BallotState, Play]):
    hostile = HOSTILE
    most_minutes = 4

    @initialize(plan=PLANS, data=st.data())
    def open(self, plan: dict[str, Any], data: st.DataObject) -> None:
        voters, body, minutes = plan.pop("voters"), plan.pop("body"), plan.pop("minutes")
        deadline = None if minutes is None else (NOW + timedelta(minutes=minutes)).isoformat()
        self.said: dict[tuple[int, str], dict[str, Any]] = {}
        """Every vote that was accepted, by round and seat."""
        case = Play(ORCHESTRATOR, *voters, limits=Limits(**plan, deadline=deadline), docket=docket_of(body))
        self.begin(case, data, passes=data.draw(st.integers(0, 5)))

    def say(self, turn: Turn, data: st.DataObject) -> None:
        self._say(turn, data.draw(st.sampled_from(WORDS)))

    def agree(self, turn: Turn) -> None:
        self._say(turn, "yes")

    def _say(self, turn: Turn, word: str) -> None:
        reply = self._reply(turn, word)
        assert self.take(turn, reply)
        if turn.phase == "voting":
            self.said[turn.round, turn.seat] = reply

    def _reply(self, turn: Turn, word: str) -> dict[str, Any]:
        payload = self.case.payload(turn.seat)
        text = f"{word} in round {turn.round}, {len(self.case.entries)}"
        reply = reply_to(turn.phase, payload, text if turn.phase == "revising" else word)
        if turn.phase == "voting":
            reply["reason"] = f"{SECRET} {turn.seat}"
            if "can_only_be_rejected" in payload:
                reply |= {"vote": "Rejected", "reservations": []}
        return reply

    @precondition(lambda self: self.due())
    @rule(data=st.data(), stale=st.booleans())
    def answer_beside_the_point(self, data: st.DataObject, *, stale: bool) -> None:
        """A vote on another text, a classification of what was not said, a text that leaves out an objection."""
        turn = data.draw(st.sampled_from(self.due()))
        reply, before = self._reply(turn, "but"), self.state
        match turn.phase:
            case "voting":
                reply |= {"candidate": "0" * 64} if stale else {"version": turn.round + 1}
            case "classifying":
                reply = {"classifications": []}
            case "challenging":
                reply = {"challenges": [{"reservation": "v9-R9", "reason": "no"}]}
            case _:
                reply["answers"] = [*reply["answers"], {"objection": "v9-R9", "answer": "no"}]
        with pytest.raises(Refused):
            self.case.answer(turn.seat, reply)
        assert self.state == before

    @rule(speaker=st.sampled_from(["ann", "ben", "orchestrator", OWNER]), data=st.data())
    def speak_out_of_turn(self, speaker: str, data: st.DataObject) -> None:
        turns = [turn for turn in self.due() if turn.seat != speaker]
        if turns:
            turn = data.draw(st.sampled_from(turns))
            submission = BALLOT.parse(self.state, turn, self._reply(turn, "yes"))
            with pytest.raises(Refused, match="TURN-1"):
                BALLOT.admit(self.state, speaker, turn, submission, evidence=(), now=self.now)

    def asked(self, state: BallotState) -> tuple[str, ...]:
        return STAGES[state.stage].asks(state)

    def check_hostile(self, turn: Turn, reply: bytes) -> None:
        raise AssertionError(f"{reply!r} was taken")

    def check_brief(self, turn: Turn, shown: str) -> None:
        """Until a round is over, nobody has seen a reason of it."""
        if self.state.round == 1 and turn.phase == "voting":
            assert SECRET not in shown

    def check_close(self, entries: tuple[Entry, ...], state: BallotState, closed: CaseClosed) -> None:
        """An approval that nobody gave is in no record."""
        approved = closed.decision is Decision.APPROVED
        assert approved is (closed.stop_reason is StopReason.AGREED) is self._all_approve(state)

    def _all_approve(self, state: BallotState) -> bool:
        """Count again, from the replies as they were sent and nothing else."""
        said = [reply for (at, _), reply in self.said.items() if at == state.round]
        revealed = {(e.turn.round, e.turn.seat) for e in state.revealed.values() if e.turn.phase == "voting"}
        if len(said) != len(state.voters) or not {(state.round, seat) for seat in state.voters} <= revealed:
            return False
        needs = [r["needs"] for reply in said for r in reply["reservations"]]
        if any(reply["vote"] == "Rejected" for reply in said) or set(needs) - {"nothing"}:
            return False
        opened = {(e.turn.phase, e.turn.round, e.turn.seat): json.loads(e.reply) for e in state.revealed.values()}
        weighed = opened.get(("classifying", state.round, "orchestrator"), {"classifications": []})["classifications"]
        heard = [opened.get(("challenging", state.round, seat)) for seat in state.voters]
        passed = len(weighed) == len(needs) and all(each["weight"] == "cosmetic" for each in weighed)
        return not needs or (passed and all(each == {"challenges": []} for each in heard))

    @invariant()
    def every_vote_is_on_the_version_and_the_bytes_of_its_round(self) -> None:
        """And says what was sent; a version's digest is its text's."""
        for cast in self.state.casts:
            said = self.said[cast.round, cast.seat]
            text = self.state.text_of(cast.version)
            assert (cast.version, cast.candidate, cast.vote) == (cast.round, candidate_of(text), said["vote"])
            assert text == as_text(text)
        digests = [self.state.case.docket.candidate, *(v.candidate for v in self.state.offered)]
        assert digests == [candidate_of(self.state.text_of(n)) for n in range(1, self.state.version + 1)]

    @invariant()
    def rounds_are_as_many_as_the_limits_allow(self) -> None:
        opened = sum(isinstance(entry, RoundOpened) for entry in self.case.entries)
        assert self.state.round == opened + 1 <= self.state.case.limits.max_rounds


TestBallot = BallotMachine.TestCase
TestBallot.settings = settings(max_examples=100, stateful_step_count=12)


class LongBallotMachine(BallotMachine):
    """The same, for long."""


TestBallotForLong = pytest.mark.soak(pytest.mark.timeout(7200)(LongBallotMachine.TestCase))
TestBallotForLong.settings = settings(max_examples=10_000, stateful_step_count=30)
