"""The loop: fold, settle, ask whoever is due, append. Running a case is repeating one step until it must wait.

The record is the only durable state. Resuming after `kill -9` is the same call: claims of a driver that died become
failed attempts, answers already in the vault are taken without asking again, and the step goes on.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import Final, Generic, TypeVar

from counterpoint.agents.base import Agent
from counterpoint.core.case import CaseState
from counterpoint.core.entries import (
    AnswerRequested,
    AttemptFailed,
    CandidateKept,
    CandidateOffered,
    CaseClosed,
    ChallengeOpened,
    ConsentGranted,
    Entry,
    FailureReason,
    ObserverDropped,
    RevisionOffered,
    RoundOpened,
    SubmissionSealed,
)
from counterpoint.core.limits import calls_left
from counterpoint.core.outcome import Outcome
from counterpoint.core.rules import Rules
from counterpoint.core.values import Turn, Usage
from counterpoint.core.wording import in_line
from counterpoint.drive.asking import Asker, Limiter
from counterpoint.drive.casefile import CaseFile
from counterpoint.drive.clock import Clock
from counterpoint.drive.kept import Openings, Voucher, get_reply, is_ours
from counterpoint.drive.progress import DriveEvent, EventKind, OnEvent, ignore_events, progress_of
from counterpoint.drive.subject import Subject
from counterpoint.drive.threads import in_thread
from counterpoint.errors import CounterpointError
from counterpoint.record.store import Store

__all__ = ["Driver", "Step"]

S = TypeVar("S", bound=CaseState)

_PER_DESTINATION: Final = 4
_NO_USAGE: Final = Usage()


class Step(StrEnum):
    """What one step came to."""

    AGAIN = "again"
    CLOSED = "closed"


class Driver(Generic[S]):
    """Advances one case. Holds no truth of its own; hold the case's lease while you use it."""

    def __init__(
        self,
        rules: Rules[S],
        store: Store,
        channel: str,
        agents: Mapping[str, Agent],
        subject: Subject,
        *,
        clock: Clock,
        salt: Callable[[], str],
        name: str,
        limiter: Limiter | None = None,
        on_event: OnEvent = ignore_events,
        voucher: Voucher | None = None,
        keep: Callable[[], None] | None = None,
    ) -> None:
        self._observer = on_event
        self._keep = keep
        self._dropped: str | None = None
        self._recovered = False
        self._clock = clock
        self._file = CaseFile(store, channel, rules)
        self._asker: Asker[S] = Asker(
            file=self._file,
            agents=agents,
            subject=subject,
            clock=clock,
            salt=salt,
            driver=name,
            limiter=limiter or Limiter(_PER_DESTINATION),
            on_event=self._tell,
            voucher=voucher or Voucher(),
        )

    async def run(self) -> Outcome:
        """Advance until the case is closed, and return its outcome.

        Raises:
            NeedsPerson: the case cannot go on before a person decides; everything so far is kept.
            RecordError: the record cannot be read or written.
        """
        while await self.advance() is Step.AGAIN:
            pass
        return self._file.rules.outcome(self._file.state)

    async def speak(self, speaker: str, submission: object, turn: Turn | None = None) -> None:
        """Take what somebody says without having been asked by this driver: a note, a withdrawal.

        Raises:
            Refused: the rules do not let this speaker say that now; nothing was written.
        """
        await in_thread(self._file.refresh)
        entries = self._file.rules.admit(
            self._file.state, speaker, turn, submission, evidence=(), now=self._clock.now()
        )
        await self._asker.append(*entries)

    async def record_consents(self, consents: Sequence[ConsentGranted]) -> None:
        """Record those of these grants that the case does not know yet."""
        state = await in_thread(self._file.refresh)
        known = {consent.digest for consent in state.consents}
        if new := [consent for consent in consents if consent.digest not in known]:
            await self._asker.append(*new)

    async def advance(self) -> Step:
        """Take one step."""
        file, asker = self._file, self._asker
        if not self._recovered:
            lost = await in_thread(self._recover)
            self._recovered = True
            if lost:
                await asker.append(*lost)
                return Step.AGAIN
        if self._dropped is not None and file.state.closed is None:
            detail, self._dropped = self._dropped, None
            await asker.append(ObserverDropped(detail=detail))
            return Step.AGAIN
        if settled := await self._settle():
            self._tell_settled(settled[-1])
            return Step.AGAIN
        await self._keep_document()
        if file.state.closed is None:
            await self._ask_all(file.rules.due(file.state, self._clock.now()))
        else:
            return Step.CLOSED
        return Step.AGAIN

    async def _keep_document(self) -> None:
        if self._keep is not None:
            await in_thread(self._keep)

    def _recover(self) -> tuple[AttemptFailed, ...]:
        """Learn what earlier drivers have kept, and return what became of the answers that they had not."""
        state = self._file.refresh()
        if state.closed is not None:
            return ()
        self._asker.known.update(self._kept())
        return self._lost(state)

    async def _settle(self) -> tuple[Entry, ...]:
        """Let follow what follows by itself, and return it: nothing where somebody is asked next, or it is closed."""
        asker = self._asker
        async with asker.writing:
            settled, put_away = await in_thread(self._settle_here)
        if settled is None:
            await self._land(self._file.state, Openings(asker.vault, self._file.rules, self._file.state))
            async with asker.writing:
                settled, put_away = await in_thread(partial(self._settle_here, is_landed=True))
        self._tell_put_away(put_away)
        return settled or ()

    def _settle_here(self, *, is_landed: bool = False) -> tuple[tuple[Entry, ...] | None, str]:
        """Read on, settle and append, all in one thread.

        Return the entries, or None where the branch has to be brought to an edit first; and a line about what was put
        away.
        """
        state, rules, now = self._file.refresh(), self._file.rules, self._clock.now()
        if state.closed is not None:
            return (), ""
        if not is_landed and self._to_land(state):
            return None, ""
        settled, put_away = rules.settle(state, now, Openings(self._asker.vault, rules, state)), ""
        if settled:
            if isinstance(settled[-1], CaseClosed):
                # Before the record says so: nobody goes on with a case that is closed.
                put_away = self._put_away(replace(state, closed=settled[-1]))
            self._asker.append_here(settled)
        return settled, put_away

    def _to_land(self, state: S) -> tuple[SubmissionSealed, ...]:
        """Return the accepted answers that may have edited, and are not yet opened in the record."""
        return tuple(
            sealed
            for sealed in state.sealed.values()
            if sealed.turn.id not in state.revealed and self._file.rules.exhibit(state, sealed.turn).edits
        )

    async def _land(self, state: S, openings: Openings) -> None:
        """Bring the branch to what accepted answers made, before they are opened in the record."""
        for sealed in self._to_land(state):
            found = await in_thread(partial(openings.get, sealed.turn.id))
            if found is not None:
                await self._asker.land(sealed, found.evidence)

    def put_away(self) -> None:
        """Leave no half edit in the work tree: what nobody will take any more is kept, and the tree put back.

        Call it when no step is under way, and nobody will take another for now.
        """
        try:
            state = self._file.refresh()
        except CounterpointError:
            state = self._file.state
        self._tell_put_away(self._put_away(state))

    def _put_away(self, state: S) -> str:
        """Put away what is no more to be taken, which of a closed case nothing is; return a line about it, or ""."""
        done = {failure.turn.id for failure in state.failures} | state.revealed.keys()
        try:
            kept = frozenset() if state.closed else frozenset(self._asker.vault.names())
            return self._asker.subject.put_away(lambda turn_id: f"reply-{turn_id}" in kept and turn_id not in done)
        except CounterpointError as error:
            return f"the work tree was left as it is: {error}"

    def _tell_put_away(self, line: str) -> None:
        if line:
            number = self._file.state.round
            self._tell(DriveEvent(kind=EventKind.PUT_AWAY, case=self._file.channel, round=number, text=line))

    def _kept(self) -> set[str]:
        """Return what an earlier driver had put into the vault: its evidence, and replies that it had asked for."""
        vault, voucher = self._asker.vault, self._asker.voucher
        asked = {f"reply-{claim.turn}" for claim in self._file.store.claims(self._file.channel)}
        patient = tuple(f".{seat}." for seat, agent in self._asker.agents.items() if agent.patient)
        return {
            name
            for name in vault.names()
            if (name in asked or name.startswith("evidence-") or any(seat in name for seat in patient))
            and is_ours(vault, name, voucher)
        }

    def _lost(self, state: S) -> tuple[AttemptFailed, ...]:
        """Return a failed attempt for every claim that nothing came of: its driver died."""
        store, channel, kept = self._file.store, self._file.channel, self._asker.known
        ended = {(f.turn.id, f.attempt) for f in state.failures}
        due = {turn.id: turn for turn in self._file.rules.due(state, self._clock.now())}
        return tuple(
            AttemptFailed(
                turn=due[claim.turn],
                attempt=claim.attempt,
                reason=FailureReason.DRIVER_LOST,
                detail="the driver that had asked ended before the answer was kept",
                usage=_NO_USAGE,
            )
            for claim in store.claims(channel)
            if claim.turn in due and f"reply-{claim.turn}" not in kept and (claim.turn, claim.attempt) not in ended
        )

    async def _ask_all(self, due: tuple[Turn, ...]) -> None:
        """Take what is in the vault already; ask the rest side by side, as far as the budget goes."""
        state, asker = self._file.state, self._asker
        assert due, "a settled case that is not closed owes a turn"
        to_ask: list[Turn] = []
        for turn in due:
            name = f"reply-{turn.id}"
            kept = await in_thread(partial(get_reply, asker.vault, turn.id)) if name in asker.known else None
            if kept is None:
                to_ask.append(turn)
            else:
                self._tell_turn(EventKind.RESUMED, turn, "had answered already")
                await asker.take(turn, kept)
        left = calls_left(state.case.limits, self._file.state.spent)
        asked = [asyncio.create_task(asker.ask(turn)) for turn in to_ask[:left]]
        try:
            results = await asyncio.gather(*asked, return_exceptions=True)
        except asyncio.CancelledError:
            await asyncio.gather(*asked, return_exceptions=True)
            raise
        for result in results:
            if isinstance(result, BaseException):
                raise result

    # --- telling

    def _tell(self, event: DriveEvent) -> None:
        if self._observer is ignore_events:
            return
        try:
            self._observer(event)
        except Exception as error:  # noqa: BLE001 - an application's callback must not end a case; it is recorded
            self._observer = ignore_events
            self._dropped = f"{type(error).__name__}: {error}"

    def _tell_turn(self, kind: EventKind, turn: Turn, text: str) -> None:
        self._asker.tell(kind, turn, text)

    def _tell_settled(self, entry: Entry) -> None:
        case, state, now = self._file.channel, self._file.state, self._clock.now()
        match entry:
            case CaseClosed():
                text = f"{entry.decision} ({entry.stop_reason}): {entry.detail}"
                self._tell(DriveEvent(kind=EventKind.CLOSED, case=case, text=text))
                return
            case AnswerRequested(findings=findings):
                text = f"{entry.seat} owes {len(findings)} answer{'s' if len(findings) > 1 else ''}"
            case CandidateOffered():
                text = f"the edit of {entry.seat} is read next"
            case CandidateKept():
                text = f"{entry.seat} changed nothing, and the same is read again"
            case RevisionOffered():
                text = f"version {entry.revision}, of {entry.seat}, is on the table"
            case RoundOpened(reason=reason):
                text = reason
            case ChallengeOpened(about=about):
                text = f"{', '.join(about)} may be challenged"
            case _:
                return
        progress = progress_of(state, self._file.rules.due(state, now), now)
        self._tell(
            DriveEvent(kind=EventKind.ROUND, case=case, round=entry.round, text=in_line(text), progress=progress)
        )
