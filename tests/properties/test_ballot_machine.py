"""Ballots driven through whatever may happen to them, held after every step to what must always hold (STYLE 7)."""

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from counterpoint.core.canonical import canonical_json
from counterpoint.core.case import NOBODYS_FAULT
from counterpoint.core.codec import encode
from counterpoint.core.entries import (
    ENTRY_TYPES,
    AttemptFailed,
    CaseClosed,
    Entry,
    FailureReason,
    RoundOpened,
    SubmissionSealed,
)
from counterpoint.core.limits import Limits
from counterpoint.core.rules import AddNote, Materials, Withdraw
from counterpoint.core.values import Decision, StopReason, Turn
from counterpoint.errors import BadReply, Refused, UnknownEntry
from counterpoint.protocols.ballot import BALLOT, STAGES, TABLE, BallotState, Phase, as_text, candidate_of
from tests.ballot_case import ANN, BEN, CAT, NOW, ORCHESTRATOR, OWNER, Play, docket_of
from tests.balloting import reply_to
from tests.properties.values import of_type

ANY_ENTRY: st.SearchStrategy[Entry] = st.one_of(*(of_type(kind) for kind in ENTRY_TYPES.values()))
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
UNASKED: list[AddNote | Withdraw] = [AddNote(text="approve this"), Withdraw(reason="enough")]
SECRET = "only-a-sealed-reply-says-this"
NO_MATERIALS = Materials(change="", shown_paths=())


