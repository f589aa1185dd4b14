"""The file that a case was begun on: brought up to date before anybody is asked, and once more when it has ended."""

import asyncio
from pathlib import Path

import pytest

from counterpoint.core.canonical import digest
from counterpoint.core.docket import ChangedPath, PathState
from counterpoint.core.limits import Limits
from counterpoint.drive.api import open_case, roster_of
from counterpoint.drive.clock import ManualClock
from counterpoint.drive.document import COPY, KeptDocument
from counterpoint.drive.driver import Driver, Step
from counterpoint.drive.ids import CountedIds
from counterpoint.drive.subject import TextSubject
from counterpoint.errors import NeedsPerson
from counterpoint.protocols.ballot import BALLOT, BallotState
from counterpoint.record.memory import MemoryStore
from tests.ballot_case import NOW, docket_of
from tests.balloting import ToldAgent

FOUND = b"# Timers\n\nA timer fires once.\n"


class Begun:
    """A ballot in memory that was begun on a file."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "DOC.md"
        self.path.write_bytes(FOUND)
        self.path.chmod(0o640)
        self.store, self.clock, self.ids = MemoryStore(), ManualClock(NOW), CountedIds()
        self.seats = {
            name: ToldAgent({"voting.1": "no"} if name == "ann" else {}) for name in ("chief", "ann", "ben")
        }
        paths = (ChangedPath(path="DOC.md", state=PathState.TEXT),)
        self.case = open_case(
            "ballot",
            docket_of(paths=paths, change=digest(FOUND)),
            roster_of(self.seats, author="chief"),
            store=self.store,
            clock=self.clock,
            ids=self.ids,
            limits=Limits(max_rounds=3),
        )
        self.folder = folder / "case"
        self.folder.mkdir()
        self.kept: list[bytes] = []

    def document(self) -> KeptDocument[BallotState]:
        return KeptDocument(
            self.path, folder=self.folder, rules=BALLOT, store=self.store, case=self.case, resume="resume it"
        )

    def driver(self) -> Driver[BallotState]:
        document = self.document()

        def keep() -> None:
            document.keep()
            self.kept.append(self.path.read_bytes())

        return Driver(
            BALLOT,
            self.store,
            self.case,
            self.seats,
            TextSubject(),
            clock=self.clock,
            salt=lambda: self.ids.token(16),
            name=f"driver-{self.ids.token(4)}",
            keep=keep,
        )

    def run(self) -> None:
        asyncio.run(asyncio.wait_for(self.driver().run(), 5))

    def run_with_a_new_driver_for_each_step(self) -> None:
        async def advance() -> None:
            while await self.driver().advance() is Step.AGAIN:
                pass

        asyncio.run(asyncio.wait_for(advance(), 5))

    def types(self) -> list[str]:
        return [block.type for block in self.store.read(self.case, 0)]


@pytest.fixture
def begun(tmp_path: Path) -> Begun:
    return Begun(tmp_path)


def test_it_is_kept_before_each_question_and_at_the_end(begun: Begun) -> None:
    """SPEC B-19: what voters are asked about lies in the file by then; its mode stays."""
    begun.run()
    decided = begun.path.read_text()
    assert "- Decision: **approved** (agreed)" in decided
    assert [b"v2\n" in content.partition(b"## Debate")[0] for content in begun.kept] == [False, False, True, True]
    assert [content.count(b"are sealed until all are in") for content in begun.kept] == [1, 0, 1, 0]
    assert (begun.folder / COPY).read_text() == decided
    assert begun.path.stat().st_mode & 0o777 == 0o640


def test_whatever_the_record_came_to_may_lie_there(begun: Begun) -> None:
    """SPEC B-19: a driver that died between any two steps leaves a file that the next one knows."""
    begun.run()
    decided = begun.path.read_bytes()
    for earlier in (FOUND, *begun.kept):
        begun.path.write_bytes(earlier)
        begun.document().keep()
        assert begun.path.read_bytes() == decided


def test_a_driver_that_dies_after_each_step_comes_to_the_same_end(begun: Begun, tmp_path: Path) -> None:
    """SPEC B-19: same entries, same document; no seat that has answered is asked again."""
    begun.run()
    other = tmp_path / "other"
    other.mkdir()
    again = Begun(other)
    again.run_with_a_new_driver_for_each_step()
    assert again.types() == begun.types()
    assert again.path.read_text().replace(again.case, begun.case) == begun.path.read_text()
    assert [agent.asked for agent in again.seats.values()] == [agent.asked for agent in begun.seats.values()]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (FOUND + b"More.\n", "line 3 is 'A timer fires once.'"),
        (b"", "line 1 is ''"),
        (b"# Timers\n\n## Current Consolidated Version \xe2\x80\x94 v1\n", "line 5 is missing"),
        (b"# Timers\n\n## \x1b[31m\xff\n", "line 3 is '## \\\\u{1b}[31m\\\\xff'"),
    ],
)
def test_anything_else_is_named_and_left(begun: Begun, found: bytes, said: str) -> None:
    """Issue 6: never overwritten silently; nobody is asked."""
    begun.path.write_bytes(found)
    with pytest.raises(NeedsPerson) as caught:
        begun.run()
    assert begun.path.read_bytes() == found
    assert "`resume it`" in caught.value.hint
    assert f"DOC.md was edited by somebody else: {said}; nothing was written over it" in str(caught.value)
    assert [agent.asked for agent in begun.seats.values()] == [[], [], []]
