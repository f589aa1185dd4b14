"""A folder that a text may quote from, copied and known by a digest (isolation/sources.py; SPEC B-07)."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from counterpoint.errors import SourceError
from counterpoint.isolation.exported import differences
from counterpoint.isolation.sources import copy_sources


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "sources"
    (made / "law").mkdir(parents=True)
    (made / "memo.md").write_text("a memo\n")
    (made / "law" / "act.md").write_text("§ 1\n")
    return made


def test_the_copy_of_a_copy_has_the_same_digest(folder: Path, tmp_path: Path) -> None:
    """A case keeps one, and holds it to the digest of the opening whenever it goes on."""
    kept = copy_sources(folder, tmp_path / "kept", writable=True)
    held = copy_sources(tmp_path / "kept", tmp_path / "held")
    assert kept.source == held.source
    assert sorted(held.files) == ["law/act.md", "memo.md"]
    assert (tmp_path / "held" / "law" / "act.md").read_text() == "§ 1\n"
    assert (kept.withheld, differences(tmp_path / "kept", kept), differences(tmp_path / "held", held)) == ((), (), ())


@pytest.mark.parametrize(
    "change",
    [
        lambda top: (top / "memo.md").write_text("a Memo\n"),
        lambda top: (top / "memo.md").rename(top / "note.md"),
        lambda top: (top / "law" / "new.md").write_text(""),
    ],
    ids=["content", "name", "one more"],
)
def test_any_other_byte_or_name_is_another_digest(
    folder: Path, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    """What was quoted from is what is quoted from."""
    before = copy_sources(folder, tmp_path / "before").source
    change(folder)
    assert copy_sources(folder, tmp_path / "after").source != before


def test_nothing_but_plain_files_is_copied(folder: Path, tmp_path: Path) -> None:
    """A link could bring any file of this machine, and a pipe would stop the run (SECURITY B.5)."""
    (tmp_path / "secret").write_text("s")
    (folder / "link.md").symlink_to(tmp_path / "secret")
    (folder / "away").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("x")
    (folder / "odd\u202e.md").write_text("x")
    found = copy_sources(folder, tmp_path / "out")
    assert sorted(found.files) == ["law/act.md", "memo.md"]
    assert {remark.path: remark.reason for remark in found.withheld} == {
        ".git": "some systems take the name for .git",
        "away": "it is a link",
        "link.md": "it is a link",
        "odd\\u{202e}.md": "a control or format character is in the name",
        "pipe": "it is no plain file",
    }


def test_what_cannot_be_read_leaves_nothing(tmp_path: Path) -> None:
    """One sentence that names the folder."""
    with pytest.raises(SourceError, match=r"the sources in '.*/none' cannot be copied: No such file or directory"):
        copy_sources(tmp_path / "none", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("make", [os.mkfifo, Path.touch], ids=["pipe", "file"])
def test_what_is_no_folder_is_not_copied(make: Callable[[Path], None], tmp_path: Path) -> None:
    """SECURITY S1: nobody waits for what may never come out of a pipe; a file is no empty folder."""
    make(tmp_path / "named")
    with pytest.raises(SourceError, match="is no folder"):
        copy_sources(tmp_path / "named", tmp_path / "out")
    assert not (tmp_path / "out").exists()
