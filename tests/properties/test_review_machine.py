"""A review driven through whatever may happen to it, held after every step to what must always hold (STYLE 7)."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from counterpoint.core.case import CaseState
from counterpoint.core.checks import EditCheck
from counterpoint.core.docket import Seat, SeatKind
from counterpoint.core.entries import (
    AnswerRequested,
    CandidateKept,
    CandidateOffered,
    CaseClosed,
    Entry,
    FindingRaised,
    FindingRuled,
)
from counterpoint.core.findings import Ruling
from counterpoint.core.values import Decision, Severity, StopReason, Turn
from counterpoint.errors import Refused
from counterpoint.protocols.review import REVIEW, Phase
from tests.properties.machine import SECRET, CaseMachine
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
from tests.review_case import OWNER, Play, turn_of

SHOWN = st.sets(st.sampled_from(["src/timer.py", "old.py", "new.py", "binary.x"]))


class ReviewMachine(CaseMachine[CaseState, Play]):
    hostile = HOSTILE
    most_minutes = 6

    @initialize(roster=ROSTERS, plan=PLANS, data=st.data())
    def open(self, roster: tuple[Seat, ...], plan: dict[str, Any], data: st.DataObject) -> None:
        self.said: dict[str, tuple[str, bool]] = {}
        """The candidate that each seat's newest accepted reply was on, and whether it left nothing heavy open."""
        self.ledger: dict[str, Severity] = {}
        """Every finding that was ever there."""
        quorum = data.draw(st.integers(1, sum(seat.kind is not SeatKind.AUTHOR for seat in roster)))
        self.begin(Play(*roster, quorum=quorum, **plan), data, passes=data.draw(st.integers(0, 4)))

    def _seat(self, name: str) -> Seat:
        return next(seat for seat in self.state.case.roster if seat.name == name)

    def _paths(self) -> list[str]:
        return [changed.path for changed in self.state.docket.paths]

    def say(self, turn: Turn, data: st.DataObject) -> None:
        reply = reply_of(self.state, self._seat(turn.seat), data.draw(VERDICTS), data.draw(ANSWERS))
        if "summary" in reply:
            reply = reply | {"summary": f"{SECRET} {turn.seat}"}
        self._say(turn, reply, sorted(data.draw(SHOWN)))

    def say_with_others(self, turn: Turn, data: st.DataObject) -> None:
        reply = reply_of(self.state, self._seat(turn.seat), data.draw(OBJECTIONS), data.draw(ANSWERS))
        self._say(turn, reply, self._paths() if data.draw(st.booleans()) else self._paths()[1:])

    def agree(self, turn: Turn) -> None:
        """It has seen everything and minds nothing any more, or mends everything."""
        self._say(turn, agreement(self.state, self._seat(turn.seat)), self._paths())

    def _say(self, turn: Turn, reply: dict[str, Any], shown: list[str]) -> None:
        assert self.take(turn, reply, shown=shown)
        self.said[turn.seat] = (self.case.candidate, reply.get("approved", True))

    def check_hostile(self, turn: Turn, reply: bytes) -> None:
        given = json.loads(reply)
        least = self.state.case.terms.block_on
        heavy = [f for f in given.get("findings", ()) if Severity(f["severity"]).is_at_least(least)]
        nothing_open = all(f["status"] != "open" for f in heavy)
        assert nothing_open or not given["approved"]
        self.said[turn.seat] = (self.case.candidate, nothing_open)

    @precondition(lambda self: self.due())
    @rule()
    def next_agrees(self) -> None:
        self.agree(self.due()[0])

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

    def asked(self, state: CaseState) -> list[str]:
        """The author; or all who read, but those who have approved exactly this before, while they can be enough."""
        kinds = {seat.name: seat.kind for seat in state.case.roster}
        if state.phase == Phase.ANSWERING:
            return [name for name, kind in kinds.items() if kind is SeatKind.AUTHOR]
        readers = [name for name, kind in kinds.items() if kind is not SeatKind.AUTHOR]
        if sum(not state.is_out(name) for name in readers) < state.case.quorum:
            return []
        stands = (state.docket.candidate, True)
        return [name for name in readers if name in state.sealed or self.said.get(name) != stands]

    def check_following(self, before: CaseState, last: Entry) -> None:
        assert isinstance(last, CaseClosed | AnswerRequested | CandidateOffered | CandidateKept)

    def check_close(self, entries: tuple[Entry, ...], state: CaseState, closed: CaseClosed) -> None:
        """What counts is on the newest candidate; nothing that must be settled is open in an approval."""
        assert closed.decision is decision_of(entries, closed.stop_reason)
        assert (closed.decision is Decision.APPROVED) is (closed.stop_reason is StopReason.AGREED)
        if closed.decision is Decision.APPROVED:
            assert open_and_heavy(entries) == set()
            assert sum(seat.approved for seat in REVIEW.outcome(state).seats) >= state.case.quorum

    @invariant()
    def an_approval_is_of_the_newest_candidate(self) -> None:
        newest = newest_candidate(self.case.entries)
        for seat in REVIEW.outcome(self.state).seats:
            assert not seat.approved or self.said[seat.seat] == (newest, True)

    @invariant()
    def nothing_that_a_reply_says_is_lost(self) -> None:
        """FIELD-FAULTS F19, F33: each finding is in the ledger, as heavy and as open as it was named last."""
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
        if most := self.state.case.limits.max_rounds:
            asked = sum(isinstance(entry, AnswerRequested) for entry in self.case.entries)
            assert asked <= most
            assert self.state.round <= most + 1


TestReview = ReviewMachine.TestCase
TestReview.settings = settings(max_examples=50, stateful_step_count=20)


class LongReviewMachine(ReviewMachine):
    """The same, for long."""


TestReviewForLong = pytest.mark.soak(pytest.mark.timeout(3600)(LongReviewMachine.TestCase))
TestReviewForLong.settings = settings(max_examples=1500, stateful_step_count=50)
