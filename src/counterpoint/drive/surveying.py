"""Which agents this machine has: what is installed, in which version, signed in or not, and what is missing.

Nothing is spent: `probing` says how programs are asked. One that a repository's settings name is not started at all.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, assert_never

from counterpoint.agents import local
from counterpoint.agents.capabilities import known_models
from counterpoint.agents.probes import PROBES, Drift
from counterpoint.agents.profiles import CLIENTS
from counterpoint.drive.paths import disk_asked
from counterpoint.drive.probing import NOT_STARTED, Seen, SignedIn, locate, login_of, look_at
from counterpoint.drive.registry import key_variable
from counterpoint.drive.settings import (
    AgentKind,
    AgentSettings,
    ChecksAgent,
    CodingAgent,
    CommandAgent,
    Home,
    HumanAgent,
    LocalAgent,
    ModelAgent,
    ScriptedAgent,
    Settings,
)
from counterpoint.errors import ConfigError
from counterpoint.frozen import dataclass

__all__ = ["Surveyed", "survey"]

_APIS: Final = (AgentKind.OPENAI, AgentKind.ANTHROPIC, AgentKind.GEMINI)
_REVIEWS: Final = ("review",)
_ANSWERS: Final = ("review", "answer")
_EDITS: Final = ("review", "edit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surveyed:
    """One agent that is set up, or one that could be."""

    name: str
    """The agent's; for one that is not set up its kind."""
    kind: AgentKind
    is_set_up: bool
    destination: str
    """Empty where the model that is chosen decides it."""
    may: tuple[str, ...]
    """`review`: read only; `answer`: dispute as an author; `edit`: mend as an author, too."""
    model: str = ""
    program: str = ""
    """Path; empty where it is not here, or is no program."""
    version: str = ""
    tried: str = ""
    """The version that its profile was tried with."""
    signed_in: SignedIn = SignedIn.NOT_NEEDED
    how: str = ""
    """What says so: a file, or the name of a variable."""
    drift: tuple[Drift, ...] = ()
    faults: tuple[str, ...] = ()
    """Why it cannot be used as it is."""
    remark: str = ""
    """What could not be looked at, and why."""
    missing: tuple[str, ...] = ()
    """Command lines that bring what is missing, in their order."""

    @property
    def is_ready(self) -> bool:
        """Whether it could take a seat now, as far as can be seen."""
        return self.is_set_up and not self.faults and not self.drift and self.signed_in is not SignedIn.NO


def survey(
    settings: Settings, *, environment: Mapping[str, str], only: Sequence[str] | None = None
) -> tuple[Surveyed, ...]:
    """Return every agent that is set up, by name, and after them each known make that none of them is.

    Args:
        settings: of the run.
        environment: the process's variables.
        only: names of agents that are set up, and then nothing else.

    Raises:
        SourceError: the disk refuses a temporary folder.
    """
    names = sorted(settings.agents) if only is None else only
    found = {name: settings.agents[name] for name in names}
    kinds = {agent.kind for agent in found.values()}
    others = [] if only is not None else [kind for kind in (*map(AgentKind, CLIENTS), *_APIS) if kind not in kinds]
    foreign = {name for name in found if settings.is_from_repository(f"agents.{name}")}
    with disk_asked("the agents cannot be looked at"):
        return asyncio.run(_survey(found, others, environment, foreign))


async def _survey(
    agents: Mapping[str, AgentSettings],
    others: Sequence[AgentKind],
    environment: Mapping[str, str],
    foreign: Collection[str],
) -> tuple[Surveyed, ...]:
    looks = [_look(name, agent, environment, is_foreign=name in foreign) for name, agent in agents.items()]
    looks += [_look_for(kind, environment) for kind in others]
    return tuple(await asyncio.gather(*looks))


async def _look(name: str, agent: AgentSettings, environment: Mapping[str, str], *, is_foreign: bool) -> Surveyed:
    kind, to = agent.kind, agent.destination
    match agent:
        case ChecksAgent():
            return Surveyed(name=name, kind=kind, is_set_up=True, destination=to, may=_REVIEWS)
        case HumanAgent():
            return Surveyed(name=name, kind=kind, is_set_up=True, destination=to, may=_EDITS)
        case ScriptedAgent():
            return Surveyed(name=name, kind=kind, is_set_up=True, destination=to, may=_ANSWERS)
        case CommandAgent():
            return _command(name, agent, environment)
        case ModelAgent():
            return _model(name, agent, environment)
        case CodingAgent():
            return await _coding(name, agent, environment, is_foreign=is_foreign)
        case LocalAgent():
            return _local(name, agent)
        case _:
            assert_never(agent)


def _command(name: str, agent: CommandAgent, environment: Mapping[str, str]) -> Surveyed:
    path, fault = "", ""
    word = agent.command[0]
    if "{" not in word and "PATH" not in agent.set and (word.startswith("/") or "/" not in word):
        path, fault = locate(word, environment)
    unset = _unset(agent.environment, environment)
    return Surveyed(
        name=name,
        kind=agent.kind,
        is_set_up=True,
        destination=agent.destination,
        may=_EDITS,
        model=agent.model,
        program=path,
        signed_in=SignedIn.NO if unset else SignedIn.UNKNOWN,
        how=unset,
        faults=(fault,) if fault else (),
        missing=(f"export {unset}=…",) if unset else (),
    )


