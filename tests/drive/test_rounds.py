"""A review with an author, driven: reading, answer, commit, reading again (drive/driver.py, drive/asking.py).

Sources: SPEC D-10, D-13 to D-16, D-18; DESIGN 4 and 6; issue 3.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from counterpoint.agents.base import Agent, Workspace
from counterpoint.core.briefs import Brief
from counterpoint.core.docket import Terms
from counterpoint.core.entries import FailureReason
from counterpoint.core.limits import Limits
from counterpoint.core.rules import Withdraw
from counterpoint.core.values import Decision, StopReason
from counterpoint.drive.cases import LoadedCase
from counterpoint.drive.driver import Driver
from counterpoint.drive.progress import DriveEvent, EventKind
from counterpoint.errors import NeedsPerson, Unreachable
from counterpoint.record.memory import MemoryStore
from counterpoint.record.store import Bell, Claim, Draft, Store, Vault
from tests.drive.driving import START, Act, ActingAgent, Case, verdict
from tests.drive.edited import Edited
from tests.processes import finish

WRONG = {
    "id": "F1",
    "severity": "major",
    "location": "price.py:1",
    "issue": "It does not say three.",
    "suggestion": "Say three.",
    "status": "open",
}
SAYS = "x = 3\n"


def answered(*changed: str, disposition: str = "fix", finding: str = "F1", summary: str = "Say three") -> bytes:
    """Return a reply as an author writes it."""
    given = [{"finding": finding, "reasoning": "It is so.", "disposition": disposition}]
    return json.dumps({"summary": summary, "dispositions": given, "changed": list(changed)}).encode()


def edits(text: str = SAYS, *, says: bytes | None = None) -> Act:
    """Return an act that writes `price.py` into the work tree, and answers."""

    async def act(brief: Brief, workspace: Workspace) -> bytes:
        assert workspace.edits
        (workspace.tree / "price.py").write_text(text)
        return answered("price.py") if says is None else says

    return act


async def read(brief: Brief, workspace: Workspace) -> bytes:
    """Approve exactly what says three."""
    assert not workspace.edits
    if (workspace.tree / "price.py").read_text() == SAYS:
        return verdict(findings=[{**WRONG, "status": "resolved"}] if "your_findings" in brief.payload else [])
    return verdict(approved=False, findings=[WRONG])


class Rounds:
    """A repository, its author and its critics, and a case in memory that is driven as a program drives it."""

    def __init__(
        self,
        top: Path,
        author: Agent,
        *critics: Agent,
        commits: bool = True,
        limits: Limits | None = None,
        store: Store | None = None,
    ) -> None:
        self.edited = Edited(top, commits=commits)
        self.author = author
        seats = {"ana": author, "critic": critics[0] if critics else ActingAgent(read)}
        seats |= {f"critic-{number}": agent for number, agent in enumerate(critics[1:], 2)}
        self.case = Case(
            seats,
            author="ana",
            docket=self.edited.docket(),
            terms=Terms(commits=commits),
            limits=limits or Limits(),
            store=store,
        )
        self.edited.clock = self.case.clock
        self.events: list[DriveEvent] = []

    def drive(self, act: Callable[[Driver[Any]], Any]) -> LoadedCase:
        """Do something with a new driver, as one process would; whatever happens, nothing half is left."""
        return self._with_driver(act, puts_away=True)

    def die(self, act: Callable[[Driver[Any]], Any]) -> LoadedCase:
        """Do something with a new driver, as a process that is killed after it: it tidies up nothing."""
        return self._with_driver(act, puts_away=False)

    def _with_driver(self, act: Callable[[Driver[Any]], Any], *, puts_away: bool) -> LoadedCase:
        case = self.case
        editing = self.edited.editing(case.store.vault(case.name), case.name)
        with self.edited.subject(editing) as case.subject:
            driver = case.driver(self.events.append)
            try:
                finish(act(driver))
            finally:
                if puts_away:
                    driver.put_away()
        return case.load()

    def run(self) -> LoadedCase:
        return self.drive(lambda driver: driver.run())

    def told(self, *kinds: EventKind) -> list[str]:
        """Return what was told of these kinds, in order: `seat: text`."""
        return [f"{event.seat}: {event.text}" for event in self.events if event.kind in kinds]


@pytest.fixture
def author() -> ActingAgent:
    return ActingAgent(edits())


def commits_of(loaded: LoadedCase) -> list[str]:
    return [offer.candidate for offer in loaded.state.offers]


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


def test_a_driver_for_every_step_comes_to_the_same_record(tmp_path: Path, author: ActingAgent) -> None:
    """DESIGN 6: the record is the only durable state. Nobody is asked twice; commits are the same to the byte."""
    whole = Rounds(tmp_path / "whole", ActingAgent(edits()))
    once = whole.run()
    rounds = Rounds(tmp_path / "steps", author)
    steps = 0
    while (loaded := rounds.die(lambda driver: driver.advance())).state.closed is None:
        steps += 1
        assert steps < 20
    assert loaded.outcome == once.outcome
    assert commits_of(loaded) == commits_of(once)
    assert (rounds.case.types(), author.calls) == (whole.case.types(), 1)
    assert (rounds.edited.status(), rounds.edited.kept()) == ("", [])


class Cut(BaseException):
    """The machine has no power any more."""


class CutVault(Vault):
    def __init__(self, vault: Vault, cut: Callable[[str], None]) -> None:
        self._vault = vault
        self._cut = cut

    def put(self, name: str, content: bytes) -> None:
        self._cut(f"before {name}")
        self._vault.put(name, content)
        self._cut(f"after {name}")

    def get(self, name: str) -> bytes | None:
        return self._vault.get(name)

    def names(self) -> tuple[str, ...]:
        return self._vault.names()


class CutStore(MemoryStore):
    """A store whose machine loses its power once, before or after a write whose name begins so."""

    def __init__(self, at: str) -> None:
        super().__init__()
        self.at = at
        self.writes: list[str] = []

    def _cut(self, name: str) -> None:
        self.writes.append(name)
        if self.at and name.startswith(self.at):
            self.at = ""
            raise Cut

    def append(self, channel: str, drafts: Sequence[Draft], *, expected: int | None, bell: Bell | None = None) -> Any:
        self._cut(f"before {drafts[-1].type}")
        blocks = super().append(channel, drafts, expected=expected, bell=bell)
        self._cut(f"after {drafts[-1].type}")
        return blocks

    def claim(self, channel: str, turn: str, **how: Any) -> Claim:
        self._cut(f"before claim-{turn}")
        claim = super().claim(channel, turn, **how)
        self._cut(f"after claim-{turn}")
        return claim

    def vault(self, channel: str) -> Vault:
        return CutVault(super().vault(channel), self._cut)


def _cut_and_resume(top: Path, at: str) -> Rounds:
    store = CutStore(at)
    rounds = Rounds(top, ActingAgent(edits()), store=store)
    with pytest.raises(Cut):
        rounds.die(lambda driver: driver.run())
    rounds.run()
    return rounds


@pytest.mark.parametrize(
    "at",
    [
        "before begun-",
        "before claim-answering",
        "after claim-answering",
        "after reply-answering",
        "after evidence-",
        "before done-",
        "before candidate-offered",
        "before case-closed",
    ],
)
def test_a_power_cut_changes_nothing_in_the_end(tmp_path: Path, at: str) -> None:
    """Issue 3: at every step the case ends as it would have; the tree is clean, and no commit is made twice."""
    rounds = _cut_and_resume(tmp_path, at)
    loaded = rounds.case.load()
    assert (loaded.outcome.decision, loaded.outcome.stop_reason) == (Decision.APPROVED, StopReason.AGREED)
    edited = rounds.edited
    assert ([edited.head], edited.status()) == (commits_of(loaded), "")
    assert edited.git.git("rev-list", "--count", f"{edited.tip}..HEAD") == b"1\n"
    assert edited.read("price.py") == SAYS
    assert rounds.case.seats["ana"].calls == 1  # type: ignore[attr-defined]


@pytest.mark.soak
def test_a_power_cut_at_every_write_changes_nothing_in_the_end(tmp_path: Path) -> None:
    """As above, at every single write."""
    store = CutStore("")
    Rounds(tmp_path / "whole", ActingAgent(edits()), store=store).run()
    opened = store.writes.index("after case-opened")
    for number, at in enumerate(dict.fromkeys(store.writes[opened + 1 :])):
        rounds = _cut_and_resume(tmp_path / str(number), at)
        loaded = rounds.case.load()
        assert loaded.outcome.decision is Decision.APPROVED, at
        assert ([rounds.edited.head], rounds.edited.status()) == (commits_of(loaded), ""), at


def test_a_branch_that_has_gone_elsewhere_needs_a_person_before_the_case_goes_on(
    tmp_path: Path, author: ActingAgent
) -> None:
    """SPEC D-16: never forced. The accepted answer is kept and the author is not asked again."""
    rounds = Rounds(tmp_path, author)

    async def up_to_the_answer(driver: Driver[Any]) -> None:
        while not author.calls:
            await driver.advance()

    rounds.die(up_to_the_answer)
    edited = rounds.edited
    edited.git.git("commit", "-q", "--allow-empty", "-m", "a person's")
    with pytest.raises(NeedsPerson, match="cannot be committed"):
        rounds.run()
    assert (edited.read("price.py"), edited.kept()) == (SAYS, [])
    edited.git.git("reset", "-q", "--soft", edited.tip)
    loaded = rounds.run()
    assert ([edited.head], edited.status(), author.calls) == (commits_of(loaded), "", 1)
    assert loaded.outcome.decision is Decision.APPROVED


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


def test_a_case_withdrawn_before_the_answer_was_taken_leaves_a_clean_tree(
    tmp_path: Path, author: ActingAgent
) -> None:
    """Nobody takes it any more: the edits are kept aside, as those of every turn that came to nothing."""
    store = CutStore("after reply-answering")
    rounds = Rounds(tmp_path, author, store=store)
    with pytest.raises(Cut):
        rounds.die(lambda driver: driver.run())
    loaded = rounds.drive(lambda driver: driver.speak("owner", Withdraw(reason="enough")))
    assert loaded.outcome.stop_reason is StopReason.WITHDRAWN
    edited = rounds.edited
    assert (edited.head, edited.status(), edited.read("price.py")) == (edited.tip, "", "x = 2\n")
    assert edited.at(edited.kept()[0], "price.py") == SAYS


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
