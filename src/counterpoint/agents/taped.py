"""Agents around a cassette: one that records what another answers, and one that gives the recorded answer again.

Neither looks at what an answer says. A turn is played only where its brief is the recorded one, and an author's
edit only where the work tree is as it was. What is not so stops the run with the two digests; it is no answer and
counts as none. Ids of commits that the case makes differ with the time: a brief's digest has their trees instead.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from counterpoint.agents.base import Agent, Progress, Reply, Workspace
from counterpoint.agents.cassette import Cassette, TapedEdit, TapedFailure, TapedReply, TapedTurn
from counterpoint.core.briefs import Brief
from counterpoint.core.canonical import digest
from counterpoint.errors import (
    AgentError,
    BadReply,
    RecordError,
    SourceError,
    TurnTimeout,
    Unreachable,
    WrongIdentity,
)
from counterpoint.isolation.environment import secrets_in
from counterpoint.isolation.patches import FileEdit, WorkTree

__all__ = ["RecordingAgent", "ReplayAgent", "Stage", "brief_digest"]

_ENDS: Final = timedelta(seconds=1)
"""A cancellation so near to the deadline is the deadline's."""
_CANDIDATES: Final = ("candidate", "judged_before")
_CHANGED_HINT: Final = (
    "begin it on the same commits or texts with the same flags, or record the case anew; "
    "the case is kept and can be resumed or withdrawn"
)
_FAILURES: Final[Mapping[str, type[AgentError]]] = {
    kind.code: kind for kind in (AgentError, Unreachable, TurnTimeout, BadReply)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What the agents around one cassette share."""

    cassette: Cassette
    worktree: WorkTree | None
    """None in a case that is about no change: nobody edits in it, and it makes no commit."""
    opened: frozenset[str]
    """The ids that the case was opened with."""
    now: Callable[[], datetime]
    secrets: Mapping[str, str]
    """Variables that agents may be given."""

    @property
    def files(self) -> WorkTree:
        assert self.worktree is not None, "only a change is edited"
        return self.worktree

    def digest_of(self, brief: Brief) -> str:
        tree_of = self.worktree.tree_of if self.worktree is not None else str
        return brief_digest(brief, opened=self.opened, tree_of=tree_of)

    def leaked(self, content: bytes) -> str:
        """Return the name of the variable whose secret stands in the bytes, or ""."""
        return next(iter(secrets_in(content.decode("utf-8", "replace"), self.secrets)), "")


def brief_digest(brief: Brief, *, opened: frozenset[str], tree_of: Callable[[str], str]) -> str:
    """Return the SHA-256 of a brief, each commit that the case has made being replaced by its tree."""
    whole = {"instructions": brief.instructions, "payload": brief.payload, "schema": brief.schema}
    text = json.dumps(whole, sort_keys=True, default=dict)
    for key in _CANDIDATES:
        made = brief.payload.get(key)
        if isinstance(made, str) and made and made not in opened:
            text = text.replace(made, tree_of(made))
    return digest(text.encode())


class RecordingAgent(Agent):
    """Asks another agent, and keeps what comes of it before it is handed on."""

    def __init__(self, inner: Agent, stage: Stage) -> None:
        self._inner = inner
        self._stage = stage
        self.kind = inner.kind
        self.destination = inner.destination
        self.patient = inner.patient

    async def ask(self, brief: Brief, *, workspace: Workspace, deadline: datetime, on_progress: Progress) -> Reply:
        stage, begun = self._stage, self._stage.now()
        taped = TapedTurn(brief=stage.digest_of(brief))
        start = str(brief.payload.get("candidate", "")) if workspace.edits else ""
        before = stage.files.look(start) if start else ""
        ended: dict[str, Any] = {}
        try:
            reply = await self._inner.ask(brief, workspace=workspace, deadline=deadline, on_progress=on_progress)
            ended = {"reply": reply}
            return reply
        except AgentError as error:
            ended = {"failure": _taped_failure(error)}
            raise
        finally:
            # Cancelled at the deadline: the driver makes of it the error that is kept here. Cancelled by a person:
            # the turn did not come to an end, and is not kept.
            if not ended and not self.patient and stage.now() >= deadline - _ENDS:
                seconds = (deadline - begun).total_seconds()
                ended = {"failure": _taped_failure(TurnTimeout(f"no answer within {max(seconds, 0):.0f} s"))}
            if ended:
                self._keep(workspace.turn.id, replace(taped, **self._kept(**ended)), start, before)

    def _kept(self, *, reply: Reply | None = None, failure: TapedFailure | None = None) -> dict[str, Any]:
        stage = self._stage
        if reply is None:
            assert failure is not None
            said = f"{failure.message}\n{failure.hint}\n{failure.asked}\n{failure.got}"
            name = stage.leaked(said.encode(errors="replace"))
            return {"lost": _leak("what the agent failed with", name)} if name else {"failure": failure}
        models = f"{reply.model_requested}\n{reply.model_reported}".encode(errors="replace")
        if name := stage.leaked(reply.content) or stage.leaked(models):
            return {"lost": _leak("the answer", name)}
        taped = TapedReply(
            content=stage.cassette.keep_bytes(reply.content),
            model_requested=reply.model_requested,
            model_reported=reply.model_reported,
            usage=reply.usage,
        )
        return {"reply": taped}

    def _keep(self, turn: str, taped: TapedTurn, start: str, before: str) -> None:
        stage = self._stage
        if start and not taped.lost:
            try:
                after = stage.files.look(start)
                files = stage.files.files_between(before, after)
            except SourceError as error:
                taped = replace(taped, lost=f"its edit could not be taken: {error}")
            else:
                leaked = next(filter(None, (stage.leaked(file.path + b"\n" + file.content) for file in files)), "")
                taped = (
                    replace(taped, lost=_leak("an edited file", leaked))
                    if leaked
                    else replace(taped, edit=self._edit(before, after, files))
                )
        stage.cassette.keep(turn, taped)

    def _edit(self, before: str, after: str, files: tuple[FileEdit, ...]) -> TapedEdit:
        return TapedEdit(before=before, after=after, files=self._stage.cassette.tape_files(files))


def _leak(what: str, name: str) -> str:
    return f"{what} held the value of ${name}, which no cassette keeps"


def _taped_failure(error: AgentError) -> TapedFailure:
    if isinstance(error, WrongIdentity):
        return TapedFailure(
            code=error.code, message=str(error), hint=error.hint, asked=str(error.asked), got=str(error.got)
        )
    code = error.code if error.code in _FAILURES else AgentError.code
    return TapedFailure(code=code, message=str(error), hint=error.hint)


class ReplayAgent(Agent):
    """Gives the recorded answer to the recorded question; starts nothing and calls nobody."""

    is_free = True

    def __init__(self, stage: Stage, *, kind: str, destination: str) -> None:
        self._stage = stage
        self.kind = kind
        self.destination = destination

    async def ask(self, brief: Brief, *, workspace: Workspace, deadline: datetime, on_progress: Progress) -> Reply:
        del deadline
        turn, stage = workspace.turn.id, self._stage
        taped = stage.cassette.turn(turn)
        if taped is None:
            raise SourceError(f"the cassette has no turn {turn}", hint=_CHANGED_HINT)
        if taped.lost:
            raise SourceError(f"turn {turn} cannot be played again: {taped.lost}", hint="record the case anew")
        if (found := stage.digest_of(brief)) != taped.brief:
            raise SourceError(
                f"the brief of {turn} has the digest {found}; recorded was {taped.brief}", hint=_CHANGED_HINT
            )
        on_progress(f"the cassette answers for {workspace.turn.seat}")
        # Everything is read and held against its digest before a file is touched.
        answer = _answer(turn, stage.cassette, taped)
        if (taped.edit is not None) != workspace.edits:
            raise RecordError(f"the cassette has {'an' if taped.edit else 'no'} edit for {turn}")
        if taped.edit is not None:
            self._make_again(turn, taped.edit, str(brief.payload.get("candidate", "")))
        if isinstance(answer, AgentError):
            raise answer
        return answer

    def _make_again(self, turn: str, edit: TapedEdit, start: str) -> None:
        # An author is alone in its phase: nobody waits for the loop meanwhile, and nobody may edit beside it.
        worktree, files = self._stage.files, self._stage.cassette.files_of(edit)
        if (found := worktree.look(start)) != edit.before:
            raise SourceError(
                f"the files before {turn} are tree {found}; recorded was {edit.before}", hint=_CHANGED_HINT
            )
        if (found := worktree.make_again(files, present=edit.before)) != edit.after:
            raise SourceError(
                f"the files after {turn} are tree {found}; recorded was {edit.after}", hint=_CHANGED_HINT
            )


def _answer(turn: str, cassette: Cassette, taped: TapedTurn) -> Reply | AgentError:
    failure = taped.failure
    if failure is None:
        assert taped.reply is not None, "the cassette has one of them"
        return Reply(
            content=cassette.bytes_of(taped.reply.content),
            model_requested=taped.reply.model_requested,
            model_reported=taped.reply.model_reported,
            usage=taped.reply.usage,
        )
    if failure.code == WrongIdentity.code:
        return WrongIdentity(asked=failure.asked, got=failure.got)
    kind = _FAILURES.get(failure.code)
    if kind is None:
        raise RecordError(
            f"the cassette has the failure {failure.code!r} for {turn}; known are {', '.join(_FAILURES)}"
        )
    return kind(failure.message, hint=failure.hint)
