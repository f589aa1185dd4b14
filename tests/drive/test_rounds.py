"""A review with an author, driven: reading, answer, commit, reading again (drive/driver.py, drive/asking.py).

Sources: SPEC D-10, D-13 to D-16, D-18; DESIGN 4 and 6; issue 3.
"""

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from counterpoint.agents.base import Workspace
from counterpoint.core.briefs import Brief
from counterpoint.core.entries import FailureReason
from counterpoint.core.limits import Limits
from counterpoint.core.values import Decision, StopReason
from counterpoint.drive.driver import Driver
from counterpoint.drive.progress import EventKind
from counterpoint.errors import Unreachable
from tests.drive.driving import START, Act, ActingAgent, verdict
from tests.drive.rounds import SAYS, WRONG, Rounds, answered, commits_of, edits, read


@pytest.fixture
def author() -> ActingAgent:
    return ActingAgent(edits())


def test_a_reading_is_answered_the_edit_is_committed_and_read_again(tmp_path: Path, author: ActingAgent) -> None:
    """Issue 3 points 2 and 3: one commit of exactly the listed path, and every event in its order."""
    rounds = Rounds(tmp_path, author)
    loaded = rounds.run()
    assert (loaded.outcome.decision, loaded.outcome.stop_reason) == (Decision.APPROVED, StopReason.AGREED)
    (commit,) = commits_of(loaded)
    edited = rounds.edited
    assert (edited.head, edited.status(), edited.kept()) == (commit, "", [])
    assert edited.git.git("diff", "--name-only", edited.tip, commit) == b"price.py\n"
    assert [(event.kind, event.seat, event.round) for event in rounds.events] == [
        (EventKind.ASKED, "critic", 1),
        (EventKind.ANSWERED, "critic", 1),
        (EventKind.ROUND, "", 1),
        (EventKind.ASKED, "ana", 1),
        (EventKind.ANSWERED, "ana", 1),
        (EventKind.LANDED, "ana", 1),
        (EventKind.ROUND, "", 1),
        (EventKind.ASKED, "critic", 2),
        (EventKind.ANSWERED, "critic", 2),
        (EventKind.CLOSED, "", 0),
    ]
    assert rounds.told(EventKind.LANDED) == [f"ana: committed 1 path as {commit[:12]}"]
    assert rounds.case.types() == [
        "submission-sealed", "submission-revealed", "finding-raised", "verdict-given", "answer-requested",
        "submission-sealed", "submission-revealed", "disposition-given", "candidate-offered",
        "submission-sealed", "submission-revealed", "finding-ruled", "verdict-given", "case-closed",
    ]  # fmt: skip


def test_the_author_is_asked_once_every_reviewer_has_answered(tmp_path: Path) -> None:
    """Issue 3 point 2: it answers a whole reading, and works in the work tree while nobody else is asked."""
    calls: list[str] = []

    def noted(name: str, act: Act) -> ActingAgent:
        async def noting(brief: Brief, workspace: Workspace) -> bytes:
            calls.append(f"{name} begins")
            await asyncio.sleep(0)
            said = await act(brief, workspace)
            calls.append(f"{name} ends")
            return said

        return ActingAgent(noting)

    async def answers_both(brief: Brief, workspace: Workspace) -> bytes:
        (workspace.tree / "price.py").write_text(SAYS)
        ids = [finding["id"] for finding in brief.payload["findings"]]
        assert ids == ["critic-F1", "critic-2-F1"]
        given = [{"finding": id_, "reasoning": "So.", "disposition": "fix"} for id_ in ids]
        return json.dumps({"summary": "Say three", "dispositions": given, "changed": ["price.py"]}).encode()

    rounds = Rounds(tmp_path, noted("ana", answers_both), noted("one", read), noted("two", read))
    assert rounds.run().outcome.decision is Decision.APPROVED
    assert sorted(calls[:4]) == ["one begins", "one ends", "two begins", "two ends"]
    assert calls[4:6] == ["ana begins", "ana ends"]
    assert sorted(calls[6:]) == ["one begins", "one ends", "two begins", "two ends"]


