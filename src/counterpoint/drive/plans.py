"""What a case is to be, before anything is asked or written: its docket, who sits in it, and what it may spend.

`planning` makes the plan of a review, `inquiry` that of a case about a question or a text. From here on all are
alike: their agents are built once, a person is asked for leave, the beginning is written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from counterpoint.core.checks import Evidence
from counterpoint.core.docket import Docket, Seat, SeatKind, Terms
from counterpoint.core.entries import CaseOpened, ConsentGranted
from counterpoint.core.limits import Limits
from counterpoint.drive.api import open_case, opening_of, rules_of
from counterpoint.drive.clock import format_stamp
from counterpoint.drive.consent import Grant, Scope
from counterpoint.drive.ground import Ground
from counterpoint.drive.permission import Wanted, wanted
from counterpoint.drive.session import Session
from counterpoint.drive.settings import AgentKind, LimitSettings, Settings
from counterpoint.drive.store import machine_key, open_store
from counterpoint.errors import Refused

if TYPE_CHECKING:
    from counterpoint.drive.proposing import Proposal

__all__ = ["CasePlan", "Leave", "check_opening", "consent_of", "leave_of", "limits_of", "open_planned", "seat_names"]


def _nothing() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """What a person has to allow before a case may go on, and where that is kept."""

    wanted: Wanted
    ground: Ground
    own_branch: bool = True
    """Whether the case is about this checkout's own branch; an answer about anything else is not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePlan:
    """What a case would be."""

    protocol: str
    ground: Ground
    docket: Docket
    terms: Terms
    limits: Limits
    """Without a deadline, which is counted from the opening."""
    deadline_s: int = 0
    quorum: int = 0
    """Zero: all who judge."""
    author: str = ""
    """The name of the agent that answers for what is judged; empty: nobody."""
    judges: tuple[str, ...]
    """Names of agents, in the order of their seats."""
    given: Mapping[str, str] = field(default_factory=_nothing)
    """The settings of those agents that were given for this case alone, by name, as canonical JSON."""
    most_calls: int = 0
    """How many questions its rounds ask at most, where that is known; zero: as many as the limits allow."""
    proposal: "Proposal | None" = None
    """Where nobody had named who sits: who would."""
    evidence: tuple[Evidence, ...] = ()
    """What code has found already of what is judged."""

    @property
    def settings(self) -> Settings:
        return self.ground.settings

    @property
    def notices(self) -> tuple[str, ...]:
        """Lines for standard error."""
        return self.ground.notices

    @property
    def seats(self) -> tuple[str, ...]:
        """Names of agents in the order of the roster: the author, where there is one, then those who judge."""
        return (self.author, *self.judges) if self.author else self.judges

    @property
    def roster(self) -> tuple[Seat, ...]:
        parties = self.seats
        seats = []
        for name, party in zip(seat_names(parties), parties, strict=True):
            agent = self.settings.agents[party]
            kind = SeatKind.CHECKS if agent.kind is AgentKind.CHECKS else SeatKind.OPINION
            seats.append(
                Seat(
                    name=name,
                    party=party,
                    kind=kind,
                    agent=agent.kind.value,
                    destination=agent.destination,
                    given=self.given.get(party, ""),
                )
            )
        if self.author:
            seats[0] = replace(seats[0], kind=SeatKind.AUTHOR)
        return tuple(seats)

    @property
    def calls(self) -> int:
        """How many questions may be asked at most; zero: any number."""
        bounds = [number for number in (self.most_calls, self.limits.max_calls) if number]
        return min(bounds, default=0)

    @property
    def effort(self) -> str:
        return self.terms.effort.value

    def leave(self, *, own_branch: bool = True) -> Leave:
        """Return what a person has to allow for it."""
        author = self.author if self.docket.is_about_change else ""
        asked = _wanted(self.settings, self.seats, self.docket, self.terms, author=author)
        return Leave(wanted=asked, ground=self.ground, own_branch=own_branch)


