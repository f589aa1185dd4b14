"""A case of `answer` played in memory: what a driver does, without a store, an agent or a clock."""

from collections.abc import Mapping
from typing import Any, Final

from counterpoint.core.checks import Evidence, PathCheck, QuoteCheck
from counterpoint.core.docket import Docket, Seat, Terms
from counterpoint.core.entries import CaseOpened, Entry
from counterpoint.core.limits import Limits
from counterpoint.core.shuffling import labels_of
from counterpoint.protocols.answer import ANSWER, AnswerState, Phase
from tests.case_play import NOW, OWNER, SALT, SPENT, CasePlay, as_looked_up, opened_by, refused, through_json

__all__ = [
    "ADA",
    "BOB",
    "CYD",
    "FILES",
    "NOW",
    "OWNER",
    "QUESTION",
    "SALT",
    "SPENT",
    "TREE",
    "Play",
    "opening",
    "refused",
    "through_json",
]

QUESTION: Final = "Which city is the capital of France?"
TREE: Final = "e" * 40
FILES: Final[Mapping[str, str]] = {"atlas.md": "France\nThe capital is Paris.\n"}
ADA: Final = Seat(name="ada", party="claude")
BOB: Final = Seat(name="bob", party="codex")
CYD: Final = Seat(name="cyd", party="gemini")


def opening(
    *roster: Seat,
    docket: Docket | None = None,
    limits: Limits | None = None,
    terms: Terms | None = None,
    quorum: int | None = None,
) -> CaseOpened:
    """Return the opening of a case by this roster, as the rules make it."""
    docket, limits = docket or Docket(question=QUESTION), limits or Limits(max_rounds=3)
    return opened_by(ANSWER, roster, docket=docket, limits=limits, terms=terms, quorum=quorum)


class Play(CasePlay[AnswerState]):
    """A case that has files if its docket names a tree."""

    def __init__(self, *roster: Seat, **plan: Any) -> None:
        super().__init__(ANSWER, opening(*(roster or (ADA, BOB)), **plan))

    def look_up(self, request: Any) -> Evidence:
        assert isinstance(request, QuoteCheck | PathCheck)
        text = FILES.get(request.path)
        if isinstance(request, QuoteCheck):
            return as_looked_up(request, is_there=text is not None and request.text in text)
        return as_looked_up(request, is_there=text is not None and (request.line or 0) <= text.count("\n"))

    def label(self, reader: str, seat: str) -> str:
        """Return under which label one peer knows another."""
        labels = labels_of(self.state.case.seed, reader, self.state.peers)
        return next(label for label, name in labels.items() if name == seat)

    def said(self, seat: str, answer: str = "", **named: Any) -> dict[str, Any]:
        """Return the reply that a seat owes now.

        `agrees`: names of peers; `objects`: what is objected to, by peer or, of a candidate, as a list of points;
        `why`, `where` and `quote`: of a change of mind, the last two also of each objection.
        """
        if self.state.phase == Phase.CONFIRMING:
            return self._confirmed(**named)
        first = {"reasoning": "I know it.", "keyPoints": list(named.get("points", ["as is known"])), "answer": answer}
        if self.state.phase == Phase.ANSWERING:
            return first
        place = {"where": named.get("where", ""), "quote": named.get("quote", "")}
        objections = [
            {"point": point, "reason": "it is not so", **place, "peer": self.label(seat, peer)}
            for peer, point in named.get("objects", {}).items()
        ]
        agrees = [self.label(seat, peer) for peer in named.get("agrees", ())]
        return {
            **first,
            "objections": objections,
            "agreesWith": agrees,
            "changedMind": named.get("why", ""),
            **place,
        }

    def _confirmed(self, **named: Any) -> dict[str, Any]:
        place = {"where": named.get("where", ""), "quote": named.get("quote", "")}
        objections = [{"point": point, "reason": "it is not so", **place} for point in named.get("objects", ())]
        return {
            "reasoning": "I read it once more.",
            "objections": objections,
            "candidate": named.get("candidate", self.state.docket.candidate),
            "approved": named.get("approved", not objections),
        }

    def all_say(self, **given: dict[str, Any] | str | None) -> Entry:
        """Have everybody who owes a turn answer and settle; return what followed.

        A text is an answer, an object the arguments of `said`, None fails the seat for good.
        """
        for turn in self.due():
            named = given[turn.seat]
            if named is None:
                self.fail_for_good(turn.seat)
            else:
                said = self.said(turn.seat, named) if isinstance(named, str) else self.said(turn.seat, **named)
                self.answer(turn.seat, said)
        return self.settle()[-1]
