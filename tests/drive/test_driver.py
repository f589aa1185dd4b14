"""The loop, with agents that answer, fail, lie and vanish. Sources: DESIGN 4 and 6, FIELD-FAULTS, SPEC D-10, D-18."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from counterpoint.agents.base import Workspace
from counterpoint.core.briefs import Brief
from counterpoint.core.entries import ConsentGranted, FailureReason
from counterpoint.core.limits import Limits
from counterpoint.core.rules import AddNote, Withdraw
from counterpoint.core.values import Decision, StopReason, Turn, Usage
from counterpoint.drive.asking import Limiter
from counterpoint.drive.driver import Step
from counterpoint.drive.progress import DriveEvent, EventKind
from counterpoint.errors import NeedsPerson, Refused, TurnTimeout, Unreachable
from counterpoint.protocols.review import REVIEW
from counterpoint.record.memory import _MemoryVault
from tests.drive.driving import DOCKET, FINDING, START, ActingAgent, Case, verdict


def test_every_answer_is_sealed_before_any_is_revealed() -> None:
    """DESIGN 4, sealing: one batch reveals all."""
    case = Case({"one": ActingAgent(verdict()), "two": ActingAgent(verdict())})
    case.run()
    assert case.types() == [
        "submission-sealed",
        "submission-sealed",
        *("submission-revealed", "verdict-given", "submission-revealed", "verdict-given", "case-closed"),
    ]
    assert [block.batch for block in case.store.read(case.name, 3)] == [(i, 5) for i in range(1, 6)]


def test_an_approval_needs_every_seat() -> None:
    """A finding of one of two reviewers decides."""
    case = Case({"one": ActingAgent(verdict()), "two": ActingAgent(verdict(approved=False, findings=[FINDING]))})
    loaded = case.run()
    assert (loaded.outcome.decision, loaded.outcome.stop_reason) == (Decision.REJECTED, StopReason.ROUNDS_SPENT)
    assert [finding.id for finding in loaded.outcome.open_findings] == ["two-F1"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"Looks good to me, approved!", "exactly one JSON object"),
        (verdict() + verdict(), "nothing may follow it"),
        (b'{"approved": true, "approved": true}', "twice"),
        (verdict(approved=True, findings=[FINDING]), "VERDICT-"),
        (verdict(approved=False), "VERDICT-"),
        (b"", "empty"),
    ],
)
def test_a_bad_answer_is_asked_again_once_with_the_reason(answer: bytes, said: str) -> None:
    """SPEC D-10, D-12, D-18 and F33: never repaired, never guessed."""
    agent = ActingAgent(answer, verdict())
    case = Case({"one": agent})
    loaded = case.run()
    assert loaded.outcome.decision is Decision.APPROVED
    assert agent.calls == 2
    (failed,) = loaded.state.failures
    assert said in failed.detail
    assert agent.briefs[1].payload["your_last_answer_was_not_accepted"] == failed.detail
    assert "your_last_answer_was_not_accepted" not in agent.briefs[0].payload


def test_two_bad_answers_fail_the_case_and_approve_nothing() -> None:
    """F1: a reviewer without a valid answer is no approval; what the other said is revealed all the same (A-28)."""
    bad, good = ActingAgent(b"LGTM"), ActingAgent(verdict())
    case = Case({"bad": bad, "good": good})
    loaded = case.run()
    assert (loaded.outcome.decision, loaded.outcome.stop_reason) == (Decision.UNDETERMINED, StopReason.FAILED)
    assert (bad.calls, good.calls) == (2, 1)
    assert "good" in loaded.state.verdicts


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Unreachable("'agent' ended with exit code 1"), FailureReason.UNREACHABLE),
        (TurnTimeout("no answer within 5 s"), FailureReason.TIMEOUT),
    ],
)
def test_an_agent_that_cannot_answer_leaves_a_failed_attempt(error: Exception, reason: FailureReason) -> None:
    """DESIGN 4: a failed attempt is an entry."""
    loaded = Case({"one": ActingAgent(error, verdict())}).run()
    assert [(f.reason, f.detail, f.attempt) for f in loaded.state.failures] == [(reason, str(error), 1)]
    assert loaded.outcome.decision is Decision.APPROVED


def test_another_model_than_the_one_asked_for_is_no_answer() -> None:
    """DESIGN 7.7: wrong model is never a pass."""
    agent = ActingAgent(verdict())
    agent.model_reported = "other"
    loaded = Case({"one": agent}).run()
    assert {f.reason for f in loaded.state.failures} == {FailureReason.WRONG_IDENTITY}
    assert "'m'" in loaded.state.failures[0].detail
    assert "'other'" in loaded.state.failures[0].detail
    assert loaded.outcome.stop_reason is StopReason.FAILED


def test_an_agent_that_changes_its_tree_has_not_answered() -> None:
    """F30: a read-only reviewer that writes."""

    async def write(brief: Brief, workspace: Workspace) -> bytes:
        (workspace.tree / "stray").write_text("x")
        return verdict()

    loaded = Case({"one": ActingAgent(write)}).run()
    assert {f.reason for f in loaded.state.failures} == {FailureReason.TREE_TOUCHED}
    assert loaded.outcome.stop_reason is StopReason.FAILED


def test_an_agent_that_hangs_is_cancelled_at_the_calls_timeout() -> None:
    """F29 at the seam: the driver cancels, and a timeout is recorded as one (F7)."""
    ended = []

    async def hang(brief: Brief, workspace: Workspace) -> bytes:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")
        raise AssertionError

    loaded = Case({"one": ActingAgent(hang)}, limits=Limits(call_timeout_s=1, max_asks=1)).run()
    assert [f.reason for f in loaded.state.failures] == [FailureReason.TIMEOUT]
    assert ended == ["cancelled"]
    assert loaded.outcome.stop_reason is StopReason.FAILED


def test_a_driver_killed_on_every_attempt_stops_at_its_budget() -> None:
    """DESIGN 4: budgets read entries only, so that a crash loop cannot spend for ever."""
    agent = ActingAgent(verdict())
    case = Case({"one": agent}, limits=Limits(max_calls=3))
    for number in range(3):
        due = REVIEW.due(case.load().state, START)
        case.store.claim(case.name, due[0].id, driver=f"dead-{number}", until=START)
        if number < 2:
            asyncio.run(case.driver().advance())
    loaded = case.run()
    assert loaded.outcome.stop_reason is StopReason.BUDGET_SPENT
    assert agent.calls == 0
    assert [f.reason for f in loaded.state.failures] == [FailureReason.DRIVER_LOST] * 3


def test_an_answer_that_came_before_the_crash_is_not_asked_for_again() -> None:
    """DESIGN 4, F43: the reply is in the vault before anything is done with it."""
    agent, other = ActingAgent(verdict(summary="first")), ActingAgent(verdict())
    case = Case({"one": agent, "two": other})
    asyncio.run(case.driver().advance())
    assert (agent.calls, other.calls) == (1, 1)
    rolled_back = Case({"one": agent, "two": other})
    for name in case.store.vault(case.name).names():
        content = case.store.vault(case.name).get(name)
        assert content is not None
        rolled_back.store.vault(rolled_back.name).put(name, content)
    for claim in case.store.claims(case.name):
        rolled_back.store.claim(rolled_back.name, claim.turn, driver=claim.driver, until=claim.until)
    events: list[DriveEvent] = []
    loaded = rolled_back.run(events.append)
    assert (agent.calls, other.calls) == (1, 1)
    assert loaded.outcome.decision is Decision.APPROVED
    assert [e.seat for e in events if e.kind is EventKind.RESUMED] == ["one", "two"]


def test_a_sealed_reply_that_was_changed_in_the_vault_fails_the_case() -> None:
    """SEAL: what is revealed is what was committed to."""
    case = Case({"one": ActingAgent(verdict())})
    asyncio.run(case.driver().advance())
    vault = case.store.vault(case.name)
    assert isinstance(vault, _MemoryVault)
    vault.channel.sealed["reply-reviewing.1.one.1"] += b" "
    loaded = case.run()
    assert loaded.outcome.stop_reason is StopReason.FAILED
    assert "cannot be opened" in loaded.outcome.reasons[-1]


def test_no_more_questions_are_asked_than_the_budget_allows() -> None:
    """Seats that are due side by side share what is left of it."""
    agents = {name: ActingAgent(b"bad") for name in ("a", "b", "c")}
    loaded = Case(agents, limits=Limits(max_calls=4, max_asks=3)).run()
    assert sum(agent.calls for agent in agents.values()) == 4
    assert loaded.outcome.stop_reason is StopReason.BUDGET_SPENT


def test_reported_tokens_over_the_threshold_end_the_case() -> None:
    """SPEC A-25: a threshold on what was reported."""
    agent = ActingAgent(b"bad", verdict())
    loaded = Case({"one": agent}, limits=Limits(max_tokens=11)).run()
    assert (agent.calls, loaded.outcome.stop_reason) == (1, StopReason.BUDGET_SPENT)
    assert loaded.outcome.spent.usage == Usage(input_tokens=10, output_tokens=1, known=True)


def test_nothing_is_asked_after_the_deadline() -> None:
    """DESIGN 4, limits: an absolute instant."""
    agent = ActingAgent(verdict())
    case = Case({"one": agent}, limits=Limits(deadline=(START + timedelta(seconds=60)).isoformat()))
    case.clock.advance(60)
    loaded = case.run()
    assert (agent.calls, loaded.outcome.stop_reason) == (0, StopReason.DEADLINE_PASSED)


CONSENT = ConsentGranted(
    destination="far",
    by="me",
    granted_at=START.isoformat(),
    until=(START + timedelta(seconds=60)).isoformat(),
    scope="change under review",
    digest="d" * 64,
)


def test_nothing_leaves_this_machine_without_consent() -> None:
    """DESIGN "Consent", SPEC B-08: refused before the first byte, and nothing is recorded against the seat."""
    agent = ActingAgent(verdict(), destination="far")
    case = Case({"one": agent})
    with pytest.raises(NeedsPerson, match="'far'") as caught:
        case.run()
    assert "consent grant far" in caught.value.hint
    assert agent.calls == 0
    assert case.types() == []
    asyncio.run(case.driver().record_consents([CONSENT, CONSENT][:1]))
    asyncio.run(case.driver().record_consents([CONSENT]))
    assert case.run().outcome.decision is Decision.APPROVED
    assert case.types().count("consent-granted") == 1


def test_consent_that_has_ended_is_none() -> None:
    """The instant of its end is too late."""
    agent = ActingAgent(verdict(), destination="far")
    case = Case({"one": agent}, consents=[CONSENT])
    case.clock.advance(60)
    with pytest.raises(NeedsPerson, match="ended"):
        case.run()
    assert agent.calls == 0


def test_a_person_who_is_not_there_costs_nothing_and_stops_nobody_else() -> None:
    """DESIGN 8: exit 4, everything so far kept; the other seat's answer is in."""
    person, other = ActingAgent(NeedsPerson("no terminal"), verdict()), ActingAgent(verdict())
    person.patient = True
    case = Case({"person": person, "other": other})
    with pytest.raises(NeedsPerson):
        case.run()
    assert case.types() == ["submission-sealed"]
    assert case.store.claims(case.name)[0].turn == "reviewing.1.other.1"
    loaded = case.run()
    assert loaded.outcome.decision is Decision.APPROVED
    assert loaded.outcome.spent.calls == 2
    assert other.calls == 1


