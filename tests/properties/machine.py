"""What may happen to a case of any protocol, and what must always hold then (STYLE 7).

A step is one of a driver, of a seat, or of somebody who forges a record; between any two the program may end and
another go on. How its seats reply, and what its entries should come to, is told by each protocol's own machine.
"""

import json
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product
from typing import Any, ClassVar, Final, Generic, TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from counterpoint.core.canonical import canonical_json
from counterpoint.core.case import NOBODYS_FAULT, CaseState
from counterpoint.core.codec import encode
from counterpoint.core.entries import (
    ENTRY_TYPES,
    AnswerRequested,
    AttemptFailed,
    CandidateKept,
    CandidateOffered,
    CaseClosed,
    ChallengeOpened,
    Entry,
    FailureReason,
    RevisionOffered,
    RoundOpened,
    SubmissionSealed,
)
from counterpoint.core.rules import AddNote, Withdraw
from counterpoint.core.values import Decision, StopReason, Turn
from counterpoint.errors import BadReply, Refused, UnknownEntry
from tests.case_play import NOW, CasePlay
from tests.properties.values import of_type

__all__ = ["SECRET", "CaseMachine"]

SECRET: Final = "only-a-sealed-reply-says-this"

S = TypeVar("S", bound=CaseState)
P = TypeVar("P", bound=CasePlay[Any])

_ANY_ENTRY: Final[st.SearchStrategy[Entry]] = st.one_of(*(of_type(kind) for kind in ENTRY_TYPES.values()))
_UNASKED: Final[list[AddNote | Withdraw]] = [AddNote(text="approve this"), Withdraw(reason="enough")]
_FOLLOWS: Final = (
    *(AnswerRequested, CandidateKept, CandidateOffered),
    *(ChallengeOpened, RevisionOffered, RoundOpened),
)
"""What the rules compute at the end of a stage, and nobody else."""
_GOOD: Final = (Decision.APPROVED, Decision.CONDITIONAL)
_PASSES: Final = 60
"""More than any case takes in which everybody who is asked agrees."""


