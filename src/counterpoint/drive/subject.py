"""What a case is about, as the driver meets it: the material for briefs, a place to work in, things to look up.

A protocol knows only ids and digests. A `Subject` has the bytes: a repository under review, or nothing but text. A
subject that can be edited also looks after the work tree: nobody is asked while it is not at the candidate, and what
an author leaves behind is taken into a candidate or put away, never lost.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from counterpoint.agents.base import Workspace
from counterpoint.core.checks import EditCheck, Evidence, EvidenceStatus, LookUp
from counterpoint.core.edits import Edit
from counterpoint.core.rules import Exhibit, Materials
from counterpoint.core.values import Turn

__all__ = ["Desk", "Subject", "TextSubject"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """One agent's place for one turn, and how to see afterwards what became of it."""

    workspace: Workspace
    touched: Callable[[], tuple[str, ...]]
    """Return what the agent changed of what it was only to read (FIELD-FAULTS F30)."""


class Subject(ABC):
    """The thing under judgement."""

    @abstractmethod
    async def materials(self, exhibit: Exhibit) -> Materials:
        """Return what briefs show of an exhibit; the same for the same exhibit."""

    @abstractmethod
    def desk(self, turn: Turn, exhibit: Exhibit) -> AbstractAsyncContextManager[Desk]:
        """Lend a place to work in; whatever is not the work tree itself is removed afterwards."""

    @abstractmethod
    async def look_up(self, request: LookUp) -> Evidence:
        """Return what code finds for one request. Never raises for what it finds."""

    @abstractmethod
    async def make_ready(self, turn: Turn, exhibit: Exhibit, *, goes_on: bool, patient: bool) -> str:
        """See that the turn can be asked, and return a line about what was put away for it, or "".

        Args:
            turn: which is about to be asked.
            exhibit: what it is about.
            goes_on: whether the work tree may hold the seat's edits of this round, which it goes on with.
            patient: whether a person edits: what they leave stays where they left it.

        Raises:
            NeedsPerson: the work tree or the branch is not at the candidate.
        """

    @abstractmethod
    async def take_edit(self, request: EditCheck) -> Edit:
        """Return what code finds of an author's edit, and what it made of it. Never raises for what it finds."""

    @abstractmethod
    async def land(self, edit: Edit) -> None:
        """Bring the branch to what was made of an accepted edit; a second time it does nothing.

        Raises:
            NeedsPerson: the branch stands where neither the edit began nor where it ends.
        """

    @abstractmethod
    def put_away(self, is_pending: Callable[[str], bool]) -> str:
        """Keep what a turn that came to nothing left in the work tree, and put the tree back.

        Return a line that says where it is kept, or "" where there was nothing. `is_pending` says of a turn's id
        whether its answer is still to be taken. Called while a task is cancelled, too: it waits for nobody.
        """


class TextSubject(Subject):
    """A case about words alone: an empty tree to work in, nothing to edit, nothing that code could look up."""

    def __init__(self, text: str = "", *, shown_paths: tuple[str, ...] = ()) -> None:
        self._materials = Materials(change=text, shown_paths=shown_paths)

    async def materials(self, exhibit: Exhibit) -> Materials:
        is_news = exhibit.base != exhibit.candidate
        return self._materials if is_news else Materials(change="", shown_paths=())

    def desk(self, turn: Turn, exhibit: Exhibit) -> AbstractAsyncContextManager[Desk]:
        return _empty_desk(turn)

    async def look_up(self, request: LookUp) -> Evidence:
        return Evidence(request=request, status=EvidenceStatus.NOT_CHECKED, detail="this case has no tree to look in")

    async def make_ready(self, turn: Turn, exhibit: Exhibit, *, goes_on: bool, patient: bool) -> str:
        return ""

    async def take_edit(self, request: EditCheck) -> Edit:
        faults = (f"{request.paths[0]!r} is listed, and this case has no tree to edit",) if request.paths else ()
        return Edit(request=request, faults=faults, made=None)

    async def land(self, edit: Edit) -> None:
        assert edit.made is None, "nothing can be made without a tree"

    def put_away(self, is_pending: Callable[[str], bool]) -> str:
        return ""


class _Unmade(Workspace):
    """An empty tree and an empty folder, made when somebody looks for them: most agents here need none."""

    __slots__ = ("_place",)
    _place: "_Place"

    def __init__(self, turn: Turn, place: "_Place", session: str = "") -> None:
        for name, value in (("turn", turn), ("edits", False), ("session", session), ("_place", place)):
            object.__setattr__(self, name, value)

    @property
    def tree(self) -> Path:
        return self._place.made / "tree"

    @property
    def scratch(self) -> Path:
        return self._place.made / "scratch"

    def within(self, session: str) -> Workspace:
        return _Unmade(self.turn, self._place, session)


class _Place:
    """A private folder with a tree and a scratch folder in it, once there is need for it."""

    def __init__(self) -> None:
        self._folder: TemporaryDirectory[str] | None = None

    @property
    def made(self) -> Path:
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="counterpoint-")
            for name in ("tree", "scratch"):
                (Path(self._folder.name) / name).mkdir()
        return Path(self._folder.name)

    def touched(self) -> tuple[str, ...]:
        return () if self._folder is None else tuple(sorted(path.name for path in (self.made / "tree").iterdir()))

    def remove(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()


@asynccontextmanager
async def _empty_desk(turn: Turn) -> AsyncIterator[Desk]:
    place = _Place()
    try:
        yield Desk(workspace=_Unmade(turn, place), touched=place.touched)
    finally:
        place.remove()