def test_an_interruption_is_recorded_and_asked_again_without_blame() -> None:
    """DESIGN 8: Ctrl-C keeps everything; the attempt costs a call and no ask."""
    arrived = asyncio.Event()

    async def hang(brief: Brief, workspace: Workspace) -> bytes:
        arrived.set()
        await asyncio.Event().wait()
        raise AssertionError

    case = Case({"one": ActingAgent(hang, verdict())}, limits=Limits(max_asks=1))

    async def interrupt() -> None:
        running = asyncio.create_task(case.driver().run())
        await arrived.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(asyncio.wait_for(interrupt(), 5))
    assert [f.reason for f in case.load().state.failures] == [FailureReason.INTERRUPTED]
    loaded = case.run()
    assert loaded.outcome.decision is Decision.APPROVED
    assert loaded.outcome.spent.calls == 2


def test_a_callback_that_raises_is_dropped_and_recorded() -> None:
    """DESIGN 3, Python API: the case goes on."""
    seen = []

    def broken(event: DriveEvent) -> None:
        seen.append(event)
        raise RuntimeError("no")

    loaded = Case({"one": ActingAgent(verdict())}).run(broken)
    assert len(seen) == 1
    assert [d.detail for d in loaded.state.dropped] == ["RuntimeError: no"]
    assert loaded.outcome.decision is Decision.APPROVED


