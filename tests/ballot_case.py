"""A ballot played in memory: what a driver does, without a store, an agent or a clock."""

from collections.abc import Mapping
from typing import Any, Final

from counterpoint.core.checks import Evidence, PathCheck, QuoteCheck
from counterpoint.core.docket import Docket, Seat, SeatKind, Terms
from counterpoint.core.entries import AnswerRequested, CaseOpened, Entry
from counterpoint.core.limits import Limits
from counterpoint.protocols.ballot import BALLOT, BallotState, as_text, candidate_of, reservations_of
from tests.case_play import NOW, OWNER, CasePlay, as_looked_up, opened_by, refused, through_json

__all__ = [
    "ANN",
    "BEN",
    "CAT",
    "NOW",
    "ORCHESTRATOR",
    "OWNER",
    "SOURCES",
    "TEXT",
    "Play",
    "challenge",
    "docket_of",
    "opening",
    "refused",
    "revision",
    "through_json",
    "vote",
    "weights",
]

ORCHESTRATOR: Final = Seat(name="orchestrator", party="gemini", kind=SeatKind.AUTHOR)
ANN: Final = Seat(name="ann", party="claude")
BEN: Final = Seat(name="ben", party="codex")
CAT: Final = Seat(name="cat", party="owner-of-it", agent="human")
SOURCES: Final = "5" * 64
BODY: Final = "A timer fires once.\n\n- It never fires twice.\n"
TEXT: Final = as_text(BODY)


def docket_of(body: str = BODY, *, title: str = "Timers", **more: Any) -> Docket:
    text = as_text(body)
    return Docket(question=title, candidate=candidate_of(text), text=text, **more)


def opening(
    *roster: Seat,
    docket: Docket | None = None,
    limits: Limits | None = None,
    terms: Terms | None = None,
    quorum: int | None = None,
) -> CaseOpened:
    """Return the opening of a ballot by this roster, as the rules make it."""
    docket, limits = docket or docket_of(), limits or Limits(max_rounds=3)
    return opened_by(BALLOT, roster, docket=docket, limits=limits, terms=terms, quorum=quorum)


class Play(CasePlay[BallotState]):
    """A ballot on a text with these sources, if it is on one with any."""

    def __init__(self, *roster: Seat, sources: Mapping[str, str] | None = None, **plan: Any) -> None:
        self.sources = sources or {}
        if sources is not None:
            plan.setdefault("terms", Terms(sources=SOURCES))
        super().__init__(BALLOT, opening(*(roster or (ORCHESTRATOR, ANN, BEN)), **plan))

    def look_up(self, request: Any) -> Evidence:
        assert isinstance(request, QuoteCheck | PathCheck)
        text = self.sources.get(request.path)
        is_there = text is not None and (isinstance(request, PathCheck) or request.text in text)
        return as_looked_up(request, is_there=is_there)

    def settle_rest(self) -> Entry:
        """Reveal what is still sealed of a vote, and have its reservations classified."""
        seats = [s.turn.seat for s in self.state.sealed.values() if s.turn.id not in self.state.revealed]
        self.append(*(self.revealed(seat) for seat in seats))
        ids = tuple(each.id for each in reservations_of(self.state, self.state.round))
        asked = AnswerRequested(seat=self.state.orchestrator, round=self.state.round, findings=ids)
        return self.append(asked)[-1]


def vote(case: Play, word: str = "Approved", *points: str, needs: str = "nothing", **changes: Any) -> dict[str, Any]:
    """Return a vote on what is on the table, as a voter writes it; with points it has reservations."""
    word = {"yes": "Approved", "but": "Approved with reservations", "no": "Rejected"}.get(word, word)
    written = {
        "reason": f"{word}, since I read it",
        "reservations": [{"point": point, "needs": needs} for point in points],
        "version": case.state.version,
        "candidate": case.state.docket.candidate,
        "vote": word,
    }
    return written | changes


def weights(**given: str) -> dict[str, Any]:
    """Return a classification; `v1_R1="cosmetic"` names the reservation `v1-R1`."""
    named = [
        {"reservation": key.replace("_", "-"), "reason": f"it is {word}", "weight": word}
        for key, word in given.items()
    ]
    return {"classifications": named}


def challenge(*ids: str) -> dict[str, Any]:
    return {"challenges": [{"reservation": each, "reason": "it changes the meaning"} for each in ids]}


def revision(body: str, *answered: str) -> dict[str, Any]:
    """Return the orchestrator's next version with an answer to each of these."""
    return {"answers": [{"objection": each, "answer": "I changed it"} for each in answered], "text": body}
