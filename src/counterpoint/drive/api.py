"""The Python API: open a case in a store and drive it to its outcome. The command line makes the same calls.

    outcome = counterpoint.run("review", docket, {"critic": agent}, store=MemoryStore()).outcome

One asyncio loop may drive several cases side by side; give them one `Limiter`.
"""

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from counterpoint.agents.base import Agent
from counterpoint.core.case import CaseState
from counterpoint.core.checks import Evidence
from counterpoint.core.docket import Docket, Seat, SeatKind, Terms
from counterpoint.core.entries import ConsentGranted, Entry, EvidenceGathered
from counterpoint.core.limits import Limits
from counterpoint.core.outcome import Outcome
from counterpoint.core.rules import Rules
from counterpoint.drive.asking import Limiter
from counterpoint.drive.casefile import DRIVER_PARTY, CaseFile
from counterpoint.drive.cases import PROTOCOLS, SUPERVISOR, case_name
from counterpoint.drive.clock import Clock, SystemClock, format_stamp
from counterpoint.drive.driver import Driver
from counterpoint.drive.ids import Ids, RandomIds
from counterpoint.drive.progress import OnEvent, ignore_events
from counterpoint.drive.subject import Subject, TextSubject
from counterpoint.errors import ConfigError
from counterpoint.record.store import Genesis, Store

__all__ = ["SUPERVISOR", "CaseResult", "drive_case", "open_case", "roster_of", "run"]

_DEFAULT_LIMITS: Final = Limits()
_DEFAULT_TERMS: Final = Terms()
_CHECKS: Final = "checks"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """A driven case: its name in the store, and how it ended."""

    case: str
    outcome: Outcome


def rules_of(protocol: str) -> Rules[CaseState]:
    """Return the rules of a protocol by name.

    Raises:
        ConfigError: there is no such protocol.
    """
    found = PROTOCOLS.get(protocol)
    if found is None:
        raise ConfigError("protocol", f"one of {', '.join(PROTOCOLS)}", got=protocol)
    return found


def roster_of(
    seats: Mapping[str, Agent], parties: Mapping[str, str] | None = None, *, author: str | None = None
) -> tuple[Seat, ...]:
    """Return the roster that these agents fill, in their order; a party is named like its seat unless stated.

    The seat called `author` answers for what is judged; every other one judges.
    """
    return tuple(
        Seat(
            name=name,
            party=(parties or {}).get(name, name),
            kind=_kind_of(name, agent, author),
            agent=agent.kind,
            destination=agent.destination,
        )
        for name, agent in seats.items()
    )


def _kind_of(name: str, agent: Agent, author: str | None) -> SeatKind:
    if name == author:
        return SeatKind.AUTHOR
    return SeatKind.CHECKS if agent.kind == _CHECKS else SeatKind.OPINION


def open_case(
    protocol: str,
    docket: Docket,
    roster: Sequence[Seat],
    *,
    store: Store,
    clock: Clock,
    ids: Ids,
    limits: Limits = _DEFAULT_LIMITS,
    terms: Terms = _DEFAULT_TERMS,
    quorum: int | None = None,
    consents: Sequence[ConsentGranted] = (),
    keys: Sequence[str] = (),
    case: str | None = None,
    seed: str | None = None,
    evidence: Sequence[Evidence] = (),
) -> str:
    """Open a case and return its name; nothing is asked yet.

    Args:
        protocol: its name.
        docket: what the case is about.
        roster: who sits in it, in order.
        store: where its record is kept.
        clock: what time it is.
        ids: where random names come from.
        limits: what it may spend.
        terms: what else holds in it.
        quorum: how many reviewers must answer; all of them by default.
        consents: copies of the grants under which bytes may leave this machine.
        keys: public keys that may sign; those of the store.
        case: its name, where the caller has made one already.
        seed: hex digits that its order is shuffled by; random ones by default.
        evidence: what code has found already, in a protocol that takes it before the first answer.

    Raises:
        Refused: what it would be opened with is against the rules; nothing was written.
        RecordError: the channel cannot be made.
    """
    rules, now = rules_of(protocol), clock.now()
    name = case or case_name(protocol, now, ids.token(4))
    opening = opening_of(
        protocol,
        docket,
        roster,
        limits=limits,
        terms=terms,
        quorum=quorum,
        case=name,
        seed=seed or ids.token(16),
        now=now,
    )
    parties = (DRIVER_PARTY, SUPERVISOR, *(seat.name for seat in roster))
    genesis = Genesis(channel_id=ids.token(16), mode="strict", roster=parties, keys=tuple(keys))
    settings = {"supervisor": SUPERVISOR, "name": name, "managed_version": 3}
    store.create(name, genesis, stamp=format_stamp(now), sender=DRIVER_PARTY, settings=settings)
    found = [EvidenceGathered(evidence=each) for each in evidence]
    CaseFile(store, name, rules).append((*opening, *consents, *found), now)
    return name


