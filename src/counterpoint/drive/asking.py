"""One question to one seat: claim, ask, keep. And what an answer becomes once it is kept.

The order is what makes a crash harmless. The claim is on disk before the call; the answer is in the vault before
anybody looks at it; only then is it read, checked, tried against the rules and sealed. Each step can be repeated.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, Generic, TypeVar

from counterpoint.agents.base import NOT_REPORTED, Agent, Reply, Workspace, read_reply
from counterpoint.core.briefs import Brief
from counterpoint.core.case import CaseState
from counterpoint.core.checks import CheckRequest, CommandCheck, EditCheck, Evidence, EvidenceStatus
from counterpoint.core.edits import CheckResult, Edit
from counterpoint.core.entries import AttemptFailed, Entry, FailureReason, SubmissionSealed
from counterpoint.core.sealing import opens, seal, seal_evidence
from counterpoint.core.values import Turn, Usage
from counterpoint.core.wording import say_command
from counterpoint.drive.casefile import CaseFile
from counterpoint.drive.clock import Clock
from counterpoint.drive.kept import (
    KeptReply,
    Voucher,
    evidence_name,
    get_evidence,
    get_reply,
    put_evidence,
    put_reply,
)
from counterpoint.drive.progress import DriveEvent, EventKind, OnEvent
from counterpoint.drive.subject import Subject
from counterpoint.drive.threads import in_thread
from counterpoint.errors import (
    AgentError,
    BadReply,
    CounterpointError,
    NeedsPerson,
    Refused,
    TurnTimeout,
    WrongIdentity,
)
from counterpoint.record.store import Vault

__all__ = ["LOCAL", "Asker", "Limiter"]

LOCAL: Final = "local"
_NO_USAGE: Final = Usage()
_FOREVER: Final = datetime.max.replace(tzinfo=UTC)
_LONGEST_WAIT_S: Final = 10**8
_LEAVES_EDITS: Final = frozenset({FailureReason.BAD_REPLY, FailureReason.REFUSED, FailureReason.WRONG_IDENTITY})
"""Failed attempts after which an author is asked again with its edits still there: it ended by itself."""

S = TypeVar("S", bound=CaseState)


class Limiter:
    """How many questions may be out at one destination at once; cases that run side by side share it."""

    def __init__(self, per_destination: int) -> None:
        self._doors: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(per_destination))

    def door(self, destination: str) -> asyncio.Semaphore:
        return self._doors[destination]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker(Generic[S]):
    """Asks the turns of one case."""

    file: CaseFile[S]
    agents: Mapping[str, Agent]
    """By seat."""
    subject: Subject
    clock: Clock
    salt: Callable[[], str]
    """Return 32 random hex digits."""
    driver: str
    """Names this driver in its claims."""
    limiter: Limiter
    on_event: OnEvent
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Answers come in side by side; entries go out one after another."""
    keeping: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Claims and answers too: threads would only wait for each other at the channel's lock."""
    looking: defaultdict[CheckRequest, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    """One check at a time for one request, however many seats ask for it."""
    found: dict[CheckRequest, CheckResult] = field(default_factory=dict)
    """What this driver has looked up; the vault is not asked again for it."""
    voucher: Voucher = field(default_factory=Voucher)
    """Signs what is kept of checks."""
    known: set[str] = field(default_factory=set)
    """What an earlier driver had kept in the vault. What else appears there is nobody's word."""

    @property
    def vault(self) -> Vault:
        return self.file.store.vault(self.file.channel)

    async def ask(self, turn: Turn) -> None:
        """Put one question, and take what comes back into the record: a seal, or a failed attempt.

        Raises:
            NeedsPerson: consent is missing, the work tree is not at the candidate, or the turn is a person's who is
                not there; nothing was recorded.
        """
        agent = self.agents[turn.seat]
        self._check_consent(agent)
        await self._make_ready(turn, agent)
        # Whoever waits at the door has not been asked yet: it costs no call and none of its time.
        async with self.limiter.door(agent.destination):
            deadline = self._deadline(agent)
            if deadline <= self.clock.now():
                return  # the case's own has passed meanwhile; the next step closes it
            attempt = await self._claim(turn, agent, deadline)
            if agent.patient:
                self.tell(EventKind.WAITING, turn, "a person is asked")
            else:
                self.tell(EventKind.ASKED, turn, "asked")
            try:
                kept = await self._ask_and_keep(turn, agent, attempt, deadline)
            except AgentError as error:
                await self.fail(turn, attempt, error, _NO_USAGE)
                return
            except asyncio.CancelledError:
                if not (agent.patient or agent.is_free):
                    self._interrupt(turn, attempt)
                raise
        await self.take(turn, kept)

    async def _make_ready(self, turn: Turn, agent: Agent) -> None:
        state = self.file.state
        failures = state.failures_of(turn.seat)
        goes_on = agent.patient or bool(failures and failures[-1].reason in _LEAVES_EDITS)
        exhibit = self.file.rules.exhibit(state, turn)
        if line := await self.subject.make_ready(turn, exhibit, goes_on=goes_on, patient=agent.patient):
            self.tell(EventKind.PUT_AWAY, turn, line)

    def _check_consent(self, agent: Agent) -> None:
        if agent.destination == LOCAL:
            return
        now = self.clock.now()
        until = [c.until for c in self.file.state.consents if c.destination == agent.destination]
        if not any(now < datetime.fromisoformat(instant) for instant in until):
            raise NeedsPerson(
                f"nothing in this case allows bytes to go to {agent.destination!r}"
                + (f"; the last consent ended {max(until)}" if until else ""),
                hint=f"run `counterpoint consent grant {agent.destination}`, then resume the case",
            )

    def _deadline(self, agent: Agent) -> datetime:
        limits = self.file.state.case.limits
        case_ends = _FOREVER if limits.deadline is None else datetime.fromisoformat(limits.deadline)
        if agent.patient:
            return case_ends
        return min(self.clock.now() + timedelta(seconds=limits.call_timeout_s), case_ends)

    async def _claim(self, turn: Turn, agent: Agent, until: datetime) -> int:
        if agent.patient or agent.is_free:  # a person who walks away has not failed, and has cost nothing
            return 1
        store, channel = self.file.store, self.file.channel
        async with self.keeping:
            claim = await in_thread(partial(store.claim, channel, turn.id, driver=self.driver, until=until))
        return claim.attempt

    async def _ask_and_keep(self, turn: Turn, agent: Agent, attempt: int, deadline: datetime) -> KeptReply:
        state = self.file.state
        exhibit = self.file.rules.exhibit(state, turn)
        brief = self.file.rules.brief(state, turn, await self.subject.materials(exhibit))
        async with self.subject.desk(turn, exhibit) as desk:
            workspace = desk.workspace.within(await self._session(turn.seat))
            reply = await self._within(deadline, turn, agent, brief, workspace)
            salt = self.salt()

            def keep() -> KeptReply:
                touched = desk.touched()
                kept = KeptReply(
                    salt=salt, attempt=attempt, shown_paths=brief.shown_paths, reply=reply, touched=touched
                )
                if not put_reply(self.vault, turn.id, kept, self.voucher):
                    raise _Planted(f"another reply lay in the vault where the one of {turn.seat} was to be kept")
                return kept

            async with self.keeping:
                return await in_thread(keep)

    async def _session(self, seat: str) -> str:
        """Return the session that the seat's last accepted answer came out of; "" where there is none."""
        sealed = self.file.state.last_seal(seat)
        if sealed is None:
            return ""
        kept = await in_thread(partial(get_reply, self.vault, sealed.turn.id))
        is_the_sealed = kept is not None and opens(sealed.digest, kept.salt, kept.reply.content)
        return kept.reply.session if kept is not None and is_the_sealed else ""

    async def _within(
        self, deadline: datetime, turn: Turn, agent: Agent, brief: Brief, workspace: Workspace
    ) -> Reply:
        seconds = (deadline - self.clock.now()).total_seconds()

        def hear(line: str) -> None:
            self.tell(EventKind.HEARD, turn, line)

        try:
            async with asyncio.timeout(min(seconds, _LONGEST_WAIT_S)):
                return await agent.ask(brief, workspace=workspace, deadline=deadline, on_progress=hear)
        except TimeoutError:
            hint = "raise `limits.call_timeout_s` or the deadline"
            raise TurnTimeout(f"no answer within {max(seconds, 0):.0f} s", hint=hint) from None

    async def take(self, turn: Turn, kept: KeptReply) -> None:
        """Bring a kept answer into the record: sealed if the rules accept it, else as a failed attempt."""
        usage = kept.reply.usage
        if kept.touched:
            error = BadReply(f"the agent changed what it was only to read: {', '.join(kept.touched[:5])}")
            await self.fail(turn, kept.attempt, error, usage, FailureReason.TREE_TOUCHED)
            return
        try:
            evidence = await self._try(turn, kept.reply)
        except (AgentError, Refused) as error:
            await self.fail(turn, kept.attempt, error, usage)
            return
        await self.append(
            SubmissionSealed(
                turn=turn,
                digest=seal(kept.salt, kept.reply.content),
                evidence=seal_evidence(kept.salt, evidence),
                model_requested=kept.reply.model_requested,
                model_reported=kept.reply.model_reported,
                usage=usage,
                shown_paths=kept.shown_paths,
            )
        )
        self.tell(EventKind.ANSWERED, turn, "answered; sealed until all have" if turn.blind else "answered")

    async def _try(self, turn: Turn, reply: Reply) -> tuple[CheckResult, ...]:
        """Return what code finds for a reply, once the rules would admit it."""
        rules, state = self.file.rules, self.file.state
        asked, got = reply.model_requested, reply.model_reported
        if asked and got not in {asked, NOT_REPORTED}:
            raise WrongIdentity(asked=asked, got=got)
        submission = rules.parse(state, turn, read_reply(reply, rules.schema(state, turn)))
        evidence = tuple([await self._look_up(r, turn) for r in rules.checks(state, turn, submission)])
        rules.admit(self.file.state, turn.seat, turn, submission, evidence=evidence, now=self.clock.now())
        return evidence

    async def _look_up(self, request: CheckRequest, turn: Turn) -> CheckResult:
        async with self.looking[request]:
            if request in self.found:
                return self.found[request]
            if evidence_name(request) in self.known:
                kept = await in_thread(partial(get_evidence, self.vault, request))
                if kept is not None:
                    return self.found.setdefault(request, kept)
            if isinstance(request, CommandCheck):
                self.tell(EventKind.CHECKING, turn, f"running {say_command(request.argv)}")
            found = await self._find(request)
            if not await in_thread(partial(put_evidence, self.vault, found, self.voucher)):
                raise _Planted(f"other evidence lay in the vault where that of {turn.seat} was to be kept")
            self.found[request] = found
            if isinstance(request, CommandCheck) and isinstance(found, Evidence):
                self.tell(EventKind.CHECKED, turn, f"{say_command(request.argv)}: {_result(found)}")
            return found

    async def _find(self, request: CheckRequest) -> CheckResult:
        if isinstance(request, EditCheck):
            return await self.subject.take_edit(request)
        return await self.subject.look_up(request)

    async def land(self, sealed: SubmissionSealed, evidence: tuple[CheckResult, ...]) -> None:
        """Bring the branch to what an author's accepted answer made, before the record says so.

        Raises:
            NeedsPerson: the branch has gone elsewhere meanwhile; nothing is lost.
        """
        for edit in evidence:
            if not isinstance(edit, Edit):
                continue
            await self.subject.land(edit)
            if edit.made is not None:
                what = "committed" if edit.request.commits else "took"
                paths = f"{len(edit.request.paths)} path{'s' if len(edit.request.paths) > 1 else ''}"
                self.tell(EventKind.LANDED, sealed.turn, f"{what} {paths} as {edit.made.candidate[:12]}")

    async def fail(
        self,
        turn: Turn,
        attempt: int,
        error: CounterpointError,
        usage: Usage,
        reason: FailureReason | None = None,
    ) -> None:
        """Record a question that brought no accepted answer."""
        entry = AttemptFailed(
            turn=turn, attempt=attempt, reason=reason or _reason(error), detail=str(error), usage=usage
        )
        await self.append(entry)
        self.tell(EventKind.ATTEMPT_FAILED, turn, f"{entry.reason}: {entry.detail}")

    async def append(self, *entries: Entry) -> None:
        """Append entries of this driver's, one batch at a time.

        Where somebody has closed the case meanwhile, nothing is appended: the next step sees it.
        """
        async with self.writing:
            try:
                await in_thread(partial(self.file.append_anyway, entries, self.clock.now()))
            except Refused:
                if self.file.state.closed is None:
                    raise

    def _interrupt(self, turn: Turn, attempt: int) -> None:
        """Record an attempt whose task is being cancelled: nothing may be awaited any more.

        Where that cannot be done, the claim says it: the next driver takes the attempt for lost.
        """
        if self.writing.locked() or f"reply-{turn.id}" in self.vault.names():
            return
        with suppress(CounterpointError):
            self.file.append_anyway((_interrupted(turn, attempt),), self.clock.now())

    def tell(self, kind: EventKind, turn: Turn, text: str) -> None:
        self.on_event(DriveEvent(kind=kind, case=self.file.channel, seat=turn.seat, round=turn.round, text=text))


def _interrupted(turn: Turn, attempt: int) -> AttemptFailed:
    return AttemptFailed(
        turn=turn,
        attempt=attempt,
        reason=FailureReason.INTERRUPTED,
        detail="the driver was interrupted before the answer came",
        usage=_NO_USAGE,
    )


class _Planted(AgentError):
    """The vault holds what this driver has not put there."""


def _result(evidence: Evidence) -> str:
    said = {
        EvidenceStatus.VERIFIED: "passed",
        EvidenceStatus.REFUTED: "failed",
        EvidenceStatus.NOT_CHECKED: "not checked",
    }
    return f"{said[evidence.status]}, {evidence.detail}"


def _reason(error: CounterpointError) -> FailureReason:
    match error:
        case BadReply():
            return FailureReason.BAD_REPLY
        case Refused():
            return FailureReason.REFUSED
        case TurnTimeout():
            return FailureReason.TIMEOUT
        case WrongIdentity():
            return FailureReason.WRONG_IDENTITY
        case _Planted():
            return FailureReason.VAULT_TOUCHED
        case _:
            return FailureReason.UNREACHABLE
