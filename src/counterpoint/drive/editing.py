"""The work tree while an author edits it: at the candidate before, taken or put away after.

- Before a seat is asked in a case that edits, branch and work tree are at the candidate, or a person is needed.
- Before an author is asked, what must not change of the git folder is journalled in the vault. What it left is taken
  whole, if exactly the listed paths changed and nothing else did: a commit object is made of it, or a tree. Nothing
  refers to that until the answer is accepted; then the branch is moved to it, and never otherwise.
- What a turn that came to nothing leaves behind, also after `kill -9`, is kept under
  `refs/counterpoint/<case>/<turn>`, and the work tree is put back.

Nothing here pushes, merges, forces or checks out. Sources: SPEC D-06, D-16; DESIGN "Work trees"; FIELD-FAULTS F30.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from counterpoint.core.canonical import digest
from counterpoint.core.checks import EditCheck
from counterpoint.core.edits import Edit, Made
from counterpoint.core.values import Turn
from counterpoint.drive.journal import Begun, Journal, turn_of
from counterpoint.drive.kept import Voucher
from counterpoint.drive.material import materials_of, paths_of
from counterpoint.errors import NeedsPerson, SourceError
from counterpoint.isolation.change import change
from counterpoint.isolation.commits import Identity, identity_of, make_commit
from counterpoint.isolation.edits import Edits, changed_paths, take_edits
from counterpoint.isolation.export import withheld
from counterpoint.isolation.gitstate import differences, look_at_git
from counterpoint.isolation.landing import keep, land, staged_apart, unstage
from counterpoint.isolation.repository import Quarantine, Repository
from counterpoint.isolation.restoring import restore
from counterpoint.record.store import Vault

__all__ = ["Editing"]

_SHOWN: Final = 5
_OURS: Final = Identity(name="Counterpoint", email="counterpoint@localhost")
"""Whoever edited, what is kept aside is committed by nobody else."""


class Editing:
    """One work tree and one case.

    Args:
        repository: whose work tree it is.
        objects: the case's own folder of objects, made if it is not there.
        vault: takes the journal.
        case: its name.
        base: what the case's change is compared with.
        commits: whether edits become commits on the branch.
        now: what time it is.
        environment: the process's variables, which may name who commits.
        voucher: signs the journal.
    """

    def __init__(
        self,
        repository: Repository,
        *,
        objects: Path,
        vault: Vault,
        case: str,
        base: str,
        commits: bool,
        now: Callable[[], datetime],
        environment: Mapping[str, str],
        voucher: Voucher | None = None,
    ) -> None:
        objects.mkdir(parents=True, exist_ok=True)
        self._repository = repository
        self._objects = objects
        self._case = case
        self._base = base
        self._commits = commits
        self._now = now
        self._environment = environment
        self._journal = Journal(vault, voucher or Voucher())

    # --- before a turn

    def demand_candidate(self, candidate: str) -> None:
        """Raise `NeedsPerson` unless branch and work tree are at the candidate, with nothing beside it.

        Files that no commit holds are kept under a ref first: whoever is asked next may throw them away.
        """
        self._demand_head(candidate)
        kept = "" if self._commits else self._keep_files(candidate)
        found = self._take(candidate)
        if found.paths:
            raise NeedsPerson(
                f"the work tree differs from the candidate {candidate[:12]} in {_named(found.paths)}{kept}",
                hint="commit nothing; undo or stash what is yours, then resume the case",
            )
        if found.faults:
            raise NeedsPerson(
                f"no edit can be taken from this work tree: {found.faults[0]}",
                hint="move it away, or let git ignore it; then resume the case",
            )

    def _demand_head(self, candidate: str) -> None:
        if not self._commits:
            return
        state = look_at_git(self._repository)
        if state.head == candidate:
            return
        where = state.branch.removeprefix("refs/heads/") or "a detached HEAD"
        short = candidate[:12]
        if not self._is_after(state.head, candidate):
            raise NeedsPerson(
                f"{where} is at {state.head[:12]}; the case stands at {short}",
                hint=f"switch to the branch that is at {short}, then resume the case",
            )
        kept = self._keep(
            self._tree_of(state.head), state.head[:12], "What somebody had committed while the case was driven"
        )
        raise NeedsPerson(
            f"somebody committed on {where} while the case was driven, most likely the author: it is at"
            f" {state.head[:12]}, and the case stands at {short}",
            hint=f"`git reset --keep {short}` takes the branch back ({kept} keeps the commit); then resume the case",
        )

    def _tree_of(self, commit: str) -> str:
        with Quarantine(self._repository, extra=(self._objects,)) as quarantine:
            return quarantine.objects.tree_of(commit)

    def _is_after(self, commit: str, candidate: str) -> bool:
        with Quarantine(self._repository, extra=(self._objects,)) as quarantine:
            found = quarantine.git.run("merge-base", candidate, commit, place=quarantine.place, accept=(0, 1, 128))
        return found.decode("ascii").strip() == candidate

    def _keep_files(self, candidate: str) -> str:
        head = look_at_git(self._repository).head
        if not changed_paths(self._repository, head, candidate, objects_dir=self._objects):
            return ""
        return f"; {self._keep(candidate, candidate, 'What was judged')} has what was judged"

    def begin(self, turn: Turn, candidate: str, *, goes_on: bool, patient: bool) -> str:
        """Journal that an author is about to edit; return a line about what was put away before, or "".

        Raises:
            NeedsPerson: branch, work tree or git folder are not as they must be.
        """
        line = ""
        if patient or (goes_on and self._journal.open()):
            self._demand_head(candidate)
        else:
            line = self.put_away(_nothing_pending)
            try:
                self.demand_candidate(candidate)
                self._demand_git(turn.id)
            except NeedsPerson as error:
                said = [str(error)] if str(error) not in line else []
                raise NeedsPerson("; ".join(filter(None, (*said, line))), hint=error.hint) from None
        self._journal.begin(turn.id, Begun(git=look_at_git(self._repository), patient=patient, start=candidate))
        return line

    def _demand_git(self, turn_id: str) -> None:
        """Raise `NeedsPerson` where a turn that was put away has changed more than files."""
        if moved := self._moved(turn_id, is_asked=False):
            raise NeedsPerson("; ".join(moved), hint="undo that, then resume the case")

    def _who(self) -> Identity:
        return identity_of(self._repository, environ=self._environment)

    # --- after a turn

    def watch(self, candidate: str) -> Callable[[], tuple[str, ...]]:
        """Return what says later what is not as it is now, for a seat that has only to read (FIELD-FAULTS F30)."""
        before = look_at_git(self._repository)

        def look() -> tuple[str, ...]:
            try:
                return (*differences(before, look_at_git(self._repository)), *self._take(candidate).paths)
            except SourceError as error:
                return (str(error),)

        return look

    def watch_as_they_lie(self, candidate: str) -> Callable[[], tuple[str, ...]]:
        """As `watch`, where files that no commit holds are judged and nobody edits them.

        A person may have gone on with them since: they are compared with what they are now, not with the candidate.
        Once they are something else, what was judged is kept under a ref.
        """
        look = self.watch(self._take(candidate).tree)

        def look_and_keep() -> tuple[str, ...]:
            found = look()
            kept = self._keep_files(candidate).removeprefix("; ") if found else ""
            return (*found, kept) if kept else found

        return look_and_keep

    def take(self, request: EditCheck) -> Edit:
        """Return what became of the work tree in a turn, and make of it what can be judged."""
        try:
            found = self._take(request.start)
            faults = (*self._moved(request.turn), *found.faults, *_unlisted(request.paths, found.paths))
            if not self._journal.has(request.turn):
                faults = (f"nothing was journalled before {request.turn}", *faults)
            made = None if faults or not found.paths else self._make(request, found)
        except SourceError as error:
            return Edit(request=request, faults=(str(error),), made=None)
        return Edit(request=request, faults=faults, made=made)

    def _make(self, request: EditCheck, found: Edits) -> Made:
        candidate = found.tree
        if request.commits:
            candidate = make_commit(
                self._repository,
                parent=request.start,
                tree=found.tree,
                message=request.message,
                who=self._who(),
                at=self._now(),
                objects_dir=self._objects,
            )
        holds = changed_paths(self._repository, request.start, candidate, objects_dir=self._objects)
        if holds != request.paths:
            raise SourceError(
                f"{candidate} holds changes of {_named(holds)}; the author listed {_named(request.paths)}"
            )
        with Quarantine(self._repository, extra=(self._objects,)) as quarantine:
            whole = change(quarantine, self._base, candidate, may_be_empty=True)
            paths = paths_of(whole, withheld(quarantine.objects, candidate))
        return Made(candidate=candidate, paths=paths, change=digest(materials_of(whole).change.encode()))

    def land(self, edit: Edit) -> None:
        """Move the branch to what was made of an accepted answer, if anything; a second time it does nothing.

        Raises:
            NeedsPerson: the branch stands elsewhere.
        """
        request, made = edit.request, edit.made
        if request.commits and made is not None:
            try:
                land(self._repository, commit=made.candidate, parent=request.start, objects_dir=self._objects)
            except SourceError as error:
                raise NeedsPerson(
                    f"the edit of {request.turn} cannot be committed: {error}",
                    hint=error.hint or "mend that, then resume the case",
                ) from None
        left = self._journal.open()
        if left and not self._journal.read(left[-1]).patient:
            self._set_index_aside(request.turn, request.start if made is None else made.candidate)
        self._journal.end(left)

    def put_away(self, is_pending: Callable[[str], bool]) -> str:
        """Keep what turns that came to nothing left behind, and put the work tree back.

        Return a line that says where it is kept and what else is not as it was, or "" where there was nothing.

        Raises:
            SourceError: git or the disk refuses; whatever was not put back is still there.
        """
        left = self._journal.open()
        if not left or any(is_pending(turn_of(entry)) for entry in left):
            return ""
        turn, begun = turn_of(left[-1]), self._journal.read(left[-1])
        if begun.patient:
            return ""
        head = look_at_git(self._repository).head
        if self._commits and head != begun.start:
            where = head[:12] or "no commit"
            return f"the work tree was left as it is: HEAD is at {where}, and {turn} began at {begun.start[:12]}"
        lines = (self._set_aside(turn, begun.start), *self._moved(turn))
        self._journal.end(left)
        return "; ".join(filter(None, lines))

    def _set_aside(self, turn_id: str, start: str) -> str:
        """Keep what lies there under a ref, and put work tree and index back."""
        found = self._take(start)
        lines = [self._set_index_aside(turn_id, found.tree)]
        # A file that was ignored by an ignore file of the author's own shows once that is gone.
        while found.paths:
            kept = self._keep(found.tree, turn_id, f"What {turn_id} had left in the work tree")
            if not restore(self._repository, present=found.tree, wanted=start, objects_dir=self._objects):
                return f"{_named(found.paths)} could not be put back; it is kept under {kept}, too"
            lines.append(f"edits of {_named(found.paths)} came to nothing; they are kept under {kept}")
            found = self._take(start)
        return "; ".join(filter(None, lines))

    def _set_index_aside(self, turn_id: str, files: str) -> str:
        """Unstage everything; keep what an author staged and left in none of these files, and return a line or ""."""
        if not self._commits:
            return ""
        line = ""
        if staged := staged_apart(self._repository, files=files, objects_dir=self._objects):
            kept = self._keep(staged, f"{turn_id}-staged", f"What {turn_id} had staged, and left in no file")
            line = f"what was staged, and is in no file, is kept under {kept}"
        unstage(self._repository, look_at_git(self._repository).head)
        return line

    def _keep(self, tree: str, name: str, message: str) -> str:
        return keep(
            self._repository,
            tree=tree,
            parent=look_at_git(self._repository).head,
            ref=f"refs/counterpoint/{self._case}/{name}",
            message=message,
            who=_OURS,
            at=self._now(),
            objects_dir=self._objects,
        )

    def _moved(self, turn_id: str, *, is_asked: bool = True) -> tuple[str, ...]:
        """Return what of the git folder is not as it was before the round's first question.

        Where a person edits, only HEAD counts.
        """
        begun = self._journal.first_of_round(turn_id, is_asked=is_asked)
        if begun is None:
            return ()
        now = look_at_git(self._repository)
        return differences(replace(begun.git, files=now.files) if begun.patient else begun.git, now)

    def _take(self, start: str) -> Edits:
        return take_edits(self._repository, start, objects_dir=self._objects)


def _nothing_pending(turn_id: str) -> bool:
    return False


def _unlisted(listed: tuple[str, ...], changed: tuple[str, ...]) -> tuple[str, ...]:
    """Return a sentence for each way in which the list and the work tree disagree."""
    more = [path for path in changed if path not in listed]
    fewer = [path for path in listed if path not in changed]
    said = []
    if more:
        said.append(f"{_named(more)} changed and {_were(more)} not listed")
    if fewer:
        said.append(f"{_named(fewer)} {_were(fewer)} listed and did not change")
    return tuple(said)


def _were(paths: Sequence[str]) -> str:
    return "was" if len(paths) == 1 else "were"


def _named(paths: Sequence[str]) -> str:
    shown = ", ".join(repr(path) for path in paths[:_SHOWN])
    return f"{shown} and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else shown or "nothing"