def test_no_more_questions_are_out_at_one_destination_than_allowed() -> None:
    """DESIGN 6: limits per destination."""
    out, most = 0, 0
    both = asyncio.Event()

    async def count(brief: Brief, workspace: Workspace) -> bytes:
        nonlocal out, most
        out += 1
        most = max(most, out)
        if out == 2:
            both.set()
        await both.wait()
        for _ in range(5):  # long enough for a third to come, were it let in
            await asyncio.to_thread(str)
        out -= 1
        return verdict()

    case = Case({name: ActingAgent(count) for name in ("a", "b", "c")})
    asyncio.run(asyncio.wait_for(case.driver(limiter=Limiter(2)).run(), 5))
    assert most == 2


def test_an_answer_out_of_turn_is_refused_and_changes_nothing() -> None:
    """TURN-1, through the driver."""
    case = Case({"one": ActingAgent(verdict()), "two": ActingAgent(verdict())})
    driver = case.driver()
    assert asyncio.run(driver.advance()) is Step.AGAIN
    before = case.store.head(case.name)
    turn = Turn(phase="reviewing", round=1, seat="one", ask=1, blind=True)
    submission = REVIEW.parse(case.load().state, turn, _json(verdict()))
    with pytest.raises(Refused) as caught:
        asyncio.run(driver.speak("one", submission, turn))
    assert caught.value.rule == "TURN-1"
    assert case.store.head(case.name) == before


