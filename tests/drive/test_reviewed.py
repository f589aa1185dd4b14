"""A change as the subject of a review: exports lent, compared and removed, and what code looks up in them.

Sources: DESIGN 4 ("evidence", "checks as a reviewer"); FIELD-FAULTS F30.
"""

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from counterpoint.core.canonical import digest
from counterpoint.core.checks import (
    CommandCheck,
    Evidence,
    EvidenceStatus,
    LookUp,
    PathCheck,
    Purpose,
    QuoteCheck,
)
from counterpoint.core.docket import ChangedPath, Docket, PathState
from counterpoint.core.rules import Exhibit, Materials
from counterpoint.core.values import Turn
from counterpoint.drive.clock import ManualClock
from counterpoint.drive.leftovers import folder_for
from counterpoint.drive.material import materials_of
from counterpoint.drive.reviewed import ReviewedChange
from counterpoint.drive.settings import ChecksSettings
from counterpoint.errors import SourceError
from counterpoint.isolation.change import change
from counterpoint.isolation.repository import Quarantine, Repository
from tests.drive.driving import START
from tests.processes import finish
from tests.repositories import Scratch

TURN = Turn(phase="reviewing", round=1, seat="critic", ask=1, blind=True)


class Bench:
    """A repository with a base and a candidate, and subjects about the change between them."""

    def __init__(self, top: Path) -> None:
        self.git = Scratch(top / "shop")
        self.base = self.git.commit({"price.py": "x = 1\n", "kept.py": "k = 1\n"})
        self.candidate = self.git.commit({"price.py": "x = 2\n"})
        self.repository = Repository.find(self.git.top)
        with Quarantine(self.repository) as quarantine:
            self.materials = materials_of(change(quarantine, self.base, self.candidate))
        self.docket = Docket(
            question="?",
            candidate=self.candidate,
            base=self.base,
            paths=(ChangedPath(path="price.py", state=PathState.TEXT),),
            change=digest(self.materials.change.encode()),
        )
        self.whole = Exhibit(base=self.base, candidate=self.candidate)
        self.clock = ManualClock(START)

    def subject(
        self, *, docket: Docket | None = None, may_run: bool = True, ends: datetime | None = None, timeout_s: int = 30
    ) -> ReviewedChange:
        return ReviewedChange(
            self.repository,
            docket or self.docket,
            folder=folder_for("test"),
            objects=self.git.top / "no-snapshot",
            checks=ChecksSettings(timeout_s=timeout_s),
            environment={"PATH": "/usr/bin:/bin"},
            may_run=may_run,
            clock=self.clock,
            ends=ends,
        )

    def look_up(self, *requests: LookUp, **how: Any) -> list[Evidence]:
        """Look all of them up at once."""

        async def all_at_once(subject: ReviewedChange) -> list[Evidence]:
            return list(await asyncio.gather(*(subject.look_up(request) for request in requests)))

        with self.subject(**how) as subject:
            return finish(all_at_once(subject))

    def command(self, script: str) -> CommandCheck:
        return CommandCheck(argv=("sh", "-c", script), purpose=Purpose.TEST, candidate=self.candidate)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the temporary folder of this test, which has to be empty in the end."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def bench(temporary: Path, tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_however_many_look_at_once_each_tree_is_exported_once(bench: Bench) -> None:
    """Two seats that asked for the same tree met each other's half-made export."""
    requests: list[LookUp] = [
        QuoteCheck(path="price.py", text=f"x = {number}", candidate=candidate)
        for number in range(5)
        for candidate in (bench.candidate, bench.base)
    ]
    found = bench.look_up(*requests, *(bench.command(f"exit {number}") for number in range(3)))
    right = {("x = 2", bench.candidate), ("x = 1", bench.base)}
    for request, evidence in zip(requests, found, strict=False):
        assert isinstance(request, QuoteCheck)
        is_there = (request.text, request.candidate) in right
        assert evidence.status is (EvidenceStatus.VERIFIED if is_there else EvidenceStatus.REFUTED)
    assert [evidence.exit_code for evidence in found[-3:]] == [0, 1, 2]


def test_places_are_held_against_the_candidate(bench: Bench) -> None:
    """A line that is there, one that is not, a file that is not."""
    found = bench.look_up(
        PathCheck(path="price.py", line=1, candidate=bench.candidate),
        PathCheck(path="price.py", line=2, candidate=bench.candidate),
        PathCheck(path="gone.py", line=None, candidate=bench.candidate),
    )
    assert [evidence.status.value for evidence in found] == ["verified", "refuted", "refuted"]


