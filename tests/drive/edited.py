"""A repository under review whose author edits it: what the driver's tests of editing share."""

from dataclasses import replace
from pathlib import Path

from counterpoint.core.canonical import digest
from counterpoint.core.checks import EditCheck
from counterpoint.core.docket import Docket
from counterpoint.core.edits import Edit
from counterpoint.core.values import Turn
from counterpoint.drive.clock import ManualClock
from counterpoint.drive.editing import Editing
from counterpoint.drive.leftovers import folder_for
from counterpoint.drive.material import materials_of, paths_of
from counterpoint.drive.reviewed import ReviewedChange
from counterpoint.drive.settings import ChecksSettings
from counterpoint.isolation.change import change
from counterpoint.isolation.repository import Quarantine, Repository
from counterpoint.isolation.worktree import snapshot_worktree
from counterpoint.record.files import Layout
from counterpoint.record.memory import MemoryStore
from counterpoint.record.store import Vault
from tests.channels import CASE, begin
from tests.drive.driving import START
from tests.repositories import Scratch
from tests.reviewing import everything_in

__all__ = ["ANSWERING", "KEPT", "SECOND", "Bench", "Edited", "nothing_is_pending", "of"]

ANSWERING = Turn(phase="answering", round=1, seat="ana", ask=1, blind=False)
SECOND = replace(ANSWERING, ask=2)
KEPT = f"refs/counterpoint/{CASE}/{ANSWERING.id}"
"""Where what is left of the first question is kept."""
_ADA = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org"}


class Edited:
    """`main` with a base, and on the branch `change` a candidate: a commit, or a tree of the files as they lie."""

    def __init__(self, top: Path, *, commits: bool = True) -> None:
        self.git = Scratch(top / "shop")
        self.top = self.git.top
        self.objects = top / "objects"
        self.commits = commits
        self.base = self.git.commit({"price.py": "x = 1\n", "kept.py": "k = 1\n", ".gitignore": "*.log\n"})
        self.git.git("checkout", "-q", "-b", "change")
        self.tip = self.git.commit({"price.py": "x = 2\n"})
        self.repository = Repository.find(self.top)
        self.candidate = self.tip
        if not commits:
            self.git.write("price.py", "x = 2  # not committed\n")
            self.candidate = snapshot_worktree(self.repository, self.objects).tree
        self.clock = ManualClock(START)

    def editing(self, vault: Vault, case: str) -> Editing:
        return Editing(
            self.repository,
            objects=self.objects,
            vault=vault,
            case=case,
            base=self.base,
            commits=self.commits,
            now=self.clock.now,
            environment=_ADA,
        )

    def docket(self) -> Docket:
        with Quarantine(self.repository, extra=(self.objects,) if self.objects.is_dir() else ()) as quarantine:
            found = change(quarantine, self.base, self.candidate)
        return Docket(
            question="Is it good?",
            candidate=self.candidate,
            base=self.base,
            paths=paths_of(found, ()),
            change=digest(materials_of(found).change.encode()),
        )

    def subject(self, editing: Editing) -> ReviewedChange:
        """Return the change as a review drives it; leave it to remove what it has made."""
        return ReviewedChange(
            self.repository,
            self.docket(),
            folder=folder_for("test"),
            objects=self.objects,
            checks=ChecksSettings(),
            environment={},
            may_run=False,
            clock=self.clock,
            ends=None,
            editing=editing,
        )

    def request(self, *paths: str, turn: Turn = ANSWERING, start: str = "", message: str = "Say three") -> EditCheck:
        return EditCheck(
            turn=turn.id, start=start or self.candidate, paths=paths, commits=self.commits, message=message
        )

    @property
    def head(self) -> str:
        return self.git.id("rev-parse", "HEAD")

    def status(self) -> str:
        """Return what the user's git says of index and files."""
        return self.git.git("status", "--porcelain").decode()

    def read(self, name: str) -> str:
        return (self.top / name).read_text()

    def at(self, revision: str, name: str) -> str:
        return self.git.git("show", f"{revision}:{name}").decode()

    def files(self) -> dict[str, tuple[int, bytes]]:
        """Return mode and bytes of every file of the work tree."""
        return {path: found for path, found in everything_in(self.top).items() if "/.git/" not in path}

    def kept(self) -> list[str]:
        """Return the refs under which edits are kept."""
        return self.git.git("for-each-ref", "--format=%(refname)", "refs/counterpoint").decode().split()


def of(edit: Edit) -> str:
    """Return the candidate that was made of an edit."""
    assert edit.made is not None, edit.faults
    return edit.made.candidate


def nothing_is_pending(_turn: str) -> bool:
    return False


class Bench(Edited):
    """An edited repository, and its `Editing` over a vault that outlives it."""

    def __init__(self, top: Path, *, commits: bool = True, vault: Vault | None = None) -> None:
        super().__init__(top, commits=commits)
        self.vault = vault or _vault()
        self.look = self.resumed()

    def resumed(self) -> Editing:
        """Return what a new process begins with."""
        return self.editing(self.vault, CASE)

    def begin(self, turn: Turn = ANSWERING, *, goes_on: bool = False, patient: bool = False) -> str:
        return self.look.begin(turn, self.candidate, goes_on=goes_on, patient=patient)

    def edit(self) -> None:
        """Change, add, delete, link and make executable, and stage a part of it."""
        self.git.write("price.py", "x = 3\n")
        self.git.write("new/deep.py", "n = 1\n")
        (self.top / "kept.py").unlink()
        (self.top / "link").symlink_to("price.py")
        (self.top / "new/deep.py").chmod(0o755)
        self.git.git("add", "price.py", "new")

    EDITED = ("kept.py", "link", "new/deep.py", "price.py")

    def put_away(self) -> str:
        return self.look.put_away(nothing_is_pending)


def _vault() -> Vault:
    store = MemoryStore()
    return store.vault(begin(store, Layout.CASES, signed=False))
