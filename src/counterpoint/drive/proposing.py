"""Who could take the seats for which nobody named an agent: the best that this machine has, and why.

The choice is a function of what `surveying` saw:

- Only who could give an opinion now: a program that is here, signed in and as its profile says, or a model whose key
  is set. The project's checks, a person and a script are named by people, never proposed.
- Where enough agents are set up, it is made among them, and there is nothing to ask.
- Vendors differ first. Then come those that are set up, then a fixed order.
- One whose login cannot be seen comes after those whose login can, and the small local model last.
- Who sits there already counts: others are looked for first, of other vendors.
- One agent takes several seats only where the case allows that, and there is nobody else.
- Two seats of one vendor are not independent, and that is said.

Nothing is set up here before a person said yes; `cli.allow` asks.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from types import MappingProxyType
from typing import Final

from counterpoint.drive.adding import add_agent, add_line
from counterpoint.drive.config import load
from counterpoint.drive.ground import settings_here
from counterpoint.drive.keys import read_agents
from counterpoint.drive.paths import Folders, path_text
from counterpoint.drive.permission import Proposed
from counterpoint.drive.probing import SignedIn
from counterpoint.drive.session import Session
from counterpoint.drive.settings import (
    BUILT_IN,
    AgentKind,
    AgentSettings,
    Origin,
    Settings,
    Source,
)
from counterpoint.drive.shapes import Place
from counterpoint.drive.surveying import KNOWN, Surveyed, survey, survey_kinds
from counterpoint.errors import ConfigError

__all__ = ["Proposal", "choose", "explain_choice", "joined", "offer", "propose_agents", "propose_named"]

_NO_OPINION: Final = frozenset({AgentKind.CHECKS, AgentKind.HUMAN, AgentKind.SCRIPTED})
_ORDER: Final = (*KNOWN, AgentKind.CHAT, AgentKind.COMMAND, AgentKind.LOCAL)
_SAME: Final = "same vendor: not independent"
_WEAK: Final = "a small model on this machine: what it says has the right form, and little judgement"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Who would take the seats. A case command takes `seats` and `settings`, and hands the whole to `ask_leave`."""

    seats: tuple[str, ...]
    """The name of an agent for each seat; one that takes several stands there as often."""
    chosen: tuple[Proposed, ...]
    """The same agents, each once."""
    tables: Mapping[str, Mapping[str, object]]
    """The settings of those that are new, by name."""
    settings: Settings
    """Of the run, with those that are new."""
    remarks: tuple[str, ...]
    """What is to be told where nobody is asked, because none is new."""

    @property
    def asked(self) -> tuple[Proposed, ...]:
        """What a person is asked about: all of them, or nothing where none is new."""
        return self.chosen if self.tables else ()

    def add(self, *, folders: Folders, environment: Mapping[str, str]) -> None:
        """Add those that are new to the person's own settings.

        Raises:
            ConfigError: one cannot be added.
        """
        for name, table in self.tables.items():
            add_agent(name, table, folders=folders, environment=environment)


def propose_agents(
    session: Session, settings: Settings, needed: int, *, beside: Sequence[str] = (), may_repeat: bool = False
) -> Proposal:
    """Return who would take the seats of a case for which nobody named an agent.

    A case command calls it where neither a flag nor a setting names who sits. It goes on with the proposal's settings
    in the place of its own, and hands the proposal to `ask_leave`, which asks on its one screen and refuses where
    nobody is there to ask. Nothing is asked where enough agents are set up already.

    Args:
        session: of the run. A replay has the agents of its cassette, and none is looked at.
        settings: of the run.
        needed: how many seats nobody is named for.
        beside: the agents that are named for the others.
        may_repeat: whether one agent may take several seats.

    Raises:
        ConfigError: there are too few.
        SourceError: the disk refuses a temporary folder.
    """
    is_replay = session.taping is not None and session.taping.is_replay
    found = _recorded(settings) if is_replay else survey(settings, environment=session.environment)
    seated = [each for each in found if each.name in beside]
    return _proposal(choose(found, needed, beside=seated, may_repeat=may_repeat), session, settings, seated)


