"""A change in a repository as the subject of a review: what reviewers see, where they look, what code looks up.

Every seat gets an export of its own of exactly the candidate, compared when it hands it back (FIELD-FAULTS F30). One
more export, which no agent meets, is what quotes and places are held against. Commands run in copies of it, until the
case's deadline at the latest. All of it lies in a private folder outside the repository, so that no tool run there
finds the repository around it.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from counterpoint.agents.base import Workspace
from counterpoint.core.canonical import digest
from counterpoint.core.checks import CommandCheck, EditCheck, Evidence, EvidenceStatus, LookUp, PathCheck, QuoteCheck
from counterpoint.core.docket import Docket
from counterpoint.core.edits import Edit
from counterpoint.core.rules import Exhibit, Materials
from counterpoint.core.values import Turn
from counterpoint.drive.clock import Clock
from counterpoint.drive.editing import Editing
from counterpoint.drive.material import materials_of
from counterpoint.drive.settings import ChecksSettings
from counterpoint.drive.subject import Desk, Subject
from counterpoint.drive.threads import in_thread
from counterpoint.errors import SourceError
from counterpoint.evidence.commands import run_command
from counterpoint.evidence.coverage import watch_reads
from counterpoint.evidence.quotes import check_quote
from counterpoint.evidence.refs import check_path
from counterpoint.isolation.change import change
from counterpoint.isolation.edits import differing
from counterpoint.isolation.export import ExportReport, export
from counterpoint.isolation.exported import differences
from counterpoint.isolation.names import visible_path
from counterpoint.isolation.removal import remove, removed_on_failure
from counterpoint.isolation.repository import Quarantine, Repository

__all__ = ["ReviewedChange"]

Watch = Callable[[str], Callable[[], tuple[str, ...]]]
"""Called with the candidate; returns what says later what is not as it was."""

_NOT_ALLOWED: Final = "running project commands was not allowed"
_TOO_LATE: Final = "the case's deadline had passed before it could run"


class ReviewedChange(Subject):
    """The change of one docket. Use it as a context manager; leaving it removes every export.

    Args:
        repository: where the objects are.
        docket: what was opened for review.
        folder: an empty private folder outside every repository; it is removed in the end.
        objects: the folder with the objects of a working tree's snapshot, where there is one.
        checks: how project commands run.
        environment: the process's variables, from which commands are given a few.
        may_run: whether a person has allowed project commands to run.
        clock: what time it is.
        ends: the case's deadline, where it has one.
        editing: looks after the work tree, in a case that has an author.
        watch: watches the work tree while a reviewer reads, where the files that are judged lie in it.
    """

    def __init__(
        self,
        repository: Repository,
        docket: Docket,
        *,
        folder: Path,
        objects: Path,
        checks: ChecksSettings,
        environment: Mapping[str, str],
        may_run: bool,
        clock: Clock,
        ends: datetime | None,
        editing: Editing | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._docket = docket
        self._editing = editing
        self._watch_files = watch or (editing.watch if editing is not None else None)
        self._top = repository.top
        self._shown: dict[Exhibit, Materials] = {}
        self._checks = checks
        self._environment = environment
        self._may_run = may_run
        self._clock = clock
        self._ends = ends
        self._reading = asyncio.Lock()
        self._exporting: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._exports: dict[str, ExportReport] = {}
        self._folder = folder
        lenders = (objects,) if objects.is_dir() else ()
        with removed_on_failure(self._folder):
            self._quarantine = Quarantine(repository, extra=lenders, parent=self._folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._quarantine.close()
        remove(self._folder)

    async def materials(self, exhibit: Exhibit) -> Materials:
        async with self._reading:
            if exhibit not in self._shown:
                self._shown[exhibit] = await in_thread(partial(self._materials, exhibit))
            return self._shown[exhibit]

    def _materials(self, exhibit: Exhibit) -> Materials:
        if exhibit.base == exhibit.candidate:  # judged before, and nothing was edited since
            return Materials(change="", shown_paths=())
        found = materials_of(change(self._quarantine, exhibit.base, exhibit.candidate, may_be_empty=True))
        is_opened = (exhibit.base, exhibit.candidate) == (self._docket.base, self._docket.candidate)
        if is_opened and digest(found.change.encode()) != self._docket.change:
            raise SourceError(
                f"the change reads otherwise than when the case was opened: {digest(found.change.encode())}, "
                f"not {self._docket.change}",
                hint="go on with the program version that opened the case, or review anew",
            )
        return found

    def desk(self, turn: Turn, exhibit: Exhibit) -> AbstractAsyncContextManager[Desk]:
        return self._desk(turn, exhibit)

    @asynccontextmanager
    async def _desk(self, turn: Turn, exhibit: Exhibit) -> AsyncIterator[Desk]:
        place = self._folder / turn.id
        tree, scratch = place / "tree", place / "scratch"
        scratch.mkdir(parents=True, mode=0o700)
        try:
            if exhibit.edits:
                yield Desk(workspace=Workspace(turn=turn, tree=self._top, scratch=scratch, edits=True), touched=tuple)
                return
            report = await self._export(exhibit.candidate, tree)
            strays = await self._watch_worktree(exhibit.candidate)
            yield Desk(
                workspace=Workspace(turn=turn, tree=tree, scratch=scratch),
                touched=lambda: (*(f"{d.path} ({d.kind})" for d in differences(tree, report)), *strays()),
            )
        finally:
            await in_thread(partial(remove, place))

    async def _watch_worktree(self, candidate: str) -> Callable[[], tuple[str, ...]]:
        """Return what says, once a reviewer has answered, what is no more as it was in a work tree that is ours."""
        if self._watch_files is None:
            return tuple
        async with self._reading:
            return await in_thread(partial(self._watch_files, candidate))

    async def make_ready(self, turn: Turn, exhibit: Exhibit, *, goes_on: bool, patient: bool) -> str:
        if self._editing is None:
            return ""
        async with self._reading:
            if exhibit.edits:
                begin = partial(self._editing.begin, turn, exhibit.candidate, goes_on=goes_on, patient=patient)
                return await in_thread(begin)
            await in_thread(partial(self._editing.demand_candidate, exhibit.candidate))
            return ""

    async def take_edit(self, request: EditCheck) -> Edit:
        assert self._editing is not None, "a case without an author edits nothing"
        return await in_thread(partial(self._editing.take, request))

    async def land(self, edit: Edit) -> None:
        assert self._editing is not None, "a case without an author edits nothing"
        await in_thread(partial(self._editing.land, edit))

    def put_away(self, is_pending: Callable[[str], bool]) -> str:
        return self._editing.put_away(is_pending) if self._editing is not None else ""

    async def look_up(self, request: LookUp) -> Evidence:
        try:
            match request:
                case CommandCheck():
                    return await self._run(request)
                case QuoteCheck():
                    tree, report = await self._exported(request.candidate)
                    return await in_thread(partial(check_quote, request, tree, report))
                case PathCheck():
                    tree, report = await self._exported(request.candidate)
                    return await in_thread(partial(check_path, request, tree, report))
        except SourceError as error:
            return Evidence(request=request, status=EvidenceStatus.NOT_CHECKED, detail=str(error))

    async def _run(self, request: CommandCheck) -> Evidence:
        if not self._may_run:
            return Evidence(request=request, status=EvidenceStatus.NOT_CHECKED, detail=_NOT_ALLOWED)
        tree, report = await self._exported(request.candidate)
        timeout_s = self._time_left()
        if timeout_s <= 0:
            return Evidence(request=request, status=EvidenceStatus.NOT_CHECKED, detail=_TOO_LATE)
        changed = await self._changed(request.candidate)
        return await run_command(
            request,
            tree=tree,
            before=self._before,
            scratch=self._folder,
            environ=self._environment,
            timeout_s=timeout_s,
            extra=self._checks.environment,
            watch=lambda copy: self._watch(copy, report, changed),
        )

    def _time_left(self) -> float:
        """Return how long a command may run: its own timeout, and never past the case's deadline."""
        if self._ends is None:
            return self._checks.timeout_s
        return min(self._checks.timeout_s, (self._ends - self._clock.now()).total_seconds())

    async def _changed(self, candidate: str) -> tuple[str, ...]:
        """Return the paths at which a candidate differs from the base."""
        if candidate == self._docket.candidate:
            return tuple(p.path for p in self._docket.paths)
        async with self._reading:
            pairs = await in_thread(partial(differing, self._quarantine.objects, self._docket.base, candidate))
        return tuple(visible_path(pair.path) for pair in pairs)

    def _watch(
        self, copy: Path, report: ExportReport, changed: Sequence[str]
    ) -> Callable[[], tuple[str, ...] | None]:
        watched = watch_reads(copy, report, changed)
        return lambda: None if watched is None else watched.unread()

    async def _before(self) -> Path:
        tree, _ = await self._exported(self._docket.base)
        return tree

    async def _exported(self, source: str) -> tuple[Path, ExportReport]:
        """Return the export of a commit or tree that no agent meets, made once however many ask at once."""
        tree = self._folder / f"export-{source}"
        async with self._exporting[source]:
            if source not in self._exports:
                self._exports[source] = await self._export(source, tree)
        return tree, self._exports[source]

    async def _export(self, source: str, tree: Path) -> ExportReport:
        async with self._reading:
            return await in_thread(partial(export, self._quarantine.objects, source, tree))