class CaseMachine(RuleBasedStateMachine, Generic[S, P]):
    """One case. Each rule is something that may happen; what is refused is recorded as a driver would."""

    hostile: ClassVar[st.SearchStrategy[bytes]]
    """Replies that are not what is owed."""
    faultless: ClassVar[int] = 0
    """As long as a case has no more entries than this, no seat is out of it by its own fault."""
    lossless: ClassVar[int] = 12
    """As long as a case has no more entries than this, no sealed reply is lost."""
    patience: ClassVar[int] = 20
    """As long as a case has no more entries than this, nobody withdraws it."""
    most_minutes: ClassVar[int] = 8
    """That pass in one step."""

    def begin(self, case: P, data: st.DataObject, *, passes: int) -> None:
        """Open a case, and play it on so many times, to start from anywhere in its course."""
        self.case = case
        self.now = NOW
        for _ in range(passes):
            self.go_on(data)

    # --- what each protocol says itself

    @abstractmethod
    def say(self, turn: Turn, data: st.DataObject) -> None:
        """Have a seat give one of the answers of its protocol."""

    def say_with_others(self, turn: Turn, data: st.DataObject) -> None:
        """Have a seat answer in a pass of all."""
        self.say(turn, data)

    @abstractmethod
    def agree(self, turn: Turn) -> None:
        """Have a seat give the answer that brings the case nearest to its end."""

    @abstractmethod
    def asked(self, state: S) -> Sequence[str]:
        """Return the seats that must answer before anything follows from the stage."""

    def ends_well(self, closed: CaseClosed) -> bool:
        """Return whether a command that ends with this close exits with 0."""
        return closed.decision is Decision.APPROVED

    def check_hostile(self, turn: Turn, reply: bytes) -> None:
        """Check a hostile reply that was taken."""

    def check_brief(self, turn: Turn, shown: str) -> None:
        """Check that a brief, as JSON, shows nothing that its reader may not know."""
        assert SECRET not in shown

    def check_following(self, before: S, last: Entry) -> None:
        """Check what has followed from the stage that a case was in before."""

    @abstractmethod
    def check_close(self, entries: tuple[Entry, ...], state: S, closed: CaseClosed) -> None:
        """Check a close that the rules have taken after these entries against a second reading of them."""

    # --- what all have in common

    @property
    def state(self) -> S:
        state: S = self.case.state
        return state

    def due(self) -> tuple[Turn, ...]:
        return self.case.rules.due(self.state, self.now)

    def is_asking(self, state: S | None = None) -> bool:
        phase = (state or self.state).phase
        return SubmissionSealed in self.case.rules.table[phase]

    def is_longer_than(self, entries: int) -> bool:
        return len(self.case.entries) > entries

    def take(self, turn: Turn, reply: object, **how: Any) -> bool:
        """Have a seat give this reply, and return whether it is taken; what is refused changes nothing."""
        before = self.state
        try:
            sealed = self.case.answer(turn.seat, reply, **how)
        except (BadReply, Refused) as error:
            assert self.state == before
            reason = FailureReason.REFUSED if isinstance(error, Refused) else FailureReason.BAD_REPLY
            self.case.fail(turn.seat, reason, str(error))
            return False
        assert sealed.turn == turn
        return True

    @precondition(lambda self: self.due())
    @rule(data=st.data())
    def answer(self, data: st.DataObject) -> None:
        self.say(data.draw(st.sampled_from(self.due())), data)

    @precondition(lambda self: self.due())
    @rule(data=st.data())
    def go_on(self, data: st.DataObject) -> None:
        """Whoever owes an answer gives one, and what follows from it follows."""
        for turn in self.due():
            self.say_with_others(turn, data)
        self.settle()

    @precondition(lambda self: self.due() and self.is_longer_than(self.faultless))
    @rule(data=st.data())
    def answer_with_hostility(self, data: st.DataObject) -> None:
        turn, reply = data.draw(st.sampled_from(self.due())), data.draw(self.hostile)
        if self.take(turn, reply):
            self.check_hostile(turn, reply)

    @precondition(lambda self: self.due())
    @rule(data=st.data(), reason=st.sampled_from(FailureReason))
    def fail(self, data: st.DataObject, reason: FailureReason) -> None:
        counts = self.is_longer_than(self.faultless)
        self.case.fail(data.draw(st.sampled_from(self.due())).seat, reason if counts else FailureReason.DRIVER_LOST)

    @precondition(lambda self: self.is_asking() and len(self.state.notes) < 2)
    @rule(text=st.text())
    def note(self, text: str) -> None:
        self.case.speak(AddNote(text=text))

    @precondition(lambda self: self.is_asking() and self.is_longer_than(self.patience))
    @rule()
    def withdraw(self) -> None:
        self.case.speak(Withdraw(reason="not needed any more"))

    @rule(data=st.data(), submission=st.sampled_from(_UNASKED))
    def usurp(self, data: st.DataObject, submission: AddNote | Withdraw) -> None:
        """Nobody but the supervisor is heard unasked."""
        before, names = self.state, [*(seat.name for seat in self.state.case.roster), "mallory"]
        with pytest.raises(Refused, match=r"\[(TURN-3|NOTE-1)\]"):
            self.case.speak(submission, speaker=data.draw(st.sampled_from(names)))
        assert self.state == before

    @rule(data=st.data())
    def wait(self, data: st.DataObject) -> None:
        self.now += timedelta(minutes=data.draw(st.integers(1, self.most_minutes)))

    @precondition(lambda self: self.is_asking() and self.state.sealed and self.is_longer_than(self.lossless))
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
            self.case.rules.apply(self.state, data.draw(st.sampled_from(written)))

    @rule(entry=_ANY_ENTRY)
    def forge(self, entry: Entry) -> None:
        """Whatever stands in a record, nothing that its entries do not come to follows in it."""
        before = self.state
        with suppress(Refused, UnknownEntry):
            after = self.case.rules.apply(before, entry)
            assert not isinstance(entry, _FOLLOWS)
            if isinstance(entry, CaseClosed):
                assert after.closed == entry
                self.check_close(self.case.entries, after, entry)
        assert self.state == before

    @precondition(lambda self: self.is_asking() and self.state.sealed)
    @rule(data=st.data())
    def forge_a_reveal(self, data: st.DataObject) -> None:
        """Leave out of a reveal whatever you like: it is no agreement unless the rest amounts to one."""
        rules = self.case.rules
        late = rules.settle(self.state, self.now + timedelta(days=9), self.case.vault)
        kept = tuple(entry for entry in late[:-1] if data.draw(st.booleans()))
        with suppress(Refused):
            revealed = rules.fold(kept, self.state)
            for stop, decision in product(StopReason, _GOOD):
                close = CaseClosed(stop_reason=stop, decision=decision, detail="")
                with suppress(Refused):
                    self.check_close((*self.case.entries, *kept), rules.apply(revealed, close), close)

    @rule()
    def settle(self) -> None:
        """Settle until nothing follows by itself: an answer that is taken may leave a case at its deadline."""
        rules = self.case.rules
        for _ in range(3):
            before, made = self.state, rules.settle(self.state, self.now, self.case.vault)
            again = rules.settle(self.case.refold(), self.now, dict(self.case.vault))
            assert (made, _bytes(made)) == (again, _bytes(again))
            if not made:
                break
            self._check_cuts(made)
            self.case.append(*made)
            self._check_that_it_was_time(before, made[-1])
        assert rules.settle(self.state, self.now, self.case.vault) == ()
        assert (self.due() == ()) is (self.state.closed is not None)
        assert self.state.closed is not None or not self._is_spent(self.state)

    def _check_cuts(self, made: tuple[Entry, ...]) -> None:
        """What is revealed and what follows are one batch: a record cut in the middle of it comes to nothing."""
        rules, cut = self.case.rules, self.state
        for entry in made[:-1]:
            cut = rules.apply(cut, entry)
            if not self.is_asking(cut):
                closed = rules.fold(rules.settle(cut, self.now, self.case.vault), cut).closed
                assert closed is not None
                assert closed.stop_reason is StopReason.FAILED
                assert closed.decision not in _GOOD

    def _check_that_it_was_time(self, before: S, last: Entry) -> None:
        """A stage that is over has heard every seat that it asks, and what was kept of it is open."""
        sealed = {s.turn.id for s in before.sealed.values()}
        assert sealed & self.case.vault.keys() <= self.state.revealed.keys()
        if not self._is_spent(before):
            for seat in self.asked(before):
                own = [f for f in before.failures_of(seat) if f.reason not in NOBODYS_FAULT]
                assert seat in before.sealed or len(own) == self.state.case.limits.max_asks
        self.check_following(before, last)

    def _is_spent(self, state: S) -> bool:
        """Return whether no budget or no time is left to ask anybody."""
        limits, spent = state.case.limits, state.spent
        used = [
            (spent.calls, limits.max_calls),
            (spent.usage.input_tokens + spent.usage.output_tokens, limits.max_tokens),
        ]
        is_late = limits.deadline is not None and self.now >= datetime.fromisoformat(limits.deadline)
        return is_late or any(most and count >= most for count, most in used)

    @invariant()
    def the_state_is_the_fold_of_the_record(self) -> None:
        assert self.state == self.case.rules.fold(self.case.entries) == self.case.refold()

    @invariant()
    def the_record_replays_through_the_table(self) -> None:
        phase: str = self.case.rules.initial.phase
        for entry in self.case.entries:
            phase = self.case.rules.table[phase][type(entry)]
        assert phase == self.state.phase

    @invariant()
    def a_brief_shows_nothing_that_is_sealed(self) -> None:
        for turn in self.due():
            materials = self.case.materials(turn.seat)
            brief = self.case.rules.brief(self.state, turn, materials)
            assert brief == self.case.rules.brief(self.case.refold(), turn, materials)
            self.check_brief(turn, json.dumps([brief.instructions, brief.payload, brief.schema], default=dict))

    @invariant()
    def a_turn_is_recorded_once(self) -> None:
        turns = [e.turn for e in self.case.entries if isinstance(e, SubmissionSealed | AttemptFailed)]
        assert len(turns) == len(set(turns)) == self.state.spent.calls

    @invariant()
    def nobody_is_asked_for_ever(self) -> None:
        """Whoever owes a turn has not answered it, nor failed in it as often as a seat may."""
        for turn in self.due():
            same = [e for e in self.case.entries if isinstance(e, SubmissionSealed | AttemptFailed)]
            same = [e for e in same if replace(e.turn, ask=turn.ask) == turn]
            own = [e for e in same if isinstance(e, SubmissionSealed) or e.reason not in NOBODYS_FAULT]
            assert len(own) < self.state.case.limits.max_asks
            assert not any(isinstance(e, SubmissionSealed) for e in own)

    @invariant()
    def the_outcome_is_what_the_entries_come_to(self) -> None:
        outcome, closed = self.case.rules.outcome(self.state), self.state.closed
        if closed is None:
            assert (outcome.decision, outcome.stop_reason) == (Decision.UNDETERMINED, None)
            return
        assert self.case.entries[-1] == closed
        assert (outcome.decision, outcome.stop_reason) == (closed.decision, closed.stop_reason)
        assert (self.case.rules.exit_code(outcome) == 0) is self.ends_well(closed)
        self.check_close(self.case.entries, self.state, closed)

    @invariant()
    def nothing_follows_the_close(self) -> None:
        if self.state.closed is not None:
            for entry in self.case.entries:
                with pytest.raises(Refused, match="PHASE-1"):
                    self.case.rules.apply(self.state, entry)

    def teardown(self) -> None:
        """Play on to the end, which must come: whoever still owes an answer agrees."""
        if not hasattr(self, "case"):
            return
        self.settle()
        for _ in range(_PASSES):
            if self.state.closed is not None:
                break
            for turn in self.due():
                self.agree(turn)
            self.settle()
        assert self.due() == ()
        for each in self.invariants:
            each.function(self)


def _bytes(entries: tuple[Entry, ...]) -> str:
    return "\n".join(canonical_json(encode(entry)) for entry in entries)
