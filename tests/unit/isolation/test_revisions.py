"""From names to full commit ids: what is accepted, what is refused, and what is compared by default."""

from pathlib import Path

import pytest

from counterpoint.errors import SourceError
from counterpoint.isolation.repository import Quarantine, Repository
from counterpoint.isolation.revisions import default_base, head, is_on_default, merge_base, resolve
from tests.repositories import Scratch


def make(top: Path) -> Scratch:
    made = Scratch(top)
    for number in range(3):
        made.commit({"a": str(number)})
    made.git("tag", "-a", "-m", "tag", "v1", "HEAD~1")
    made.git("branch", "topic/x", "HEAD~2")
    return made


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return make(tmp_path / "repo")


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    """Return one repository for the tests that only read."""
    return make(tmp_path_factory.mktemp("read") / "repo")


def quarantine_of(scratch: Scratch) -> Quarantine:
    return Quarantine(Repository.find(scratch.top))


@pytest.mark.parametrize(
    "name", ["main", "v1", "topic/x", "HEAD", "@", "HEAD~2", "main^", "v1~1", "main~1^", "refs/heads/main"]
)
def test_a_name_becomes_the_id_that_git_gives_it(unchanged: Scratch, name: str) -> None:
    """SPEC D-04: branches, tags and ids, with steps back after them."""
    expected = unchanged.id("rev-parse", f"{name}^{{commit}}")
    with quarantine_of(unchanged) as quarantine:
        assert resolve(quarantine, name) == expected
        assert resolve(quarantine, expected) == resolve(quarantine, expected[:9]) == expected


@pytest.mark.parametrize(
    "name",
    [
        "",
        "--upload-pack=touch pwned",
        "-h",
        "@{-1}",
        "main@{1}",
        "main@{upstream}",
        "main:a",
        ":/change",
        "main..topic",
        "^main",
        "main^{/change}",
        "main^{tree}",
        "ma in",
        "main\n",
        "*",
        "../main",
        "main.lock",
        "main/",
        "a//b",
    ],
)
def test_an_odd_name_never_reaches_git(unchanged: Scratch, name: str) -> None:
    """SECURITY G9: option-like names, reflogs, paths, searches and ranges."""
    with quarantine_of(unchanged) as quarantine, pytest.raises(SourceError, match="is not the name of a branch"):
        resolve(quarantine, name)


@pytest.mark.parametrize("name", ["gone", "main~99", "0" * 40, "v1^2", "topic"])
def test_a_name_of_nothing_is_refused(unchanged: Scratch, name: str) -> None:
    """SPEC D-04: no guess is made."""
    with quarantine_of(unchanged) as quarantine, pytest.raises(SourceError, match="names no commit"):
        resolve(quarantine, name)


def test_a_tag_of_a_file_is_no_commit(scratch: Scratch) -> None:
    """Ours: a ref can name any object."""
    scratch.git("tag", "blob", "HEAD:a")
    with quarantine_of(scratch) as quarantine, pytest.raises(SourceError, match="'blob' names no commit"):
        resolve(quarantine, "blob")


def test_a_detached_head_is_fine(scratch: Scratch) -> None:
    """The issue's bad input: a detached head is a commit like any other."""
    scratch.git("checkout", "-q", "--detach", "HEAD~1")
    with quarantine_of(scratch) as quarantine:
        assert head(quarantine) == scratch.id("rev-parse", "main~1")
        assert default_base(quarantine) == "refs/heads/main"


def test_an_empty_repository_is_refused_with_advice(tmp_path: Path) -> None:
    """The issue's bad input: no commit yet."""
    with quarantine_of(Scratch(tmp_path / "empty")) as quarantine:
        with pytest.raises(SourceError, match="has no commit yet") as caught:
            head(quarantine)
        assert caught.value.hint.startswith("commit something")


