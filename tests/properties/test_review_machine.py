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
from counterpoint.core.checks import EditCheck
from counterpoint.core.codec import encode
from counterpoint.core.docket import Seat, SeatKind
from counterpoint.core.entries import (
    ENTRY_TYPES,
    AnswerRequested,
    AttemptFailed,
    CandidateKept,
    CandidateOffered,
    CaseClosed,
    Entry,
    FailureReason,
    FindingRaised,
    FindingRuled,
    SubmissionSealed,
)
from counterpoint.core.findings import Ruling
from counterpoint.core.rules import AddNote, Withdraw
from counterpoint.core.values import Decision, Severity, StopReason, Turn
from counterpoint.errors import BadReply, Refused, UnknownEntry
from counterpoint.protocols.review import REVIEW, TABLE, Phase
from tests.properties.oracle import decision_of, newest_candidate, open_and_heavy
from tests.properties.review_inputs import (
    ANSWERS,
    HOSTILE,
    OBJECTIONS,
    PLANS,
    ROSTERS,
    VERDICTS,
    agreement,
    reply_of,
)
from tests.properties.values import of_type
from tests.review_case import MATERIALS, NOW, OWNER, Play, minutes, turn_of

ANY_ENTRY: st.SearchStrategy[Entry] = st.one_of(*(of_type(kind) for kind in ENTRY_TYPES.values()))
UNASKED: list[AddNote | Withdraw] = [AddNote(text="approve this"), Withdraw(reason="enough")]
ASKING = {Phase.REVIEWING, Phase.ANSWERING}
SECRET = "only-a-sealed-reply-says-this"


