"""A made commit comes into the user's repository: objects, branch, index; or under a ref of its own."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from counterpoint.errors import SourceError
from counterpoint.isolation import landing
from counterpoint.isolation.commits import Identity, make_commit
from counterpoint.isolation.edits import changed_paths, take_edits
from counterpoint.isolation.landing import keep, land, unstage
from counterpoint.isolation.repository import Repository
from tests.repositories import Scratch

AT: Final = datetime(2026, 7, 6, 14, 7, 48, tzinfo=UTC)
ADA: Final = Identity(name="Ada", email="ada@example.org")


class Bench:
    """A scratch repository with one commit, an editor's work in it, and the commit made of that."""

    def __init__(self, tmp_path: Path, *options: str) -> None:
        self.scratch = Scratch(tmp_path / "repo", *options)
        self.scratch.commit({"a": "1\n", "src/b": "2\n", "c": "3\n", "run": "#!/bin/sh\n", ".gitignore": "*.log\n"})
        self.objects_dir = tmp_path / "objects"

    @property
    def repository(self) -> Repository:
        return Repository.find(self.scratch.top)

    def head(self) -> str:
        return self.scratch.id("rev-parse", "HEAD")

    def make(self) -> tuple[str, str]:
        """Return the commit made of what lies there, and its parent."""
        parent = self.head()
        edits = take_edits(self.repository, parent, objects_dir=self.objects_dir)
        commit = make_commit(
            self.repository,
            parent=parent,
            tree=edits.tree,
            message="Round 1",
            who=ADA,
            at=AT,
            objects_dir=self.objects_dir,
        )
        assert changed_paths(self.repository, parent, commit, objects_dir=self.objects_dir) == edits.paths
        return commit, parent

    def land(self, commit: str, parent: str) -> None:
        land(self.repository, commit=commit, parent=parent, objects_dir=self.objects_dir)

    def status(self) -> bytes:
        return self.scratch.git("status", "--porcelain", "-z")

    def edit_all_kinds(self) -> None:
        """Change, delete, rename, link, make executable; odd names; a folder for a file and the reverse."""
        top = self.scratch.top
        self.scratch.write("a", "changed\n")
        (top / "c").rename(top / "renamed here")
        (top / "run").chmod(0o755)
        (top / "link").symlink_to("src/b")
        (top / "src" / "b").unlink()
        (top / "src").rmdir()
        self.scratch.write("src", "a file\n")
        self.scratch.write("d/e/f", "new\n")
        self.scratch.write(b"caf\xe9", "odd\n")
        self.scratch.write("two\nlines", "odd\n")
        self.scratch.write("empty", "")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def _plain(_: Bench, __: Path) -> None:
    pass


def _detached(bench: Bench, _: Path) -> None:
    bench.scratch.git("checkout", "-q", "--detach")


def _split(bench: Bench, _: Path) -> None:
    bench.scratch.git("update-index", "--split-index")


def _version_4(bench: Bench, _: Path) -> None:
    bench.scratch.git("update-index", "--index-version", "4")


def _linked(bench: Bench, tmp_path: Path) -> None:
    bench.scratch.git("worktree", "add", "-q", "-b", "topic", tmp_path / "linked")
    bench.scratch.top = tmp_path / "linked"


def _carriage_returns(bench: Bench, _: Path) -> None:
    bench.scratch.git("config", "core.autocrlf", "true")
    bench.scratch.commit({".gitattributes": "* text=auto eol=crlf\n", "a": "1\r\n"})
    assert bench.status() == b""


FORMS: Final = (_plain, _detached, _split, _version_4, _linked, _carriage_returns)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__.strip("_"))
def test_every_kind_of_edit_lands_and_leaves_a_clean_tree(
    bench: Bench, tmp_path: Path, form: Callable[[Bench, Path], None]
) -> None:
    """SPEC D-16: branch or no branch, any form of index, a linked work tree, carriage returns."""
    form(bench, tmp_path)
    bench.edit_all_kinds()
    commit, parent = bench.make()
    bench.land(commit, parent)
    assert (bench.head(), bench.status()) == (commit, b"")
    bench.scratch.git("fsck", "--strict", "--no-dangling")
    assert bench.scratch.git("log", "-1", "--format=%an %ae %cn %ct %P", "HEAD").decode() == (
        f"Ada ada@example.org Ada {int(AT.timestamp())} {parent}\n"
    )
    reflog = bench.scratch.git("reflog", "-1", "--format=%gn %gs", "HEAD")
    assert reflog == b"Ada commit (counterpoint): Round 1\n"
    on = bench.scratch.git("rev-parse", "--abbrev-ref", "HEAD").decode().strip()
    assert on == {"_detached": "HEAD", "_linked": "topic"}.get(form.__name__, "main")


