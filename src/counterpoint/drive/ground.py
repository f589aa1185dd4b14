"""Where a case stands: a repository or a plain folder, and the settings that hold there.

A change stands at its merge base, whose settings hold for its review. A question or a text stands where the command
was started: in a repository the settings are those of the merge base too, since what is checked out may be
somebody else's branch, and on a `main` without a remote those of HEAD. Outside of one there are the person's own.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from counterpoint.core.docket import Seat
from counterpoint.core.entries import CaseOpened
from counterpoint.drive.committed import read_at, read_settings_files, settings_files
from counterpoint.drive.config import REPOSITORY_FILES, RepositoryFiles, load, load_own
from counterpoint.drive.keys import read_agents
from counterpoint.drive.paths import Folders, path_text
from counterpoint.drive.session import Session
from counterpoint.drive.settings import LocalAgent, ModelAgent, Origin, Settings, Source
from counterpoint.drive.shapes import Place
from counterpoint.errors import ConfigError, SourceError
from counterpoint.isolation.repository import Quarantine, Repository
from counterpoint.isolation.revisions import default_base, head, head_or_none, is_on_default, merge_base, resolve

__all__ = [
    "Ground",
    "base_of",
    "find_ground",
    "find_repository",
    "ground_of",
    "join_given",
    "settings_here",
    "with_given",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Where a case stands."""

    folder: Path
    """The top of the work tree; outside of one, the folder itself."""
    repository: Repository | None
    base: str
    """Full id of the commit at which the repository's settings are read; empty where none are."""
    settings: Settings
    notices: tuple[str, ...] = ()
    """Lines for standard error."""

    @property
    def place(self) -> str:
        """The folder as grants and people name it."""
        return path_text(self.folder.resolve())

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes as the repository's settings know it, or None."""
        return read_at(self.repository, self.base, path) if self.repository is not None and self.base else None


def ground_of(session: Session, opened: CaseOpened) -> Ground:
    """Return where an open case goes on, with the settings that it was given for itself.

    Raises:
        SourceError: the repository is gone, or has not what the case is about.
        ConfigError: a setting is wrong.
    """
    if opened.docket.is_about_change:
        found = _at_base(session, opened.docket.base)
    else:
        found = find_ground(session.repo, folders=session.folders, environment=session.environment)
    return replace(found, settings=with_given(found.settings, opened.roster))


def _at_base(session: Session, base: str) -> Ground:
    repository = Repository.find(session.repo)
    loaded = load(
        flags={},
        environment=session.environment,
        settings_file=session.folders.settings_file,
        repository=read_settings_files(repository, base),
    )
    return Ground(folder=repository.top, repository=repository, base=base, settings=loaded.settings)


def find_ground(
    folder: Path,
    *,
    folders: Folders,
    environment: Mapping[str, str],
    flags: Mapping[str, object] | None = None,
    protocol: str = "",
    defaults: Mapping[str, object] | None = None,
) -> Ground:
    """Return the ground of a case about no change.

    Args:
        folder: where it is begun, or goes on.
        folders: where the user's own settings are.
        environment: the process's variables.
        flags: as for `load`.
        protocol: of a case that is begun; who sits in an open one is in its roster, whatever the settings say now.
        defaults: as for `load`.

    Raises:
        SourceError: there is a repository around it that cannot be used.
        ConfigError: a setting is wrong, or a seat is no agent's.
    """
    repository = find_repository(folder)
    files, why = None, ""
    if repository is not None:
        files, why = _files_for_words(repository, folders=folders, environment=environment)
    loaded = load(
        flags=flags or {},
        environment=environment,
        settings_file=folders.settings_file,
        repository=files,
        protocol=protocol,
        defaults=defaults,
    )
    return Ground(
        folder=folder if repository is None else repository.top,
        repository=repository,
        base="" if files is None else files.commit,
        settings=loaded.settings,
        notices=(*loaded.notices, *([why] if why else ())),
    )


def _files_for_words(
    repository: Repository, *, folders: Folders, environment: Mapping[str, str]
) -> tuple[RepositoryFiles | None, str]:
    """Return the settings files at the merge base, or at HEAD where that is what others would be compared with.

    Where there are none, say why, unless the work tree has none that could be missed.
    """
    files, why = settings_here(repository.top, flags={}, folders=folders, environment=environment)
    if files is not None:
        return files, why
    with Quarantine(repository) as quarantine:
        tip = head_or_none(quarantine)
        if tip is not None and is_on_default(quarantine):
            return settings_files(quarantine, tip), ""
    is_missed = any(os.path.lexists(repository.top / name) for name in REPOSITORY_FILES)
    return None, why if is_missed else ""


def find_repository(folder: Path) -> Repository | None:
    """Return the repository around a folder, or None where there is none.

    Raises:
        SourceError: there is one that cannot be used.
    """
    start = folder.absolute()
    is_inside = any(os.path.lexists(place / ".git") for place in (start, *start.parents))
    return Repository.find(start) if is_inside else None


def settings_here(
    repo: Path, *, flags: Mapping[str, object], folders: Folders, environment: Mapping[str, str]
) -> tuple[RepositoryFiles | None, str]:
    """Return the repository's settings files as a review would read them, or None and why there are none."""
    try:
        repository = Repository.find(repo)
        own = load_own(flags=flags, environment=environment, settings_file=folders.settings_file)
        with Quarantine(repository) as quarantine:
            base = base_of(quarantine, own.review.base, head(quarantine))
            return settings_files(quarantine, base), ""
    except SourceError as error:
        return None, f"the repository's settings are left out: {error}"


def base_of(quarantine: Quarantine, name: str, tip: str) -> str:
    """Return the merge base of a commit and the branch of that name, by default the repository's own."""
    named = name or default_base(quarantine)
    return merge_base(quarantine, resolve(quarantine, named), tip)


def with_given(settings: Settings, roster: Sequence[Seat]) -> Settings:
    """Return the settings with the agents that were given for one case alone, as its seats hold them.

    They are read as a settings file is: nothing in them is a key, and none of them starts a program.

    Raises:
        ConfigError: what a seat holds is no agent's settings.
    """
    given = {seat.party: seat.given for seat in roster if seat.given}
    source = Source(origin=Origin.FLAG, name="the opening of the case")
    tables: dict[str, Any] = {}
    for party, text in given.items():
        try:
            tables[party] = json.loads(text)
        except ValueError:
            place = Place(path=f"agents.{party}", source=source)
            raise place.error("an agent's settings as JSON", got=text) from None
    return join_given(settings, tables, source)


def join_given(settings: Settings, tables: Mapping[str, Mapping[str, object]], source: Source) -> Settings:
    """Return the settings with these agents, each by its table.

    Raises:
        ConfigError: one is no agent's settings, or would start a program.
    """
    if not tables:
        return settings
    agents = read_agents(tables, Place(path="agents", source=source))
    for name, agent in agents.items():
        if not isinstance(agent, ModelAgent | LocalAgent):
            path = f"agents.{name}.kind"
            raise ConfigError(path, "a model, where settings are given for one case alone", got=str(agent.kind))
    sources = {f"agents.{name}": source for name in agents}
    return replace(
        settings,
        agents=MappingProxyType({**settings.agents, **agents}),
        sources=MappingProxyType({**settings.sources, **sources}),
    )
