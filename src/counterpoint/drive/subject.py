"""What a case is about, as the driver meets it: the material for briefs, a place to work in, things to look up.

A protocol knows only digests. A `Subject` has the bytes: a repository under review, or nothing but text.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from counterpoint.agents.base import Workspace
from counterpoint.core.checks import CheckRequest, Evidence, EvidenceStatus
from counterpoint.core.rules import Materials
from counterpoint.core.values import Turn

__all__ = ["Desk", "Subject", "TextSubject"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """One agent's place for one turn, and how to see afterwards what became of it."""

    workspace: Workspace
    touched: Callable[[], tuple[str, ...]]
    """Return the paths of the export that are not as they were handed out (FIELD-FAULTS F30)."""


class Subject(ABC):
    """The thing under judgement."""

    @abstractmethod
    async def materials(self) -> Materials:
        """Return what briefs show; the same for the same docket."""

    @abstractmethod
    def desk(self, turn: Turn) -> AbstractAsyncContextManager[Desk]:
        """Lend a place to work in; it is removed afterwards."""

    @abstractmethod
    async def look_up(self, request: CheckRequest) -> Evidence:
        """Return what code finds for one request. Never raises for what it finds."""


class TextSubject(Subject):
    """A case about words alone: an empty tree to work in, and nothing that code could look up."""

    def __init__(self, text: str = "", *, shown_paths: tuple[str, ...] = ()) -> None:
        self._materials = Materials(change=text, shown_paths=shown_paths)

    async def materials(self) -> Materials:
        return self._materials

    def desk(self, turn: Turn) -> AbstractAsyncContextManager[Desk]:
        return _empty_desk(turn)

    async def look_up(self, request: CheckRequest) -> Evidence:
        return Evidence(request=request, status=EvidenceStatus.NOT_CHECKED, detail="this case has no tree to look in")


@asynccontextmanager
async def _empty_desk(turn: Turn) -> AsyncIterator[Desk]:
    with TemporaryDirectory(prefix="counterpoint-") as folder:
        tree, scratch = Path(folder) / "tree", Path(folder) / "scratch"
        tree.mkdir()
        scratch.mkdir()
        yield Desk(
            workspace=Workspace(turn=turn, tree=tree, scratch=scratch),
            touched=lambda: tuple(sorted(p.name for p in tree.iterdir())),
        )
