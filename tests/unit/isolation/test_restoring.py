"""The work tree goes back from one tree to another."""

import os
from pathlib import Path
from typing import Any

import pytest

from counterpoint.errors import SourceError
from counterpoint.isolation import restoring
from counterpoint.isolation.edits import take_edits
from counterpoint.isolation.repository import Repository
from counterpoint.isolation.restoring import restore
from tests.repositories import Scratch


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    made = Scratch(tmp_path / "repo")
    made.commit({"a": "1\n", "src/b": "2\n", "c": "3\n", "run": "#!/bin/sh\n", ".gitignore": "*.log\n"})
    return made


def take(scratch: Scratch, tmp_path: Path) -> str:
    start = scratch.id("rev-parse", "HEAD")
    return take_edits(Repository.find(scratch.top), start, objects_dir=tmp_path / "objects").tree


def back(scratch: Scratch, tmp_path: Path, *, present: str = "", wanted: str = "HEAD^{tree}") -> tuple[str, ...]:
    return restore(
        Repository.find(scratch.top),
        present=present or take(scratch, tmp_path),
        wanted=scratch.id("rev-parse", wanted) if wanted.startswith("HEAD") else wanted,
        objects_dir=tmp_path / "objects",
    )


def files(top: Path) -> dict[str, tuple[int, bytes]]:
    """Return everything below a folder, the git folder apart, with its mode and content or target."""
    found = {}
    for path in sorted(top.rglob("*")):
        if ".git" not in path.parts:
            mode = path.lstat().st_mode
            content = os.fsencode(path.readlink()) if path.is_symlink() else b""
            found[str(path.relative_to(top))] = (
                mode,
                path.read_bytes() if path.is_file() and not content else content,
            )
    return found


def edit_all_kinds(scratch: Scratch) -> None:
    top = scratch.top
    scratch.write("a", "changed\n")
    (top / "c").rename(top / "renamed here")
    (top / "run").chmod(0o755)
    (top / "src" / "b").unlink()
    (top / "src").rmdir()
    (top / "src").symlink_to("/etc")
    (top / "link").unlink()
    scratch.write("link", "no longer one\n")
    (top / "file").unlink()
    scratch.write("file/is/now/a/folder", "x\n")
    scratch.write(b"caf\xe9", "odd\n")
    scratch.write("two\nlines", "odd\n")
    (top / "crlf").write_bytes(b"x\r\ny\r\n")
    scratch.write(".gitattributes", "")
    (top / "binary").write_bytes(b"\0")


def test_the_files_come_back_byte_for_byte(scratch: Scratch, tmp_path: Path) -> None:
    """The issue: nothing lost, tree clean; every kind of edit, and the edits themselves can be put back again."""
    (scratch.top / "link").symlink_to("src/b")
    scratch.write("file", "x\n")
    scratch.commit(
        {".gitattributes": "crlf text eol=crlf\n", "crlf": b"1\r\n2\r\n", "binary": b"\0\r\n\xff", "old.log": "x"}
    )
    scratch.write("x.log", "ignored\n")
    before = files(scratch.top)
    edit_all_kinds(scratch)
    edited = files(scratch.top)
    tree = take(scratch, tmp_path)
    assert back(scratch, tmp_path) == (
        *(".gitattributes", "a", "binary", "c", "caf\\xe9", "crlf", "file", "file/is/now/a/folder", "link"),
        *("renamed here", "run", "src", "src/b", "two\\u{a}lines"),
    )
    assert files(scratch.top) == before
    assert scratch.git("status", "--porcelain") == b""
    assert back(scratch, tmp_path) == ()
    back(scratch, tmp_path, wanted=tree)
    assert files(scratch.top) == edited


def test_what_was_ignored_stays_whatever_an_editor_did_to_the_lists(scratch: Scratch, tmp_path: Path) -> None:
    """Ours: an editor that takes a line out of `.gitignore` does not make a user's file its own."""
    scratch.commit({"deep/.gitignore": "/secret\n"})
    (scratch.git_dir / "info" / "exclude").write_text("mine\n")
    for name in ("x.log", "deep/secret", "mine"):
        scratch.write(name, "the user's\n")
    scratch.write(".gitignore", "!mine\n")
    (scratch.top / "deep" / ".gitignore").unlink()
    scratch.write("deep/new", "x\n")
    scratch.git("add", "x.log")
    assert back(scratch, tmp_path) == (".gitignore", "deep/.gitignore", "deep/new")
    assert all((scratch.top / name).read_text() == "the user's\n" for name in ("x.log", "deep/secret", "mine"))


def test_nothing_is_overwritten_that_was_not_looked_at(scratch: Scratch, tmp_path: Path) -> None:
    """The issue: a path whose content is not what was seen stops it before the first file is touched."""
    scratch.write("a", "the editor's\n")
    scratch.write("c", "the editor's\n")
    present = take(scratch, tmp_path)
    scratch.write("c", "the user's, since\n")
    with pytest.raises(SourceError, match="'c' is not as it was"):
        back(scratch, tmp_path, present=present)
    assert [(scratch.top / name).read_text() for name in ("a", "c")] == ["the editor's\n", "the user's, since\n"]
    scratch.write("c", "3\n")
    (scratch.top / "c").unlink()
    scratch.write(".gitignore", "c\n")
    present = take(scratch, tmp_path)
    tree_without = scratch.id("rev-parse", "HEAD^{tree}")
    scratch.write("c", "ignored by now\n")
    with pytest.raises(SourceError, match="'c' is not as it was"):
        back(scratch, tmp_path, present=present, wanted=tree_without)
    assert (scratch.top / "c").read_text() == "ignored by now\n"


