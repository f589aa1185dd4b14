"""A case of `propose` driven through whatever may happen to it, held to what must always hold (STYLE 7)."""

import json
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from counterpoint.core.canonical import canonical_json
from counterpoint.core.codec import encode
from counterpoint.core.docket import Docket
from counterpoint.core.entries import (
    ENTRY_TYPES,
    AttemptFailed,
    CaseClosed,
    Entry,
    FailureReason,
    RevisionOffered,
    SubmissionRevealed,
    SubmissionSealed,
)
from counterpoint.core.limits import Limits
from counterpoint.core.rules import AddNote, Materials, Withdraw
from counterpoint.core.values import Decision, StopReason, Turn
from counterpoint.errors import BadReply, Refused, UnknownEntry
from counterpoint.protocols.propose import PROPOSE, TABLE, Phase, ProposeState
from counterpoint.protocols.propose.wire import ended
from tests.properties.values import of_type
from tests.propose_case import (
    CRITIC,
    NOW,
    OWNER,
    PROPOSER,
    SECOND,
    Play,
    answer,
    asking,
    issue,
    proposal,
    review,
    ruling,
    scan,
)

ANY_ENTRY: st.SearchStrategy[Entry] = st.one_of(*(of_type(kind) for kind in ENTRY_TYPES.values()))
ASKING = {Phase.PROPOSING, Phase.REVIEWING, Phase.REVISING}
_LATE = 10
"""Entries after which a case has come far enough to be ended by a fault."""
SECRET = "only-a-sealed-reply-says-this"
ROSTERS = st.sampled_from([(PROPOSER, CRITIC, SECOND), (PROPOSER, CRITIC), (CRITIC, SECOND, PROPOSER)])
LIMITS = st.builds(
    Limits,
    max_rounds=st.sampled_from([4, 3, 2, 1]),
    min_rounds=st.just(1),
    stall_rounds=st.integers(0, 2),
    max_calls=st.sampled_from([0, 0, 0, 0, 0, 2, 4, 9]),
    max_tokens=st.sampled_from([0, 0, 0, 700]),
    max_asks=st.just(1),
    deadline=st.sampled_from([None, (NOW + timedelta(minutes=20)).isoformat()]),
)
QUESTIONS = st.sampled_from(["Let users export their data."] * 20 + [" ", "a\0b"])
HEAVY = {"critical", "high"}
ACTIONS = st.sampled_from(["fix", "rebut", "accept_risk"])
RULED = st.sampled_from(["resolved", "accepted_risk", "open", "resolved", "accepted_risk", "disputed"])
SEVERITIES = st.sampled_from(["critical", "high", "medium", "low"])
HOSTILE = st.sampled_from(
    [b"", b"accept", b"{}", b'{"assessment": "accept"}', json.dumps(review(99)).encode(), json.dumps(scan()).encode()]
)