def test_a_malformed_answer_is_given_again_with_the_reason_and_the_edits_still_there(tmp_path: Path) -> None:
    """SPEC D-10, D-18: asked again once; what was refused is the answer, not the work."""
    found: list[str] = []

    async def lists_it(brief: Brief, workspace: Workspace) -> bytes:
        found.extend(((workspace.tree / "price.py").read_text(), brief.payload["your_last_answer_was_not_accepted"]))
        return answered("price.py")

    for number, (says, reason) in enumerate(
        ((b"Done!", "the reply begins with"), (answered("kept.py"), "'price.py' changed and was not listed"))
    ):
        found.clear()
        rounds = Rounds(tmp_path / str(number), ActingAgent(edits(says=says), lists_it))
        loaded = rounds.run()
        assert loaded.outcome.decision is Decision.APPROVED
        assert (found[0], reason in found[1]) == (SAYS, True)
        assert (rounds.edited.kept(), rounds.edited.status()) == ([], "")
        assert rounds.told(EventKind.PUT_AWAY) == []


def test_an_author_that_ended_badly_begins_again_from_a_clean_tree(tmp_path: Path) -> None:
    """DESIGN "work trees": nobody knows how far it had come. What it left is kept, and said."""
    found: list[str] = []

    async def breaks(brief: Brief, workspace: Workspace) -> bytes:
        (workspace.tree / "kept.py").write_text("half done\n")
        raise Unreachable("'ana' ended with exit 1")

    async def looks(brief: Brief, workspace: Workspace) -> bytes:
        found.append((workspace.tree / "kept.py").read_text())
        return await edits()(brief, workspace)

    rounds = Rounds(tmp_path, ActingAgent(breaks, looks))
    assert rounds.run().outcome.decision is Decision.APPROVED
    assert found == ["k = 1\n"]
    (ref,) = rounds.edited.kept()
    assert rounds.edited.at(ref, "kept.py") == "half done\n"
    assert rounds.told(EventKind.PUT_AWAY) == [f"ana: edits of 'kept.py' came to nothing; they are kept under {ref}"]


def test_an_author_that_answers_nothing_valid_fails_the_case_and_its_edits_are_put_away(tmp_path: Path) -> None:
    """Issue 3 point 3: asked again once, then the case fails. The tree is clean before the record says so."""
    rounds = Rounds(tmp_path, ActingAgent(edits(says=b"Done!")))
    before = rounds.edited.files()
    loaded = rounds.run()
    assert (loaded.outcome.decision, loaded.outcome.stop_reason) == (Decision.UNDETERMINED, StopReason.FAILED)
    assert [failure.reason for failure in loaded.state.failures] == [FailureReason.BAD_REPLY] * 2
    edited = rounds.edited
    assert (edited.head, edited.status(), edited.files()) == (edited.tip, "", before)
    (ref,) = edited.kept()
    assert edited.at(ref, "price.py") == SAYS
    assert rounds.told(EventKind.PUT_AWAY) == [f": edits of 'price.py' came to nothing; they are kept under {ref}"]
    assert [event.kind for event in rounds.events[-2:]] == [EventKind.PUT_AWAY, EventKind.CLOSED]