def test_a_repository_with_long_ids_is_landed_in(tmp_path: Path) -> None:
    """Ours: SHA-256."""
    bench = Bench(tmp_path, "--object-format=sha256")
    bench.edit_all_kinds()
    commit, parent = bench.make()
    bench.land(commit, parent)
    assert (len(commit), bench.head(), bench.status()) == (64, commit, b"")


@pytest.mark.parametrize("index", ["--no-sparse-index", "--sparse-index"])
def test_a_sparse_checkout_stays_one(bench: Bench, index: str) -> None:
    """Ours: marks of other paths stay; a file written outside of the cone is landed too."""
    bench.scratch.commit({"far/x": "1\n", "far/y": "2\n", "near/z": "3\n"})
    bench.scratch.git("sparse-checkout", "set", "--cone", index, "near")
    bench.scratch.write("near/z", "changed\n")
    bench.scratch.write("far/x", "changed\n")
    commit, parent = bench.make()
    bench.land(commit, parent)
    assert (bench.head(), bench.status()) == (commit, b"")
    marks = bench.scratch.git("ls-files", "-v", "far", "near", "src").decode().splitlines()
    assert marks == ["H far/x", "S far/y", "H near/z", "S src/b"]


def test_marks_and_what_is_staged_elsewhere_stay(bench: Bench) -> None:
    """The issue: exactly the paths that differ are set, whatever else the index holds."""
    bench.scratch.write("c", "staged by the user\n")
    bench.scratch.git("add", "c")
    bench.scratch.write("c", "3\n")
    bench.scratch.git("update-index", "--assume-unchanged", "run")
    bench.scratch.git("update-index", "--skip-worktree", "src/b")
    (bench.scratch.top / "src" / "b").unlink()
    bench.scratch.write("a", "changed\n")
    commit, parent = bench.make()
    bench.land(commit, parent)
    assert bench.status() == b"MM c\0"
    assert bench.scratch.git("ls-files", "-v").decode().split() == [
        *("H", ".gitignore", "H", "a", "H", "c", "h", "run", "S", "src/b")
    ]


def test_what_an_editor_staged_gives_way_to_what_was_committed(bench: Bench) -> None:
    """Ours: an older version in the index, and an empty file that is only intended to be added."""
    bench.scratch.write("a", "older\n")
    bench.scratch.git("add", "a")
    bench.scratch.write("a", "newer\n")
    bench.scratch.write("empty", "")
    bench.scratch.git("add", "--intent-to-add", "empty")
    bench.land(*bench.make())
    assert bench.status() == b""


def test_no_hook_filter_or_monitor_runs(bench: Bench, tmp_path: Path) -> None:
    """SECURITY B.5: nothing that a repository can configure is started by a commit of ours."""
    marker = tmp_path / "ran"
    names = ("pre-commit", "post-commit", "commit-msg", "reference-transaction", "post-index-change", "post-checkout")
    for folder in (bench.scratch.git_dir / "hooks", tmp_path / "hooks"):
        folder.mkdir(exist_ok=True)
        for name in names:
            (folder / name).write_text(f"#!/bin/sh\ntouch {marker}\n")
            (folder / name).chmod(0o755)
    bench.scratch.write(".gitattributes", "*.bin filter=evil\n")
    bench.scratch.write("x.bin", "content\n")
    for key, value in {
        "filter.evil.clean": f"touch {marker}; cat",
        "filter.evil.smudge": f"touch {marker}; cat",
        "core.fsmonitor": f"touch {marker}; false",
        "core.hooksPath": str(tmp_path / "hooks"),
        "commit.gpgSign": "true",
        "gpg.program": f"touch {marker}; false",
        "hook.a=b.event": "reference-transaction",
        "hook.a=b.command": f"touch {marker}",
    }.items():
        bench.scratch.git("config", key, value)
    marker.unlink(missing_ok=True)
    commit, parent = bench.make()
    bench.land(commit, parent)
    tree = changed_tree(bench, commit)
    _keep(bench, tree, commit)
    assert (bench.head(), marker.exists()) == (commit, False)
    place = landing._writing_place(bench.repository)
    pairs = {place.variables[f"GIT_CONFIG_KEY_{n}"]: place.variables[f"GIT_CONFIG_VALUE_{n}"] for n in range(2)}
    assert pairs == {"hook.a=b.event": "", "hook.a=b.enabled": "false"}
    bench.scratch.git("update-ref", "refs/heads/other", commit)
    assert marker.exists(), "the hooks planted here do run for a git that allows them"


