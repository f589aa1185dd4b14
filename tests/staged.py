"""A protocol of two stages, and cases of it played in memory: what every protocol made of stages has in common.

Speakers say a word, blind; where they differ, the author says one for all. It exists for tests of the machine alone.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from counterpoint.core.canonical import canonical_json, digest
from counterpoint.core.case import CaseState
from counterpoint.core.checks import CheckRequest, Evidence, EvidenceStatus, QuoteCheck
from counterpoint.core.conduct import Said
from counterpoint.core.docket import Docket, Seat, SeatKind, Terms
from counterpoint.core.entries import CaseClosed, CaseOpened, RevisionOffered, RoundOpened, SubmissionSealed
from counterpoint.core.forms import text
from counterpoint.core.limits import Limits
from counterpoint.core.machine import make_rules
from counterpoint.core.outcome import Coverage, Outcome
from counterpoint.core.rules import Opened
from counterpoint.core.sealing import seal, seal_evidence
from counterpoint.core.stages import Course, Follower, Part, Stage, stage_rows
from counterpoint.core.values import Decision, StopReason, Turn, Usage

__all__ = [
    "ADA",
    "BOB",
    "CHAIR",
    "NOW",
    "SALT",
    "WORDS",
    "Say",
    "WordState",
    "opened_with",
    "reply",
    "sealed",
    "start",
]

NOW: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)
SALT: Final = "0123456789abcdef" * 2
ADA: Final = Seat(name="ada", party="ada")
BOB: Final = Seat(name="bob", party="bob")
CHAIR: Final = Seat(name="chair", party="chair", kind=SeatKind.AUTHOR)


class Phase(StrEnum):
    OPENING = "opening"
    SAYING = "saying"
    SAID = "said"
    JOINING = "joining"
    JOINED = "joined"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    quote: str = text(most=100)
    word: str = text(most=20, blank=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordState(CaseState):
    words: tuple[str, ...] = ()
    joined: str = ""


def _checks(state: WordState, turn: Turn, said: Say) -> tuple[CheckRequest, ...]:
    return (QuoteCheck(path="notes.md", text=said.quote, candidate="t" * 40),) if said.quote else ()


def _quote_stands(said: Said[WordState]) -> str | None:
    refuted = [e for e in said.evidence if isinstance(e, Evidence) and e.status is EvidenceStatus.REFUTED]
    return "the quote stands nowhere" if refuted else None


def _follow(state: WordState, missing: tuple[str, ...]) -> Follower:
    if missing:
        return CaseClosed(
            stop_reason=StopReason.FAILED,
            decision=Decision.UNDETERMINED,
            detail=f"{', '.join(missing)} gave no valid answer",
        )
    if len(set(state.words)) == 1:
        return CaseClosed(stop_reason=StopReason.AGREED, decision=Decision.APPROVED, detail="one word")
    if state.stage == Phase.SAYING:
        return RoundOpened(round=state.round, reason="the words differ")
    word = digest(state.joined.encode())
    return RevisionOffered(seat="chair", round=state.round + 1, revision=len(state.offered) + 1, candidate=word)


def _decide(state: WordState, stop: StopReason) -> tuple[StopReason, Decision, tuple[str, ...]]:
    agree = bool(state.words) and len(set(state.words)) == 1
    if stop is StopReason.AGREED and agree:
        return stop, Decision.APPROVED, ("one word",)
    return (StopReason.ROUNDS_SPENT if stop is StopReason.AGREED else stop), Decision.UNDETERMINED, ("no one word",)


def _outcome(state: WordState) -> Outcome:
    return Outcome(
        decision=state.closed.decision if state.closed else Decision.UNDETERMINED,
        stop_reason=state.closed.stop_reason if state.closed else None,
        reasons=(),
        open_findings=(),
        refuted_findings=(),
        deferred_findings=(),
        evidence=EvidenceStatus.NOT_CHECKED,
        seats=(),
        coverage=Coverage(changed=(), unseen=(), unread=None),
        spent=state.spent,
    )


def _speakers(state: WordState) -> tuple[str, ...]:
    return tuple(seat.name for seat in state.case.judges)


def _two_speak(case: CaseOpened) -> str | None:
    return None if len(case.judges) > 1 else "one voice is no chorus"


_SAYING: Final[Stage[WordState]] = Stage(
    asks=_speakers,
    parts={
        SeatKind.OPINION: Part(
            form=Say,
            instructions="Say a word.",
            payload=lambda state, _turn: {"question": state.docket.question},
            guards={"QUORUM-1": _quote_stands},
            take=lambda state, _turn, said: replace(state, words=(*state.words, said.word)),
            checks=_checks,
        )
    },
)
_JOINING: Final[Stage[WordState]] = Stage(
    asks=lambda _state: ("chair",),
    parts={
        SeatKind.AUTHOR: Part(
            form=Say,
            instructions="Say one word for all.",
            payload=lambda state, _turn: {"words": list(state.words)},
            guards={},
            take=lambda state, _turn, said: replace(state, joined=said.word, words=()),
        )
    },
    blind=False,
)
WORDS: Final = make_rules(
    name="words",
    version=1,
    initial=WordState(phase=Phase.OPENING),
    table=MappingProxyType(
        {
            Phase.OPENING: {CaseOpened: Phase.SAYING},
            **stage_rows(Phase.SAYING, Phase.SAID, leads={RoundOpened: Phase.JOINING}, closed=Phase.CLOSED),
            **stage_rows(Phase.JOINING, Phase.JOINED, leads={RevisionOffered: Phase.SAYING}, closed=Phase.CLOSED),
            Phase.CLOSED: {},
        }
    ),
    course=Course(
        stages={Phase.SAYING: _SAYING, Phase.JOINING: _JOINING},
        follow=_follow,
        decide=_decide,
        outcome=_outcome,
        say=lambda entry: f"{entry.turn.seat} said something.",
        opening={"QUORUM-1": _two_speak},
    ),
)


def start(*roster: Seat, limits: Limits | None = None) -> WordState:
    """Return an opened case."""
    (entry,) = WORDS.open(
        Docket(question="Which word?", candidate=""),
        roster or (CHAIR, ADA, BOB),
        limits or Limits(),
        case="words-1",
        terms=Terms(),
        quorum=2,
        supervisor="owner",
        seed="5eed",
        now=NOW,
    )
    return WORDS.apply(WORDS.initial, entry)


def reply(word: str, quote: str = "") -> str:
    return canonical_json({"quote": quote, "word": word})


def sealed(state: WordState, seat: str, content: str, *evidence: Evidence) -> WordState:
    """Return the state after a seat's answer was sealed."""
    turn = next(turn for turn in WORDS.due(state, NOW) if turn.seat == seat)
    entry = SubmissionSealed(
        turn=turn,
        digest=seal(SALT, content.encode()),
        evidence=seal_evidence(SALT, evidence),
        model_requested="",
        model_reported="",
        usage=Usage(known=True),
        shown_paths=(),
    )
    return WORDS.apply(state, entry)


def opened_with(state: WordState, contents: dict[str, str], **evidence: tuple[Evidence, ...]) -> dict[str, Opened]:
    """Return what the vault gives back: each seat's reply, by its turn."""
    return {
        entry.turn.id: Opened(salt=SALT, content=contents[seat], submission=None, evidence=evidence.get(seat, ()))
        for seat, entry in state.sealed.items()
        if seat in contents
    }