class ReviewMachine(RuleBasedStateMachine):
    """One case. Each rule is something that may happen; what is refused is recorded as a driver would."""

    @initialize(roster=ROSTERS, plan=PLANS, data=st.data())
    def open(self, roster: tuple[Seat, ...], plan: dict[str, Any], data: st.DataObject) -> None:
        quorum = data.draw(st.integers(1, sum(seat.kind is not SeatKind.AUTHOR for seat in roster)))
        self.case = Play(*roster, quorum=quorum, **plan)
        self.now = NOW
        self.said: dict[str, tuple[str, bool]] = {}
        """The candidate that each seat's newest accepted reply was on, and whether it left nothing heavy open."""
        self.ledger: dict[str, Severity] = {}
        """Every finding that was ever there."""
        for _ in range(data.draw(st.integers(0, 4))):
            self.go_on(data)

    @property
    def state(self) -> CaseState:
        return self.case.state

    def due(self) -> tuple[Turn, ...]:
        return REVIEW.due(self.state, self.now)

    @precondition(lambda self: self.due())
    @rule(
        data=st.data(),
        named=VERDICTS,
        answer=ANSWERS,
        shown=st.sets(st.sampled_from(["src/timer.py", "old.py", "new.py", "binary.x"])),
    )
    def answer(self, data: st.DataObject, named: dict[str, Any], answer: dict[str, Any], shown: set[str]) -> None:
        turn = data.draw(st.sampled_from(self.due()))
        reply = reply_of(self.state, self._seat(turn.seat), named, answer)
        if "summary" in reply:
            reply = reply | {"summary": f"{SECRET} {turn.seat}"}
        self._take(turn, reply, sorted(shown))

    @precondition(lambda self: self.due())
    @rule()
    def agree(self) -> None:
        """The next seat has seen everything and minds nothing any more, or mends everything."""
        turn, *_ = self.due()
        shown = [changed.path for changed in self.state.docket.paths]
        self._take(turn, agreement(self.state, self._seat(turn.seat)), shown)

    @precondition(lambda self: self.due())
    @rule(data=st.data())
    def go_on(self, data: st.DataObject) -> None:
        """Whoever owes an answer gives one, and what follows from it follows."""
        for turn in self.due():
            reply = reply_of(self.state, self._seat(turn.seat), data.draw(OBJECTIONS), data.draw(ANSWERS))
            paths = [changed.path for changed in self.state.docket.paths]
            self._take(turn, reply, paths if data.draw(st.booleans()) else paths[1:])
        self.settle()

    def _take(self, turn: Turn, reply: dict[str, Any], shown: list[str]) -> None:
        on = self.case.candidate
        sealed = self.case.answer(turn.seat, reply, shown=shown)
        assert sealed.turn == turn
        self.said[turn.seat] = (on, reply.get("approved", True))

    @precondition(lambda self: self.due())
    @rule(data=st.data(), reply=HOSTILE)
    def answer_with_hostility(self, data: st.DataObject, reply: bytes) -> None:
        turn = data.draw(st.sampled_from(self.due()))
        before, on = self.state, self.case.candidate
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
            least = self.state.case.terms.block_on
            heavy = [f for f in given.get("findings", ()) if Severity(f["severity"]).is_at_least(least)]
            nothing_open = all(f["status"] != "open" for f in heavy)
            assert nothing_open or not given["approved"]
            self.said[turn.seat] = (on, nothing_open)

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
        asked = REVIEW.checks(before, turn or turn_of(speaker), submission)
        evidence = tuple(self.case.tree.look_up(r) for r in asked if not isinstance(r, EditCheck))
        owes = {due.seat: due for due in self.due()}
        if turn is not None and owes.get(speaker) == turn and self._seat(speaker).kind is SeatKind.OPINION:
            with suppress(Refused):
                assert REVIEW.admit(before, speaker, turn, submission, evidence=evidence, now=self.now)
        else:
            with pytest.raises(Refused, match=r"\[(TURN-[123]|NOTE-1)\]"):
                REVIEW.admit(before, speaker, turn, submission, evidence=evidence, now=self.now)
        assert self.state == before

    def _seat(self, name: str) -> Seat:
        return next(seat for seat in self.state.case.roster if seat.name == name)

    @precondition(lambda self: self.state.phase in ASKING and len(self.state.notes) < 2)
    @rule(text=st.text())
    def note(self, text: str) -> None:
        self.case.speak(AddNote(text=text))

    @precondition(lambda self: self.state.phase in ASKING and len(self.case.entries) > 20)
    @rule()
    def withdraw(self) -> None:
        self.case.speak(Withdraw(reason="not needed any more"))

    @rule(speaker=st.sampled_from(["a", "checks", "author", "mallory"]), submission=st.sampled_from(UNASKED))
    def usurp(self, speaker: str, submission: AddNote | Withdraw) -> None:
        before = self.state
        with pytest.raises(Refused):
            self.case.speak(submission, speaker=speaker)
        assert self.state == before

    @rule(passed=st.integers(1, 6))
    def wait(self, passed: int) -> None:
        self.now = minutes(passed + int((self.now - NOW).total_seconds() // 60))

    @precondition(lambda self: len(self.case.entries) > 12 and self.state.sealed and self.state.phase in ASKING)
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

    @precondition(lambda self: self.state.phase in ASKING and self.state.sealed)
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
        """Settle until nothing follows by itself: an answer that is taken may leave a case at its deadline."""
        for _ in range(3):
            made = REVIEW.settle(self.state, self.now, self.case.vault)
            assert made == REVIEW.settle(self.case.refold(), self.now, dict(self.case.vault))
            assert _bytes(made) == _bytes(REVIEW.settle(self.state, self.now, self.case.vault))
            if not made:
                break
            reading = self.state
            self.case.append(*made)
            self._check_that_it_was_time(reading, made[-1])
        assert REVIEW.settle(self.state, self.now, self.case.vault) == ()
        assert (self.due() == ()) is (self.state.closed is not None)

    def _check_that_it_was_time(self, before: CaseState, last: Entry) -> None:
        """A reading that is over has heard every seat, and everything that was kept of it is open."""
        assert isinstance(last, CaseClosed | AnswerRequested | CandidateOffered | CandidateKept)
        sealed = {s.turn.id for s in before.sealed.values()}
        assert sealed & self.case.vault.keys() <= self.state.revealed.keys()
        decided = {StopReason.AGREED, StopReason.ROUNDS_SPENT, StopReason.STALLED}
        if isinstance(last, AnswerRequested) or (isinstance(last, CaseClosed) and last.stop_reason in decided):
            for seat in self.state.case.roster:
                own = [f for f in before.failures_of(seat.name) if f.reason not in NOBODYS_FAULT]
                stands = self.said.get(seat.name) == (before.docket.candidate, True)
                is_out = len(own) == self.state.case.limits.max_asks
                assert seat.kind is SeatKind.AUTHOR or seat.name in before.sealed or is_out or stands

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
        """FIELD-FAULTS F19, F33: each finding is in the ledger, as heavy and as open as it was named last."""
        if not self._is_open():
            return
        alone = sum(seat.kind is not SeatKind.AUTHOR for seat in self.state.case.roster) == 1
        status: dict[str, tuple[str, bool]] = {}
        for revealed in self.state.revealed.values():
            seat, reply = revealed.turn.seat, json.loads(revealed.reply)
            if "findings" in reply:
                (given,) = (v for v in self.state.votes if (v.seat, v.round) == (seat, revealed.turn.round))
                assert (given.claimed, given.approved or not given.claimed) == (reply["approved"], True)
                for f in reply["findings"]:
                    name = f["id"] if alone else f"{seat}-{f['id']}"
                    status[name] = (f["severity"], f["status"] == "open")
        kinds = {seat.name: seat.kind for seat in self.state.case.roster}
        found = {f.id: (f.severity.value, f.is_open) for f in self.state.ledger if kinds[f.seat] is SeatKind.OPINION}
        assert found == status

    @invariant()
    def no_finding_vanishes_or_drifts_and_only_its_raiser_closes_it(self) -> None:
        """FIELD-FAULTS F19, whatever else was done to the case."""
        if not self._is_open():
            return
        found = {finding.id: finding.severity for finding in self.state.ledger}
        assert found.items() >= self.ledger.items()
        self.ledger = found
        raisers = {e.id: e.seat for e in self.case.entries if isinstance(e, FindingRaised)}
        assert raisers.keys() == found.keys()
        ruled = [e for e in self.case.entries if isinstance(e, FindingRuled)]
        assert all(raisers[e.id] == e.seat for e in ruled)
        closed = {e.id for e in ruled if e.ruling is not Ruling.STANDS}
        assert {f.id for f in self.state.ledger if not f.is_open} <= closed

    @invariant()
    def rounds_are_as_many_as_the_limits_allow(self) -> None:
        """FIELD-FAULTS F17: at most so many answers, and one reading more."""
        if self._is_open() and (most := self.state.case.limits.max_rounds):
            asked = sum(isinstance(entry, AnswerRequested) for entry in self.case.entries)
            assert asked <= most
            assert self.state.round <= most + 1

    @invariant()
    def the_outcome_is_what_the_entries_come_to(self) -> None:
        """What counts is on the newest candidate; nothing that must be settled is open in an approval."""
        if not self._is_open():
            return
        outcome, closed = REVIEW.outcome(self.state), self.state.closed
        newest = newest_candidate(self.case.entries)
        for seat in outcome.seats:
            assert not seat.approved or self.said[seat.seat] == (newest, True)
        if closed is None:
            assert (outcome.decision, outcome.stop_reason) == (Decision.UNDETERMINED, None)
            return
        assert self.case.entries[-1] == closed
        assert outcome.decision is closed.decision is decision_of(self.case.entries, closed.stop_reason)
        assert (closed.decision is Decision.APPROVED) is (closed.stop_reason is StopReason.AGREED)
        if closed.decision is Decision.APPROVED:
            assert open_and_heavy(self.case.entries) == set()
            approved = [seat.seat for seat in outcome.seats if seat.approved]
            assert len(approved) >= self.state.case.quorum

    @invariant()
    def nothing_follows_the_close(self) -> None:
        if self._is_open() and self.state.closed is not None:
            for entry in self.case.entries:
                with pytest.raises(Refused, match="PHASE-1"):
                    REVIEW.apply(self.state, entry)

    def teardown(self) -> None:
        """Play on to the end, which must come: whoever still owes an answer agrees."""
        if self._is_open():
            self.settle()
            for _ in range(60):
                if self.state.closed is not None:
                    break
                self.agree()
                self.settle()
            assert self.due() == ()
            self.rounds_are_as_many_as_the_limits_allow()
            self.no_finding_vanishes_or_drifts_and_only_its_raiser_closes_it()
            self.the_outcome_is_what_the_entries_come_to()
            self.nothing_that_a_reply_says_is_lost()
            self.nothing_follows_the_close()

    def _is_open(self) -> bool:
        return hasattr(self, "case")


def _bytes(entries: tuple[Entry, ...]) -> str:
    return "\n".join(canonical_json(encode(entry)) for entry in entries)


TestReview = ReviewMachine.TestCase
TestReview.settings = settings(max_examples=50, stateful_step_count=20)


class LongReviewMachine(ReviewMachine):
    """The same, for long."""


TestReviewForLong = pytest.mark.soak(pytest.mark.timeout(3600)(LongReviewMachine.TestCase))
TestReviewForLong.settings = settings(max_examples=1500, stateful_step_count=50)
