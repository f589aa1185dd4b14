"""A question or a text with files beside it: what seats may look into, and what code holds quotes against.

The files are those of one commit, or of a folder of sources that was copied into the case when it was opened. Every
seat is lent a copy of its own, compared when it hands it back (FIELD-FAULTS F30); a copy that no agent meets is what
quotes and places are looked up in. A lookup names where it looks: the commit, or the digest of the sources.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from counterpoint.agents.base import Workspace
from counterpoint.core.checks import CommandCheck, Evidence, EvidenceStatus, LookUp, PathCheck, QuoteCheck
from counterpoint.core.rules import Exhibit
from counterpoint.core.values import Turn
from counterpoint.drive.subject import Desk, TextSubject
from counterpoint.drive.threads import in_thread
from counterpoint.errors import SourceError
from counterpoint.evidence.quotes import check_quote
from counterpoint.evidence.refs import check_path
from counterpoint.isolation.export import ExportReport, export
from counterpoint.isolation.exported import differences
from counterpoint.isolation.removal import remove, removed_on_failure
from counterpoint.isolation.repository import Quarantine, Repository
from counterpoint.isolation.sources import copy_sources

__all__ = ["SOURCES", "LentFiles", "look_up_in_sources"]

SOURCES: Final = "sources"
"""In a case's folder: the copy of the folder that its texts may quote from."""


def look_up_in_sources(request: LookUp, folder: Path, report: ExportReport) -> Evidence:
    """Return what code finds for a claim about the sources that were copied to `folder`: they are prose."""
    match request:
        case QuoteCheck():
            return check_quote(request, folder, report, is_prose=True)
        case PathCheck():
            return check_path(request, folder, report)
        case CommandCheck():
            return _not_checked(request, "no command runs in a case about words")


class LentFiles(TextSubject):
    """The files of one case about words. Use it as a context manager; leaving it removes every copy.

    Args:
        folder: an empty private folder outside every repository; it is removed in the end.
        repository: where the commit is, where there is one.
        tree: full id of the commit; empty where there is none.
        sources: the case's copy of its sources, where it has some.
        digest: what they were when the case was opened.

    Raises:
        SourceError: the sources are others now, or cannot be read.
    """

    def __init__(
        self, *, folder: Path, repository: Repository | None, tree: str, sources: Path | None, digest: str
    ) -> None:
        super().__init__()
        self._folder = folder
        self._reading = asyncio.Lock()
        self._quarantine: Quarantine | None = None
        self._tree = tree
        self._sources = sources
        self._digest = digest if sources is not None else None
        self._found: dict[str, tuple[Path, ExportReport]] = {}
        with removed_on_failure(folder):
            if sources is not None:
                held = copy_sources(sources, folder / "held")
                if held.source != digest:
                    raise SourceError(
                        f"the sources read otherwise than when the case was opened: {held.source}, not {digest}",
                        hint=f"put {sources.name} in the case's folder back as it was, or withdraw the case",
                    )
                self._found[digest] = folder / "held", held
            if tree:
                assert repository is not None, "a commit lies in a repository"
                self._quarantine = Quarantine(repository, parent=folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._quarantine is not None:
            self._quarantine.close()
        remove(self._folder)

    def desk(self, turn: Turn, exhibit: Exhibit) -> AbstractAsyncContextManager[Desk]:
        return self._lent(turn)

    @asynccontextmanager
    async def _lent(self, turn: Turn) -> AsyncIterator[Desk]:
        place = self._folder / turn.id
        tree, scratch = place / "tree", place / "scratch"
        scratch.mkdir(parents=True, mode=0o700)
        try:
            report = await self._copy(tree)
            yield Desk(
                workspace=Workspace(turn=turn, tree=tree, scratch=scratch),
                touched=lambda: tuple(f"{d.path} ({d.kind})" for d in differences(tree, report)),
            )
        finally:
            await in_thread(partial(remove, place))

    async def _copy(self, tree: Path) -> ExportReport:
        if self._quarantine is None:
            assert self._sources is not None, "there are files to lend"
            return await in_thread(partial(copy_sources, self._folder / "held", tree))
        async with self._reading:
            return await in_thread(partial(export, self._quarantine.objects, self._tree, tree))

    async def look_up(self, request: LookUp) -> Evidence:
        try:
            if request.candidate == self._digest:
                return await in_thread(partial(look_up_in_sources, request, *self._found[self._digest]))
            match request:
                case QuoteCheck():
                    return await in_thread(partial(check_quote, request, *await self._where(request.candidate)))
                case PathCheck():
                    return await in_thread(partial(check_path, request, *await self._where(request.candidate)))
                case CommandCheck():
                    return _not_checked(request, "no command runs in a case about words")
        except SourceError as error:
            return _not_checked(request, str(error))

    async def _where(self, source: str) -> tuple[Path, ExportReport]:
        """Return where a lookup looks.

        Raises:
            SourceError: it names no files of this case.
        """
        if source == self._tree and self._quarantine is not None:
            async with self._reading:
                if source not in self._found:
                    tree = self._folder / "export"
                    report = await in_thread(partial(export, self._quarantine.objects, source, tree))
                    self._found[source] = tree, report
        if source not in self._found:
            raise SourceError(f"this case has no files of {source!r}")
        return self._found[source]


def _not_checked(request: LookUp, why: str) -> Evidence:
    return Evidence(request=request, status=EvidenceStatus.NOT_CHECKED, detail=why)
