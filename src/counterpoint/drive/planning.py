"""What a review is to be, worked out from the repository before anything is asked or written.

Candidate and merge base, settings at the merge base, the change, the roster, the project's commands. A plan runs no
code of the repository and asks nobody; what it would run and send is for a person to allow.

Source: SPEC D-03 to D-06; DESIGN "Trust".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from counterpoint.agents.checks import find_commands
from counterpoint.core.canonical import digest
from counterpoint.core.checks import Purpose
from counterpoint.core.docket import ChangedPath, Docket, PathState, ProjectCommand
from counterpoint.core.rules import Materials
from counterpoint.drive.cases import SUPERVISOR
from counterpoint.drive.committed import CommittedFiles, settings_files
from counterpoint.drive.config import Loaded, RepositoryFiles, load, load_own
from counterpoint.drive.paths import Folders, disk_asked
from counterpoint.drive.settings import AgentKind, Settings
from counterpoint.errors import ConfigError, SourceError
from counterpoint.isolation.change import change
from counterpoint.isolation.changed import Change, ChangedFile, ChangeKind, FileKind, Unshown
from counterpoint.isolation.export import Remark, withheld
from counterpoint.isolation.repository import Quarantine, Repository
from counterpoint.isolation.revisions import default_base, head, merge_base, resolve
from counterpoint.isolation.worktree import look_at_worktree, snapshot_worktree

__all__ = [
    "ReviewPlan",
    "ReviewRequest",
    "materials_of",
    "plan_review",
    "seat_names",
    "settings_here",
]

_NAMED_WITHHELD: Final = 20
_SHOWN_DIRTY: Final = 5

_STATES: Final[Mapping[FileKind, PathState]] = {
    FileKind.TEXT: PathState.TEXT,
    FileKind.LINK: PathState.TEXT,
    FileKind.BINARY: PathState.BINARY,
    FileKind.SUBMODULE: PathState.SUBMODULE,
    FileKind.UNKNOWN: PathState.WITHHELD,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRequest:
    """What a user asks for."""

    repo: Path
    flags: Mapping[str, object]
    """Settings given as flags, by dotted key."""
    worktree: bool = False
    rationale: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPlan:
    """What would be reviewed, by whom, with which commands."""

    repository: Repository
    settings: Settings
    docket: Docket
    materials: Materials
    reviewers: tuple[str, ...]
    """Names of agents, in the order of their seats."""
    notices: tuple[str, ...]
    """Lines for standard error."""


@disk_asked("the review cannot be prepared")
def plan_review(
    request: ReviewRequest, *, folders: Folders, environment: Mapping[str, str], snapshot_into: Path
) -> ReviewPlan:
    """Work out a review.

    Args:
        request: what the user asks for.
        folders: where the user's own settings are.
        environment: the process's variables.
        snapshot_into: the folder that takes the objects of the working tree, with `worktree`; made when needed.

    Raises:
        SourceError: there is no repository, nothing to compare with, nothing to review, or the tree is dirty.
        ConfigError: a setting is wrong.
    """
    repository = Repository.find(request.repo)
    with Quarantine(repository) as quarantine:
        tip = head(quarantine)
        if not request.worktree:
            _refuse_dirty(repository)
        base, loaded = _settings(quarantine, tip, request.flags, folders, environment)
    _check_reviewers(loaded.settings)
    lenders: tuple[Path, ...] = ()
    remarks: tuple[str, ...] = ()
    candidate = tip
    if request.worktree:
        taken = snapshot_worktree(repository, snapshot_into)
        candidate, lenders = taken.tree, (snapshot_into,)
        remarks = tuple(f"{path} is a repository without a commit, and was left out" for path in taken.left_out)
    with Quarantine(repository, extra=lenders) as quarantine:
        found = change(quarantine, base, candidate)
        left_out = withheld(quarantine.objects, candidate)
        commands = _commands(quarantine, loaded.settings, base, candidate)
    materials = materials_of(found)
    docket = Docket(
        question=f"Is the change from {base[:12]} to {candidate[:12]} good to merge?",
        candidate=candidate,
        base=base,
        rationale=request.rationale,
        paths=_paths(found, left_out),
        commands=commands,
        change=digest(materials.change.encode()),
        remarks=(*remarks, *materials.not_shown, *_said(left_out)),
    )
    return ReviewPlan(
        repository=repository,
        settings=loaded.settings,
        docket=docket,
        materials=materials,
        reviewers=loaded.settings.review.reviewers,
        notices=loaded.notices,
    )


def _settings(
    quarantine: Quarantine,
    tip: str,
    flags: Mapping[str, object],
    folders: Folders,
    environment: Mapping[str, str],
) -> tuple[str, Loaded]:
    """Return the merge base and the settings there. They may name another base, whose settings then hold."""
    own = load_own(flags=flags, environment=environment, settings_file=folders.settings_file)
    read = partial(load, flags=flags, environment=environment, settings_file=folders.settings_file)
    base = _base(quarantine, own.review.base, tip)
    loaded = read(repository=settings_files(quarantine, base))
    if loaded.settings.review.base != own.review.base:
        base = _base(quarantine, loaded.settings.review.base, tip)
        loaded = read(repository=settings_files(quarantine, base))
    return base, loaded


def _base(quarantine: Quarantine, name: str, tip: str) -> str:
    return merge_base(quarantine, resolve(quarantine, name or default_base(quarantine)), tip)


def _refuse_dirty(repository: Repository) -> None:
    found = look_at_worktree(repository)
    if found.is_clean:
        return
    paths = found.paths
    named = ", ".join(paths[:_SHOWN_DIRTY]) + (", …" if len(paths) > _SHOWN_DIRTY else "")
    count = "1 path that no commit holds as it is" if len(paths) == 1 else f"{len(paths)} paths that no commit holds"
    raise SourceError(
        f"a review judges HEAD, and the work tree has {count}: {named}",
        hint="commit or stash what is yours, ignore what is not in .gitignore, or judge all of it with --worktree",
    )


def _check_reviewers(settings: Settings) -> None:
    """Refuse what the rules of a review would refuse, before anybody is asked for leave."""
    allowed, needed = settings.limits.max_calls, len(settings.review.reviewers)
    if allowed < needed:
        raise ConfigError(
            "limits.max_calls",
            f"at least {needed}, one question for each reviewer",
            got=allowed,
            source=settings.source("limits.max_calls").name,
            hint="allow more calls, or name fewer reviewers",
        )
    if SUPERVISOR in settings.review.reviewers:
        raise ConfigError(
            "review.reviewers",
            f"no agent called {SUPERVISOR!r}, which is what the supervisor of every case is called",
            source=settings.source("review.reviewers").name,
            hint=f"give [agents.{SUPERVISOR}] another name",
        )


def settings_here(
    repo: Path, *, flags: Mapping[str, object], folders: Folders, environment: Mapping[str, str]
) -> tuple[RepositoryFiles | None, str]:
    """Return the repository's settings files as a review would read them, or None and why there are none."""
    try:
        repository = Repository.find(repo)
        own = load_own(flags=flags, environment=environment, settings_file=folders.settings_file)
        with Quarantine(repository) as quarantine:
            base = _base(quarantine, own.review.base, head(quarantine))
            return settings_files(quarantine, base), ""
    except SourceError as error:
        return None, f"the repository's settings are left out: {error}"