def test_a_command_that_fails_is_tried_at_the_base_too(bench: Bench) -> None:
    """The evidence says whether it failed before, and which changed paths it never opened."""
    new, old, lazy = bench.look_up(bench.command("grep 1 price.py"), bench.command("exit 3"), bench.command("exit 0"))
    assert (new.status, new.failing_before) == (EvidenceStatus.REFUTED, False)
    assert (old.status, old.failing_before) == (EvidenceStatus.REFUTED, True)
    assert new.paths_unread == ()
    assert lazy.paths_unread == ("price.py",)


def test_a_command_that_nobody_allowed_is_not_run(bench: Bench) -> None:
    """Not checked is no pass (DESIGN "Trust")."""
    mark = bench.git.top.parent / "ran"
    (found,) = bench.look_up(bench.command(f"touch {mark}"), may_run=False)
    assert (found.status, found.detail) == (EvidenceStatus.NOT_CHECKED, "running project commands was not allowed")
    assert not mark.exists()


def test_no_command_runs_past_the_deadline_of_the_case(bench: Bench) -> None:
    """Neither one that is running nor one that would be begun."""
    (running,) = bench.look_up(bench.command("exec sleep 1000"), ends=START + timedelta(seconds=1))
    assert running.status is EvidenceStatus.NOT_CHECKED
    assert "1 s" in running.detail
    (late,) = bench.look_up(bench.command("exit 0"), ends=START)
    assert late.detail == "the case's deadline had passed before it could run"
    (own,) = bench.look_up(bench.command("exec sleep 1000"), ends=START + timedelta(seconds=60), timeout_s=1)
    assert "1 s" in own.detail


def test_what_cannot_be_read_is_not_checked(bench: Bench) -> None:
    """A tree that is not there refutes nothing."""
    (found,) = bench.look_up(PathCheck(path="price.py", line=None, candidate="0" * 40))
    assert found.status is EvidenceStatus.NOT_CHECKED
    assert "0" * 40 in found.detail


def test_a_change_that_reads_otherwise_than_it_did_is_refused(bench: Bench) -> None:
    """Every reviewer of a case is shown the same bytes, or nobody anything."""

    async def read(subject: ReviewedChange) -> None:
        assert await subject.materials(bench.whole) == bench.materials
        nothing = Materials(change="", shown_paths=())
        assert await subject.materials(Exhibit(base=bench.candidate, candidate=bench.candidate)) == nothing

    with bench.subject() as subject:
        finish(read(subject))
    with bench.subject(docket=replace(bench.docket, change="0" * 64)) as subject:
        with pytest.raises(SourceError, match="reads otherwise than when the case was opened") as caught:
            finish(read(subject))
        assert caught.value.hint


def test_every_seat_has_a_tree_of_its_own_that_is_compared(bench: Bench) -> None:
    """What one seat does to its export no other meets; a changed file, a new one and a mode are told (F30)."""

    async def sit(subject: ReviewedChange) -> None:
        other = replace(TURN, seat="other")
        async with subject.desk(TURN, bench.whole) as mine, subject.desk(other, bench.whole) as theirs:
            tree = mine.workspace.tree
            assert mine.touched() == ()
            tree.chmod(0o755)
            (tree / "price.py").chmod(0o644)
            (tree / "price.py").write_text("x = 3\n")
            (tree / "stray").write_text("s")
            assert [line.split(" ")[0] for line in mine.touched()] == [".", "price.py", "stray"]
            assert theirs.touched() == ()
            assert (theirs.workspace.tree / "price.py").read_text() == "x = 2\n"
        assert not tree.exists()

    with bench.subject() as subject:
        finish(sit(subject))


def test_an_interruption_in_the_middle_of_an_export_leaves_nothing(
    bench: Bench, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that writes is waited for before its folder is removed."""
    writing, go_on = threading.Event(), threading.Event()
    original = Path.mkdir

    def mkdir(path: Path, *args: Any, **kwargs: Any) -> None:
        original(path, *args, **kwargs)
        if path.name == "tree":
            writing.set()
            assert go_on.wait(5)

    async def interrupt(subject: ReviewedChange) -> None:
        async def sit() -> None:
            async with subject.desk(TURN, bench.whole):
                raise AssertionError("the export was interrupted")

        sitting = asyncio.create_task(sit())
        await asyncio.to_thread(writing.wait, 5)
        sitting.cancel()
        await asyncio.sleep(0)
        assert not sitting.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await sitting

    with bench.subject() as subject:
        monkeypatch.setattr(Path, "mkdir", mkdir)
        finish(interrupt(subject))


def test_a_repository_that_cannot_be_borrowed_from_leaves_no_folder(bench: Bench, temporary: Path) -> None:
    """What was made for it goes with it."""
    (bench.git.git_dir / "shallow").write_text("no list of commits\n")
    with pytest.raises(SourceError, match="is not a list of commits"):
        bench.subject()
    assert list(temporary.iterdir()) == []
