"""Where a repository lies, and the quarantine that borrows its objects."""

import os
from pathlib import Path

import pytest

from counterpoint.errors import SourceError
from counterpoint.isolation.repository import Quarantine, Repository, copy_plain_file
from counterpoint.isolation.revisions import head
from tests.repositories import Scratch


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    made = Scratch(tmp_path / "repo")
    made.commit({"a": "1"})
    return made


def test_a_repository_is_found_from_any_folder_of_it(scratch: Scratch) -> None:
    """SPEC D-03: everything is rooted in the repository's top folder."""
    inner = scratch.top / "x" / "y"
    inner.mkdir(parents=True)
    found = Repository.find(inner)
    assert (found.top, found.git_dir, found.common_dir) == (scratch.top, scratch.git_dir, scratch.git_dir)
    assert (found.object_format, found.is_shallow) == ("sha1", False)


def test_a_folder_in_no_repository_is_refused(tmp_path: Path) -> None:
    """The issue's bad input: no repository."""
    with pytest.raises(SourceError, match="is in no git repository") as caught:
        Repository.find(tmp_path)
    assert "--repo" in caught.value.hint
    with pytest.raises(SourceError, match="there is no folder"):
        Repository.find(tmp_path / "gone")


def test_a_bare_repository_is_refused_with_advice(tmp_path: Path) -> None:
    """Ours: there is no work tree to judge, and no place for the case."""
    Scratch(tmp_path / "bare.git", "--bare")
    with pytest.raises(SourceError, match="is bare: it has no work tree") as caught:
        Repository.find(tmp_path / "bare.git")
    assert caught.value.hint.startswith("clone it")


def test_a_folder_inside_the_git_folder_is_refused(scratch: Scratch) -> None:
    """Ours: `.git` is not part of any work tree."""
    with pytest.raises(SourceError, match="is inside a git folder"):
        Repository.find(scratch.git_dir / "objects")


def test_settings_that_git_cannot_read_are_named(scratch: Scratch) -> None:
    """Ours: git's own first line, not "no repository"."""
    (scratch.git_dir / "config").write_text("[core\n")
    with pytest.raises(SourceError, match="ended with 128: fatal: bad config line 1"):
        Repository.find(scratch.top)


@pytest.mark.parametrize("where", ["..", "../elsewhere"])
def test_a_work_tree_that_lies_elsewhere_is_refused(tmp_path: Path, where: str) -> None:
    """SECURITY G1: settings that name somebody's folder as the work tree would put its files into a snapshot."""
    Scratch(tmp_path)
    Scratch(tmp_path / "elsewhere")
    evil = Scratch(tmp_path / "evil")
    evil.git("config", "core.worktree", f"../{where}")
    with pytest.raises(SourceError, match=r"as its work tree|is inside a git folder|is in no git repository|chdir"):
        Repository.find(evil.top)


def test_a_linked_work_tree_shares_its_objects(scratch: Scratch, tmp_path: Path) -> None:
    """Ours: `git worktree add` is how people review beside their work."""
    scratch.git("worktree", "add", "-q", "-b", "topic", tmp_path / "linked")
    found = Repository.find(tmp_path / "linked")
    assert found.top == tmp_path / "linked"
    assert found.common_dir == scratch.git_dir != found.git_dir
    with Quarantine(found) as quarantine:
        assert head(quarantine) == scratch.id("rev-parse", "topic")


def test_a_submodule_is_a_repository_of_its_own(scratch: Scratch, tmp_path: Path) -> None:
    """Ours: its settings name its work tree, and lead back to it."""
    outer = Scratch(tmp_path / "outer")
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", scratch.top, "inner")
    found = Repository.find(outer.top / "inner")
    assert found.top == outer.top / "inner"
    assert found.git_dir == outer.git_dir / "modules" / "inner"


def test_ids_of_sixty_four_digits_work(tmp_path: Path) -> None:
    """SECURITY B.5: a SHA-256 repository needs a quarantine of its own format."""
    scratch = Scratch(tmp_path / "repo", "--object-format=sha256")
    commit = scratch.commit({"a": "1"})
    with Quarantine(Repository.find(scratch.top)) as quarantine:
        assert head(quarantine) == commit
        assert len(quarantine.objects.tree_of(commit)) == len(commit) == 64


@pytest.mark.parametrize(
    "name", [b"with space", b'quo"te', b"new\nline", b"#hash", b"col:on", b"back\\slash", b"caf\xe9"]
)
def test_a_repository_may_lie_in_a_folder_of_any_name(tmp_path: Path, name: bytes) -> None:
    """Ours: the list of borrowed object folders is lines, and a name can hold anything."""
    scratch = Scratch(tmp_path / os.fsdecode(name))
    commit = scratch.commit({"a": "1"})
    with Quarantine(Repository.find(scratch.top)) as quarantine:
        assert head(quarantine) == commit


def test_the_objects_of_a_shared_clone_are_found(scratch: Scratch, tmp_path: Path) -> None:
    """SECURITY G11: alternates supply bytes; that they are the right ones is for the hash to say."""
    scratch.git("clone", "-q", "--shared", scratch.top, tmp_path / "shared")
    with Quarantine(Repository.find(tmp_path / "shared")) as quarantine:
        assert quarantine.objects.tree_of(head(quarantine)) == scratch.id("rev-parse", "HEAD^{tree}")


def test_a_list_of_cut_commits_that_is_something_else_is_refused(scratch: Scratch) -> None:
    """SECURITY G11: what is copied out of the repository is read first."""
    (scratch.git_dir / "shallow").write_text("not commits\n")
    with pytest.raises(SourceError, match="is not a list of commits"):
        Quarantine(Repository.find(scratch.top))


def test_a_pipe_in_a_files_place_is_refused_unread(tmp_path: Path) -> None:
    """SECURITY G10: reading a pipe waits for ever."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceError, match="is not a file"):
        copy_plain_file(tmp_path / "pipe", tmp_path / "copy")
    (tmp_path / "folder").mkdir()
    with pytest.raises(SourceError, match="is not a file"):
        copy_plain_file(tmp_path / "folder", tmp_path / "copy")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(SourceError, match="cannot be read"):
        copy_plain_file(tmp_path / "loop", tmp_path / "copy")
    assert not copy_plain_file(tmp_path / "gone", tmp_path / "copy")


def test_the_quarantine_is_gone_afterwards(scratch: Scratch, tmp_path: Path) -> None:
    """Ours: nothing is left in the temporary folder, nor a git that holds it."""
    parent = tmp_path / "parent"
    parent.mkdir()
    with Quarantine(Repository.find(scratch.top), parent=parent) as quarantine:
        quarantine.objects.tree_of(head(quarantine))
        assert list(parent.iterdir()) == [quarantine.folder]
    assert list(parent.iterdir()) == []