def _model(name: str, agent: ModelAgent, environment: Mapping[str, str]) -> Surveyed:
    variable = key_variable(agent)
    unset = _unset((variable,), environment) if variable else ""
    return Surveyed(
        name=name,
        kind=agent.kind,
        is_set_up=True,
        destination=agent.destination,
        may=_ANSWERS,
        model=agent.model,
        signed_in=_keyed(unset) if variable else SignedIn.NOT_NEEDED,
        how=variable,
        missing=(f"export {variable}=…",) if unset else (),
    )


def _local(name: str, agent: LocalAgent) -> Surveyed:
    model, fault, missing = agent.model_file, "", ""
    try:
        model = str(local.find_model(f"agents.{name}", agent.model_file))
    except ConfigError as error:
        fault, missing = str(error), local.INSTALL
    return Surveyed(
        name=name,
        kind=agent.kind,
        is_set_up=True,
        destination=agent.destination,
        may=_ANSWERS,
        model=Path(model).stem,
        faults=(fault,) if fault else (),
        missing=(missing,) if missing and not agent.model_file else (),
    )


async def _coding(name: str, agent: CodingAgent, environment: Mapping[str, str], *, is_foreign: bool) -> Surveyed:
    client, probe = CLIENTS[agent.kind], PROBES[agent.kind]
    if agent.program and is_foreign:  # whoever wrote the repository would choose what is started here
        path, fault = locate(agent.program, environment)
        seen = Seen(program=path, faults=(fault,) if fault else (), remark=NOT_STARTED)
    else:
        seen = await look_at(client, probe, agent.program or client.program, environment)
    if agent.home is Home.USER and not _unset(agent.environment, environment) and agent.environment:
        signed_in, how = SignedIn.YES, agent.environment[0]
    elif agent.home is Home.USER:
        signed_in, how = await login_of(client, probe, "" if seen.remark else seen.program, environment)
    elif agent.environment:
        unset = _unset(agent.environment, environment)
        signed_in, how = _keyed(unset), unset or agent.environment[0]
    else:
        signed_in, how = SignedIn.NOT_NEEDED, ""
    is_out = signed_in is SignedIn.NO
    sign_in = probe.sign_in if agent.home is Home.USER else f"export {how}=…"
    return Surveyed(
        name=name,
        kind=agent.kind,
        is_set_up=True,
        destination=agent.destination,
        may=_EDITS,
        model=agent.model,
        program=seen.program,
        version=seen.version,
        tried=probe.tried,
        signed_in=signed_in,
        how=how,
        drift=seen.drift,
        faults=seen.faults,
        remark=seen.remark,
        missing=(*([] if seen.program else [probe.install]), *([sign_in] if is_out else [])),
    )


async def _look_for(kind: AgentKind, environment: Mapping[str, str]) -> Surveyed:
    """Look for an agent that nobody has set up."""
    if kind not in PROBES:
        return _look_for_model(kind, environment)
    client, probe = CLIENTS[kind], PROBES[kind]
    seen = await look_at(client, probe, client.program, environment)
    signed_in, how = await login_of(client, probe, seen.program, environment)
    key = next((name for name in probe.key_variables if environment.get(name, "").strip()), "")
    if signed_in is not SignedIn.YES and key:
        signed_in, how = SignedIn.YES, key
    add = f"counterpoint agents add {kind}"
    add += f" --environment {key}" if how == key and key else ""
    add += " --model PROVIDER/MODEL" if kind is AgentKind.OPENCODE else ""
    add += "" if client.efforts else " --effort provider_default"
    return Surveyed(
        name=kind.value,
        kind=kind,
        is_set_up=False,
        destination=client.vendor,
        may=_EDITS,
        program=seen.program,
        version=seen.version,
        tried=probe.tried,
        signed_in=signed_in,
        how=how,
        drift=seen.drift,
        faults=seen.faults,
        missing=(
            *([] if seen.program else [probe.install]),
            *([probe.sign_in] if signed_in is SignedIn.NO else []),
            add,
        ),
    )


def _look_for_model(kind: AgentKind, environment: Mapping[str, str]) -> Surveyed:
    model = known_models(kind)[0]
    seen = _model(kind.value, ModelAgent(kind=kind, model=model, destination=_VENDORS[kind]), environment)
    return Surveyed(
        name=seen.name,
        kind=kind,
        is_set_up=False,
        destination=seen.destination,
        may=seen.may,
        signed_in=seen.signed_in,
        how=seen.how,
        missing=(*seen.missing, f"counterpoint agents add {kind} --model {model}"),
    )


_VENDORS: Final = {AgentKind.OPENAI: "openai", AgentKind.ANTHROPIC: "anthropic", AgentKind.GEMINI: "google"}


def _keyed(unset: str) -> SignedIn:
    return SignedIn.NO if unset else SignedIn.YES


def _unset(names: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the first of these variables that is not set; "" where all are."""
    return next((name for name in names if not environment.get(name, "").strip()), "")
