"""One question to one seat: claim, ask, keep. And what an answer becomes once it is kept.

The order is what makes a crash harmless. The claim is on disk before the call; the answer is in the vault before
anybody looks at it; only then is it read, checked, tried against the rules and sealed. Each step can be repeated.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, Generic, NamedTuple, TypeVar

from counterpoint.agents.base import NOT_REPORTED, Agent, Reply, Workspace, read_reply
from counterpoint.core.briefs import Brief
from counterpoint.core.case import CaseState
from counterpoint.core.checks import CheckRequest, CommandCheck, EditCheck, Evidence
from counterpoint.core.edits import CheckResult, Edit
from counterpoint.core.entries import AttemptFailed, Entry, FailureReason, SubmissionSealed
from counterpoint.core.sealing import opens
from counterpoint.core.values import Turn, Usage
from counterpoint.core.wording import say_command
from counterpoint.drive.attempts import NO_USAGE, Planted, interrupted_entry, reason_of, say_result, sealed_entry
from counterpoint.drive.casefile import CaseFile
from counterpoint.drive.clock import Clock
from counterpoint.drive.kept import (
    KeptReply,
    Voucher,
    evidence_name,
    get_evidence,
    get_reply,
    is_ours,
    put_evidence,
    put_reply,
)
from counterpoint.drive.progress import DriveEvent, EventKind, OnEvent
from counterpoint.drive.subject import Subject
from counterpoint.drive.threads import Gathered, in_thread
from counterpoint.errors import (
    AgentError,
    BadReply,
    CounterpointError,
    NeedsPerson,
    Refused,
    TurnTimeout,
    WrongIdentity,
)
from counterpoint.record.store import Claim, Vault

__all__ = ["LOCAL", "Asker", "Limiter"]

LOCAL: Final = "local"
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


class _Answer(NamedTuple):
    turn: Turn
    kept: Callable[[], KeptReply]
    """Looks what was touched, too: it blocks."""


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
    claiming: Gathered[tuple[str, datetime], Claim] = field(init=False)
    keeping: Gathered[_Answer, tuple[KeptReply, bool]] = field(init=False)
    """Whoever is asked, and whoever has answered, at the same time is one piece of work."""
    looking: defaultdict[CheckRequest, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    """One check at a time for one request, however many seats ask for it."""
    found: dict[CheckRequest, CheckResult] = field(default_factory=dict)
    """What this driver has looked up; the vault is not asked again for it."""
    voucher: Voucher = field(default_factory=Voucher)
    """Signs what is kept of checks."""
    sessions: dict[str, str] = field(default_factory=dict)
    """By turn id: the session of each answer that this driver has kept. The vault is not asked for it."""
    known: set[str] = field(default_factory=set)
    """What an earlier driver had kept in the vault. What else appears there is nobody's word."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "claiming", Gathered(self._claim_all, asyncio.Lock()))
        object.__setattr__(self, "keeping", Gathered(self._keep_all, self.writing))

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
            asked = (EventKind.WAITING, "a person is asked") if agent.patient else (EventKind.ASKED, "asked")
            self.tell(asked[0], turn, asked[1])
            try:
                kept, is_taken = await self._ask_and_keep(turn, agent, attempt, deadline)
            except AgentError as error:
                await self.fail(turn, attempt, error, NO_USAGE)
                return
            except asyncio.CancelledError:
                if not (agent.patient or agent.is_free):
                    self._interrupt(turn, attempt)
                raise
        if is_taken:
            self._tell_answered(turn)
        else:
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
        return (await self.claiming.do((turn.id, until))).attempt

    def _claim_all(self, turns: Sequence[tuple[str, datetime]]) -> Sequence[Claim]:
        return self.file.store.claim_all(self.file.channel, turns, driver=self.driver)

    async def _ask_and_keep(self, turn: Turn, agent: Agent, attempt: int, ends: datetime) -> tuple[KeptReply, bool]:
        """Return the answer, and whether it is in the record already."""
        state = self.file.state
        exhibit = self.file.rules.exhibit(state, turn)
        brief = self.file.rules.brief(state, turn, await self.subject.materials(exhibit))
        async with self.subject.desk(turn, exhibit) as desk:
            workspace = desk.workspace.within(await self._session(turn.seat))
            reply = await self._within(ends, turn, agent, brief, workspace)
            salt = self.salt()

            def kept() -> KeptReply:
                paths, touched = brief.shown_paths, desk.touched()
                return KeptReply(salt=salt, attempt=attempt, shown_paths=paths, reply=reply, touched=touched)

            return await self.keeping.do(_Answer(turn, kept))

    def _keep_all(self, answers: Sequence[_Answer]) -> list[tuple[KeptReply, bool] | Exception]:
        found = [self._keep(answer) for answer in answers]
        taken = self._take_at_once(
            [(answer.turn, kept) for answer, kept in zip(answers, found, strict=True) if isinstance(kept, KeptReply)]
        )
        return [
            (kept, answer.turn.id in taken) if isinstance(kept, KeptReply) else kept
            for answer, kept in zip(answers, found, strict=True)
        ]

    def _keep(self, answer: _Answer) -> KeptReply | Exception:
        try:
            kept = answer.kept()
            if not put_reply(self.vault, answer.turn.id, kept, self.voucher):
                seat = answer.turn.seat
                raise Planted(f"another reply lay in the vault where the one of {seat} was to be kept")
        except (CounterpointError, OSError) as error:
            return error
        self.sessions[answer.turn.id] = kept.reply.session
        return kept

    def _take_at_once(self, answers: Sequence[tuple[Turn, KeptReply]]) -> frozenset[str]:
        """Take what needs no check in the thread that has kept it, as one batch, and return the ids of its turns.

        Whatever stands against an answer is left to `take` to find again, and to say.
        """
        entries = [entry for turn, kept in answers if (entry := self._unchecked(turn, kept)) is not None]
        try:
            if entries:
                self.file.append_anyway(entries, self.clock.now())
        except Refused:
            return frozenset()
        return frozenset(entry.turn.id for entry in entries)

    def _unchecked(self, turn: Turn, kept: KeptReply) -> SubmissionSealed | None:
        """Return the seal of an answer that the rules admit and that names nothing to look up."""
        try:
            submission = self._read(turn, kept.reply)
            if kept.touched or self.file.rules.checks(self.file.state, turn, submission):
                return None
            self._admit(turn, submission, ())
        except (AgentError, Refused):
            return None
        return sealed_entry(turn, kept, ())

    async def _session(self, seat: str) -> str:
        """Return the session that the seat's last accepted answer came out of; "" where there is none."""
        sealed = self.file.state.last_seal(seat)
        if sealed is None:
            return ""
        if sealed.turn.id in self.sessions:
            return self.sessions[sealed.turn.id]
        return await in_thread(partial(self._kept_session, sealed))

    def _kept_session(self, sealed: SubmissionSealed) -> str:
        """Return the session of an answer that an earlier driver kept; "" where the vault holds anything else."""
        kept = None
        if is_ours(self.vault, f"reply-{sealed.turn.id}", self.voucher):
            kept = get_reply(self.vault, sealed.turn.id)
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
        await self.append(sealed_entry(turn, kept, evidence))
        self._tell_answered(turn)

    def _tell_answered(self, turn: Turn) -> None:
        self.tell(EventKind.ANSWERED, turn, "answered; sealed until all have" if turn.blind else "answered")

    async def _try(self, turn: Turn, reply: Reply) -> tuple[CheckResult, ...]:
        """Return what code finds for a reply, once the rules would admit it."""
        submission = self._read(turn, reply)
        requests = self.file.rules.checks(self.file.state, turn, submission)
        evidence = tuple([await self._look_up(request, turn) for request in requests])
        self._admit(turn, submission, evidence)
        return evidence

    def _read(self, turn: Turn, reply: Reply) -> object:
        rules, state = self.file.rules, self.file.state
        asked, got = reply.model_requested, reply.model_reported
        if asked and got not in {asked, NOT_REPORTED}:
            raise WrongIdentity(asked=asked, got=got)
        return rules.parse(state, turn, read_reply(reply, rules.schema(state, turn)))

    def _admit(self, turn: Turn, submission: object, evidence: tuple[CheckResult, ...]) -> None:
        rules, state = self.file.rules, self.file.state
        rules.admit(state, turn.seat, turn, submission, evidence=evidence, now=self.clock.now())

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
                raise Planted(f"other evidence lay in the vault where that of {turn.seat} was to be kept")
            self.found[request] = found
            if isinstance(request, CommandCheck) and isinstance(found, Evidence):
                self.tell(EventKind.CHECKED, turn, f"{say_command(request.argv)}: {say_result(found)}")
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
            turn=turn, attempt=attempt, reason=reason or reason_of(error), detail=str(error), usage=usage
        )
        await self.append(entry)
        self.tell(EventKind.ATTEMPT_FAILED, turn, f"{entry.reason}: {entry.detail}")

    async def append(self, *entries: Entry) -> None:
        """Append entries of this driver's, one batch at a time.

        Where somebody has closed the case meanwhile, nothing is appended: the next step sees it.
        """
        async with self.writing:
            await in_thread(partial(self.append_here, entries))

    def append_here(self, entries: Sequence[Entry]) -> None:
        """As `append`, for whoever holds `writing` and may block."""
        try:
            self.file.append_anyway(entries, self.clock.now())
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
            self.file.append_anyway((interrupted_entry(turn, attempt),), self.clock.now())

    def tell(self, kind: EventKind, turn: Turn, text: str) -> None:
        self.on_event(DriveEvent(kind=kind, case=self.file.channel, seat=turn.seat, round=turn.round, text=text))
