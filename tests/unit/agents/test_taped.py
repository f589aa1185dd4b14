"""Agents around a cassette: what each kind of ending becomes, and when it is given again (issue 5, point 6)."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from counterpoint.agents.base import Agent, Progress, Reply, Workspace
from counterpoint.agents.cassette import Cassette, Header
from counterpoint.agents.taped import RecordingAgent, ReplayAgent, Stage, brief_digest
from counterpoint.core.briefs import Brief
from counterpoint.core.values import Turn
from counterpoint.errors import AgentError, BadReply, SourceError, TurnTimeout, Unreachable, WrongIdentity
from counterpoint.isolation.patches import WorkTree
from counterpoint.isolation.repository import Repository
from tests.repositories import Scratch

NOW: Final = datetime(2026, 7, 6, tzinfo=UTC)
SECRET: Final = "sk-planted-4f2a9c7e11"
REPLY: Final = Reply(content=b"{}", model_requested="m", model_reported="m-1", session="session-7f3a")


class Inner(Agent):
    """Writes files, then answers, fails or waits for ever."""

    kind = "command"
    destination = "acme"

    def __init__(self, ending: Reply | BaseException | None, files: dict[Path, str] | None = None) -> None:
        self.ending, self.files = ending, files or {}

    async def ask(self, brief: Brief, *, workspace: Workspace, deadline: datetime, on_progress: Progress) -> Reply:
        del brief, workspace, deadline, on_progress
        for path, text in self.files.items():
            path.write_text(text)
        if self.ending is None:
            await asyncio.Event().wait()
        if isinstance(self.ending, BaseException):
            raise self.ending
        assert self.ending is not None
        return self.ending


class Nesting(Inner):
    """Makes a repository in the work tree."""

    async def ask(self, brief: Brief, *, workspace: Workspace, deadline: datetime, on_progress: Progress) -> Reply:
        Scratch(workspace.tree / "inner").commit({"a": "a"})
        return await super().ask(brief, workspace=workspace, deadline=deadline, on_progress=on_progress)


class Room:
    """A repository with one file, and a cassette beside it."""

    def __init__(self, top: Path) -> None:
        self.git = Scratch(top / "shop")
        self.start = self.git.commit({"price.py": "x = 1\n"})
        self.brief = Brief(instructions="i", payload={"candidate": self.start}, schema={}, shown_paths=())
        self.stage = Stage(
            cassette=Cassette(top / "tape"),
            worktree=WorkTree(repository=Repository.find(self.git.top), objects=top / "objects"),
            opened=frozenset({self.start}),
            now=lambda: NOW,
            secrets={"API_KEY": SECRET, "LANG": "C.UTF-8-long-enough"},
        )
        self.stage.cassette.begin(Header(case="c", base="a" * 40, candidate=self.start, seats=(), settings=""), "")

    def ask(self, agent: Agent, *, edits: bool = False, deadline: datetime = NOW, bound_s: float = 5) -> Reply:
        turn = Turn(phase="answering", round=1, seat="ana", ask=1)
        workspace = Workspace(tree=self.git.top, scratch=self.git.top, turn=turn, edits=edits)

        async def within() -> Reply:
            async with asyncio.timeout(bound_s):
                return await agent.ask(
                    self.brief, workspace=workspace, deadline=deadline, on_progress=lambda _line: None
                )

        return asyncio.run(within())

    @property
    def replay(self) -> ReplayAgent:
        return ReplayAgent(self.stage, kind="command", destination="acme")


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def test_an_answer_is_given_again_without_its_session(room: Room) -> None:
    """The session is nobody's but the machine's on which it was held."""
    assert room.ask(RecordingAgent(Inner(REPLY), room.stage)) == REPLY
    again = room.ask(room.replay)
    assert (again.content, again.model_reported, again.session) == (b"{}", "m-1", "")
    kept = b"".join(path.read_bytes() for path in room.stage.cassette.folder.rglob("*") if path.is_file())
    assert b"session-7f3a" not in kept


@pytest.mark.parametrize(
    "error",
    [
        AgentError("a", hint="h"),
        Unreachable("b", hint="h"),
        TurnTimeout("c"),
        BadReply("d", hint="h"),
        WrongIdentity(asked="m", got="n"),
    ],
)
def test_a_failure_is_raised_again(room: Room, error: AgentError) -> None:
    """As what it was: the record says the same of it."""
    with pytest.raises(AgentError):
        room.ask(RecordingAgent(Inner(error), room.stage))
    with pytest.raises(type(error)) as raised:
        room.ask(room.replay)
    assert raised.value.fields() == error.fields()


def test_the_deadline_is_kept_and_an_interruption_is_not(room: Room) -> None:
    """Who stops a run has not let a seat fail."""
    with pytest.raises(TimeoutError):
        room.ask(RecordingAgent(Inner(None), room.stage), deadline=NOW + timedelta(seconds=60), bound_s=0.05)
    with pytest.raises(SourceError, match="no turn"):
        room.ask(room.replay)
    with pytest.raises(TimeoutError):
        room.ask(RecordingAgent(Inner(None), room.stage), deadline=NOW, bound_s=0.05)
    with pytest.raises(TurnTimeout, match="no answer within 0 s"):
        room.ask(room.replay)


def test_an_edit_is_done_again_where_the_files_are_as_they_were(room: Room) -> None:
    """And nowhere else; both trees are named."""
    price, new = room.git.top / "price.py", room.git.top / "new.py"
    room.ask(RecordingAgent(Inner(REPLY, {price: "x = 2\n", new: "y\n"}), room.stage), edits=True)
    with pytest.raises(SourceError, match=r"files before answering.1.ana.1 are tree [0-9a-f]{40}; recorded was"):
        room.ask(room.replay, edits=True)
    new.unlink()
    price.write_text("x = 1\n")
    room.ask(room.replay, edits=True)
    assert (price.read_text(), new.read_text()) == ("x = 2\n", "y\n")


@pytest.mark.parametrize("where", ["answer", "failure", "file"])
def test_a_secret_is_not_kept(room: Room, where: str) -> None:
    """The turn says which variable it was; a value that is no secret is kept."""
    new = room.git.top / "new.py"
    ending: Reply | AgentError = REPLY
    if where == "answer":
        ending = Reply(content=f'"{SECRET}"'.encode(), model_requested="", model_reported="")
    elif where == "failure":
        ending = Unreachable(f"401 for {SECRET}")
    inner = Inner(ending, {new: SECRET if where == "file" else "C.UTF-8-long-enough"})
    try:
        room.ask(RecordingAgent(inner, room.stage), edits=True)
    except Unreachable:
        assert where == "failure"
    kept = b"".join(path.read_bytes() for path in room.stage.cassette.folder.rglob("*") if path.is_file())
    assert SECRET.encode() not in kept
    with pytest.raises(SourceError, match=r"cannot be played again: .* held the value of \$API_KEY"):
        room.ask(room.replay, edits=True)


def test_a_commit_of_the_case_counts_by_its_tree(room: Room) -> None:
    """Its id differs with the time at which it was made; the commit that was opened has to be the same."""
    first = room.git.commit({"price.py": "x = 2\n"}, message="one")
    second = room.git.commit({}, message="the same files, later")
    other = room.git.commit({"price.py": "x = 3\n"})

    worktree = room.stage.worktree
    assert worktree is not None

    def of(commit: str, opened: frozenset[str] = room.stage.opened) -> str:
        brief = Brief(instructions="", payload={"candidate": commit}, schema={}, shown_paths=())
        return brief_digest(brief, opened=opened, tree_of=worktree.tree_of)

    assert of(first) == of(second) != of(other)
    assert of(first, frozenset({first})) != of(second, frozenset({second}))


def test_a_repository_inside_cannot_be_kept(room: Room) -> None:
    """It is said, and the case is recorded all the same."""
    agent = Nesting(REPLY)
    assert room.ask(RecordingAgent(agent, room.stage), edits=True) == REPLY
    with pytest.raises(SourceError, match="'inner' is a repository of its own"):
        room.ask(room.replay, edits=True)
