"""The functions of a protocol that is made of stages: opening, turns, admission, reveals, and the fold.

Every rule here holds in each such protocol; what a protocol adds is in its `Course`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

from counterpoint.core.briefs import Brief
from counterpoint.core.canonical import visible
from counterpoint.core.case import CaseState, fold_shared
from counterpoint.core.checks import CheckRequest, Evidence
from counterpoint.core.codec import entry_type
from counterpoint.core.conduct import (
    OPENING,
    Said,
    case_is_open,
    is_as_sealed,
    reply_is_the_sealed_one,
    speaker_owes_the_turn,
    turn_is_owed,
    unasked_speech_is_the_supervisors,
)
from counterpoint.core.docket import Docket, Seat, Terms
from counterpoint.core.edits import CheckResult
from counterpoint.core.entries import (
    AnswerRequested,
    CaseClosed,
    CaseOpened,
    ChallengeOpened,
    Entry,
    EvidenceGathered,
    FailureReason,
    NoteAdded,
    RevisionOffered,
    RoundOpened,
    SubmissionRevealed,
)
from counterpoint.core.forms import read_form, read_text, schema_of
from counterpoint.core.limits import Limits, deadline_passed, reached
from counterpoint.core.narrowing import narrowed
from counterpoint.core.rules import AddNote, Exhibit, Materials, Opened, Rules, Withdraw, step_phase
from counterpoint.core.stages import Course, Part, Stage
from counterpoint.core.values import StopReason, Turn
from counterpoint.core.wording import describe
from counterpoint.errors import Refused, UnknownEntry

__all__ = ["make_rules"]

S = TypeVar("S", bound=CaseState)

_OPENS_A_STAGE: Final = RevisionOffered | RoundOpened | ChallengeOpened | AnswerRequested

_ANSWERED: Final = frozenset({FailureReason.BAD_REPLY, FailureReason.REFUSED, FailureReason.TREE_TOUCHED})
"""Failed attempts in which the seat did answer, and can do better."""


class _Machine(Generic[S]):
    """The functions of a `Rules` value over one course."""

    def __init__(
        self,
        name: str,
        version: int,
        initial: S,
        table: Mapping[str, Mapping[type[Entry], str]],
        course: Course[S],
    ) -> None:
        self.name, self.version, self.initial, self.table, self.course = name, version, initial, table, course
        self.opening = {**OPENING, **course.opening}
        self.speech: Mapping[str, Callable[[Said[S]], str | None]] = {
            "TURN-3": case_is_open(course.stages.keys()),
            "NOTE-1": unasked_speech_is_the_supervisors,
            "TURN-1": speaker_owes_the_turn(self.owed),
            "TURN-2": self.is_of_the_form,
        }
        self.standing: Mapping[str, Callable[[S, Entry], str | None]] = {
            "SEAL-1": turn_is_owed(self.owed),
            "SEAL-2": reply_is_the_sealed_one,
            "FOLLOW-1": self.follows,
            "CLOSE-1": self.is_computed,
        }

    # --- who owes what

    def stage(self, state: S) -> Stage[S]:
        """Return the stage that is or was asked last."""
        return self.course.stages[state.stage]

    def part(self, state: S, turn: Turn) -> Part[S]:
        seat = state.case.seat(turn.seat)
        assert seat is not None, f"turn {turn.id} is of no seat in the roster"
        return self.course.stages[turn.phase].parts[seat.kind]

    def waiting(self, state: S) -> tuple[str, ...]:
        """Return who owes an answer in the stage and may still give it."""
        return tuple(s for s in self.stage(state).asks(state) if s not in state.sealed and not state.is_out(s))

    def missing(self, state: S) -> tuple[str, ...]:
        """Return who was asked in the stage and has no answer in it."""
        return tuple(seat for seat in self.stage(state).asks(state) if seat not in state.sealed)

    def owed(self, state: S) -> tuple[Turn, ...]:
        if state.phase not in self.course.stages:
            return ()
        blind = self.stage(state).blind
        return tuple(
            Turn(phase=state.phase, round=state.round, seat=seat, ask=len(state.failures_of(seat)) + 1, blind=blind)
            for seat in self.waiting(state)
        )

    # --- what may be said, and stand

    def is_of_the_form(self, said: Said[S]) -> str | None:
        if said.turn is None:
            return None
        form = self.part(said.state, said.turn).form
        given = type(said.submission).__name__
        return (
            None if isinstance(said.submission, form) else f"{said.speaker!r} owes a {form.__name__}, not a {given}"
        )

    def follows(self, state: S, entry: Entry) -> str | None:
        if not isinstance(entry, _OPENS_A_STAGE):
            return None
        if waiting := self.waiting(state):
            return f"{type(entry).__name__} follows, and {', '.join(waiting)} is still asked"
        if sealed := [s.turn.seat for s in state.sealed.values() if s.turn.id not in state.revealed]:
            return f"{type(entry).__name__} follows, and the answer of {', '.join(sealed)} is still sealed"
        computed = self.course.follow(state, self.missing(state))
        return None if entry == computed else f"{entry} follows; the rules compute {computed}"

    def is_computed(self, state: S, entry: Entry) -> str | None:
        if not isinstance(entry, CaseClosed):
            return None
        computed = self.ending(state, entry.stop_reason, entry.detail)
        if entry == computed:
            return None
        return (
            f"the entry says {entry.decision} ({entry.stop_reason});"
            f" the rules compute {computed.decision} ({computed.stop_reason})"
        )

    def ending(self, state: S, stop: StopReason, detail: str) -> CaseClosed:
        reason, decision, _ = self.course.decide(state, stop)
        return CaseClosed(stop_reason=reason, decision=decision, detail=detail)

    # --- the functions of Rules

    def open(
        self,
        docket: Docket,
        roster: tuple[Seat, ...],
        limits: Limits,
        *,
        case: str,
        terms: Terms,
        quorum: int,
        supervisor: str,
        seed: str,
        now: datetime,
    ) -> tuple[Entry, ...]:
        opening = CaseOpened(
            protocol=self.name,
            rules_version=self.version,
            case=case,
            docket=docket,
            roster=roster,
            limits=limits,
            terms=terms,
            quorum=quorum,
            supervisor=supervisor,
            seed=seed,
            opened_at=now.isoformat(timespec="seconds"),
        )
        self.hold_opening(opening)
        return (opening,)

    def hold_opening(self, case: CaseOpened) -> None:
        for rule, guard in self.opening.items():
            if reason := guard(case):
                raise Refused(rule, reason)

    def apply(self, state: S, entry: Entry) -> S:
        phase = step_phase(self.table, state.phase, entry)
        if isinstance(entry, CaseOpened):
            if (entry.protocol, entry.rules_version) != (self.name, self.version):
                given = f"{entry.protocol} in version {entry.rules_version}"
                raise UnknownEntry(
                    entry_type(entry), f"{given}; these are the rules of {self.name} in {self.version}"
                )
            self.hold_opening(entry)
        for rule, guard in self.standing.items():
            if reason := guard(state, entry):
                raise Refused(rule, reason)
        after = fold_shared(state, entry)
        if isinstance(entry, SubmissionRevealed):
            after = self.take(state, after, entry)
        if phase in self.course.stages and phase != state.phase:
            after = replace(after, stage=phase, sealed=MappingProxyType({}))
        return replace(after, phase=phase)

    def take(self, before: S, after: S, entry: SubmissionRevealed) -> S:
        """Fold a revealed reply: read it as it was read when it came in, and hold it to the same guards."""
        part, turn = self.part(before, entry.turn), entry.turn
        submission: Any = read_text(part.form, entry.reply)
        requests = part.checks(before, turn, submission)
        known: dict[CheckRequest, Evidence] = {evidence.request: evidence for evidence in before.evidence}
        if (unknown := next((r for r in requests if r not in known), None)) is not None:
            raise Refused("EVIDENCE-1", f"nothing in the record says what code found for {unknown}")
        evidence = tuple(known[request] for request in requests)
        said = Said(state=before, speaker=turn.seat, turn=turn, submission=submission, evidence=evidence)
        self.hold(said, part.guards)
        return part.take(after, turn, submission)

    def hold(self, said: Said[S], guards: Mapping[str, Callable[[Said[S]], str | None]]) -> None:
        for rule, guard in guards.items():
            if reason := guard(said):
                raise Refused(rule, reason, seat=said.speaker)

    def due(self, state: S, now: datetime) -> tuple[Turn, ...]:
        return self.owed(state)

    def exhibit(self, state: S, turn: Turn) -> Exhibit:
        return Exhibit(base="", candidate=state.docket.candidate)

    def brief(self, state: S, turn: Turn, materials: Materials) -> Brief:
        part = self.part(state, turn)
        payload = {**part.payload(state, turn), "effort": state.case.terms.effort.value}
        if turned_away := [f for f in state.failures_of(turn.seat) if f.reason in _ANSWERED]:
            payload["your_last_answer_was_not_accepted"] = turned_away[-1].detail
        schema = schema_of(part.form)
        return Brief(
            instructions=part.instructions,
            payload=payload,
            schema=schema,
            shown_paths=(),
            words=part.words,
            narrowed=narrowed(part.form, schema, payload),
        )

    def schema(self, state: S, turn: Turn) -> Mapping[str, Any]:
        return schema_of(self.part(state, turn).form)

    def parse(self, state: S, turn: Turn, reply: Mapping[str, Any]) -> Any:
        return read_form(self.part(state, turn).form, reply)

    def checks(self, state: S, turn: Turn, submission: Any) -> tuple[CheckRequest, ...]:
        return self.part(state, turn).checks(state, turn, submission)

    def admit(
        self,
        state: S,
        speaker: str,
        turn: Turn | None,
        submission: Any,
        *,
        evidence: tuple[CheckResult, ...],
        now: datetime,
    ) -> tuple[Entry, ...]:
        said = Said(state=state, speaker=speaker, turn=turn, submission=submission, evidence=evidence)
        self.hold(said, self.speech)
        match submission:
            case AddNote(text=text):
                return (NoteAdded(by=speaker, text=visible(text)),)
            case Withdraw(reason=reason):
                return (self.ending(state, StopReason.WITHDRAWN, visible(reason)),)
            case _:
                assert turn is not None, "NOTE-1 refuses an unasked answer"
                if self.course.late and (passed := deadline_passed(state.case.limits, now)):
                    raise Refused(self.course.late, f"{passed}; it is {now.isoformat()}", seat=speaker)
                self.hold(said, self.part(state, turn).guards)
                return ()

    def settle(self, state: S, now: datetime, opened: Mapping[str, Opened]) -> tuple[Entry, ...]:
        if state.phase not in self.course.stages:
            # A reveal and what follows from it are one batch: outside a stage an open record was cut.
            is_cut = state.opened is not None and state.closed is None
            detail = "the record ends in the middle of a reveal"
            return (self.ending(state, StopReason.FAILED, detail),) if is_cut else ()
        is_over = not self.waiting(state)
        stop = None if is_over else reached(state.case.limits, state.spent, now)
        if not is_over and stop is None:
            return ()
        after, revealed, unopened = self.reveal(state, opened)
        if unopened:
            detail = f"the sealed reply of {', '.join(unopened)} cannot be opened"
            return (*revealed, self.ending(after, StopReason.FAILED, detail))
        stop = stop or self.course.halts(after, now)
        if stop is not None:
            return (*revealed, self.ending(after, *stop))
        return (*revealed, self.course.follow(after, self.missing(after)))

    def reveal(self, state: S, opened: Mapping[str, Opened]) -> tuple[S, tuple[Entry, ...], tuple[str, ...]]:
        """Open everything that is sealed, in the order asked; return also the seats whose reply cannot be opened."""
        after, entries, unopened = state, list[Entry](), list[str]()
        for seat in self.stage(state).asks(state):
            sealed = state.sealed.get(seat)
            if sealed is None:
                continue
            found = opened.get(sealed.turn.id)
            if found is None or not is_as_sealed(sealed, found):
                unopened.append(seat)
                continue
            known = {evidence.request for evidence in after.evidence}
            fresh = [e for e in found.evidence if isinstance(e, Evidence) and e.request not in known]
            batch: list[Entry] = [EvidenceGathered(evidence=evidence) for evidence in fresh]
            batch.append(SubmissionRevealed(turn=sealed.turn, salt=found.salt, reply=found.content))
            for entry in batch:
                after = self.apply(after, entry)
            entries += batch
        return after, tuple(entries), tuple(unopened)

    def describe(self, entry: Entry) -> str:
        return self.course.say(entry) if isinstance(entry, SubmissionRevealed) else describe(entry)


def make_rules(
    *,
    name: str,
    version: int,
    initial: S,
    table: Mapping[str, Mapping[type[Entry], str]],
    course: Course[S],
) -> Rules[S]:
    """Return the protocol that these stages make.

    Args:
        name: of the protocol.
        version: of its rules.
        initial: the state before the first entry.
        table: which entry may follow in which phase; `stage_rows` makes most of it.
        course: the stages, and what follows from them.
    """
    machine = _Machine(name, version, initial, table, course)
    return Rules(
        name=name,
        version=version,
        initial=initial,
        table=table,
        open=machine.open,
        apply=machine.apply,
        due=machine.due,
        exhibit=machine.exhibit,
        brief=machine.brief,
        schema=machine.schema,
        parse=machine.parse,
        checks=machine.checks,
        admit=machine.admit,
        settle=machine.settle,
        outcome=course.outcome,
        describe=machine.describe,
        exit_code=course.exit_code,
        document=course.document,
    )