@pytest.mark.parametrize("commits", [True, False])
def test_an_interruption_in_the_middle_of_an_edit_loses_nothing(tmp_path: Path, *, commits: bool) -> None:
    """Issue 3: Ctrl-C keeps everything; the work tree is as it was, and the case goes on as it would have."""
    arrived = asyncio.Event()

    async def hangs(brief: Brief, workspace: Workspace) -> bytes:
        (workspace.tree / "price.py").write_text("x = 2.5\n")
        arrived.set()
        await asyncio.Event().wait()
        raise AssertionError

    rounds = Rounds(tmp_path, ActingAgent(hangs, edits()), commits=commits)
    before = rounds.edited.files()

    async def interrupt(driver: Driver[Any]) -> None:
        running = asyncio.create_task(driver.run())
        await arrived.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    loaded = rounds.drive(interrupt)
    assert [failure.reason for failure in loaded.state.failures] == [FailureReason.INTERRUPTED]
    assert rounds.edited.files() == before
    ref = next(ref for ref in rounds.edited.kept() if "/answering.1.ana.1" in ref)
    assert rounds.edited.at(ref, "price.py") == "x = 2.5\n"
    assert rounds.told(EventKind.PUT_AWAY) == [f": edits of 'price.py' came to nothing; they are kept under {ref}"]
    resumed = rounds.run()
    assert resumed.outcome.decision is Decision.APPROVED
    assert rounds.edited.read("price.py") == SAYS
    assert rounds.edited.head == (commits_of(resumed)[0] if commits else rounds.edited.tip)


def test_a_round_without_an_edit_makes_no_commit_and_what_a_person_edits_later_is_theirs(tmp_path: Path) -> None:
    """D-13: dispute-only rounds make no commit. The turn is over, so nothing that follows is put away as its own."""

    async def person_edits(brief: Brief, workspace: Workspace) -> bytes:
        return verdict(approved=False, findings=[WRONG])

    rounds = Rounds(tmp_path, ActingAgent(answered(disposition="rebut")), ActingAgent(person_edits))

    async def two_readings(driver: Driver[Any]) -> None:
        await driver.run()
        (rounds.edited.top / "price.py").write_text("x = 9  # a person's\n")

    loaded = rounds.drive(two_readings)
    assert (loaded.outcome.decision, loaded.state.offers) == (Decision.UNDETERMINED, ())
    assert "candidate-kept" in rounds.case.types()
    assert rounds.edited.read("price.py") == "x = 9  # a person's\n"
    assert (rounds.edited.head, rounds.edited.kept()) == (rounds.edited.tip, [])


def test_a_deadline_in_the_middle_of_an_edit_closes_the_case_over_a_clean_tree(tmp_path: Path) -> None:
    """DESIGN 4 (limits): what the author had done by then is kept, not taken."""

    async def too_slow(brief: Brief, workspace: Workspace) -> bytes:
        (workspace.tree / "price.py").write_text(SAYS)
        await asyncio.Event().wait()
        raise AssertionError

    ends = (START + timedelta(seconds=1)).isoformat()
    rounds = Rounds(tmp_path, ActingAgent(too_slow), limits=Limits(deadline=ends))

    async def run(driver: Driver[Any]) -> None:
        while not rounds.told(EventKind.ATTEMPT_FAILED):
            await driver.advance()
        rounds.case.clock.advance(2)
        await driver.run()

    loaded = rounds.drive(run)
    assert loaded.outcome.stop_reason is StopReason.DEADLINE_PASSED
    assert (rounds.edited.status(), len(rounds.edited.kept())) == ("", 1)


def test_without_commits_an_author_may_take_an_edit_back(tmp_path: Path) -> None:
    """The files are then as they were judged before: a candidate like any other, and the case goes on."""

    async def wants_the_first(brief: Brief, workspace: Workspace) -> bytes:
        is_new = (workspace.tree / "price.py").read_text() == SAYS
        first = "your_findings" not in brief.payload
        ruled = [{**WRONG, "status": "open" if is_new or first else "resolved", "reason": "seen"}]
        return verdict(approved=not (is_new or first), findings=ruled)

    rounds = Rounds(
        tmp_path,
        ActingAgent(edits(), edits("x = 2  # not committed\n")),
        ActingAgent(wants_the_first),
        commits=False,
        limits=Limits(max_rounds=3),
    )
    loaded = rounds.run()
    assert loaded.outcome.decision is Decision.APPROVED
    assert [offer.candidate for offer in loaded.state.offers][1] == rounds.edited.candidate
