"""The agents of a case's seats: built from settings, and around a cassette where one is recorded or played."""

from collections.abc import Mapping
from pathlib import Path

from counterpoint.agents.base import Agent
from counterpoint.core.docket import Effort
from counterpoint.core.entries import CaseOpened
from counterpoint.core.limits import Limits
from counterpoint.drive.cassettes import Tape
from counterpoint.drive.ground import Ground
from counterpoint.drive.plans import CasePlan
from counterpoint.drive.registry import Registry
from counterpoint.drive.session import Session
from counterpoint.drive.settings import AgentKind, Settings
from counterpoint.errors import ConfigError

__all__ = ["agents_of", "check_agents", "check_seats"]


def agents_of(
    session: Session, opened: CaseOpened, ground: Ground, *, resume: str, objects: Path
) -> Mapping[str, Agent]:
    """Return the agent of every seat.

    Args:
        session: what this process drives with.
        opened: the case.
        ground: where it goes on, and under which settings.
        resume: the command line that goes on with the case, for a person who is not there.
        objects: the case's own folder of objects.

    Raises:
        ConfigError: an agent's settings cannot be used.
    """
    drafts = session.cases / opened.case / "drafts"
    is_asked = session.taping is None or not session.taping.is_replay
    if is_asked and any(seat.agent == AgentKind.HUMAN for seat in opened.roster):
        drafts.mkdir(mode=0o700, exist_ok=True)
    registry = _registry(session, ground, opened.limits, effort=opened.terms.effort, resume=resume, drafts=drafts)
    if session.taping is not None:
        registry.tape = Tape(
            session.taping,
            opened,
            ground.settings,
            ground.repository,
            objects=objects,
            environment=session.environment,
            clock=session.clock,
        )
    return {seat.name: registry.agent(seat.party) for seat in opened.roster}


def _registry(
    session: Session, ground: Ground, limits: Limits, *, effort: Effort, resume: str, drafts: Path
) -> Registry:
    return Registry(
        ground.settings,
        read_at_base=ground.read,
        environment=session.environment,
        resume=resume,
        drafts=drafts,
        effort=effort,
        max_output_tokens=limits.max_output_tokens,
    )


def check_agents(session: Session, plan: CasePlan) -> None:
    """Build every agent of a plan once, so that one that cannot be is told before anybody is asked anything.

    Raises:
        ConfigError: an agent's settings cannot be used, or its program or script is not there.
    """
    if session.taping is not None and session.taping.is_replay:
        return  # none is built
    registry = _registry(session, plan.ground, plan.limits, effort=plan.terms.effort, resume="", drafts=session.cases)
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
                hint="put the settings back, or withdraw the case and begin anew",
            )