def test_a_file_that_changes_at_the_last_moment_is_left(
    scratch: Scratch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The issue: each file is looked at once more when its turn comes."""
    look: Any = restoring._refuse_changed
    for name in ("a", "new"):
        scratch.write("a", "the editor's\n")
        scratch.write("new", "the editor's\n")
        present = take(scratch, tmp_path)

        def looked(*arguments: object, name: str = name, **more: object) -> None:
            look(*arguments, **more)
            scratch.write(name, "the user's, since\n")

        with monkeypatch.context() as patch:
            patch.setattr(restoring, "_refuse_changed", looked)
            with pytest.raises(SourceError, match=f"'{name}' is not as it was"):
                back(scratch, tmp_path, present=present)
        assert (scratch.top / name).read_text() == "the user's, since\n"
        assert not list(scratch.top.glob(".counterpoint*"))


def test_no_link_is_followed_out_of_the_tree(scratch: Scratch, tmp_path: Path) -> None:
    """SECURITY R21: a folder that became a link, for what is put back and for what is deleted."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b").write_text("2\n")
    scratch.write("src/new", "x\n")
    present = take(scratch, tmp_path)
    (scratch.top / "src").rename(tmp_path / "aside")
    (scratch.top / "src").symlink_to(outside)
    (outside / "new").write_text("x\n")
    with pytest.raises(SourceError, match="'src/new' is not as it was"):
        back(scratch, tmp_path, present=present)
    assert back(scratch, tmp_path) == ("src", "src/b")
    assert sorted(path.name for path in outside.iterdir()) == ["b", "new"]
    assert (scratch.top / "src").is_dir()
    assert not (scratch.top / "src").is_symlink()


def test_an_ignored_file_in_the_way_stops_it(scratch: Scratch, tmp_path: Path) -> None:
    """Ours: a folder for a file, with something ignored in it; what is in the way is named and kept."""
    (scratch.top / "a").unlink()
    scratch.write("a/x", "x\n")
    scratch.write("a/x.log", "ignored\n")
    with pytest.raises(SourceError, match="'a' cannot be put back") as caught:
        back(scratch, tmp_path)
    assert "ignored by git" in caught.value.hint
    (scratch.top / "a" / "x.log").unlink()
    assert back(scratch, tmp_path) == ("a",)
    assert scratch.git("status", "--porcelain") == b""


def test_a_restore_that_was_killed_is_finished_by_another(scratch: Scratch, tmp_path: Path) -> None:
    """The issue: a new look, then again; a file that was on its way is cleared as well."""
    scratch.write("a", "changed\n")
    scratch.write("new/file", "x\n")
    (scratch.top / "c").unlink()
    take(scratch, tmp_path)
    (scratch.top / "new" / "file").unlink()  # what a first call had done before it was killed
    scratch.write(".counterpoint-0123456789abcdef", "half of a fi")
    assert back(scratch, tmp_path) == (".counterpoint-0123456789abcdef", "a", "c")
    assert scratch.git("status", "--porcelain") == b""


def test_a_pipe_gives_way_and_a_repository_inside_does_not(scratch: Scratch, tmp_path: Path) -> None:
    """SECURITY S1: a pipe holds nothing; a repository holds what no snapshot has."""
    (scratch.top / "a").unlink()
    os.mkfifo(scratch.top / "a")
    assert back(scratch, tmp_path) == ("a",)
    scratch.write("c", "changed\n")
    Scratch(scratch.top / "inner").commit({"x": "1"})
    with pytest.raises(SourceError, match="'inner' is a repository of its own"):
        back(scratch, tmp_path)
    assert (scratch.top / "c").read_text() == "changed\n"


def test_no_filter_runs_and_what_a_sparse_checkout_leaves_out_stays_out(scratch: Scratch, tmp_path: Path) -> None:
    """SECURITY B.5: bytes on disk are what was taken, also where a filter is named."""
    marker = tmp_path / "ran"
    scratch.commit({".gitattributes": "*.bin filter=evil ident\n", "x.bin": "content\n", "near/z": "1\n"})
    for way in ("clean", "smudge"):
        scratch.git("config", f"filter.evil.{way}", f"touch {marker}; cat")
    scratch.git("sparse-checkout", "set", "--cone", "near")
    marker.unlink(missing_ok=True)
    scratch.write("x.bin", "changed\n")
    scratch.write("near/z", "2\n")
    assert back(scratch, tmp_path) == ("near/z", "x.bin")
    assert (scratch.top / "x.bin").read_text() == "content\n"
    assert not marker.exists()
    assert not (scratch.top / "src").exists()


def test_a_tree_with_a_path_into_the_git_folder_is_refused(scratch: Scratch, tmp_path: Path) -> None:
    """SECURITY B.5: a commit that no working git would write."""
    blob = scratch.blob(b"x")
    for name in (b"..", b".GIT"):
        inner = scratch.tree([("100644", b"config", blob)])
        with pytest.raises(SourceError, match="is not a path that files are put back to"):
            back(scratch, tmp_path, wanted=scratch.tree([("40000", name, inner)]))