def opening_of(
    protocol: str,
    docket: Docket,
    roster: Sequence[Seat],
    *,
    limits: Limits,
    terms: Terms,
    quorum: int | None,
    case: str,
    seed: str,
    now: datetime,
) -> tuple[Entry, ...]:
    """Return what the record of a case begins with; nothing is written.

    Raises:
        Refused: what it would be opened with is against the rules.
    """
    return rules_of(protocol).open(
        docket,
        tuple(roster),
        limits,
        case=case,
        terms=terms,
        quorum=sum(seat.kind is not SeatKind.AUTHOR for seat in roster) if quorum is None else quorum,
        supervisor=SUPERVISOR,
        seed=seed,
        now=now,
    )


async def drive_case(
    protocol: str,
    docket: Docket,
    seats: Mapping[str, Agent],
    *,
    store: Store,
    limits: Limits = _DEFAULT_LIMITS,
    terms: Terms = _DEFAULT_TERMS,
    author: str | None = None,
    quorum: int | None = None,
    keys: Sequence[str] = (),
    subject: Subject | None = None,
    consents: Sequence[ConsentGranted] = (),
    clock: Clock | None = None,
    ids: Ids | None = None,
    limiter: Limiter | None = None,
    on_event: OnEvent = ignore_events,
) -> CaseResult:
    """Open a case with these seats and drive it until it is closed.

    Args are those of `open_case`; besides, `author` names the seat that answers for what is judged, `subject` is what
    briefs show and code can look up (the docket's question by default), and cases side by side share one `limiter`. A
    store that signs needs its key in `keys`, or the record is unsigned.

    Raises:
        Refused: the case cannot be opened like this.
        NeedsPerson: it cannot go on before a person decides; what came in is kept in the store.
        RecordError: the record cannot be read or written.
    """
    clock, ids = clock or SystemClock(), ids or RandomIds(secrets.token_hex)
    case = open_case(
        protocol,
        docket,
        roster_of(seats, author=author),
        store=store,
        clock=clock,
        ids=ids,
        limits=limits,
        terms=terms,
        quorum=quorum,
        consents=consents,
        keys=keys,
    )
    driver = Driver(
        rules_of(protocol),
        store,
        case,
        seats,
        subject or TextSubject(docket.question),
        clock=clock,
        salt=lambda: ids.token(16),
        name=f"driver-{ids.token(4)}",
        limiter=limiter,
        on_event=on_event,
    )
    try:
        return CaseResult(case=case, outcome=await driver.run())
    finally:
        driver.put_away()


def run(
    protocol: str,
    docket: Docket,
    seats: Mapping[str, Agent],
    *,
    store: Store,
    limits: Limits = _DEFAULT_LIMITS,
    terms: Terms = _DEFAULT_TERMS,
    author: str | None = None,
    quorum: int | None = None,
    keys: Sequence[str] = (),
    subject: Subject | None = None,
    on_event: OnEvent = ignore_events,
) -> CaseResult:
    """`asyncio.run` around `drive_case`, for programs that have no loop of their own."""
    return asyncio.run(
        drive_case(
            protocol,
            docket,
            seats,
            store=store,
            limits=limits,
            terms=terms,
            author=author,
            quorum=quorum,
            keys=keys,
            subject=subject,
            on_event=on_event,
        )
    )
