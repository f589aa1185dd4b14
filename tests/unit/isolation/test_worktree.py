"""The files as they lie: are they committed, and what tree are they."""

import os
from pathlib import Path

import pytest

from counterpoint.errors import SourceError
from counterpoint.isolation.change import change
from counterpoint.isolation.repository import Quarantine, Repository
from counterpoint.isolation.worktree import Snapshot, Uncommitted, look_at_worktree, snapshot_worktree
from tests import need
from tests.repositories import Scratch


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    made = Scratch(tmp_path / "repo")
    made.commit({"a": "1\n", "src/b": "2\n", "c": "3\n", ".gitignore": "*.log\nbuild/\n"})
    return made


def look(scratch: Scratch) -> Uncommitted:
    return look_at_worktree(Repository.find(scratch.top))


def snap(scratch: Scratch, tmp_path: Path) -> Snapshot:
    return snapshot_worktree(Repository.find(scratch.top), tmp_path / "objects")


def listing(scratch: Scratch, tree: str, tmp_path: Path) -> dict[str, bytes]:
    """Return the paths and contents of a snapshot's tree."""
    with Quarantine(Repository.find(scratch.top), extra=[tmp_path / "objects"]) as quarantine:
        out = quarantine.git.run("ls-tree", "-r", "-z", tree, place=quarantine.place)
        lines = [line.partition(b"\t") for line in out.split(b"\0")[:-1]]
        blobs = quarantine.objects.blobs([about.split()[2].decode() for about, _, _ in lines], max_size=1 << 20)
        return {os.fsdecode(path): content for (_, _, path), content in zip(lines, blobs, strict=True)}


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return every file below a folder, with its content and its time of change."""
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_clean_tree_has_nothing_uncommitted(scratch: Scratch) -> None:
    """SPEC D-06: ignored files are no obstacle."""
    scratch.write("x.log", "noise")
    scratch.write("build/out", "noise")
    found = look(scratch)
    assert (found, found.is_clean) == (Uncommitted(), True)


def test_every_kind_of_uncommitted_file_is_named(scratch: Scratch) -> None:
    """SPEC D-05, D-06: staged, unstaged, both, deleted, untracked files and folders, by their visible names."""
    scratch.write("a", "changed\n")
    scratch.write("c", "staged\n")
    scratch.git("add", "c")
    scratch.write("c", "and changed again\n")
    (scratch.top / "src" / "b").unlink()
    scratch.write("new\nline", "x")
    scratch.write("folder/x", "x")
    scratch.write("folder/y", "y")
    assert look(scratch) == Uncommitted(
        staged=("c",), unstaged=("a", "c", "src/b"), untracked=("folder/", "new\\u{a}line")
    )
    assert look(scratch).paths == ("a", "c", "folder/", "new\\u{a}line", "src/b")


def test_a_touched_file_is_no_change(scratch: Scratch) -> None:
    """Ours: times alone say nothing."""
    os.utime(scratch.top / "a", ns=(10**18, 10**18))
    assert look(scratch).is_clean


def test_our_own_folder_is_never_in_the_way(scratch: Scratch, tmp_path: Path) -> None:
    """DESIGN 5: the case that is being written must not change what it judges, committed or not."""
    clean = snap(scratch, tmp_path).tree
    scratch.write(".counterpoint/cases/x", "1")
    assert look(scratch).is_clean
    assert snap(scratch, tmp_path).tree == clean
    scratch.commit()
    committed = snap(scratch, tmp_path).tree
    assert committed != clean
    scratch.write(".counterpoint/cases/x", "2")
    scratch.write(".counterpoint/cases/y", "3")
    assert look(scratch).is_clean
    assert snap(scratch, tmp_path).tree == committed


def test_a_file_that_the_index_is_told_to_overlook_is_looked_at(scratch: Scratch, tmp_path: Path) -> None:
    """Ours: `--assume-unchanged` and `--skip-worktree` would hide what is being reviewed."""
    scratch.git("update-index", "--assume-unchanged", "a")
    scratch.git("update-index", "--skip-worktree", "c", "src/b")
    scratch.write("a", "hidden\n")
    scratch.write("c", "hidden\n")
    (scratch.top / "src" / "b").unlink()  # as a sparse checkout leaves it
    assert scratch.git("status", "--porcelain") == b""
    assert look(scratch).unstaged == ("a", "c")
    tree = snap(scratch, tmp_path).tree
    assert listing(scratch, tree, tmp_path) == {
        ".gitignore": b"*.log\nbuild/\n",
        "a": b"hidden\n",
        "c": b"hidden\n",
        "src/b": b"2\n",
    }
    (scratch.top / "src").rmdir()
    scratch.write("src", "in its place\n")
    assert listing(scratch, snap(scratch, tmp_path).tree, tmp_path)["src"] == b"in its place\n"


def test_users_own_ignore_list_counts(scratch: Scratch, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC D-05: what a user ignores everywhere is not in scope; every place that git knows."""
    scratch.write("x.mine", "")
    scratch.write("x.yours", "")
    assert look(scratch).untracked == ("x.mine", "x.yours")
    (own_home / ".config" / "git").mkdir(parents=True)
    (own_home / ".config" / "git" / "ignore").write_text("*.mine\n")
    assert look(scratch).untracked == ("x.yours",)
    (own_home / "list").write_text("*.yours\n")
    (own_home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/list\n")
    assert look(scratch).untracked == ("x.mine",)
    (scratch.git_dir / "info" / "exclude").write_text("*.mine\n")
    assert look(scratch).is_clean
    for nowhere in ("excludesFile =", "excludesFile = /gone"):
        (own_home / ".gitconfig").write_text(f"[core]\n\t{nowhere}\n")
        assert look(scratch).untracked == ("x.yours",)
    (own_home / ".gitconfig").write_text("[core]\n\texcludesFile = ~nobody-of-that-name/list\n")
    with pytest.raises(SourceError, match="failed to expand user dir"):
        look(scratch)
    (own_home / ".gitconfig").unlink()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own_home / "xdg"))
    (own_home / "xdg" / "git").mkdir(parents=True)
    (own_home / "xdg" / "git" / "ignore").write_text("*.yours\n")
    assert look(scratch).is_clean


