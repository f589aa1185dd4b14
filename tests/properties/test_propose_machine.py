"""A case of `propose` driven through whatever may happen to it, held to what must always hold (STYLE 7)."""

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant

from counterpoint.core.docket import Docket
from counterpoint.core.entries import (
    AttemptFailed,
    CaseClosed,
    Entry,
    FailureReason,
    RevisionOffered,
    SubmissionSealed,
)
from counterpoint.core.limits import Limits
from counterpoint.core.values import Decision, StopReason, Turn
from counterpoint.protocols.propose import STAGES, Phase, ProposeState
from counterpoint.protocols.propose.wire import ended
from tests.properties.machine import SECRET, CaseMachine
from tests.propose_case import (
    CRITIC,
    NOW,
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

_LATE = 10
"""Entries after which a case has come far enough to be ended by a fault."""
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
QUESTIONS = st.sampled_from(["Let users export their data."] * 20 + [" ", "a\0b", "x" * 64_001])
HEAVY = {"critical", "high"}
ACTIONS = st.sampled_from(["fix", "rebut", "accept_risk"])
RULED = st.sampled_from(["resolved", "accepted_risk", "open", "resolved", "accepted_risk", "disputed"])
SEVERITIES = st.sampled_from(["critical", "high", "medium", "low"])
HOSTILE = st.sampled_from(
    [b"", b"accept", b"{}", b'{"assessment": "accept"}', json.dumps(review(99)).encode(), json.dumps(scan()).encode()]
)


class ProposeMachine(CaseMachine[ProposeState, Play]):
    hostile = HOSTILE
    faultless = _LATE
    lossless = _LATE

    @initialize(roster=ROSTERS, limits=LIMITS, question=QUESTIONS, data=st.data())
    def open(self, roster: Any, limits: Limits, question: str, data: st.DataObject) -> None:
        self.ledger: dict[str, str] = {}
        """Every issue that was ever there, with its severity."""
        case = Play(*roster, limits=limits, docket=Docket(question=question))
        self.begin(case, data, passes=data.draw(st.sampled_from([5, 3, 7, 0])))

    def say(self, turn: Turn, data: st.DataObject) -> None:
        self.take(turn, self.reply_to(turn, data), model=data.draw(st.sampled_from(["m"] * 9 + ["n"])))

    def say_with_others(self, turn: Turn, data: st.DataObject) -> None:
        self.take(turn, self.reply_to(turn, data))

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

    def agree(self, turn: Turn) -> None:
        """It accepts, or fails for good."""
        self.take(turn, self._agreement(turn))

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

    def asked(self, state: ProposeState) -> tuple[str, ...]:
        return STAGES[state.stage].asks(state)

    def ends_well(self, closed: CaseClosed) -> bool:
        """A-44: also with risks that stay."""
        return closed.stop_reason is StopReason.AGREED

    def check_brief(self, turn: Turn, shown: str) -> None:
        """A-06: nothing of an answer that is not open; a critic never knows another's words."""
        if turn.phase == Phase.PROPOSING:
            assert SECRET not in shown
        if turn.phase == Phase.REVIEWING:
            others = {seat.name for seat in self.state.case.judges} - {turn.seat}
            assert all(f'{SECRET} {other}"' not in shown for other in others)

    def check_close(self, entries: tuple[Entry, ...], state: ProposeState, closed: CaseClosed) -> None:
        """Hold an agreement to the replies themselves, without the rules' own ledger (A-20)."""
        assert ended(state) is not None
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
    def nobody_is_asked_again(self) -> None:
        """A-09, A-27: at most one answer or failure of a seat's own in each stage, so the calls are bounded."""
        turns = [e.turn for e in self.case.entries if isinstance(e, SubmissionSealed | AttemptFailed)]
        lost = sum(f.reason in {FailureReason.DRIVER_LOST, FailureReason.INTERRUPTED} for f in self.state.failures)
        critics, rounds = len(self.state.case.judges), self.state.case.limits.max_rounds
        assert len(turns) - lost <= (critics + 1) * rounds + critics

    @invariant()
    def no_issue_vanishes_or_drifts_and_only_its_critic_settles_it(self) -> None:
        """A-16 to A-18, FIELD-FAULTS F19."""
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
        offered = [e for e in self.case.entries if isinstance(e, RevisionOffered)]
        assert [entry.revision for entry in offered] == list(range(1, len(offered) + 1))
        assert len(offered) <= len(self.state.written) <= self.state.case.limits.max_rounds


TestPropose = ProposeMachine.TestCase
TestPropose.settings = settings(max_examples=100, stateful_step_count=15)


class LongProposeMachine(ProposeMachine):
    """The same, for long: ten thousand random runs (issue 6)."""


TestProposeForLong = pytest.mark.soak(pytest.mark.timeout(7200)(LongProposeMachine.TestCase))
TestProposeForLong.settings = settings(max_examples=10_000, stateful_step_count=25)
