"""A review driven through whatever may happen to it, held after every step to what must always hold (STYLE 7)."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from counterpoint.core.canonical import canonical_json
from counterpoint.core.case import NOBODYS_FAULT, CaseState
from counterpoint.core.codec import encode
from counterpoint.core.docket import Docket, Seat, SeatKind
from counterpoint.core.entries import (
    ENTRY_TYPES,
    AttemptFailed,
    CaseClosed,
    Entry,
    FailureReason,
    SubmissionSealed,
)
from counterpoint.core.findings import FindingStatus
from counterpoint.core.limits import Limits
from counterpoint.core.rules import AddNote, Withdraw
from counterpoint.core.values import Decision, StopReason, Turn
from counterpoint.errors import BadReply, Refused, UnknownEntry
from counterpoint.protocols.review import REVIEW, TABLE, Phase
from tests.properties.oracle import decision_of
from tests.properties.review_inputs import DOCKETS, HOSTILE, LIMITS, ROSTERS, TREES, VERDICTS, reply_of
from tests.properties.values import of_type
from tests.review_case import CANDIDATE, MATERIALS, NOW, OWNER, Play, Tree, minutes, turn_of, verdict

ANY_ENTRY: st.SearchStrategy[Entry] = st.one_of(*(of_type(kind) for kind in ENTRY_TYPES.values()))
UNASKED: list[AddNote | Withdraw] = [AddNote(text="approve this"), Withdraw(reason="enough")]
SECRET = "only-a-sealed-reply-says-this"


class ReviewMachine(RuleBasedStateMachine):
    """One case. Each rule is something that may happen; what is refused is recorded as a driver would."""

    @initialize(roster=ROSTERS, docket=DOCKETS, limits=LIMITS, tree=TREES, data=st.data())
    def open(self, roster: tuple[Seat, ...], docket: Docket, limits: Limits, tree: Tree, data: st.DataObject) -> None:
        quorum = data.draw(st.integers(1, len(roster)))
        self.case = Play(*roster, docket=docket, limits=limits, tree=tree, quorum=quorum)
        self.now = NOW
        self.approvals: set[str] = set()
        """Seats whose accepted reply said that they approve."""

    @property
    def state(self) -> CaseState:
        return self.case.state

    def due(self) -> tuple[Turn, ...]:
        return REVIEW.due(self.state, self.now)

    @precondition(lambda self: self.due())
    @rule(data=st.data(), given=VERDICTS, shown=st.sets(st.sampled_from(["src/timer.py", "old.py", "binary.x"])))
    def answer(self, data: st.DataObject, given: dict[str, Any], shown: set[str]) -> None:
        turn = data.draw(st.sampled_from(self.due()))
        seat = next(s for s in self.state.case.roster if s.name == turn.seat)
        reply = reply_of(seat, self.state.case.docket, given)
        if "summary" in reply:
            reply = reply | {"summary": f"{SECRET} {turn.seat}"}
        sealed = self.case.answer(turn.seat, reply, shown=sorted(shown))
        assert sealed.turn == turn
        if reply.get("approved", True):
            self.approvals.add(turn.seat)

    @precondition(lambda self: self.due())
    @rule()
    def agree(self) -> None:
        """The next seat has seen everything and minds nothing."""
        turn, *_ = self.due()
        seat = next(s for s in self.state.case.roster if s.name == turn.seat)
        shown = [changed.path for changed in self.state.case.docket.paths]
        self.case.answer(turn.seat, reply_of(seat, self.state.case.docket, verdict()), shown=shown)
        self.approvals.add(turn.seat)

    @precondition(lambda self: self.due())
    @rule(data=st.data(), reply=HOSTILE)
    def answer_with_hostility(self, data: st.DataObject, reply: bytes) -> None:
        turn = data.draw(st.sampled_from(self.due()))
        before = self.state
        try:
            self.case.answer(turn.seat, reply)
        except BadReply as error:
            assert self.state == before
            self.case.fail(turn.seat, FailureReason.BAD_REPLY, str(error))
        except Refused as error:
            assert self.state == before
            self.case.fail(turn.seat, FailureReason.REFUSED, str(error))
        else:
            given = json.loads(reply)
            nothing_open = all(f["status"] != "open" for f in given.get("findings", ()))
            assert given.get("approved", True) is nothing_open
            if nothing_open:
                self.approvals.add(turn.seat)

    @precondition(lambda self: self.due())
    @rule(data=st.data(), reason=st.sampled_from(FailureReason))
    def fail(self, data: st.DataObject, reason: FailureReason) -> None:
        self.case.fail(data.draw(st.sampled_from(self.due())).seat, reason, "it did not answer")

    @rule(
        data=st.data(), given=VERDICTS, ask=st.integers(1, 3), speaker=st.sampled_from(["a", "a-b", "mallory", OWNER])
    )
    def speak_out_of_turn(self, data: st.DataObject, given: dict[str, Any], ask: int, speaker: str) -> None:
        """Accepted only as the answer to exactly the turn that the speaker owes; recorded never."""
        turn = data.draw(st.sampled_from([None, turn_of(speaker, ask), turn_of("b", ask), *self.due()]))
        before = self.state
        submission = REVIEW.parse(Play().state, turn_of("critic"), given)
        evidence = self._looked_up(submission)
        owes = {due.seat: due for due in self.due()}
        if turn is None or owes.get(speaker) != turn or self._kind(speaker) is SeatKind.CHECKS:
            with pytest.raises(Refused, match=r"\[(TURN-[123]|NOTE-1)\]"):
                REVIEW.admit(before, speaker, turn, submission, evidence=evidence, now=self.now)
        else:
            assert REVIEW.admit(before, speaker, turn, submission, evidence=evidence, now=self.now)
        assert self.state == before

    def _kind(self, name: str) -> SeatKind:
        return next(seat.kind for seat in self.state.case.roster if seat.name == name)

    def _looked_up(self, submission: object) -> tuple[Any, ...]:
        requests = REVIEW.checks(self.state, turn_of("critic"), submission)
        return tuple(self.case.tree.look_up(request) for request in requests)

    @precondition(lambda self: self.state.phase == Phase.REVIEWING and len(self.state.notes) < 2)
    @rule(text=st.text())
    def note(self, text: str) -> None:
        self.case.speak(AddNote(text=text))

    @precondition(lambda self: self.state.phase == Phase.REVIEWING and len(self.case.entries) > 8)
    @rule()
    def withdraw(self) -> None:
        self.case.speak(Withdraw(reason="not needed any more"))

    @rule(speaker=st.sampled_from(["a", "checks", "mallory"]), submission=st.sampled_from(UNASKED))
    def usurp(self, speaker: str, submission: AddNote | Withdraw) -> None:
        before = self.state
        with pytest.raises(Refused):
            self.case.speak(submission, speaker=speaker)
        assert self.state == before

    @rule(passed=st.integers(1, 6))
    def wait(self, passed: int) -> None:
        self.now = minutes(passed + int((self.now - NOW).total_seconds() // 60))

    @precondition(lambda self: len(self.state.sealed) > 1 and self.state.phase == Phase.REVIEWING)
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
            REVIEW.apply(self.state, data.draw(st.sampled_from(written)))

    @rule(entry=ANY_ENTRY)
    def forge(self, entry: Entry) -> None:
        """Whatever stands in a record, a close that the rules do not compute is in none."""
        before = self.state
        try:
            after = REVIEW.apply(before, entry)
        except (Refused, UnknownEntry):
            assert self.state == before
            return
        if isinstance(entry, CaseClosed):
            assert after.closed == entry
            assert entry.decision is decision_of(self.case.entries, entry.stop_reason)

    @precondition(lambda self: self.state.phase == Phase.REVIEWING and self.state.sealed)
    @rule(data=st.data())
    def forge_a_reveal(self, data: st.DataObject) -> None:
        """Leave out of a reveal whatever you like: it is no approval unless the rest amounts to one."""
        late = REVIEW.settle(self.state, minutes(10**6), self.case.vault)
        kept = [entry for entry in late if not isinstance(entry, CaseClosed) and data.draw(st.booleans())]
        close = CaseClosed(stop_reason=StopReason.AGREED, decision=Decision.APPROVED, detail="")
        entries = (*self.case.entries, *kept)
        with suppress(Refused):
            REVIEW.fold((*entries, close))
            assert decision_of(entries, StopReason.AGREED) is Decision.APPROVED

    @rule()
    def settle(self) -> None:
        first = REVIEW.settle(self.state, self.now, self.case.vault)
        assert first == REVIEW.settle(self.case.refold(), self.now, dict(self.case.vault))
        assert _bytes(first) == _bytes(REVIEW.settle(self.state, self.now, self.case.vault))
        self.case.append(*first)
        self._check_that_it_was_time(first)
        assert REVIEW.settle(self.state, self.now, self.case.vault) == ()
        assert (self.due() == ()) is (self.state.closed is not None)

    def _check_that_it_was_time(self, made: tuple[Entry, ...]) -> None:
        """A case that is decided has heard every seat, and everything that was kept of it is open."""
        if not made:
            return
        close = made[-1]
        assert isinstance(close, CaseClosed)
        sealed = {s.turn.id for s in self.state.sealed.values()}
        assert sealed & self.case.vault.keys() <= self.state.revealed.keys()
        if close.stop_reason in {StopReason.AGREED, StopReason.ROUNDS_SPENT}:
            own = [f.turn.seat for f in self.state.failures if f.reason not in NOBODYS_FAULT]
            for seat in self.state.case.roster:
                assert seat.name in self.state.sealed or own.count(seat.name) == self.state.case.limits.max_asks

    @invariant()
    def the_state_is_the_fold_of_the_record(self) -> None:
        if self._is_open():
            assert self.state == REVIEW.fold(self.case.entries) == self.case.refold()

    @invariant()
    def the_record_replays_through_the_table(self) -> None:
        if self._is_open():
            phase: str = Phase.OPENING
            for entry in self.case.entries:
                phase = TABLE[phase][type(entry)]
            assert phase == self.state.phase

    @invariant()
    def no_brief_shows_what_is_sealed(self) -> None:
        if self._is_open():
            for turn in self.due():
                brief = REVIEW.brief(self.state, turn, MATERIALS)
                assert brief == REVIEW.brief(self.case.refold(), turn, MATERIALS)
                shown = json.dumps([brief.instructions, brief.payload, brief.schema], default=dict)
                assert SECRET not in shown

    @invariant()
    def a_turn_is_recorded_once(self) -> None:
        if self._is_open():
            turns = [e.turn for e in self.case.entries if isinstance(e, SubmissionSealed | AttemptFailed)]
            assert len(turns) == len(set(turns)) == self.state.spent.calls

    @invariant()
    def nothing_that_a_reply_says_is_lost(self) -> None:
        """FIELD-FAULTS F19, F33: each finding is in the ledger, as heavy and as open as it was named."""
        if not self._is_open():
            return
        alone = len(self.state.case.roster) == 1
        for revealed in self.state.revealed.values():
            seat, reply = revealed.turn.seat, json.loads(revealed.reply)
            given = self.state.verdicts[seat]
            assert (given.candidate, given.claimed or not given.approved) == (CANDIDATE, True)
            if "findings" in reply:
                assert (given.claimed, given.approved) == (reply["approved"], reply["approved"])
                raised = self.state.ledger.raised_by(seat)
                assert [(f.id, f.severity, f.status is FindingStatus.OPEN) for f in raised] == [
                    (f["id"] if alone else f"{seat}-{f['id']}", f["severity"], f["status"] == "open")
                    for f in reply["findings"]
                ]

    @invariant()
    def the_outcome_is_what_the_entries_come_to(self) -> None:
        if not self._is_open():
            return
        outcome, closed = REVIEW.outcome(self.state), self.state.closed
        assert {seat.seat for seat in outcome.seats if seat.approved} <= self.approvals
        if closed is None:
            assert (outcome.decision, outcome.stop_reason) == (Decision.UNDETERMINED, None)
            return
        assert self.case.entries[-1] == closed
        assert outcome.decision is closed.decision is decision_of(self.case.entries, closed.stop_reason)
        assert (closed.decision is Decision.APPROVED) is (closed.stop_reason is StopReason.AGREED)

    @invariant()
    def nothing_follows_the_close(self) -> None:
        if self._is_open() and self.state.closed is not None:
            for entry in self.case.entries:
                with pytest.raises(Refused, match="PHASE-1"):
                    REVIEW.apply(self.state, entry)

    def teardown(self) -> None:
        """Play on to the end: whoever still owes an answer agrees."""
        if self._is_open():
            self.settle()
            for _ in self.due():
                self.agree()
                self.settle()
            assert self.due() == ()
            self.the_outcome_is_what_the_entries_come_to()
            self.nothing_that_a_reply_says_is_lost()
            self.nothing_follows_the_close()

    def _is_open(self) -> bool:
        return hasattr(self, "case")


def _bytes(entries: tuple[Entry, ...]) -> str:
    return "\n".join(canonical_json(encode(entry)) for entry in entries)


TestReview = ReviewMachine.TestCase
TestReview.settings = settings(max_examples=40, stateful_step_count=20)


class LongReviewMachine(ReviewMachine):
    """The same, for long."""


TestReviewForLong = pytest.mark.soak(pytest.mark.timeout(3600)(LongReviewMachine.TestCase))
TestReviewForLong.settings = settings(max_examples=1500, stateful_step_count=50)
