"""A case of `answer` driven through whatever may happen to it, held after every step to what must always hold.

Source: STYLE 7.
What the rules say is compared with what a second reading of the replies says, which knows nothing of the rules' code.
"""

import json
from collections import Counter
from contextlib import suppress
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from counterpoint.core.canonical import canonical_json, digest
from counterpoint.core.case import NOBODYS_FAULT
from counterpoint.core.codec import encode
from counterpoint.core.docket import Docket, Seat, Terms
from counterpoint.core.entries import (
    ENTRY_TYPES,
    AttemptFailed,
    CaseClosed,
    CaseOpened,
    Entry,
    FailureReason,
    RevisionOffered,
    RoundOpened,
    SubmissionRevealed,
    SubmissionSealed,
)
from counterpoint.core.limits import Limits
from counterpoint.core.rules import AddNote, Materials, Withdraw
from counterpoint.core.values import Decision, StopReason, Turn
from counterpoint.errors import BadReply, Refused, UnknownEntry
from counterpoint.protocols.answer import ANSWER, TABLE, AnswerState, Phase
from tests.answer_case import NOW, QUESTION, TREE, Play
from tests.properties.values import of_type

NAMES = ("ada", "bob", "cyd", "dan")
TEXTS = st.sampled_from(["Paris", "paris.", "Lyon", "Nice", "It is Paris", "no option"])
SECRET = "only-a-sealed-reply-says-this"
ANY_ENTRY: st.SearchStrategy[Entry] = st.one_of(*(of_type(kind) for kind in ENTRY_TYPES.values()))
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


