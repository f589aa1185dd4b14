"""The agents of a case's seats: built from settings, and around a cassette where one is recorded or played."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from counterpoint.agents.base import Agent
from counterpoint.core.entries import CaseOpened
from counterpoint.drive.cassettes import Tape
from counterpoint.drive.committed import read_at
from counterpoint.drive.planning import ReviewPlan
from counterpoint.drive.registry import Registry
from counterpoint.drive.session import Session
from counterpoint.drive.settings import AgentKind, Settings
from counterpoint.errors import ConfigError
from counterpoint.isolation.repository import Repository

__all__ = ["agents_of", "check_agents", "check_seats"]


def agents_of(
    session: Session, opened: CaseOpened, settings: Settings, repository: Repository, *, resume: str, objects: Path
) -> Mapping[str, Agent]:
    """Return the agent of every seat.

    Args:
        session: what this process drives with.
        opened: the case.
        settings: under which it goes on.
        repository: where it is about.
        resume: the command line that goes on with the case, for a person who is not there.
        objects: the case's own folder of objects.

    Raises:
        ConfigError: an agent's settings cannot be used.
    """
    drafts = session.cases / opened.case / "drafts"
    is_asked = session.taping is None or not session.taping.is_replay
    if is_asked and any(seat.agent == AgentKind.HUMAN for seat in opened.roster):
        drafts.mkdir(mode=0o700, exist_ok=True)
    registry = _registry(session, settings, repository, opened.docket.base, resume=resume, drafts=drafts)
    if session.taping is not None:
        registry.tape = Tape(
            session.taping,
            opened,
            settings,
            repository,
            objects=objects,
            environment=session.environment,
            clock=session.clock,
        )
    return {seat.name: registry.agent(seat.party) for seat in opened.roster}


def _registry(
    session: Session, settings: Settings, repository: Repository, base: str, *, resume: str, drafts: Path
) -> Registry:
    return Registry(
        settings,
        read_at_base=partial(read_at, repository, base),
        environment=session.environment,
        resume=resume,
        drafts=drafts,
    )


def check_agents(session: Session, plan: ReviewPlan) -> None:
    """Build every agent of a plan once, so that one that cannot be is told before anybody is asked anything.

    Raises:
        ConfigError: an agent's settings cannot be used, or its program or script is not there.
    """
    if session.taping is not None and session.taping.is_replay:
        return  # none is built
    base = plan.docket.base
    registry = _registry(session, plan.settings, plan.repository, base, resume="", drafts=session.cases)
    for name in plan.seats:
        registry.agent(name)


def check_seats(opened: CaseOpened, settings: Settings) -> None:
    """Hold the settings to the agents that a case was opened with.

    Raises:
        ConfigError: one is gone, is of another kind, or sends elsewhere.
    """
    for seat in opened.roster:
        found = settings.agents.get(seat.party)
        got = "no such agent" if found is None else f"{found.kind}, to {found.destination}"
        if got != f"{seat.agent}, to {seat.destination}":
            raise ConfigError(
                f"agents.{seat.party}",
                f"the agent that the case was opened with: {seat.agent}, to {seat.destination}",
                got=got,
                hint="put the settings back, or withdraw the case and review anew",
            )