def _commands(quarantine: Quarantine, settings: Settings, base: str, candidate: str) -> tuple[ProjectCommand, ...]:
    """Return the commands that are set, or else those found at the merge base and in the candidate.

    None where no reviewer runs commands.
    """
    checks = settings.checks
    if not any(settings.agents[name].kind is AgentKind.CHECKS for name in settings.review.reviewers):
        return ()
    if checks.test or checks.lint:
        set_by = {purpose: settings.source(f"checks.{purpose}").name for purpose in Purpose}
        pairs = [(argv, Purpose.TEST) for argv in checks.test] + [(argv, Purpose.LINT) for argv in checks.lint]
        return tuple(
            ProjectCommand(argv=argv, purpose=p, why=f"set by {set_by[p]}") for argv, p in dict(pairs).items()
        )
    found: dict[tuple[str, ...], ProjectCommand] = {}
    for tree in (base, candidate):
        files = CommittedFiles(quarantine, tree)
        for command in find_commands(files.names, files.read):
            found.setdefault(command.argv, command)
    return tuple(found.values())


def _paths(found: Change, left_out: Sequence[Remark]) -> tuple[ChangedPath, ...]:
    return tuple(ChangedPath(path=file.path, state=_state(file, left_out)) for file in found.files)


def _state(file: ChangedFile, left_out: Sequence[Remark]) -> PathState:
    if file.change is ChangeKind.DELETED:
        return PathState.DELETED
    if any(file.path == remark.path or file.path.startswith(f"{remark.path}/") for remark in left_out):
        return PathState.WITHHELD
    return _STATES[file.kind]


def _said(left_out: Sequence[Remark]) -> tuple[str, ...]:
    """Name what no reviewer has in its tree and no command meets."""
    named = [f"{remark.path} is not in the export: {remark.reason}" for remark in left_out[:_NAMED_WITHHELD]]
    more = len(left_out) - len(named)
    return (*named, f"{more} more paths are not in the export") if more else tuple(named)


def materials_of(found: Change) -> Materials:
    """Return what briefs show of a change.

    A binary file counts as shown: its section names path, sizes and ids, and that is all a brief can show of it. A
    diff over the budget does not count (FIELD-FAULTS F15).
    """
    binary = tuple(n.path for n in found.not_shown if n.reason is Unshown.BINARY)
    left_out = [n for n in found.not_shown if n.reason is not Unshown.BINARY]
    return Materials(
        change=found.text,
        shown_paths=(*found.shown_paths, *binary),
        not_shown=tuple(f"{n.path} is not shown: {n.reason}, {n.size} bytes" for n in left_out),
    )


def seat_names(reviewers: Sequence[str]) -> tuple[str, ...]:
    """Return a seat name for each reviewer; a second one of the same agent is `name-2`, or the next that is free."""
    names: list[str] = []
    for reviewer in reviewers:
        name, number = reviewer, 1
        while name in names or (number > 1 and name in reviewers):
            number += 1
            name = f"{reviewer}-{number}"
        names.append(name)
    return tuple(names)
