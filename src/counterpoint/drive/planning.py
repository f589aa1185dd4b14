"""What a review is to be, worked out from the repository before anything is asked or written.

Candidate and merge base, settings at the merge base, the change, the roster, the project's commands. A plan runs no
code of the repository and asks nobody; what it would run and send is for a person to allow.

Source: SPEC D-03 to D-06; DESIGN "Trust".
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from counterpoint.agents.checks import find_commands
from counterpoint.core.canonical import digest
from counterpoint.core.checks import Purpose
from counterpoint.core.docket import Docket, ProjectCommand, Terms
from counterpoint.core.rules import Materials
from counterpoint.drive.cases import SUPERVISOR
from counterpoint.drive.committed import CommittedFiles, settings_files
from counterpoint.drive.config import Loaded, load, load_own
from counterpoint.drive.ground import Ground, base_of
from counterpoint.drive.material import materials_of, paths_of
from counterpoint.drive.paths import Folders, disk_asked
from counterpoint.drive.plans import CasePlan, limits_of
from counterpoint.drive.settings import AgentKind, Settings, how_to_add
from counterpoint.drive.shapes import did_you_mean
from counterpoint.errors import ConfigError, SourceError, Unreachable
from counterpoint.isolation.change import change
from counterpoint.isolation.commits import identity_of
from counterpoint.isolation.export import Remark, withheld
from counterpoint.isolation.gitstate import look_at_git
from counterpoint.isolation.process import find_program
from counterpoint.isolation.repository import Quarantine, Repository
from counterpoint.isolation.revisions import default_base, head
from counterpoint.isolation.worktree import look_at_worktree, snapshot_worktree

__all__ = [
    "ReviewPlan",
    "ReviewRequest",
    "plan_review",
    "refuse_dirty",
]

_NAMED_WITHHELD: Final = 20
_SHOWN_DIRTY: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRequest:
    """What a user asks for."""

    repo: Path
    flags: Mapping[str, object]
    """Settings given as flags, by dotted key."""
    worktree: bool = False
    rationale: str = ""
    author: str = ""
    """The agent that answers the findings and may edit; empty: nobody."""
    commits: bool = True
    """Whether an author's edits are committed; else they are judged as the files lie."""
    context: str = ""
    """What the author alone is told."""
    pull_request: str = ""
    """The address of the pull request that is reviewed."""
    comments: bool = False
    """Whether the outcome is posted there."""
    proposed: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Tables of agents that the person is about to be asked to add."""

    @property
    def takes_worktree(self) -> bool:
        """Whether the files are judged as they lie, committed or not."""
        return self.worktree or bool(self.author and not self.commits)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPlan(CasePlan):
    """What would be reviewed, by whom, with which commands."""

    materials: Materials

    @property
    def repository(self) -> Repository:
        assert self.ground.repository is not None, "a change lies in a repository"
        return self.ground.repository

    @property
    def reviewers(self) -> tuple[str, ...]:
        return self.judges


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
        if not request.takes_worktree:
            refuse_dirty(repository)
        base, loaded = _settings(quarantine, tip, request, folders, environment)
        if base == tip and not request.takes_worktree:
            named = loaded.settings.review.base or default_base(quarantine).removeprefix("refs/remotes/")
            raise SourceError(
                f"there is nothing to review: {named.removeprefix('refs/heads/')} holds HEAD, {tip[:12]}, already",
                hint="commit the change, name another --base, or review what is not committed with --worktree",
            )
    settings = loaded.settings
    reviewers = _reviewers(settings)
    _check_seats(settings, request, reviewers)
    _check_required(settings, environment)
    if request.author and request.commits:
        identity_of(repository, environ=environment)
        _refuse_detached(repository)
    docket, materials = _docket(request, repository, settings, base=base, tip=tip, snapshot_into=snapshot_into)
    return ReviewPlan(
        protocol="review",
        ground=Ground(
            folder=repository.top, repository=repository, base=base, settings=settings, notices=loaded.notices
        ),
        docket=docket,
        materials=materials,
        terms=_terms(request, settings),
        limits=limits_of(settings.limits, max_rounds=settings.review.max_rounds if request.author else 1),
        deadline_s=settings.limits.deadline_s,
        quorum=settings.review.quorum,
        author=request.author,
        judges=reviewers,
    )


def _docket(
    request: ReviewRequest, repository: Repository, settings: Settings, *, base: str, tip: str, snapshot_into: Path
) -> tuple[Docket, Materials]:
    """Return what is judged, HEAD or the files as they lie, and what briefs show of it."""
    lenders: tuple[Path, ...] = ()
    remarks: tuple[str, ...] = ()
    candidate = tip
    if request.takes_worktree:
        taken = snapshot_worktree(repository, snapshot_into)
        candidate, lenders = taken.tree, (snapshot_into,)
        remarks = tuple(f"{path} is a repository without a commit, and was left out" for path in taken.left_out)
    with Quarantine(repository, extra=lenders) as quarantine:
        found = change(quarantine, base, candidate)
        left_out = withheld(quarantine.objects, candidate)
        commands = _commands(quarantine, settings, base, candidate)
    materials = materials_of(found)
    docket = Docket(
        question=f"Is the change from {base[:12]} to {candidate[:12]} good to merge?",
        candidate=candidate,
        base=base,
        rationale=request.rationale,
        context=request.context,
        pull_request=request.pull_request,
        paths=paths_of(found, left_out),
        commands=commands,
        change=digest(materials.change.encode()),
        remarks=(*remarks, *materials.not_shown, *_said(left_out)),
    )
    return docket, materials


def _terms(request: ReviewRequest, settings: Settings) -> Terms:
    return Terms(
        block_on=settings.review.block_on,
        commits=request.commits and not request.takes_worktree,
        comments=request.comments,
        effort=settings.review.effort,
    )


def _settings(
    quarantine: Quarantine,
    tip: str,
    request: ReviewRequest,
    folders: Folders,
    environment: Mapping[str, str],
) -> tuple[str, Loaded]:
    """Return the merge base and the settings there. They may name another base, whose settings then hold."""
    flags, file = request.flags, folders.settings_file
    own = load_own(flags=flags, environment=environment, settings_file=file)
    read = partial(load, flags=flags, environment=environment, settings_file=file, proposed=request.proposed)
    base = base_of(quarantine, own.review.base, tip)
    loaded = read(repository=settings_files(quarantine, base))
    if loaded.settings.review.base != own.review.base:
        base = base_of(quarantine, loaded.settings.review.base, tip)
        loaded = read(repository=settings_files(quarantine, base))
    return base, loaded


def refuse_dirty(repository: Repository) -> None:
    """Refuse a work tree that is not what HEAD says (SPEC D-06).

    Raises:
        SourceError: it differs.
    """
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


def _reviewers(settings: Settings) -> tuple[str, ...]:
    """Return who reviews: those that are named, and checks where commands are required and nobody runs them."""
    named = settings.review.reviewers
    return (*named, "checks") if settings.checks.require and not _run_checks(settings, named) else named


def _run_checks(settings: Settings, names: Sequence[str]) -> bool:
    return any(settings.agents[name].kind is AgentKind.CHECKS for name in names)


def _check_seats(settings: Settings, request: ReviewRequest, reviewers: Sequence[str]) -> None:
    """Refuse what the rules of a review would refuse, before anybody is asked for leave."""
    parties = (request.author, *reviewers) if request.author else reviewers
    allowed, needed = settings.limits.max_calls, len(parties)
    if allowed < needed:
        raise ConfigError(
            "limits.max_calls",
            f"at least {needed}, one question for each seat",
            got=allowed,
            source=settings.source("limits.max_calls").name,
            hint="allow more calls, or name fewer reviewers",
        )
    if settings.review.quorum > len(reviewers):
        raise ConfigError(
            "review.quorum",
            f"at most {len(reviewers)}, which is how many review",
            got=settings.review.quorum,
            source=settings.source("review.quorum").name,
            hint="lower it, or name more reviewers",
        )
    if SUPERVISOR in parties:
        raise ConfigError(
            "review.reviewers",
            f"no agent called {SUPERVISOR!r}, which is what the supervisor of every case is called",
            source=settings.source("review.reviewers").name,
            hint=f"give [agents.{SUPERVISOR}] another name",
        )
    if request.author:
        _check_author(settings, request)


def _refuse_detached(repository: Repository) -> None:
    state = look_at_git(repository)
    if not state.branch:
        raise SourceError(
            f"HEAD is detached at {state.head[:12]}; what an author commits there would be on no branch",
            hint="begin one with `git switch -c NAME`, or leave the edits uncommitted with --no-commit",
        )


_SHELL: Final = frozenset({"|", "||", "&&", ";", "&", ">", ">>", "<", "2>&1"})


def _check_required(settings: Settings, environment: Mapping[str, str]) -> None:
    """Refuse a required command that cannot run, before anybody is asked anything."""
    source = settings.source("checks.require").name
    for argv in settings.checks.require:
        if operator := next((word for word in argv if word in _SHELL), None):
            hint = "put the commands into a script of the project, and require that"
            expected = "a command that needs no shell, since none runs it"
            raise ConfigError("checks.require", expected, got=operator, source=source, hint=hint)
        if "/" in argv[0]:
            continue  # looked for in the export, where it runs
        try:
            find_program(argv[0], env={"PATH": environment.get("PATH", os.defpath)}, cwd=Path("/"))
        except Unreachable as error:
            expected = "a program that can be started"
            raise ConfigError("checks.require", expected, got=argv[0], source=source, hint=error.hint) from None


def _check_author(settings: Settings, request: ReviewRequest) -> None:
    found = settings.agents.get(request.author)
    if found is None:
        able = sorted(name for name, agent in settings.agents.items() if agent.kind is not AgentKind.CHECKS)
        listing = ", ".join(able)
        hint = did_you_mean(request.author, able) or how_to_add(request.author)
        raise ConfigError("--author", f"one of the agents {listing}", got=request.author, hint=hint)
    if found.kind is AgentKind.CHECKS:
        hint = "name an agent or a person"
        raise ConfigError("--author", "an agent that can answer a finding", got=request.author, hint=hint)
    if request.worktree and request.commits:
        hint = "commit what is there, or keep it uncommitted with --no-commit"
        raise ConfigError("--worktree", "no author that commits, since files nobody committed are judged", hint=hint)


def _commands(quarantine: Quarantine, settings: Settings, base: str, candidate: str) -> tuple[ProjectCommand, ...]:
    """Return the commands that are set, or else those found at the merge base and in the candidate.

    None of them where no reviewer runs commands. What is required comes besides.
    """
    found: dict[tuple[str, ...], ProjectCommand] = {}
    if _run_checks(settings, settings.review.reviewers):
        found |= {command.argv: command for command in _project_commands(quarantine, settings, base, candidate)}
    why = f"required by {settings.source('checks.require').name}"
    found |= {
        argv: ProjectCommand(argv=argv, purpose=Purpose.TEST, why=why)
        for argv in settings.checks.require
        if argv not in found or found[argv].purpose is not Purpose.TEST
    }
    return tuple(found.values())


def _project_commands(
    quarantine: Quarantine, settings: Settings, base: str, candidate: str
) -> Iterator[ProjectCommand]:
    checks = settings.checks
    if checks.test or checks.lint:
        set_by = {purpose: settings.source(f"checks.{purpose}").name for purpose in Purpose}
        pairs = [(argv, Purpose.TEST) for argv in checks.test] + [(argv, Purpose.LINT) for argv in checks.lint]
        for argv, purpose in dict(pairs).items():
            yield ProjectCommand(argv=argv, purpose=purpose, why=f"set by {set_by[purpose]}")
        return
    seen: set[tuple[str, ...]] = set()
    for tree in (base, candidate):
        files = CommittedFiles(quarantine, tree)
        for command in find_commands(files.names, files.read):
            if command.argv not in seen:
                seen.add(command.argv)
                yield command


def _said(left_out: Sequence[Remark]) -> tuple[str, ...]:
    """Name what no reviewer has in its tree and no command meets."""
    named = [f"{remark.path} is not in the export: {remark.reason}" for remark in left_out[:_NAMED_WITHHELD]]
    more = len(left_out) - len(named)
    return (*named, f"{more} more paths are not in the export") if more else tuple(named)
