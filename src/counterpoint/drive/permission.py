"""What a run would do that a person has to allow first, and how much of it is still open.

Three things need a person: agents that nobody has set up yet (`proposing` finds them), bytes that leave this machine
(consent, one grant for each destination), and commands that a repository defines or whose code is the candidate's
(trust, one answer for the checkout). An agent that is a program needs consent for its destination and no trust where
it is from the person's own settings; one from the repository's settings is that repository's command and needs both.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from counterpoint.core.docket import ProjectCommand
from counterpoint.drive.consent import Grant, Scope
from counterpoint.drive.settings import (
    LOCAL,
    AgentSettings,
    CodingAgent,
    CommandAgent,
    Cwd,
    Home,
    ModelAgent,
    Settings,
)

__all__ = ["AgentLine", "Proposed", "Running", "Sending", "Wanted", "still_open", "wanted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLine:
    """One seat as the person is shown it."""

    name: str
    kind: str
    destination: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """Bytes that would leave this machine."""

    destination: str
    scope: Scope
    agents: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A command that would run with the person's own permissions."""

    argv: tuple[str, ...]
    why: str
    given: tuple[str, ...]
    """What it is given of the person's: names of variables, and `your home folder`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """An agent that would take a seat because it was found here, not because somebody named it."""

    name: str
    why: str
    """Why it was taken, on one line."""
    add: str
    """The command line that sets it up; empty where something has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Everything that a run asks leave for."""

    agents: tuple[AgentLine, ...]
    sending: tuple[Sending, ...]
    running: tuple[Running, ...]
    proposed: tuple[Proposed, ...] = ()
    """Empty where all of them are set up."""
    what: str = "review"
    """What the run is called on the screen."""

    @property
    def is_settled(self) -> bool:
        return not (self.proposed or self.sending or self.running)


def wanted(
    settings: Settings,
    parties: Sequence[str],
    commands: Sequence[ProjectCommand],
    *,
    author: str = "",
    least: Scope = Scope.CHANGE,
    has_tree: bool = True,
) -> Wanted:
    """Return what a case of these parties asks leave for.

    Args:
        settings: the settings of the run.
        parties: names of agents that `settings.agents` has.
        commands: the project commands that would run unboxed, configured or found.
        author: the one of them that works in the work tree itself, where there is one.
        least: what every one of them is given.
        has_tree: whether they are lent files to look into besides.
    """
    agents = {name: settings.agents[name] for name in parties}
    sending: dict[str, Sending] = {}
    for name, agent in agents.items():
        if agent.destination != LOCAL:
            before = sending.get(agent.destination)
            is_whole = (
                name == author or (has_tree and _is_lent_tree(agent)) or (before and before.scope is Scope.TREE)
            )
            asking = (*(before.agents if before else ()), name)
            scope = Scope.TREE if is_whole else least
            sending[agent.destination] = Sending(destination=agent.destination, scope=scope, agents=asking)
    project = [
        Running(argv=command.argv, why=f"{command.purpose}, {command.why}", given=settings.checks.environment)
        for command in commands
    ]
    theirs = [
        Running(argv=_argv(agent), why=f"agent {name}, {settings.source(f'agents.{name}').name}", given=_given(agent))
        for name, agent in agents.items()
        if isinstance(agent, CommandAgent | CodingAgent) and settings.is_from_repository(f"agents.{name}")
    ]
    return Wanted(
        agents=tuple(_agent_line(name, agent) for name, agent in agents.items()),
        sending=tuple(sending.values()),
        running=(*project, *theirs),
        what="review" if least is Scope.CHANGE else "case",
    )


def _is_lent_tree(agent: AgentSettings) -> bool:
    """Return whether the agent starts in the tree, or is told where it lies."""
    if isinstance(agent, CodingAgent):
        return True
    if not isinstance(agent, CommandAgent):
        return False
    told = any("{tree}" in text for text in (*agent.command, *agent.set.values()))
    return told or agent.cwd is Cwd.TREE


def _argv(agent: CommandAgent | CodingAgent) -> tuple[str, ...]:
    return agent.command if isinstance(agent, CommandAgent) else (agent.program or agent.kind.value,)


def _given(agent: CommandAgent | CodingAgent) -> tuple[str, ...]:
    return (*agent.environment, *(["your home folder"] if agent.home is Home.USER else []))


def _agent_line(name: str, agent: AgentSettings) -> AgentLine:
    model = agent.model if isinstance(agent, CommandAgent | CodingAgent | ModelAgent) else ""
    return AgentLine(name=name, kind=str(agent.kind), destination=agent.destination, model=model)


def still_open(asked: Wanted, *, repository: str, grants: Collection[Grant], is_trusted: bool) -> Wanted:
    """Return what of `asked` neither these valid grants nor the trust answer covers; the agents stay listed."""
    sending = [
        each
        for each in asked.sending
        if not any(
            grant.covers(destination=each.destination, repository=repository, scope=each.scope) for grant in grants
        )
    ]
    return replace(asked, sending=tuple(sending), running=() if is_trusted else asked.running)
