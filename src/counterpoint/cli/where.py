"""Where cases lie: `--repo` and `--root` as every case command takes them, and the store behind them.

Naming a place makes nothing. `Where.make` makes the folder, for commands that begin a case.
"""

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from counterpoint.drive.cases import HOME, LoadedCase, find_case, list_cases, load_case, make_home
from counterpoint.drive.paths import Folders, find_folders
from counterpoint.drive.store import open_store
from counterpoint.errors import SourceError
from counterpoint.record.store import Store

__all__ = ["Where", "case_argument", "complete_case", "find_where", "where_options"]


@dataclass(frozen=True, kw_only=True)
class Where:
    """A repository, and the folder that holds its cases."""

    repo: Path
    """The top of the work tree; in no repository, the folder itself."""
    root: Path | None
    """What `--root` named."""

    @property
    def cases(self) -> Path:
        """The folder in which each case has a folder of its own; it need not exist."""
        return self.root if self.root is not None else self.repo / HOME / "cases"

    @cached_property
    def folders(self) -> Folders:
        """The person's state and settings folders."""
        return find_folders(os.environ)

    @cached_property
    def store(self) -> Store:
        """The store of the cases. Reading from it makes nothing, neither folder nor key."""
        return open_store(self.cases, self.folders)

    def find(self, case: str) -> str:
        """Return the name of the case that a command line names.

        Raises:
            SourceError: none or several fit.
        """
        return find_case(self.cases, case)

    def load(self, case: str) -> LoadedCase:
        """Read the case that a command line names, whole.

        Raises:
            SourceError: none or several fit.
            RecordError: its record cannot be read.
        """
        return load_case(self.store, self.cases, self.find(case))

    def command_line(self, command: str, case: str) -> str:
        """Return a command line about a case that finds it from the current folder."""
        words = ["counterpoint", command, case]
        if find_where(None, None).repo != self.repo:
            words += ["--repo", str(self.repo)]
        if self.root is not None:
            words += ["--root", str(self.root)]
        return shlex.join(words)

    def make(self) -> Path:
        """Make the folder of the cases and return it.

        Raises:
            SourceError: it cannot be made.
        """
        if self.root is None:
            return make_home(self.repo)
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SourceError(
                f"{self.root} cannot be made: {error.strerror}",
                hint="name a folder that can be written with --root DIR",
            ) from None
        return self.root


def find_where(repo: Path | None, root: Path | None) -> Where:
    """Return the place that `--repo` and `--root` name.

    Raises:
        SourceError: one of them is relative, and the current folder is gone.
    """
    try:
        start, root = (repo or Path()).absolute(), None if root is None else root.absolute()
    except FileNotFoundError:
        raise SourceError("the current folder is gone", hint="go to a folder that is there") from None
    top = next((folder for folder in (start, *start.parents) if os.path.lexists(folder / ".git")), start)
    return Where(repo=top, root=root)


_REPO: Final = click.option(
    "--repo",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="The repository, or a folder in it.  [default: the one around the current folder]",
)
_ROOT: Final = click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="The folder that holds the cases.  [default: .counterpoint/cases in the repository]",
)


def where_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `--repo` and `--root`, and pass it the keyword argument `where`."""

    @_REPO
    @_ROOT
    @wraps(command)
    def with_where(*args: Any, repo: Path | None, root: Path | None, **kwargs: Any) -> Any:
        return command(*args, where=find_where(repo, root), **kwargs)

    return with_where


def complete_case(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Return the names of cases that begin with what is written, the newest first."""
    where = find_where(ctx.params.get("repo"), ctx.params.get("root"))
    names = ("last", *reversed(list_cases(where.cases)))
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


case_argument: Final = click.argument("case", metavar="CASE", shell_complete=complete_case)
"""CASE: a case's name, any unambiguous beginning or end of it, or `last`."""