def propose_named(session: Session, names: Sequence[str], *, flags: Mapping[str, object]) -> Proposal | None:
    """Return a proposal of those of these names that are known makes, are here, and that nobody has set up.

    Args:
        session: of the run.
        names: of the agents that a command line seats; an empty one is nobody's.
        flags: its settings by dotted key, but for those that name agents.

    Returns:
        None where there is none, or one of the names is neither set up nor found here.

    Raises:
        ConfigError: a setting is wrong.
        SourceError: the disk refuses a temporary folder.
    """
    if set(KNOWN).isdisjoint(names):
        return None
    own, environment = session.folders, session.environment
    files, _ = settings_here(session.repo, flags=flags, folders=own, environment=environment)
    settings = load(flags=flags, environment=environment, settings_file=own.settings_file, repository=files).settings
    return offer(session, settings, names)


def offer(session: Session, settings: Settings, names: Sequence[str]) -> Proposal | None:
    """Return what `propose_named` does, where the settings of the run have been read already.

    Raises:
        SourceError: the disk refuses a temporary folder.
    """
    if session.taping is not None and session.taping.is_replay:
        return None
    unknown = tuple(dict.fromkeys(name for name in names if name and name not in settings.agents))
    if not unknown or not set(unknown) <= set(KNOWN):
        return None
    found = survey_kinds([AgentKind(name) for name in unknown], environment=session.environment)
    able = [each for each in found if _is_able(each)]
    return _proposal(able, session, settings) if len(able) == len(found) else None


def joined(named: Proposal | None, found: Proposal | None) -> Proposal | None:
    """Return both as one: of those that are named, and of those that were found beside them."""
    if named is None or found is None:
        return named or found
    return Proposal(
        seats=found.seats,
        chosen=(*named.chosen, *found.chosen),
        tables={**named.tables, **found.tables},
        settings=found.settings,
        remarks=(),
    )


def choose(
    found: Sequence[Surveyed], needed: int, *, beside: Sequence[Surveyed] = (), may_repeat: bool = False
) -> tuple[Surveyed, ...]:
    """Return the agent of each seat, the best that was found.

    Args:
        found: who could take one.
        needed: how many seats there are.
        beside: who sits in the others.
        may_repeat: whether one agent may take several.

    Raises:
        ConfigError: there are too few.
    """
    able = [each for each in found if _is_able(each)]
    free = able if may_repeat else [each for each in able if each not in beside]
    strong = [each for each in free if not each.is_weak]
    others = [each for each in strong if each not in beside]
    set_up = [each for each in others if not each.table]
    for pool in (set_up, others, strong, free):
        can_repeat = may_repeat and pool is not set_up  # before that, others are looked for
        if len(pool) >= needed or (can_repeat and pool):
            return tuple(islice(cycle(_best(pool, needed, beside)), needed))
    seats = f"{needed} agents that can take a seat" if needed > 1 else "an agent that can take a seat"
    hint = "`counterpoint agents` says for each what is missing, and how to bring it; your own seat is named `human`"
    raise ConfigError("agents", seats, got=len(free), hint=hint)


def _is_able(each: Surveyed) -> bool:
    return each.kind not in _NO_OPINION and each.is_usable and (each.is_set_up or bool(each.table))


def _best(pool: Sequence[Surveyed], most: int, beside: Sequence[Surveyed]) -> list[Surveyed]:
    """Return the best of them, at most so many. In the fixed order: setting them up moves nobody's seat."""
    left, taken = list(pool), list[Surveyed]()
    while left and len(taken) < most:
        vendors = {each.vendor for each in (*beside, *taken)}
        best = min(left, key=lambda each: _rank(each, is_repeated=each.vendor in vendors))
        left.remove(best)
        taken.append(best)
    return sorted(taken, key=_place)