def _json(reply: bytes) -> dict[str, object]:
    return dict(json.loads(reply))


def test_the_supervisor_may_speak_while_a_driver_is_at_work() -> None:
    """A note that came in between is read, and the driver's entry follows it."""
    case: Case

    async def meanwhile(brief: Brief, workspace: Workspace) -> bytes:
        await case.driver().speak("owner", AddNote(text="be kind"))
        return verdict()

    case = Case({"one": ActingAgent(meanwhile)})
    loaded = case.run()
    assert case.types()[:2] == ["note-added", "submission-sealed"]
    assert loaded.outcome.decision is Decision.APPROVED


def test_a_case_withdrawn_while_a_seat_answers_stays_withdrawn() -> None:
    """The answer that came too late is refused by the rules, whoever brings it."""
    case: Case

    async def meanwhile(brief: Brief, workspace: Workspace) -> bytes:
        await case.driver().speak("owner", Withdraw(reason="wrong branch"))
        return verdict()

    case = Case({"one": ActingAgent(meanwhile)})
    loaded = case.run()
    assert loaded.outcome.stop_reason is StopReason.WITHDRAWN
    assert case.types() == ["case-closed"]


def test_a_quorum_stated_beforehand_lets_a_seat_fail() -> None:
    """DESIGN 4: one reviewer that never answered fails the case, unless a quorum was stated."""
    seats = {"one": ActingAgent(verdict()), "two": ActingAgent(b"no")}
    assert Case(seats).run().outcome.stop_reason is StopReason.FAILED
    seats = {"one": ActingAgent(verdict()), "two": ActingAgent(b"no")}
    assert Case(seats, quorum=1).run().outcome.decision is Decision.APPROVED


def test_the_docket_names_what_every_verdict_is_bound_to() -> None:
    """DESIGN 4, binding."""
    loaded = Case({"one": ActingAgent(verdict())}).run()
    assert {v.candidate for v in loaded.state.verdicts.values()} == {DOCKET.candidate}
    assert replace(loaded.state.case.docket) == DOCKET