def test_line_endings_follow_the_users_settings(scratch: Scratch, own_home: Path, tmp_path: Path) -> None:
    """Ours: a checkout with CR LF is what `core.autocrlf` makes, not a change."""
    clean = snap(scratch, tmp_path).tree
    (scratch.top / "a").unlink()
    scratch.git("-c", "core.autocrlf=true", "checkout", "a")
    assert (scratch.top / "a").read_bytes() == b"1\r\n"
    os.utime(scratch.top / "a", ns=(10**18, 10**18))
    assert look(scratch).unstaged == ("a",)
    (own_home / ".gitconfig").write_text("[core]\n\tautocrlf\n")
    assert look(scratch).is_clean
    assert snap(scratch, tmp_path).tree == clean
    scratch.git("config", "core.autocrlf", "false")
    assert look(scratch).unstaged == ("a",)


def test_a_snapshot_is_what_a_commit_of_everything_would_hold(scratch: Scratch, tmp_path: Path) -> None:
    """The issue, 6: tracked changes, deletions, untracked files and links, execute bits, a folder for a file."""
    need.linux()
    scratch.write("a", "changed\n")
    scratch.git("add", "a")
    scratch.write("a", "changed again\n")
    (scratch.top / "c").unlink()
    scratch.write("c/is/now/a/folder", "x")
    (scratch.top / "src" / "b").unlink()
    (scratch.top / "src").rmdir()
    scratch.write("src", "a file\n")
    scratch.write("run", "#!/bin/sh\n").chmod(0o755)
    (scratch.top / "link").symlink_to("/etc/passwd")
    scratch.write(b"caf\xe9\nx", "odd")
    scratch.write("x.log", "ignored")
    found = snap(scratch, tmp_path)
    assert found.left_out == ()
    assert found == snapshot_worktree(Repository.find(scratch.top), tmp_path / "other")
    scratch.git("add", "--all")
    assert found.tree == scratch.id("write-tree")
    assert listing(scratch, found.tree, tmp_path)["link"] == b"/etc/passwd"


