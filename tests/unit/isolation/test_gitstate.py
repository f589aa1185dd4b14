"""What of a git folder must not change while an editor works."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from counterpoint.core.codec import decode_value, encode_value
from counterpoint.errors import SourceError, UnknownEntry
from counterpoint.isolation.gitstate import GitState, differences, look_at_git
from counterpoint.isolation.repository import Repository
from tests.repositories import Scratch


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    made = Scratch(tmp_path / "repo")
    made.commit({"a": "1\n"})
    made.git("branch", "other")
    return made


def said(scratch: Scratch, act: Callable[[], object]) -> tuple[str, ...]:
    """Return what differs after `act`."""
    repository = Repository.find(scratch.top)
    before = look_at_git(repository)
    act()
    return differences(before, look_at_git(repository))


def test_what_an_editor_may_do_is_no_difference(scratch: Scratch) -> None:
    """Ours: it may stage, store objects, make branches and fetch."""

    def work() -> None:
        scratch.write("a", "2\n")
        scratch.git("add", "a")
        scratch.git("branch", "more")
        scratch.git("update-ref", "refs/remotes/origin/main", "HEAD")
        scratch.git("gc", "-q")
        scratch.git("update-server-info")
        scratch.git("stash", "create")
        (scratch.git_dir / "FETCH_HEAD").write_text("x")
        (scratch.git_dir / "hooks" / "empty").mkdir()
        (scratch.git_dir / "config").touch()

    assert said(scratch, work) == ()


def test_each_thing_that_decides_what_git_does_is_named(scratch: Scratch) -> None:
    """The issue: `.git` and hooks touched, a commit made behind the driver's back."""
    folder = scratch.git_dir
    hook = folder / "hooks" / "pre-commit"
    old = scratch.id("rev-parse", "HEAD")
    commit = scratch.id("commit-tree", "-m", "x", "HEAD^{tree}")
    steps: list[tuple[Callable[[], object], str]] = [
        (lambda: hook.write_text("#!/bin/sh\n"), "'hooks/pre-commit' of the git folder was added"),
        (lambda: hook.chmod(0o755), "'hooks/pre-commit' of the git folder was changed"),
        (hook.unlink, "'hooks/pre-commit' of the git folder was deleted"),
        (lambda: hook.symlink_to("../../a"), "'hooks/pre-commit' of the git folder was added"),
        (lambda: scratch.git("config", "a.b", "c"), "'config' of the git folder was changed"),
        ((folder / "info" / "grafts").touch, "'info/grafts' of the git folder was added"),
        ((folder / "info" / "exclude").unlink, "'info/exclude' of the git folder was deleted"),
        ((folder / "config.worktree").touch, "'config.worktree' of the git folder was added"),
        (
            (folder / "objects" / "info" / "alternates").touch,
            "'objects/info/alternates' of the git folder was added",
        ),
        ((folder / "shallow").touch, "'shallow' of the git folder was added"),
        (
            lambda: scratch.git("symbolic-ref", "HEAD", "refs/heads/other"),
            "HEAD left 'refs/heads/main' for 'refs/heads/other'",
        ),
        (
            lambda: scratch.git("update-ref", "refs/heads/other", commit),
            f"HEAD moved from {old[:12]} to {commit[:12]}",
        ),
        (
            lambda: scratch.git("checkout", "-q", "--detach"),
            "HEAD left 'refs/heads/other' for 'a commit of its own'",
        ),
    ]
    for act, sentence in steps:
        assert said(scratch, act) == (sentence,)


def test_a_pipe_is_not_waited_for_and_a_link_is_its_target(scratch: Scratch, tmp_path: Path) -> None:
    """SECURITY S1: nothing that lies there holds the driver up; a large file counts as well."""
    folder = scratch.git_dir
    config = folder / "config"
    outside = tmp_path / "outside"
    config.rename(outside)
    config.symlink_to(outside)
    large = folder / "info" / "large"
    large.write_bytes(bytes(5 << 20))

    def plant() -> None:
        os.mkfifo(folder / "hooks" / "pipe")
        (folder / "info" / "attributes").symlink_to(folder / "hooks" / "pipe")
        (folder / "shallow").symlink_to(folder / "hooks")
        outside.open("a").close()

    assert said(scratch, plant) == (
        "'hooks/pipe' of the git folder was added",
        "'info/attributes' of the git folder was added",
        "'shallow' of the git folder was added",
    )
    (folder / "shallow").unlink()
    assert said(scratch, lambda: outside.write_text("[core]\n")) == ("'config' of the git folder was changed",)
    assert said(scratch, lambda: os.truncate(large, 6 << 20)) == ("'info/large' of the git folder was changed",)


def test_a_linked_work_tree_has_guarded_files_of_its_own(scratch: Scratch, tmp_path: Path) -> None:
    """Ours: two git folders, and the file that names one of them."""
    scratch.git("worktree", "add", "-q", "-b", "topic", tmp_path / "linked")
    scratch.top = tmp_path / "linked"
    own = tmp_path / "repo" / ".git"

    def work() -> None:
        (own / "worktrees" / "linked" / "info").mkdir()
        (own / "worktrees" / "linked" / "info" / "sparse-checkout").write_text("/*\n")
        (own / "hooks" / "post-commit").touch()
        (scratch.top / ".git").write_text(f"gitdir: {own}\n")

    assert said(scratch, work) == (
        "'.git' of the git folder was changed",
        "'hooks/post-commit' of the git folder was added",
        "'worktrees/linked/info/sparse-checkout' of the git folder was added",
    )


def test_a_folder_of_too_many_hooks_is_refused(scratch: Scratch) -> None:
    """SECURITY G10: what is read is bounded."""
    for number in range(2001):
        (scratch.git_dir / "info" / str(number)).touch()
    with pytest.raises(SourceError, match="holds more than 2000 files"):
        look_at_git(Repository.find(scratch.top))


def test_a_state_goes_to_a_journal_and_back(tmp_path: Path) -> None:
    """DESIGN "Work trees": it is journaled before a turn; a repository without a commit has one too."""
    scratch = Scratch(tmp_path / "empty")
    state = look_at_git(Repository.find(scratch.top))
    assert (state.head, state.branch) == ("", "refs/heads/main")
    written = encode_value(state)
    assert decode_value(GitState, written) == state
    with pytest.raises(UnknownEntry):
        decode_value(GitState, {**written, "more": 1})