class ProposeMachine(RuleBasedStateMachine):
    """One case. Each rule is something that may happen; what is refused is recorded as a driver would."""

    @initialize(roster=ROSTERS, limits=LIMITS, question=QUESTIONS, data=st.data())
    def open(self, roster: Any, limits: Limits, question: str, data: st.DataObject) -> None:
        self.case = Play(*roster, limits=limits, docket=Docket(question=question))
        self.now: datetime = NOW
        self.ledger: dict[str, str] = {}
        """Every issue that was ever there, with its severity."""
        for _ in range(data.draw(st.sampled_from([5, 3, 7, 0]))):
            self.go_on(data)

    @property
    def state(self) -> ProposeState:
        return self.case.state

    def due(self) -> tuple[Turn, ...]:
        return PROPOSE.due(self.state, self.now)

    def reply_to(self, turn: Turn, data: st.DataObject) -> dict[str, Any]:
        """Return a reply that fits its turn; what the rules think of it is theirs to say."""
        if turn.phase == Phase.REVIEWING:
            return self._review(turn, data)
        if turn.seat != PROPOSER.name:
            return scan(public_summary=f"{SECRET} {turn.seat}")
        if data.draw(st.integers(0, 60)) == 60:
            return asking(f"{SECRET}?")
        goal = data.draw(st.sampled_from(["An export.", "An export.", "Another."]))
        left = [found.id for found in self.state.findings if data.draw(st.integers(0, 60)) != 60]
        answers = [answer(name, data.draw(ACTIONS)) for name in left]
        return proposal(*answers, goal=goal, public_summary=f"{SECRET} {turn.seat}")

    def _review(self, turn: Turn, data: st.DataObject) -> dict[str, Any]:
        own = self.state.own(turn.seat)
        rulings = [ruling(name, data.draw(RULED)) for name in own if data.draw(st.integers(0, 60)) != 60]
        names = [f"N{turn.round}{n}" for n in range(data.draw(st.sampled_from([0, 1, 0, 0, 2])))]
        new = tuple(issue(name, data.draw(SEVERITIES)) for name in names)
        word = data.draw(st.sampled_from(["accept", "accept", "revise", "blocked"]))
        version = self.state.offered[-1].revision - (data.draw(st.integers(0, 40)) == 40)
        return review(version, *rulings, new=new, assessment=word, public_summary=f"{SECRET} {turn.seat}")

    @precondition(lambda self: self.due())
    @rule(data=st.data())
    def answer(self, data: st.DataObject) -> None:
        turn = data.draw(st.sampled_from(self.due()))
        self._take(turn, self.reply_to(turn, data), data.draw(st.sampled_from(["m"] * 9 + ["n"])))

    @precondition(lambda self: self.due())
    @rule(data=st.data())
    def go_on(self, data: st.DataObject) -> None:
        """Whoever owes an answer gives one, and what follows from it follows."""
        for turn in self.due():
            self._take(turn, self.reply_to(turn, data), "m")
        self.settle()

    @precondition(lambda self: self.due() and len(self.case.entries) > _LATE)
    @rule(data=st.data(), reply=HOSTILE)
    def answer_with_hostility(self, data: st.DataObject, reply: bytes) -> None:
        self._take(data.draw(st.sampled_from(self.due())), reply, "m")

    def _take(self, turn: Turn, reply: object, model: str) -> None:
        before = self.state
        try:
            self.case.answer(turn.seat, reply, model=model)
        except BadReply as error:
            assert self.state == before
            self.case.fail(turn.seat, FailureReason.BAD_REPLY, str(error))
        except Refused as error:
            assert self.state == before
            self.case.fail(turn.seat, FailureReason.REFUSED, str(error))

    @precondition(lambda self: self.due())
    @rule(data=st.data(), reason=st.sampled_from(FailureReason))
    def fail(self, data: st.DataObject, reason: FailureReason) -> None:
        if len(self.case.entries) <= _LATE:
            reason = FailureReason.DRIVER_LOST
        self.case.fail(data.draw(st.sampled_from(self.due())).seat, reason, "it did not answer")

    @precondition(lambda self: self.state.phase in ASKING and len(self.state.notes) < 2)
    @rule(text=st.text())
    def note(self, text: str) -> None:
        self.case.speak(AddNote(text=text))

    @precondition(lambda self: self.state.phase in ASKING and len(self.case.entries) > 20)
    @rule()
    def withdraw(self) -> None:
        self.case.speak(Withdraw(reason="not needed any more"))

    @rule(speaker=st.sampled_from(["proposer", "critic", "mallory"]))
    def usurp(self, speaker: str) -> None:
        before = self.state
        with pytest.raises(Refused):
            self.case.speak(Withdraw(reason="enough"), speaker=speaker)
        assert self.state == before

    @rule(passed=st.integers(1, 8))
    def wait(self, passed: int) -> None:
        self.now += timedelta(minutes=passed)

    @precondition(lambda self: len(self.case.entries) > _LATE and self.state.sealed and self.state.phase in ASKING)
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
            PROPOSE.apply(self.state, data.draw(st.sampled_from(written)))

    @rule(entry=ANY_ENTRY)
    def forge(self, entry: Entry) -> None:
        """Whatever stands in a record, agreement that the answers do not come to is in none."""
        before = self.state
        with suppress(Refused, UnknownEntry):
            after = PROPOSE.apply(before, entry)
            if isinstance(entry, CaseClosed):
                self._hold_agreement(after)
        assert self.state == before

    @precondition(lambda self: self.state.phase in ASKING and self.state.sealed)
    @rule(data=st.data())
    def forge_a_reveal(self, data: st.DataObject) -> None:
        """Leave out of a reveal whatever you like: it is no agreement unless the rest amounts to one."""
        late = PROPOSE.settle(self.state, self.now + timedelta(days=1), self.case.vault)
        kept = [entry for entry in late if not isinstance(entry, CaseClosed) and data.draw(st.booleans())]
        for decision in (Decision.APPROVED, Decision.CONDITIONAL):
            close = CaseClosed(stop_reason=StopReason.AGREED, decision=decision, detail="")
            with suppress(Refused):
                self._hold_agreement(PROPOSE.fold((*self.case.entries, *kept, close)))

    @rule()
    def settle(self) -> None:
        """Settle until nothing follows by itself: an answer that is taken may leave a case at its deadline."""
        for _ in range(3):
            made = PROPOSE.settle(self.state, self.now, self.case.vault)
            assert made == PROPOSE.settle(self.case.refold(), self.now, dict(self.case.vault))
            assert _bytes(made) == _bytes(PROPOSE.settle(self.state, self.now, self.case.vault))
            if not made:
                break
            self.case.append(*made)
        assert PROPOSE.settle(self.state, self.now, self.case.vault) == ()
        assert (self.due() == ()) is (self.state.closed is not None)

    @invariant()
    def the_state_is_the_fold_of_the_record(self) -> None:
        if self._is_open():
            assert self.state == PROPOSE.fold(self.case.entries) == self.case.refold()

    @invariant()
    def the_record_replays_through_the_table(self) -> None:
        if self._is_open():
            phase: str = Phase.OPENING
            for entry in self.case.entries:
                phase = TABLE[phase][type(entry)]
            assert phase == self.state.phase

    @invariant()
    def no_brief_shows_what_is_sealed(self) -> None:
        """A-06: nothing of an answer that is not open, whoever asks."""
        if not self._is_open():
            return
        sealed = {s.turn.seat for s in self.state.sealed.values() if s.turn.id not in self.state.revealed}
        for turn in self.due():
            brief = PROPOSE.brief(self.state, turn, Materials(change="", shown_paths=()))
            shown = json.dumps([brief.instructions, brief.payload, brief.schema], default=dict)
            if turn.phase == Phase.PROPOSING:
                assert SECRET not in shown
            if turn.phase == Phase.REVIEWING:
                # A critic knows the proposer's words and its own, and never another critic's.
                others = {seat.name for seat in self.state.case.judges} - {turn.seat}
                assert all(f'{SECRET} {other}"' not in shown for other in others | (sealed - {turn.seat, "proposer"}))

    @invariant()
    def a_turn_is_recorded_once_and_nobody_is_asked_again(self) -> None:
        """A-09, A-27: at most one answer or failure of a seat's own in each stage, so the calls are bounded."""
        if not self._is_open():
            return
        turns = [e.turn for e in self.case.entries if isinstance(e, SubmissionSealed | AttemptFailed)]
        assert len(turns) == len(set(turns)) == self.state.spent.calls
        lost = sum(f.reason in {FailureReason.DRIVER_LOST, FailureReason.INTERRUPTED} for f in self.state.failures)
        critics, rounds = len(self.state.case.judges), self.state.case.limits.max_rounds
        assert len(turns) - lost <= (critics + 1) * rounds + critics

    @invariant()
    def no_issue_vanishes_or_drifts_and_only_its_critic_settles_it(self) -> None:
        """A-16 to A-18, FIELD-FAULTS F19."""
        if not self._is_open():
            return
        found = {finding.id: finding.severity.value for finding in self.state.findings}
        assert found.items() >= self.ledger.items()
        self.ledger = found
        given: dict[str, str] = {}
        for revealed in self.state.revealed.values():
            reply = json.loads(revealed.reply)
            alone = len(self.state.case.judges) == 1
            for ruled in reply.get("issue_evaluations", ()):
                name = ruled["issue_id"] if alone else f"{revealed.turn.seat}-{ruled['issue_id']}"
                given[name] = ruled["status"]
            for new in reply.get("new_issues", ()):
                given[new["id"] if alone else f"{revealed.turn.seat}-{new['id']}"] = "open"
        assert {finding.id: finding.standing.value for finding in self.state.findings} == given

    @invariant()
    def what_is_on_the_table_is_what_was_written(self) -> None:
        """A-10: a version is bound to the digest of the proposal that was revealed for it."""
        if self._is_open():
            offered = [e for e in self.case.entries if isinstance(e, RevisionOffered)]
            assert [entry.revision for entry in offered] == list(range(1, len(offered) + 1))
            assert len(offered) <= len(self.state.written) <= self.state.case.limits.max_rounds

    @invariant()
    def agreement_is_what_the_answers_come_to(self) -> None:
        if self._is_open():
            self._hold_agreement(self.state)
            if self.state.closed is None:
                assert PROPOSE.outcome(self.state).decision is Decision.UNDETERMINED
            else:
                assert self.case.entries[-1] == self.state.closed
                assert ended(self.state) is not None
                assert PROPOSE.outcome(self.state).decision is self.state.closed.decision

    def _hold_agreement(self, state: ProposeState) -> None:
        """Hold an agreement to the replies themselves, without the rules' own ledger (A-20)."""
        closed = state.closed
        if closed is None:
            return
        assert (closed.stop_reason is StopReason.AGREED) or closed.decision is not Decision.APPROVED
        if closed.stop_reason is not StopReason.AGREED:
            return
        newest: dict[str, dict[str, Any]] = {}
        status: dict[tuple[str, str], tuple[str, str]] = {}
        for revealed in state.revealed.values():
            reply, seat = json.loads(revealed.reply), revealed.turn.seat
            if "reviewed_version" in reply:
                newest[seat] = reply
                status |= {(seat, n["id"]): ("open", n["severity"]) for n in reply["new_issues"]}
                for ruled in reply["issue_evaluations"]:
                    key = (seat, ruled["issue_id"])
                    status[key] = (ruled["status"], status[key][1])
        version = len([r for r in state.revealed.values() if "responses" in json.loads(r.reply)])
        assert newest.keys() == {seat.name for seat in state.case.judges}
        assert all(r["assessment"] == "accept" and r["reviewed_version"] == version for r in newest.values())
        assert all(s == "resolved" or (s == "accepted_risk" and w not in HEAVY) for s, w in status.values())
        assert state.round >= state.case.limits.min_rounds
        all_resolved = all(s == "resolved" for s, _ in status.values())
        assert (closed.decision is Decision.APPROVED) is all_resolved

    @invariant()
    def nothing_follows_the_close(self) -> None:
        if self._is_open() and self.state.closed is not None:
            for entry in self.case.entries:
                with pytest.raises(Refused, match="PHASE-1"):
                    PROPOSE.apply(self.state, entry)

    def teardown(self) -> None:
        """Play on to the end, which must come: whoever still owes an answer fails for good, or accepts."""
        if not self._is_open():
            return
        self.settle()
        for _ in range(40):
            if self.state.closed is not None:
                break
            for turn in self.due():
                self._take(turn, self._agreement(turn), "m")
            self.settle()
        assert self.due() == ()
        self.agreement_is_what_the_answers_come_to()
        self.nothing_follows_the_close()

    def _agreement(self, turn: Turn) -> dict[str, Any]:
        if turn.phase == Phase.REVIEWING:
            version = self.state.offered[-1].revision
            own = self.state.own(turn.seat).values()
            return review(
                version,
                *(ruling(f.own_id, "resolved" if f.answer_in(version) == "fix" else f.standing.value) for f in own),
            )
        if turn.seat != PROPOSER.name:
            return scan()
        return proposal(*(answer(f.id) for f in self.state.findings))

    def _is_open(self) -> bool:
        return hasattr(self, "case")


def _bytes(entries: tuple[Entry, ...]) -> str:
    return "\n".join(canonical_json(encode(entry)) for entry in entries)


def test_a_reveal_and_what_follows_are_one_batch() -> None:
    """Ours: a record cut in the middle of one ends as failed, whatever was in it."""
    case = Play()
    case.answer("proposer", proposal())
    case.answer("critic", scan())
    first, *_ = PROPOSE.settle(case.state, NOW, case.vault)
    assert isinstance(first, SubmissionRevealed)
    case.append(first)
    *_, last = case.settle()
    assert isinstance(last, CaseClosed)
    assert (last.stop_reason, last.decision) == (StopReason.FAILED, Decision.UNDETERMINED)
    assert case.state.case.supervisor == OWNER


TestPropose = ProposeMachine.TestCase
TestPropose.settings = settings(max_examples=100, stateful_step_count=15)


class LongProposeMachine(ProposeMachine):
    """The same, for long: ten thousand random runs (issue 6)."""


TestProposeForLong = pytest.mark.soak(pytest.mark.timeout(7200)(LongProposeMachine.TestCase))
TestProposeForLong.settings = settings(max_examples=10_000, stateful_step_count=25)
