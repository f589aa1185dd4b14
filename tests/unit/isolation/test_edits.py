"""What an editor left behind, and what of it must not be committed."""

import os
from pathlib import Path
from typing import Final

import pytest

from counterpoint.errors import SourceError
from counterpoint.isolation.edits import Edits, changed_paths, take_edits
from counterpoint.isolation.repository import Repository
from tests.repositories import Scratch


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    made = Scratch(tmp_path / "repo")
    made.commit({"a": "1\n", "src/b": "2\n", "c": "3\n", ".gitignore": "*.log\nbuild/\n"})
    return made


def take(scratch: Scratch, tmp_path: Path, start: str = "") -> Edits:
    return take_edits(
        Repository.find(scratch.top),
        start or scratch.id("rev-parse", "HEAD"),
        objects_dir=tmp_path / "objects",
    )


def test_an_untouched_tree_has_no_edits(scratch: Scratch, tmp_path: Path) -> None:
    """SPEC D-16: ignored files and our own folder are not part of it."""
    scratch.write("x.log", "noise")
    scratch.write("build/out", "noise")
    scratch.write(".counterpoint/cases/x", "ours")
    tree = scratch.id("rev-parse", "HEAD^{tree}")
    assert take(scratch, tmp_path) == Edits(tree=tree, paths=(), raw_paths=(), faults=())
    assert take(scratch, tmp_path, tree).paths == ()


def test_every_kind_of_edit_is_a_path(scratch: Scratch, tmp_path: Path) -> None:
    """SPEC D-16: changed, added, deleted, renamed, made executable, a link, a folder for a file and the reverse."""
    start = scratch.commit({"run": "#!/bin/sh\n", "old/x": "x\n"})
    scratch.write("a", "changed\n")
    (scratch.top / "c").rename(scratch.top / "moved here")
    (scratch.top / "run").chmod(0o755)
    (scratch.top / "link").symlink_to("src/b")
    scratch.write(b"caf\xe9", "odd")
    (scratch.top / "old" / "x").unlink()
    (scratch.top / "old").rmdir()
    scratch.write("old", "a file\n")
    found = take(scratch, tmp_path)
    assert found.paths == ("a", "c", "caf\\xe9", "link", "moved here", "old", "old/x", "run")
    assert found.raw_paths == (b"a", b"c", b"caf\xe9", b"link", b"moved here", b"old", b"old/x", b"run")
    assert found.faults == ()
    scratch.git("add", "--all")
    assert found.tree == scratch.id("write-tree")
    repository = Repository.find(scratch.top)
    assert changed_paths(repository, start, found.tree, objects_dir=tmp_path / "objects") == found.paths


def test_the_index_has_no_say_in_what_was_edited(scratch: Scratch, tmp_path: Path) -> None:
    """SECURITY B.5: an editor's own `git add -f`, `rm --cached` or marks neither add to the edits nor hide one."""
    start = scratch.commit({"kept.log": "tracked all the same\n", ".counterpoint/note": "committed\n"})
    scratch.write("forced.log", "ignored\n")
    scratch.write(".counterpoint/note", "changed\n")
    scratch.write(".counterpoint/more", "added\n")
    scratch.git("add", "--force", "forced.log", ".counterpoint")
    scratch.git("rm", "-q", "--cached", "kept.log")
    scratch.write("a", "hidden\n")
    scratch.git("update-index", "--assume-unchanged", "a")
    scratch.git("update-index", "--skip-worktree", "src/b")
    scratch.write("src/b", "hidden\n")
    found = take(scratch, tmp_path, start)
    assert (found.paths, found.faults) == (("a", "src/b"), ())


def test_a_folder_replaced_by_a_link_is_a_deletion_and_a_link(scratch: Scratch, tmp_path: Path) -> None:
    """SECURITY B.5: what lies behind the link is not taken for the files that were there."""
    (scratch.top / "src").rename(tmp_path / "elsewhere")
    (scratch.top / "src").symlink_to(tmp_path / "elsewhere")
    found = take(scratch, tmp_path)
    assert found.paths == ("src", "src/b")
    assert found.faults == (
        f"'src' is a symbolic link to {str(tmp_path / 'elsewhere')!r}, which is an absolute path",
    )


LINKS: Final = {
    "to-a-file": ("a", ""),
    "src/to-a-neighbour": ("../src/./b", ""),
    "src/to-nothing": ("../missing/../a", ""),
    "src/to-the-top": ("..", ""),
    "through-a-link": ("inner/b", ""),
    "down-and-up": ("down/../../a", ""),
    "absolute": ("/etc/passwd", "is an absolute path"),
    "out": ("..", "leads out of the work tree"),
    "src/out": ("../../a", "leads out of the work tree"),
    "through-inner": ("inner/../../a", "leads out of the work tree"),
    "through-up": ("src/up/../a", "leads out of the work tree"),
    "git": (".git/config", "leads into a git folder"),
    "src/git": ("../.GIT/hooks", "leads into a git folder"),
    "further": ("abroad/passwd", "leads on to an absolute path"),
    "round": ("round/x", "goes round in a circle"),
}