class AnswerMachine(RuleBasedStateMachine):
    """One case. Each rule is something that may happen; what is refused is recorded as a driver would."""

    @initialize(peers=st.integers(2, 4), plan=PLANS, data=st.data())
    def open(self, peers: int, plan: dict[str, Any], data: st.DataObject) -> None:
        self.case = Play(*(Seat(name=name, party=name) for name in NAMES[:peers]), **plan)
        self.now = 0
        for _ in range(data.draw(st.integers(0, 4))):
            self.all_answer(data, data.draw(TEXTS))

    @property
    def state(self) -> AnswerState:
        return self.case.state

    def due(self) -> tuple[Turn, ...]:
        return ANSWER.due(self.state, NOW)

    @precondition(lambda self: self.due())
    @rule(data=st.data(), text=TEXTS)
    def answer(self, data: st.DataObject, text: str) -> None:
        seat = data.draw(st.sampled_from(self.due())).seat
        self.case.answer(seat, self.reply(data, seat, text))

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

    @precondition(lambda self: self.due())
    @rule(data=st.data(), text=TEXTS)
    def all_answer(self, data: st.DataObject, text: str) -> None:
        """Everybody who owes an answer gives one, often the same, and what follows from it follows."""
        for turn in self.due():
            self.case.answer(turn.seat, self.reply(data, turn.seat, data.draw(st.sampled_from([text, text, "Lyon"]))))
        self.settle()

    @precondition(lambda self: self.due())
    @rule(data=st.data(), reply=HOSTILE)
    def answer_with_hostility(self, data: st.DataObject, reply: bytes) -> None:
        seat, before = data.draw(st.sampled_from(self.due())).seat, self.state
        try:
            self.case.answer(seat, reply)
        except BadReply as error:
            assert self.state == before
            self.case.fail(seat, FailureReason.BAD_REPLY, str(error))
        except Refused as error:
            assert self.state == before
            self.case.fail(seat, FailureReason.REFUSED, str(error))

    @precondition(lambda self: self.due())
    @rule(data=st.data(), reason=st.sampled_from(FailureReason))
    def fail(self, data: st.DataObject, reason: FailureReason) -> None:
        self.case.fail(data.draw(st.sampled_from(self.due())).seat, reason)

    @rule(data=st.data(), speaker=st.sampled_from([*NAMES, "mallory"]))
    def speak_out_of_turn(self, data: st.DataObject, speaker: str) -> None:
        """Nobody answers for another, and nobody unasked."""
        before, turns = self.state, [None, *self.due(), *(seal.turn for seal in self.state.seals.values())]
        turn = data.draw(st.sampled_from([turn for turn in turns if turn is None or turn.seat != speaker]))
        submission = data.draw(st.sampled_from([AddNote(text="agreed"), Withdraw(reason="enough"), "agreed"]))
        with pytest.raises(Refused, match=r"\[(TURN-[123]|NOTE-1)\]"):
            ANSWER.admit(before, speaker, turn, submission, evidence=(), now=NOW)
        assert self.state == before

    @precondition(lambda self: self.due() and len(self.state.notes) < 2)
    @rule(text=st.text())
    def note(self, text: str) -> None:
        self.case.speak(AddNote(text=text))

    @precondition(lambda self: self.due() and len(self.case.entries) > 25)
    @rule()
    def withdraw(self) -> None:
        self.case.speak(Withdraw(reason="not needed any more"))

    @rule(passed=st.integers(1, 8))
    def wait(self, passed: int) -> None:
        self.now += passed

    @precondition(lambda self: len(self.case.entries) > 12 and self.state.sealed and self.due())
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
            ANSWER.apply(self.state, data.draw(st.sampled_from(written)))

    @rule(entry=ANY_ENTRY)
    def forge(self, entry: Entry) -> None:
        """Whatever stands in a record, what the rules do not compute follows in none."""
        before = self.state
        with suppress(Refused, UnknownEntry):
            after = ANSWER.apply(before, entry)
            assert not isinstance(entry, RevisionOffered | RoundOpened)
            if isinstance(entry, CaseClosed):
                assert entry.decision is Decision.UNDETERMINED or _is_agreed(self.case.entries)
                assert after.closed == entry
        assert self.state == before

    @precondition(lambda self: self.due() and self.state.sealed)
    @rule(data=st.data(), stop=st.sampled_from(StopReason))
    def forge_a_reveal(self, data: st.DataObject, stop: StopReason) -> None:
        """Leave out of a reveal whatever you like: it is no approval unless the rest amounts to one."""
        late = ANSWER.settle(self.state, NOW + timedelta(days=1), self.case.vault)
        follows = (CaseClosed, RoundOpened, RevisionOffered)
        kept = [entry for entry in late if not isinstance(entry, follows) and data.draw(st.booleans())]
        entries = (*self.case.entries, *kept)
        with suppress(Refused):
            ANSWER.fold((*entries, CaseClosed(stop_reason=stop, decision=Decision.APPROVED, detail="")))
            assert _is_agreed(entries)

    @rule()
    def settle(self) -> None:
        """Settle until nothing follows by itself."""
        now = NOW + timedelta(minutes=self.now)
        for _ in range(3):
            made = ANSWER.settle(self.state, now, self.case.vault)
            assert made == ANSWER.settle(self.case.refold(), now, dict(self.case.vault))
            assert _bytes(made) == _bytes(ANSWER.settle(self.state, now, self.case.vault))
            if not made:
                break
            if isinstance(made[-1], RoundOpened | RevisionOffered):
                assert {seal.turn.seat for seal in self.state.sealed.values()} == set(self.state.peers)
            self.case.append(*made)
        assert ANSWER.settle(self.state, now, self.case.vault) == ()
        assert (self.due() == ()) is (self.state.closed is not None)

    @invariant()
    def the_state_is_the_fold_of_the_record(self) -> None:
        if self._is_open():
            again = self.case.refold()
            assert self.state == again
            for turn in self.due():
                nothing = Materials(change="", shown_paths=())
                assert ANSWER.brief(self.state, turn, nothing) == ANSWER.brief(again, turn, nothing)

    @invariant()
    def the_record_replays_through_the_table(self) -> None:
        if self._is_open():
            phase: str = Phase.OPENING
            for entry in self.case.entries:
                phase = TABLE[phase][type(entry)]
            assert phase == self.state.phase

    @invariant()
    def no_brief_shows_what_is_sealed_who_the_others_are_or_how_they_think(self) -> None:
        if self._is_open():
            for turn in self.due():
                brief = ANSWER.brief(self.state, turn, Materials(change="", shown_paths=()))
                shown = json.dumps([brief.payload, dict(brief.schema)])
                assert SECRET not in shown
                assert not any(f'"{name}"' in shown for name in NAMES)

    @invariant()
    def a_turn_is_recorded_once(self) -> None:
        if self._is_open():
            turns = [e.turn for e in self.case.entries if isinstance(e, SubmissionSealed | AttemptFailed)]
            assert len(turns) == len(set(turns)) == self.state.spent.calls

    @invariant()
    def every_revealed_answer_is_held_by_its_seat_and_by_no_other(self) -> None:
        if self._is_open():
            said = [(e.turn.seat, e.turn.round, reply.get("answer")) for e, reply in _replies(self.case.entries)]
            held = [(p.seat, p.round, p.answer) for p in self.state.positions]
            assert held == [each for each in said if each[2] is not None]
            assert len(self.state.confirmations) == len(said) - len(held)

    @invariant()
    def rounds_and_versions_are_counted_on(self) -> None:
        if self._is_open():
            most = self.state.case.limits.max_rounds
            assert not most or self.state.round <= most
            opened = [e.round for e in self.case.entries if isinstance(e, RoundOpened)]
            assert opened == list(range(2, self.state.round + 1))
            versions = [e.revision for e in self.state.offered]
            assert versions == list(range(1, len(versions) + 1))
            assert all(one.round < other.round for one, other in pairwise(self.state.offered))

    @invariant()
    def the_outcome_is_what_the_entries_come_to(self) -> None:
        """Approved is what a second reading of the replies finds agreed, and nothing else."""
        if not self._is_open():
            return
        outcome, closed = ANSWER.outcome(self.state), self.state.closed
        if closed is None:
            assert (outcome.decision, outcome.stop_reason) == (Decision.UNDETERMINED, None)
            return
        assert self.case.entries[-1] == closed
        assert (outcome.decision, outcome.stop_reason) == (closed.decision, closed.stop_reason)
        is_computed = closed.stop_reason in {StopReason.AGREED, StopReason.ROUNDS_SPENT, StopReason.STALLED}
        assert (closed.decision is Decision.APPROVED) is (is_computed and _is_agreed(self.case.entries))
        assert (ANSWER.exit_code(outcome) == 0) is (closed.decision is Decision.APPROVED)
        if not self.state.case.terms.vote_only:
            assert (closed.decision is Decision.APPROVED) is (closed.stop_reason is StopReason.AGREED)

    @invariant()
    def nothing_follows_the_close(self) -> None:
        if self._is_open() and self.state.closed is not None:
            for entry in self.case.entries:
                with pytest.raises(Refused, match="PHASE-1"):
                    ANSWER.apply(self.state, entry)

    def teardown(self) -> None:
        """Play on to the end, which must come: whoever still owes an answer says the same."""
        if self._is_open():
            self.settle()
            for _ in range(20):
                for turn in self.due():
                    self.case.answer(turn.seat, self.case.said(turn.seat, "Paris"))
                self.settle()
            assert self.due() == ()
            self.the_state_is_the_fold_of_the_record()
            self.the_outcome_is_what_the_entries_come_to()
            self.every_revealed_answer_is_held_by_its_seat_and_by_no_other()
            self.nothing_follows_the_close()

    def _is_open(self) -> bool:
        return hasattr(self, "case")


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


def _bytes(entries: tuple[Entry, ...]) -> str:
    return "\n".join(canonical_json(encode(entry)) for entry in entries)


TestAnswer = AnswerMachine.TestCase
TestAnswer.settings = settings(max_examples=100, stateful_step_count=10)


class LongAnswerMachine(AnswerMachine):
    """The same, ten thousand times."""


TestAnswerForLong = pytest.mark.soak(pytest.mark.timeout(3600)(LongAnswerMachine.TestCase))
TestAnswerForLong.settings = settings(max_examples=10_000, stateful_step_count=25)