def changed_tree(bench: Bench, commit: str) -> str:
    bench.scratch.write("a", "kept\n")
    return take_edits(bench.repository, commit, objects_dir=bench.objects_dir).tree


def _keep(bench: Bench, tree: str, parent: str, ref: str = "refs/counterpoint/case-1/turn-1") -> str:
    return keep(
        bench.repository,
        tree=tree,
        parent=parent,
        ref=ref,
        message="Kept",
        who=ADA,
        at=AT,
        objects_dir=bench.objects_dir,
    )


def test_a_head_that_stands_elsewhere_is_not_moved(bench: Bench) -> None:
    """The issue: a commit made behind the driver's back; the three commits are named."""
    bench.scratch.write("a", "changed\n")
    commit, parent = bench.make()
    other = bench.scratch.commit({"z": "mine\n"}, message="mine")
    with pytest.raises(SourceError) as caught:
        bench.land(commit, parent)
    assert all(oid in str(caught.value) for oid in (commit, parent, other))
    assert parent in caught.value.hint
    assert bench.head() == other


def test_a_head_that_moves_at_the_last_moment_is_not_moved(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The issue: compare-and-swap, by git itself."""
    bench.scratch.write("a", "changed\n")
    commit, parent = bench.make()
    bring = landing._bring

    def slow(repository: Repository, commit: str, parent: str, objects_dir: Path) -> None:
        bring(repository, commit, parent, objects_dir)
        bench.scratch.git("commit", "-q", "--allow-empty", "--no-verify", "-m", "mine")

    monkeypatch.setattr(landing, "_bring", slow)
    with pytest.raises(SourceError, match="stands at"):
        bench.land(commit, parent)
    assert bench.head() not in {commit, parent}


def test_a_call_after_a_kill_finishes_what_is_missing(bench: Bench) -> None:
    """The issue: objects alone; objects and branch; all. The last writes nothing more."""
    bench.edit_all_kinds()
    commit, parent = bench.make()
    landing._bring(bench.repository, commit, parent, bench.objects_dir)
    assert (bench.head(), bench.scratch.id("cat-file", "-t", commit)) == (parent, "commit")
    landing._move_head(bench.repository, commit=commit, parent=parent)
    assert (bench.head(), bench.status() != b"") == (commit, True)
    bench.land(commit, parent)
    assert bench.status() == b""
    bench.scratch.write("z", "staged since\n")
    bench.scratch.git("add", "z")
    index = bench.scratch.git_dir / "index"
    before = (index.read_bytes(), bench.scratch.git("reflog"))
    bench.land(commit, parent)
    assert (index.read_bytes(), bench.scratch.git("reflog")) == before


def test_a_locked_index_or_branch_is_named_and_waited_for(bench: Bench) -> None:
    """The issue: another git at work; the same call finishes later."""
    bench.scratch.write("a", "changed\n")
    commit, parent = bench.make()
    for lock, message in (("index.lock", "another git is at work"), ("refs/heads/main.lock", "could not be moved")):
        path = bench.scratch.git_dir / lock
        path.touch()
        with pytest.raises(SourceError, match=message) as caught:
            bench.land(commit, parent)
        assert "resume" in caught.value.hint
        assert bench.head() == parent
        path.unlink()
    bench.land(commit, parent)
    assert (bench.head(), bench.status()) == (commit, b"")


def test_an_index_that_is_locked_at_the_last_moment_is_finished_later(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The issue: the branch has moved by then, and the next call does the index."""
    bench.scratch.write("a", "changed\n")
    commit, parent = bench.make()
    lock = bench.scratch.git_dir / "index.lock"
    move = landing._move_head

    def lock_it(repository: Repository, *, commit: str, parent: str) -> None:
        move(repository, commit=commit, parent=parent)
        lock.touch()

    monkeypatch.setattr(landing, "_move_head", lock_it)
    with pytest.raises(SourceError, match="another git is at work"):
        bench.land(commit, parent)
    lock.unlink()
    bench.land(commit, parent)
    assert (bench.head(), bench.status()) == (commit, b"")


def test_an_object_planted_in_the_repository_is_found_out(bench: Bench) -> None:
    """SECURITY B.5: a file under the id of a new object, with another content; the branch does not move."""
    bench.scratch.write("a", "changed\n")
    commit, parent = bench.make()
    oid = bench.scratch.id("hash-object", "a")
    other = bench.scratch.loose(bench.scratch.blob(b"something else\n"))
    planted = bench.scratch.loose(oid)
    planted.parent.mkdir(exist_ok=True)
    planted.write_bytes(other.read_bytes())
    with pytest.raises(SourceError, match=oid):
        bench.land(commit, parent)
    assert bench.head() == parent


def test_a_commit_on_another_parent_is_refused(bench: Bench) -> None:
    """Ours: what lands is one commit more, and no other."""
    bench.scratch.write("a", "changed\n")
    commit, _ = bench.make()
    other = bench.scratch.commit({"z": "mine\n"})
    with pytest.raises(SourceError, match=f"has the parents .*; expected .*{other}"):
        bench.land(commit, other)


def test_a_shared_repository_stays_writable_by_its_group(bench: Bench) -> None:
    """Ours: `core.sharedRepository` counts for the objects that are brought in."""
    bench.scratch.git("config", "core.sharedRepository", "group")
    bench.scratch.write("a", "changed\n")
    commit, parent = bench.make()
    bench.land(commit, parent)
    assert bench.scratch.loose(commit).stat().st_mode & 0o040
    assert bench.scratch.loose(commit).parent.stat().st_mode & 0o020


def test_edits_are_kept_under_a_ref_of_their_own(bench: Bench) -> None:
    """DESIGN "Work trees": no edit is lost, no branch moves, and the same edits are kept once."""
    parent = bench.head()
    bench.edit_all_kinds()
    tree = changed_tree(bench, parent)
    ref = "refs/counterpoint/case-1/turn-1"
    assert [_keep(bench, tree, parent), _keep(bench, tree, parent)] == [ref, ref]
    assert bench.scratch.id("rev-parse", f"{ref}^{{tree}}") == tree
    assert bench.scratch.id("rev-parse", f"{ref}^") == bench.head() == parent
    bench.scratch.write("a", "kept again\n")
    other = take_edits(bench.repository, parent, objects_dir=bench.objects_dir).tree
    assert [_keep(bench, other, parent), _keep(bench, other, parent)] == [f"{ref}-2", f"{ref}-2"]
    assert _keep(bench, tree, parent) == ref
    assert bench.scratch.id("rev-parse", f"{ref}^{{tree}}") == tree
    bench.scratch.git("fsck", "--strict")


def test_only_refs_of_ours_are_written(bench: Bench) -> None:
    """SECURITY G9: a name from elsewhere moves no branch."""
    tree = bench.scratch.id("rev-parse", "HEAD^{tree}")
    for ref in (
        *("refs/heads/main", "refs/counterpoint/x", "refs/counterpoint/../heads/x", "refs/counterpoint/a/b.lock"),
        *("refs/counterpoint/a/b..c", "refs/counterpoint/a/b\n", "HEAD", "refs/counterpoint/a/.b"),
    ):
        with pytest.raises(SourceError, match="is not a ref of ours"):
            _keep(bench, tree, bench.head(), ref)
    assert bench.scratch.git("for-each-ref", "--format=%(refname)") == b"refs/heads/main\n"


def test_what_an_editor_had_staged_is_taken_out_of_the_index(tmp_path: Path) -> None:
    """Once its work tree is put back: changed, added and removed entries (issue: the tree is clean after a crash)."""
    bench = Bench(tmp_path)
    git, head = bench.scratch, bench.head()
    git.write("a", "staged\n")
    git.write("new", "staged\n")
    git.git("add", "a", "new")
    git.git("rm", "-q", "--cached", "c")
    git.write("a", "1\n")
    (git.top / "new").unlink()
    assert git.git("status", "--porcelain") != b""
    unstage(bench.repository, head)
    assert git.git("status", "--porcelain") == b""
    assert git.id("write-tree") == git.id("rev-parse", f"{head}^{{tree}}")
