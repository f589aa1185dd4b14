"""Reviews with an author whose driver ends in the middle: the next one comes to the same end (DESIGN 6; issue 3)."""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from counterpoint.core.rules import Withdraw
from counterpoint.core.values import Decision, StopReason
from counterpoint.drive.driver import Driver
from counterpoint.errors import NeedsPerson
from counterpoint.record.memory import MemoryStore
from counterpoint.record.store import Bell, Claim, Draft, Vault
from tests.drive.driving import ActingAgent
from tests.drive.rounds import SAYS, Rounds, commits_of, edits


@pytest.fixture
def author() -> ActingAgent:
    return ActingAgent(edits())


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

    def claim_all(self, channel: str, turns: Sequence[tuple[str, datetime]], *, driver: str) -> tuple[Claim, ...]:
        self._cut(f"before claim-{turns[0][0]}")
        claims = super().claim_all(channel, turns, driver=driver)
        self._cut(f"after claim-{turns[0][0]}")
        return claims

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
    assert rounds.author.calls == 1


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