def test_the_default_base_is_the_remotes(scratch: Scratch) -> None:
    """SPEC D-04: origin/HEAD, else origin/master, else origin/main; a local branch is none of them."""
    tip = scratch.id("rev-parse", "HEAD")
    scratch.git("checkout", "-q", "-b", "work")
    with quarantine_of(scratch) as quarantine:
        assert default_base(quarantine) == "refs/heads/main"
        scratch.git("update-ref", "refs/remotes/origin/other", tip)
        with pytest.raises(SourceError, match=r"tried origin/HEAD, origin/master, origin/main$") as caught:
            default_base(quarantine)
        assert "--base" in caught.value.hint
        for name in ("main", "master", "HEAD"):
            scratch.git("update-ref", f"refs/remotes/origin/{name}", tip)
            assert default_base(quarantine) == f"refs/remotes/origin/{name}"
            assert resolve(quarantine, default_base(quarantine)) == tip


def test_the_branch_that_is_checked_out_is_no_base_for_itself(scratch: Scratch) -> None:
    """SPEC D-04: comparing main with main would find nothing to review."""
    with quarantine_of(scratch) as quarantine:
        with pytest.raises(SourceError, match=r"main \(it is checked out\), master"):
            default_base(quarantine)
        scratch.git("branch", "master")
        assert default_base(quarantine) == "refs/heads/master"


def test_a_main_without_a_remote_is_what_others_would_be_compared_with(scratch: Scratch) -> None:
    """Where there is a remote, what is checked out may be anybody's; so may any other branch."""
    with quarantine_of(scratch) as quarantine:
        assert is_on_default(quarantine)
        scratch.git("checkout", "-q", "-b", "work")
        assert not is_on_default(quarantine)
        scratch.git("checkout", "-q", "main")
        scratch.git("update-ref", "refs/remotes/origin/other", scratch.id("rev-parse", "HEAD"))
        assert not is_on_default(quarantine)


def test_the_merge_base_is_where_the_branch_left(scratch: Scratch) -> None:
    """SPEC D-04: what happened on the base since then is not part of the change."""
    fork = scratch.id("rev-parse", "HEAD")
    scratch.git("checkout", "-q", "-b", "work")
    tip = scratch.commit({"b": "1"})
    scratch.git("checkout", "-q", "main")
    base = scratch.commit({"c": "1"})
    with quarantine_of(scratch) as quarantine:
        assert merge_base(quarantine, base, tip) == fork
        assert merge_base(quarantine, tip, tip) == tip


def test_unrelated_histories_are_refused_with_both_commits(scratch: Scratch) -> None:
    """The issue's bad input: a failing merge base."""
    tip = scratch.id("rev-parse", "HEAD")
    scratch.git("checkout", "-q", "--orphan", "other")
    other = scratch.commit({"z": "1"})
    with quarantine_of(scratch) as quarantine:
        with pytest.raises(SourceError, match=f"commits {tip} and {other} have no common commit"):
            merge_base(quarantine, tip, other)
        with pytest.raises(SourceError, match=f"commits {'1' * 40} and {other} cannot be compared: git merge-base"):
            merge_base(quarantine, "1" * 40, other)


def test_a_shallow_clone_says_how_to_deepen_it(scratch: Scratch, tmp_path: Path) -> None:
    """The issue's bad input: history that was cut away looks like unrelated history."""
    scratch.git("checkout", "-q", "-b", "work", "HEAD~2")
    scratch.commit({"b": "1"})
    clone = tmp_path / "clone"
    source = f"file://{scratch.top}"
    scratch.git("clone", "-q", "--depth=1", "--no-single-branch", "--branch=work", source, clone)
    with Quarantine(Repository.find(clone)) as quarantine:
        tip, base = head(quarantine), resolve(quarantine, "origin/main")
        with pytest.raises(SourceError, match=f"commits {base} and {tip} have no common commit") as caught:
            merge_base(quarantine, base, tip)
        assert "git fetch --unshallow" in caught.value.hint
    scratch.git("fetch", "-q", "--unshallow", cwd=clone)
    with Quarantine(Repository.find(clone)) as quarantine:
        assert merge_base(quarantine, base, tip) == scratch.id("rev-parse", "work~1")