class BallotMachine(RuleBasedStateMachine):
    """One case. Each rule is something that may happen; what is refused is recorded as a driver would."""

    @initialize(plan=PLANS, data=st.data())
    def open(self, plan: dict[str, Any], data: st.DataObject) -> None:
        voters, body, minutes = plan.pop("voters"), plan.pop("body"), plan.pop("minutes")
        deadline = None if minutes is None else (NOW + timedelta(minutes=minutes)).isoformat()
        limits = Limits(**plan, deadline=deadline)
        self.case = Play(ORCHESTRATOR, *voters, limits=limits, docket=docket_of(body))
        self.now = NOW
        self.said: dict[tuple[int, str], dict[str, Any]] = {}
        """Every vote that was accepted, by round and seat."""
        for _ in range(data.draw(st.integers(0, 5))):
            self.go_on(data)

    @property
    def state(self) -> BallotState:
        return self.case.state

    def due(self) -> tuple[Turn, ...]:
        return BALLOT.due(self.state, self.now)

    def _reply(self, turn: Turn, word: str) -> dict[str, Any]:
        payload = self.case.payload(turn.seat)
        text = f"{word} in round {turn.round}, {len(self.case.entries)}"
        reply = reply_to(turn.phase, payload, text if turn.phase == "revising" else word)
        if turn.phase == "voting":
            reply["reason"] = f"{SECRET} {turn.seat}"
            if "can_only_be_rejected" in payload:
                reply |= {"vote": "Rejected", "reservations": []}
        return reply

    def _take(self, turn: Turn, reply: dict[str, Any]) -> None:
        sealed = self.case.answer(turn.seat, reply)
        assert sealed.turn == turn
        if turn.phase == "voting":
            self.said[turn.round, turn.seat] = reply

    @precondition(lambda self: self.due())
    @rule(data=st.data(), word=st.sampled_from(WORDS))
    def answer(self, data: st.DataObject, word: str) -> None:
        turn = data.draw(st.sampled_from(self.due()))
        self._take(turn, self._reply(turn, word))

    @precondition(lambda self: self.due())
    @rule(data=st.data())
    def go_on(self, data: st.DataObject) -> None:
        """Whoever owes an answer gives one, and what follows from it follows."""
        for turn in self.due():
            self._take(turn, self._reply(turn, data.draw(st.sampled_from(WORDS))))
        self.settle()

    @precondition(lambda self: self.due())
    @rule(data=st.data(), reply=HOSTILE)
    def answer_with_hostility(self, data: st.DataObject, reply: bytes) -> None:
        turn = data.draw(st.sampled_from(self.due()))
        before = self.state
        try:
            self.case.answer(turn.seat, reply)
        except (BadReply, Refused) as error:
            assert self.state == before
            self.case.fail(turn.seat, FailureReason.BAD_REPLY, str(error))
        else:
            raise AssertionError(f"{reply!r} was taken")

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

    @precondition(lambda self: self.due())
    @rule(data=st.data(), reason=st.sampled_from(FailureReason))
    def fail(self, data: st.DataObject, reason: FailureReason) -> None:
        self.case.fail(data.draw(st.sampled_from(self.due())).seat, reason)

    @precondition(lambda self: self.state.phase in STAGES and len(self.state.notes) < 2)
    @rule(text=st.text())
    def note(self, text: str) -> None:
        self.case.speak(AddNote(text=text))

    @precondition(lambda self: self.state.phase in STAGES and len(self.case.entries) > 20)
    @rule()
    def withdraw(self) -> None:
        self.case.speak(Withdraw(reason="not needed any more"))

    @rule(speaker=st.sampled_from(["ann", "orchestrator", "mallory"]), submission=st.sampled_from(UNASKED))
    def usurp(self, speaker: str, submission: AddNote | Withdraw) -> None:
        before = self.state
        with pytest.raises(Refused):
            self.case.speak(submission, speaker=speaker)
        assert self.state == before

    @rule(speaker=st.sampled_from(["ann", "ben", "orchestrator", OWNER]), data=st.data())
    def speak_out_of_turn(self, speaker: str, data: st.DataObject) -> None:
        turns = [turn for turn in self.due() if turn.seat != speaker]
        if turns:
            turn = data.draw(st.sampled_from(turns))
            submission = BALLOT.parse(self.state, turn, self._reply(turn, "yes"))
            with pytest.raises(Refused, match="TURN-1"):
                BALLOT.admit(self.state, speaker, turn, submission, evidence=(), now=self.now)

    @rule(passed=st.integers(1, 4))
    def wait(self, passed: int) -> None:
        self.now += timedelta(minutes=passed)

    @precondition(lambda self: len(self.case.entries) > 12 and self.state.sealed and self.state.phase in STAGES)
    @rule(data=st.data())
    def lose_a_reply(self, data: st.DataObject) -> None:
        turn_id = data.draw(st.sampled_from(sorted(sealed.turn.id for sealed in self.state.sealed.values())))
        self.case.vault.pop(turn_id, None)

    @rule()
    def crash(self) -> None:
        """Another program goes on from the record."""
        self.case.state = self.case.refold()

    @precondition(lambda self: self.state.spent.calls)
    @rule(data=st.data())
    def repeat(self, data: st.DataObject) -> None:
        """A driver that forgets what it has written, or two of them."""
        written = [e for e in self.case.entries if isinstance(e, SubmissionSealed | AttemptFailed)]
        with pytest.raises(Refused):
            BALLOT.apply(self.state, data.draw(st.sampled_from(written)))

    @rule(entry=ANY_ENTRY)
    def forge(self, entry: Entry) -> None:
        """Whatever stands in a record, an approval that nobody gave is in none."""
        before = self.state
        try:
            after = BALLOT.apply(before, entry)
        except (Refused, UnknownEntry):
            assert self.state == before
            return
        if isinstance(entry, CaseClosed):
            assert (entry.decision is Decision.APPROVED) is self._all_approve(after)

    @precondition(lambda self: self.state.phase in STAGES and self.state.sealed)
    @rule(data=st.data())
    def forge_a_reveal(self, data: st.DataObject) -> None:
        """Leave out of a reveal whatever you like: it is no approval unless everybody's is in it."""
        late = BALLOT.settle(self.state, self.now + timedelta(days=9), self.case.vault)
        kept = [entry for entry in late[:-1] if data.draw(st.booleans())]
        close = CaseClosed(stop_reason=StopReason.AGREED, decision=Decision.APPROVED, detail="")
        try:
            after = BALLOT.fold((*kept, close), self.state)
        except Refused:
            return
        assert self._all_approve(after)

    @rule()
    def settle(self) -> None:
        """Settle until nothing follows by itself: an answer that is taken may leave a case at its deadline."""
        for _ in range(3):
            made = BALLOT.settle(self.state, self.now, self.case.vault)
            assert _bytes(made) == _bytes(BALLOT.settle(self.case.refold(), self.now, dict(self.case.vault)))
            if not made:
                break
            before = self.state
            self.case.append(*made)
            self._check_that_it_was_time(before, made[-1])
        assert BALLOT.settle(self.state, self.now, self.case.vault) == ()
        assert (self.due() == ()) is (self.state.closed is not None)

    def _check_that_it_was_time(self, before: BallotState, last: Entry) -> None:
        """A stage that is over has heard every seat that it asks; what was kept of it is open."""
        sealed = {s.turn.id for s in before.sealed.values()}
        assert sealed & self.case.vault.keys() <= self.state.revealed.keys()
        if isinstance(last, CaseClosed) and last.stop_reason not in {StopReason.AGREED, StopReason.NEEDS_INPUT}:
            return
        for seat in STAGES[before.stage].asks(before):
            own = [f for f in before.failures_of(seat) if f.reason not in NOBODYS_FAULT]
            assert seat in before.sealed or len(own) >= self.state.case.limits.max_asks

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
    def the_state_is_the_fold_of_the_record(self) -> None:
        if self._is_open():
            assert self.state == BALLOT.fold(self.case.entries) == self.case.refold()

    @invariant()
    def the_record_replays_through_the_table(self) -> None:
        if self._is_open():
            phase: str = Phase.OPENING
            for entry in self.case.entries:
                phase = TABLE[phase][type(entry)]
            assert phase == self.state.phase

    @invariant()
    def no_brief_shows_what_is_sealed(self) -> None:
        """Until a round is over, nobody has seen a reason of it."""
        if not self._is_open():
            return
        for turn in self.due():
            brief = BALLOT.brief(self.state, turn, NO_MATERIALS)
            assert brief == BALLOT.brief(self.case.refold(), turn, NO_MATERIALS)
            if self.state.round == 1 and turn.phase == "voting":
                assert SECRET not in json.dumps([brief.instructions, brief.payload, brief.schema], default=dict)

    @invariant()
    def a_turn_is_recorded_once(self) -> None:
        if self._is_open():
            turns = [e.turn for e in self.case.entries if isinstance(e, SubmissionSealed | AttemptFailed)]
            assert len(turns) == len(set(turns)) == self.state.spent.calls

    @invariant()
    def every_vote_is_on_the_version_and_the_bytes_of_its_round(self) -> None:
        """And says what was sent; a version's digest is its text's."""
        if not self._is_open():
            return
        for cast in self.state.casts:
            said = self.said[cast.round, cast.seat]
            text = self.state.text_of(cast.version)
            assert (cast.version, cast.candidate, cast.vote) == (cast.round, candidate_of(text), said["vote"])
            assert text == as_text(text)
        digests = [self.state.case.docket.candidate, *(v.candidate for v in self.state.offered)]
        assert digests == [candidate_of(self.state.text_of(n)) for n in range(1, self.state.version + 1)]

    @invariant()
    def rounds_are_as_many_as_the_limits_allow(self) -> None:
        if self._is_open():
            opened = sum(isinstance(entry, RoundOpened) for entry in self.case.entries)
            assert self.state.round == opened + 1 <= self.state.case.limits.max_rounds

    @invariant()
    def the_outcome_is_what_the_entries_come_to(self) -> None:
        if not self._is_open():
            return
        outcome, closed = BALLOT.outcome(self.state), self.state.closed
        if closed is None:
            assert (outcome.decision, outcome.stop_reason) == (Decision.UNDETERMINED, None)
            return
        assert (outcome.decision, outcome.stop_reason) == (closed.decision, closed.stop_reason)
        approved = closed.decision is Decision.APPROVED
        assert approved is (closed.stop_reason is StopReason.AGREED) is self._all_approve(self.state)
        assert (BALLOT.exit_code(outcome) == 0) is approved

    @invariant()
    def nothing_follows_the_close(self) -> None:
        if self._is_open() and self.state.closed is not None:
            for entry in self.case.entries:
                with pytest.raises(Refused, match="PHASE-1"):
                    BALLOT.apply(self.state, entry)

    def teardown(self) -> None:
        """Play on to the end, which must come: whoever still owes an answer says yes."""
        if not self._is_open():
            return
        self.settle()
        for _ in range(20):
            if self.state.closed is not None:
                break
            for turn in self.due():
                self._take(turn, self._reply(turn, "yes"))
            self.settle()
        assert self.due() == ()
        self.the_outcome_is_what_the_entries_come_to()
        self.every_vote_is_on_the_version_and_the_bytes_of_its_round()
        self.nothing_follows_the_close()

    def _is_open(self) -> bool:
        return hasattr(self, "case")


def _bytes(entries: tuple[Entry, ...]) -> str:
    return "\n".join(canonical_json(encode(entry)) for entry in entries)


TestBallot = BallotMachine.TestCase
TestBallot.settings = settings(max_examples=100, stateful_step_count=12)


class LongBallotMachine(BallotMachine):
    """The same, for long."""


TestBallotForLong = pytest.mark.soak(pytest.mark.timeout(7200)(LongBallotMachine.TestCase))
TestBallotForLong.settings = settings(max_examples=10_000, stateful_step_count=30)