def test_a_snapshot_takes_a_link_in_the_place_of_a_folder(scratch: Scratch, tmp_path: Path) -> None:
    """SECURITY B.5: the files that lie behind it are not those that were there."""
    (scratch.top / "src").rename(tmp_path / "elsewhere")
    (scratch.top / "src").symlink_to(tmp_path / "elsewhere")
    tree = snap(scratch, tmp_path).tree
    scratch.git("add", "--all")
    assert tree == scratch.id("write-tree")


def test_a_pipe_at_a_tracked_path_is_refused(scratch: Scratch, tmp_path: Path) -> None:
    """SECURITY S1: it is not waited for, and nobody meant to delete the file."""
    (scratch.top / "a").unlink()
    os.mkfifo(scratch.top / "a")
    with pytest.raises(SourceError, match="'a' is no file, folder or symbolic link"):
        snap(scratch, tmp_path)


def test_a_snapshot_touches_nothing_of_the_repository(scratch: Scratch, tmp_path: Path) -> None:
    """The issue, 6: a private index and a private object folder."""
    scratch.write("a", "changed\n")
    scratch.write("new", "new\n")
    before = state(scratch.git_dir)
    repository = Repository.find(scratch.top)
    with Quarantine(repository) as quarantine:
        base = scratch.id("rev-parse", "HEAD")
        tree = snapshot_worktree(repository, tmp_path / "objects").tree
        look_at_worktree(repository)
        with pytest.raises(SourceError, match=f"object {tree} is missing"):
            quarantine.objects.tree(tree)
    with Quarantine(repository, extra=[tmp_path / "objects"]) as quarantine:
        assert change(quarantine, base, tree).shown_paths == ("a", "new")
    assert state(scratch.git_dir) == before


def test_a_repository_without_a_commit_has_everything_uncommitted(tmp_path: Path) -> None:
    """The issue's bad input: an empty repository; the snapshot is its first tree."""
    scratch = Scratch(tmp_path / "empty")
    assert look(scratch).is_clean
    scratch.write("a", "1")
    scratch.write("b", "2")
    scratch.git("add", "a")
    assert look(scratch) == Uncommitted(staged=("a",), untracked=("b",))
    assert set(listing(scratch, snap(scratch, tmp_path).tree, tmp_path)) == {"a", "b"}


def test_conflicts_are_named_and_no_snapshot_is_made_of_them(scratch: Scratch, tmp_path: Path) -> None:
    """Ours: a tree with conflict markers is nobody's change."""
    scratch.git("checkout", "-q", "-b", "other")
    scratch.commit({"a": "other\n"})
    scratch.git("checkout", "-q", "main")
    scratch.commit({"a": "main\n"})
    with pytest.raises(AssertionError):
        scratch.git("merge", "-q", "other")
    assert look(scratch).unmerged == ("a",)
    with pytest.raises(SourceError, match="files that a merge left in conflict"):
        snap(scratch, tmp_path)