def _rank(each: Surveyed, *, is_repeated: bool) -> tuple[bool, bool, bool, bool, bool, int, str]:
    is_unsure = bool(each.table) and each.signed_in is SignedIn.UNKNOWN
    return each.is_weak, is_unsure, is_repeated, bool(each.table), *_place(each)


def _place(each: Surveyed) -> tuple[bool, int, str]:
    return each.is_weak, _ORDER.index(each.kind), each.name


def explain_choice(seats: Sequence[Surveyed], beside: Sequence[Surveyed] = ()) -> tuple[Proposed, ...]:
    """Return each agent of these seats once, with why it was taken beside those that sit there already."""
    said: list[Proposed] = []
    vendors = [each.vendor for each in beside]
    for each in dict.fromkeys(each.name for each in seats):
        agent = next(seat for seat in seats if seat.name == each)
        why = "; ".join((_what(agent), *_reasons(agent, vendors, sum(seat.name == each for seat in seats))))
        vendors.append(agent.vendor)
        said.append(Proposed(name=each, why=why, add=add_line(each, agent.table) if agent.table else ""))
    return tuple(said)


def _what(each: Surveyed) -> str:
    if each.is_weak:
        return _WEAK
    if not each.table:
        return "set up already"
    if not each.program:
        return f"its key is in {each.how}, model {each.table['model']}"
    if each.signed_in is SignedIn.UNKNOWN:
        return f"version {each.version} is here; whether it is signed in cannot be seen"
    return f"version {each.version} is here, signed in by {each.how}"


def _reasons(each: Surveyed, vendors: Sequence[str], seats: int) -> Iterator[str]:
    vendor = each.vendor
    if each.is_weak:
        yield "taken because nobody else is here"
    if vendor in vendors:
        yield f"vendor {vendor}, {_SAME}"
    elif vendors:
        yield f"another vendor, {vendor}"
    elif not each.is_weak:
        yield f"vendor {vendor}"
    if seats > 1:
        yield f"takes {seats} seats, because nobody else is here; {_SAME}"


def _remarks(seats: Sequence[Surveyed]) -> Iterator[str]:
    for vendor, number in Counter(each.vendor for each in seats).items():
        if number > 1:
            names = dict.fromkeys(each.name for each in seats if each.vendor == vendor)
            yield f"{number} seats are {' and '.join(names)}'s, {_SAME}"
    for each in {each.name: each for each in seats if each.is_weak}.values():
        yield f"{each.name} is {_WEAK}"


def _recorded(settings: Settings) -> tuple[Surveyed, ...]:
    """Return the agents of a cassette: whoever is set up there sat in the case."""
    return tuple(
        Surveyed(
            name=name,
            kind=agent.kind,
            is_set_up=True,
            destination=agent.destination,
            may=(),
            is_weak=agent is BUILT_IN[AgentKind.LOCAL],
        )
        for name, agent in sorted(settings.agents.items())
        if settings.source(f"agents.{name}").origin is Origin.PERSON or name == AgentKind.LOCAL
    )


def _proposal(
    seats: Sequence[Surveyed], session: Session, settings: Settings, beside: Sequence[Surveyed] = ()
) -> Proposal:
    tables = {each.name: each.table for each in seats if each.table}
    source = Source(origin=Origin.PERSON, name=path_text(session.folders.settings_file))
    new: Mapping[str, AgentSettings] = read_agents(tables, Place(path="agents", source=source))
    return Proposal(
        remarks=() if tables else tuple(_remarks((*beside, *seats))),
        seats=tuple(each.name for each in seats),
        chosen=explain_choice(seats, beside),
        tables=tables,
        settings=replace(
            settings,
            agents=MappingProxyType({**settings.agents, **new}),
            sources=MappingProxyType({**settings.sources, **{f"agents.{name}": source for name in new}}),
        ),
    )