def test_a_link_that_leads_out_is_a_fault(scratch: Scratch, tmp_path: Path) -> None:
    """The issue: symlink out of the workspace, straight, by `..` or through a link that is there already."""
    for place, target in {"inner": "src", "abroad": "/etc", "src/up": "..", "down": "src/deeper"}.items():
        (scratch.top / place).symlink_to(target)
    scratch.commit()
    for place, (target, _) in LINKS.items():
        (scratch.top / place).symlink_to(target)
    found = take(scratch, tmp_path)
    assert found.paths == tuple(sorted(LINKS))
    assert found.faults == tuple(
        sorted(
            f"{place!r} is a symbolic link to {target!r}, which {fault}"
            for place, (target, fault) in LINKS.items()
            if fault
        )
    )


def test_a_filtered_path_is_a_fault_and_no_filter_runs(scratch: Scratch, tmp_path: Path) -> None:
    """SECURITY B.5: an attribute in the tree or in the git folder; what lies there is taken as it is."""
    marker = tmp_path / "ran"
    scratch.git("config", "filter.evil.clean", f"touch {marker}; cat")
    scratch.git("config", "filter.evil.process", f"touch {marker}")
    scratch.git("config", "core.fsmonitor", f"touch {marker}; false")
    scratch.write(".gitattributes", "*.bin filter=evil\n*.txt -filter\n")
    (scratch.git_dir / "info" / "attributes").write_text("c filter=own\n")
    for name in ("x.bin", "x.txt", "c"):
        scratch.write(name, "content\n")
    found = take(scratch, tmp_path)
    assert found.paths == (".gitattributes", "c", "x.bin", "x.txt")
    assert found.faults == (
        "'c' goes through the filter 'own', which is not run",
        "'x.bin' goes through the filter 'evil', which is not run",
    )
    assert not marker.exists()


def test_line_endings_follow_the_git_folders_own_attributes(scratch: Scratch, tmp_path: Path) -> None:
    """Ours: what the user's git would store is what is taken, also by `.git/info/attributes` and the user's list."""
    (scratch.git_dir / "info" / "attributes").write_text("a text eol=crlf\n")
    scratch.write("list", "src/b text eol=crlf\n")
    scratch.git("config", "core.attributesFile", str(scratch.top / "list"))
    scratch.write("a", "1\r\n")
    scratch.write("src/b", "2\r\n")
    assert take(scratch, tmp_path).paths == ("list",)


def test_a_repository_inside_is_a_fault(scratch: Scratch, tmp_path: Path) -> None:
    """The issue: a nested repository with a commit, one without, and one around files that are tracked."""
    commit = Scratch(scratch.top / "inner").commit({"x": "1"})
    Scratch(scratch.top / "empty").write("y", "2")
    Scratch(scratch.top / "src").write("b", "changed\n")
    found = take(scratch, tmp_path)
    assert found.paths == ("inner", "src/b")
    assert found.faults == (
        "'empty/' is a repository of its own, without a commit",
        f"'inner' is a repository of its own, at commit {commit}",
        "'src' holds changes and is a repository of its own",
    )


def test_an_odd_name_and_a_special_file_are_faults(scratch: Scratch, tmp_path: Path) -> None:
    """SECURITY R19, S1: a name that misleads; a pipe at a tracked path is not waited for."""
    scratch.write("new\nline", "x")
    (scratch.top / "a").unlink()
    os.mkfifo(scratch.top / "a")
    found = take(scratch, tmp_path)
    assert found.paths == ("a", "new\\u{a}line")
    assert found.faults == (
        "'a' is no file, folder or symbolic link",
        "'new\\\\u{a}line' is not committed: a control or format character is in the name",
    )


def test_files_that_a_sparse_checkout_leaves_out_are_not_deleted(scratch: Scratch, tmp_path: Path) -> None:
    """Ours: absent by the user's will; present all the same, they count."""
    scratch.git("sparse-checkout", "set", "--cone", "other")
    assert not (scratch.top / "src").exists()
    assert take(scratch, tmp_path).paths == ()
    scratch.write("src/b", "written anew\n")
    assert take(scratch, tmp_path).paths == ("src/b",)


def test_a_tree_that_names_a_path_twice_is_refused(scratch: Scratch, tmp_path: Path) -> None:
    """SECURITY G10: two entries of one name cannot both be a file."""
    blob = scratch.blob(b"x")
    tree = scratch.tree([("100644", b"a", blob), ("100644", b"a", blob)])
    with pytest.raises(SourceError, match="is malformed at 'a'"):
        changed_paths(
            Repository.find(scratch.top), scratch.id("rev-parse", "HEAD"), tree, objects_dir=tmp_path / "objects"
        )