def leave_of(ground: Ground, opened: CaseOpened) -> Leave:
    """Return what a person has to allow for an open case to go on."""
    edits = rules_of(opened.protocol).edits(opened)
    author = opened.author.party if opened.author is not None and edits else ""
    parties = [seat.party for seat in opened.roster]
    asked = _wanted(ground.settings, parties, opened.docket, opened.terms, author=author)
    return Leave(wanted=asked, ground=ground, own_branch=not opened.docket.pull_request)


def _wanted(settings: Settings, parties: Sequence[str], docket: Docket, terms: Terms, *, author: str) -> Wanted:
    is_change = docket.is_about_change
    return wanted(
        settings,
        parties,
        docket.commands,
        author=author,
        least=Scope.CHANGE if is_change else Scope.TEXT,
        has_tree=is_change or bool(docket.tree or terms.sources),
    )


def limits_of(limits: LimitSettings, *, max_rounds: int, min_rounds: int = 1, stall_rounds: int = 0) -> Limits:
    """Return the limits of a case as the settings have them, without a deadline."""
    return Limits(
        max_rounds=max_rounds,
        min_rounds=min_rounds,
        stall_rounds=stall_rounds,
        max_calls=limits.max_calls,
        max_tokens=limits.max_tokens,
        max_output_tokens=limits.max_output_tokens,
        call_timeout_s=limits.call_timeout_s,
        max_asks=limits.asks_per_turn,
    )


def check_opening(session: Session, plan: CasePlan) -> None:
    """Hold a planned case to the rules that it would be opened under; nothing is written.

    Raises:
        Refused: the roster, the limits or the docket are against them; the hint says what to ask for instead.
    """
    try:
        opening_of(
            plan.protocol,
            plan.docket,
            plan.roster,
            limits=plan.limits,
            terms=plan.terms,
            quorum=plan.quorum or None,
            case=f"{plan.protocol}-planned",
            seed=session.ids.token(16),
            now=session.clock.now(),
        )
    except Refused as error:
        raise Refused(error.rule, error.reason, hint=error.hint or _INSTEAD.get(error.rule, "")) from None


_INSTEAD: Final[Mapping[str, str]] = MappingProxyType(
    {
        "POSITION-2": "name each --option once, in words that differ, and two of them at least",
        "PEER-1": "name 2 to 99 peers, such as `--peers claude,codex`",
        "LIMIT-1": "raise --max-rounds or --max-calls, whichever is too small",
    }
)
"""By the rule that would not open a case: what to ask for instead. Documents say it by their own lines."""


def open_planned(
    session: Session, plan: CasePlan, *, case: str, grants: Sequence[Grant], seed: str | None = None
) -> None:
    """Write the beginning of a planned case; nobody is asked yet.

    Args:
        session: what this process drives with.
        plan: the case.
        case: its name.
        grants: consents that it is opened with.
        seed: what is shuffled by; a new one by default.

    Raises:
        Refused: the roster or the limits are against the rules.
        RecordError: the record cannot be written.
    """
    # A stamp is of whole seconds: one more, so that the case is never cut short.
    ends = session.clock.now() + timedelta(seconds=plan.deadline_s + 1) if plan.deadline_s else None
    open_case(
        plan.protocol,
        plan.docket,
        plan.roster,
        store=open_store(session.cases, session.folders),
        clock=session.clock,
        ids=session.ids,
        limits=replace(plan.limits, deadline=None if ends is None else format_stamp(ends)),
        terms=plan.terms,
        quorum=plan.quorum or None,
        consents=[consent_of(grant) for grant in grants],
        keys=(machine_key(session.folders).public,),
        case=case,
        seed=seed,
        evidence=plan.evidence,
    )


def consent_of(grant: Grant) -> ConsentGranted:
    """Return the copy of a grant that a case records."""
    return ConsentGranted(
        destination=grant.destination,
        by=grant.by,
        granted_at=grant.granted_at,
        until=grant.until,
        scope=grant.scope.value,
        digest=grant.digest,
    )


def seat_names(parties: Sequence[str]) -> tuple[str, ...]:
    """Return a seat name for each party; a second one of the same agent is `name-2`, or the next that is free."""
    names: list[str] = []
    for party in parties:
        name, number = party, 1
        while name in names or (number > 1 and name in parties):
            number += 1
            name = f"{party}-{number}"
        names.append(name)
    return tuple(names)
