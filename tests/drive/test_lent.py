"""A question or a text with files beside it (drive/lent.py)."""

from pathlib import Path

import pytest

from counterpoint.core.checks import CommandCheck, EvidenceStatus, LookUp, PathCheck, Purpose, QuoteCheck
from counterpoint.core.rules import Exhibit
from counterpoint.core.values import Turn
from counterpoint.drive.lent import LentFiles
from counterpoint.errors import SourceError
from counterpoint.isolation.repository import Repository
from counterpoint.isolation.sources import copy_sources
from tests.processes import finish
from tests.repositories import Scratch

TURN = Turn(phase="answering", round=1, seat="ana", ask=1, blind=True)
WORDS = Exhibit(base="", candidate="")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "private"
    made.mkdir()
    return made


@pytest.fixture
def sources(tmp_path: Path) -> tuple[Path, str]:
    """Return a case's copy of its sources, and their digest."""
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "memo.md").write_text("first\nsecond line\n")
    return tmp_path / "kept", copy_sources(tmp_path / "given", tmp_path / "kept", writable=True).source


def status(files: LentFiles, request: LookUp) -> EvidenceStatus:
    return finish(files.look_up(request)).status


def test_a_quote_is_looked_up_where_it_says(folder: Path, sources: tuple[Path, str]) -> None:
    """SPEC B-07: code says whether the words stand there. Of any other place nothing is known."""
    kept, digest = sources
    with LentFiles(folder=folder, repository=None, tree="", sources=kept, digest=digest) as files:
        quote = QuoteCheck(path="memo.md", text="second", candidate=digest)
        assert status(files, quote) is EvidenceStatus.VERIFIED
        assert status(files, PathCheck(path="memo.md", line=3, candidate=digest)) is EvidenceStatus.REFUTED
        other = QuoteCheck(path="memo.md", text="second", candidate="0" * 64)
        assert status(files, other) is EvidenceStatus.NOT_CHECKED
        command = CommandCheck(argv=("true",), purpose=Purpose.TEST, candidate=digest)
        assert status(files, command) is EvidenceStatus.NOT_CHECKED
    assert not folder.exists()


def test_sources_that_are_others_now_are_refused(folder: Path, sources: tuple[Path, str]) -> None:
    """A case goes on with what it was opened with, or not at all; nothing is left behind."""
    kept, digest = sources
    (kept / "memo.md").chmod(0o644)
    (kept / "memo.md").write_text("what somebody would like to quote\n")
    with pytest.raises(SourceError, match="the sources read otherwise than when the case was opened"):
        LentFiles(folder=folder, repository=None, tree="", sources=kept, digest=digest)
    assert not folder.exists()


def test_each_seat_has_a_copy_that_is_compared(folder: Path, sources: tuple[Path, str]) -> None:
    """FIELD-FAULTS F30: what one of them changes no other sees, and it is told."""
    kept, digest = sources

    async def sit(files: LentFiles) -> None:
        async with files.desk(TURN, WORDS) as desk:
            tree = desk.workspace.tree
            assert (tree / "memo.md").read_text() == "first\nsecond line\n"
            assert desk.touched() == ()
            (tree / "memo.md").chmod(0o644)
            assert desk.touched() == ("memo.md (mode)",)
        assert not tree.exists()

    with LentFiles(folder=folder, repository=None, tree="", sources=kept, digest=digest) as files:
        finish(sit(files))
        assert status(files, QuoteCheck(path="memo.md", text="first", candidate=digest)) is EvidenceStatus.VERIFIED


def test_files_of_a_commit_are_lent_as_it_has_them(folder: Path, tmp_path: Path) -> None:
    """What lies uncommitted in the work tree is not there, and the work tree is not touched (SPEC D-31)."""
    shop = Scratch(tmp_path / "shop")
    tree = shop.commit({"price.py": "x = 1\n"})
    shop.write("price.py", "x = 2\n")

    async def sit(files: LentFiles) -> None:
        async with files.desk(TURN, WORDS) as desk:
            assert (desk.workspace.tree / "price.py").read_text() == "x = 1\n"
            assert not desk.workspace.edits

    repository = Repository.find(shop.top)
    with LentFiles(folder=folder, repository=repository, tree=tree, sources=None, digest="") as files:
        finish(sit(files))
        quote = QuoteCheck(path="price.py", text="x = 1", candidate=tree)
        assert status(files, quote) is EvidenceStatus.VERIFIED
        uncommitted = QuoteCheck(path="price.py", text="x = 2", candidate=tree)
        assert status(files, uncommitted) is EvidenceStatus.REFUTED
    assert (shop.top / "price.py").read_text() == "x = 2\n"