def test_submodules_are_looked_into(scratch: Scratch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC D-06: another commit, a changed file or a stray file in a submodule, at any depth."""
    inner = Scratch(tmp_path / "inner")
    inner.commit({"x": "1"})
    middle = Scratch(tmp_path / "middle")
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    middle.git(*add, inner.top, "inner")
    middle.commit()
    scratch.git(*add, middle.top, "middle")
    scratch.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "--recursive")
    scratch.commit()
    assert look(scratch).is_clean
    stray = scratch.write("middle/inner/stray", "x")
    assert look(scratch) == Uncommitted(submodules=("middle",))
    stray.unlink()
    scratch.write("middle/.gitmodules", "changed")
    assert look(scratch) == Uncommitted(submodules=("middle",))
    scratch.git("commit", "-q", "-a", "-m", "moved", cwd=scratch.top / "middle")
    assert look(scratch) == Uncommitted(submodules=("middle",))
    moved = scratch.git("rev-parse", "HEAD", cwd=scratch.top / "middle").decode().strip()
    with Quarantine(Repository.find(scratch.top), extra=[tmp_path / "objects"]) as quarantine:
        found = change(quarantine, scratch.id("rev-parse", "HEAD"), snap(scratch, tmp_path).tree)
    assert f"+Subproject commit {moved}\n" in found.text
    scratch.commit()
    assert look(scratch).is_clean
    monkeypatch.setattr("counterpoint.isolation.worktree._MAX_NESTED", 1)
    assert look(scratch).submodules == ("middle",)
    (scratch.top / "middle" / ".git").write_text("gitdir: /nonexistent\n")
    assert look(scratch).submodules == ("middle",)


def test_a_submodule_that_was_never_fetched_is_no_change(tmp_path: Path) -> None:
    """Ours: a clone without its submodules is clean, and its snapshot keeps their commits."""
    inner, outer = Scratch(tmp_path / "inner"), Scratch(tmp_path / "outer")
    inner.commit({"x": "1"})
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.top, "inner")
    outer.commit()
    outer.git("clone", "-q", outer.top, tmp_path / "clone")
    repository = Repository.find(tmp_path / "clone")
    assert look_at_worktree(repository).is_clean
    tree = outer.id("rev-parse", "HEAD^{tree}")
    assert snapshot_worktree(repository, tmp_path / "objects") == Snapshot(tree=tree, left_out=())


def test_a_repository_inside_is_named_by_its_commit_or_left_out(scratch: Scratch, tmp_path: Path) -> None:
    """Ours: as `git add` has it; one without a commit has no name, and the snapshot says that it lacks it."""
    inner = Scratch(scratch.top / "inner")
    commit = inner.commit({"x": "1"})
    Scratch(scratch.top / "empty").write("y", "2")
    Scratch(scratch.top / "broken").git("config", "core.worktree", "../..")
    assert look(scratch).untracked == ("broken/", "empty/", "inner/")
    found = snap(scratch, tmp_path)
    assert found.left_out == ("broken/", "empty/")
    with Quarantine(Repository.find(scratch.top), extra=[tmp_path / "objects"]) as quarantine:
        entries = {entry.name: entry.id for entry in quarantine.objects.tree(found.tree)}
    assert entries[b"inner"] == commit
    assert b"empty" not in entries


@pytest.mark.parametrize("how", ["split", "sparse", "linked", "version-4", "sha256"])
def test_every_form_of_index_is_read(scratch: Scratch, tmp_path: Path, how: str) -> None:
    """Ours: split and sparse indexes, a linked work tree's own, path compression, long ids."""
    match how:
        case "split":
            scratch.git("update-index", "--split-index")
        case "sparse":
            scratch.git("sparse-checkout", "set", "--cone", "--sparse-index", "other")
        case "linked":
            scratch.git("worktree", "add", "-q", "-b", "topic", tmp_path / "linked")
            scratch.top = tmp_path / "linked"
        case "version-4":
            scratch.git("update-index", "--index-version", "4")
        case _:
            scratch = Scratch(tmp_path / "long", "--object-format=sha256")
            scratch.commit({"a": "1\n", "src/b": "2\n", "c": "3\n"})
    assert look(scratch).is_clean
    assert snap(scratch, tmp_path).tree == scratch.id("rev-parse", "HEAD^{tree}")
    scratch.write("a", "changed\n")
    assert look(scratch).unstaged == ("a",)
    assert listing(scratch, snap(scratch, tmp_path).tree, tmp_path)["src/b"] == b"2\n"


def test_a_file_that_cannot_be_read_is_a_typed_error(scratch: Scratch, tmp_path: Path) -> None:
    """Ours: a snapshot without it would be another tree."""
    need.not_root()
    scratch.write("a", "changed\n").chmod(0)
    with pytest.raises(SourceError, match="git update-index ended with"):
        snap(scratch, tmp_path)


def test_an_index_that_is_no_index_is_a_typed_error(scratch: Scratch) -> None:
    """Ours: git's own words for it."""
    (scratch.git_dir / "index").write_bytes(b"nonsense" * 10)
    with pytest.raises(SourceError, match="bad signature"):
        look(scratch)
