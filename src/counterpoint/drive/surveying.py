"""Which agents this machine has: what is installed, in which version, signed in or not, and what is missing.

Nothing is spent: `probing` says how programs are asked. One that a repository's settings name is not started at all.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final, assert_never

from counterpoint.agents import local
from counterpoint.agents.capabilities import PROVIDER_DEFAULT, known_models
from counterpoint.agents.probes import PROBES, Drift
from counterpoint.agents.profiles import CLIENTS
from counterpoint.drive.adding import add_line
from counterpoint.drive.paths import disk_asked
from counterpoint.drive.probing import NOT_STARTED, Seen, SignedIn, locate, login_of, look_at
from counterpoint.drive.registry import key_variable
from counterpoint.drive.settings import (
    BUILT_IN,
    LOCAL,
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

__all__ = ["KNOWN", "Surveyed", "survey", "survey_kinds"]

KNOWN: Final = (*map(AgentKind, CLIENTS), AgentKind.OPENAI, AgentKind.ANTHROPIC, AgentKind.GEMINI)
"""The makes that are looked for where nobody has set one up."""
_REVIEWS: Final = ("review",)
_ANSWERS: Final = ("review", "answer")
_EDITS: Final = ("review", "edit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surveyed:
    """One agent that is set up, or one that could be."""

    name: str
    """The agent's; for one that is not set up its kind, or that with a number where the name is taken."""
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
    table: Mapping[str, object] = field(default_factory=dict)
    """What would set it up in the person's own settings. Empty where something has set it up, or where it takes a
    choice that only a person can make."""
    is_weak: bool = False
    """Whether it is the built-in small model."""

    @property
    def is_usable(self) -> bool:
        """Whether nothing that can be seen keeps it from a seat, once it is set up."""
        return not self.faults and not self.drift and self.signed_in is not SignedIn.NO

    @property
    def is_ready(self) -> bool:
        """Whether it could take a seat now, as far as can be seen."""
        return self.is_set_up and self.is_usable

    @property
    def vendor(self) -> str:
        """Who made the model, as far as can be known; agents that share one are not independent."""
        client = CLIENTS.get(self.kind)
        if client is not None and client.vendor:
            return client.vendor
        if client is not None and "/" in self.model:
            return self.model.partition("/")[0].lower()
        if self.destination == LOCAL:
            return self.model or self.name
        return self.destination


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
    others = {} if only is not None else {kind: _free_name(kind, found) for kind in KNOWN if kind not in kinds}
    foreign = {name for name in found if settings.is_from_repository(f"agents.{name}")}
    with disk_asked("the agents cannot be looked at"):
        return asyncio.run(_survey(found, others, environment, foreign))


def survey_kinds(kinds: Sequence[AgentKind], *, environment: Mapping[str, str]) -> tuple[Surveyed, ...]:
    """Look for agents of these known makes, which nobody has set up.

    Raises:
        SourceError: the disk refuses a temporary folder.
    """
    with disk_asked("the agents cannot be looked at"):
        return asyncio.run(_survey({}, {kind: kind.value for kind in kinds}, environment, ()))


def _free_name(kind: AgentKind, taken: Collection[str]) -> str:
    names = (f"{kind}-{number}" if number > 1 else kind.value for number in count(1))
    return next(name for name in names if name not in taken)


async def _survey(
    agents: Mapping[str, AgentSettings],
    others: Mapping[AgentKind, str],
    environment: Mapping[str, str],
    foreign: Collection[str],
) -> tuple[Surveyed, ...]:
    looks = [_look(name, agent, environment, is_foreign=name in foreign) for name, agent in agents.items()]
    looks += [_look_for(kind, name, environment) for kind, name in others.items()]
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
        signed_in=SignedIn.UNKNOWN,
        faults=(fault,) if fault else (),
        # What it may be given need not be what it needs: only the program knows.
        remark=f"{unset} is not set" if unset else "",
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
        # The very object: one that a file sets up as it is built in is another.
        table={"kind": agent.kind.value} if agent is BUILT_IN[AgentKind.LOCAL] else {},
        is_weak=not agent.model_file,
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


async def _look_for(kind: AgentKind, name: str, environment: Mapping[str, str]) -> Surveyed:
    """Look for an agent that nobody has set up."""
    if kind not in PROBES:
        return _look_for_model(kind, name, environment)
    client, probe = CLIENTS[kind], PROBES[kind]
    seen = await look_at(client, probe, client.program, environment)
    signed_in, how = await login_of(client, probe, seen.program, environment)
    key = next((name for name in probe.key_variables if environment.get(name, "").strip()), "")
    if signed_in is not SignedIn.YES and key:
        signed_in, how = SignedIn.YES, key
    table: dict[str, object] = {"kind": kind.value}
    table |= {"environment": [key]} if how == key and key else {"home": Home.USER.value}
    table |= {"model": "PROVIDER/MODEL"} if kind is AgentKind.OPENCODE else {}
    table |= {} if client.efforts else {"effort": PROVIDER_DEFAULT}
    return Surveyed(
        name=name,
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
            add_line(name, table),
        ),
        table={} if kind is AgentKind.OPENCODE else table,
    )


def _look_for_model(kind: AgentKind, name: str, environment: Mapping[str, str]) -> Surveyed:
    model = known_models(kind)[0]
    seen = _model(name, ModelAgent(kind=kind, model=model, destination=_VENDORS[kind]), environment)
    table = {"kind": kind.value, "model": model}
    return Surveyed(
        name=seen.name,
        kind=kind,
        is_set_up=False,
        destination=seen.destination,
        may=seen.may,
        signed_in=seen.signed_in,
        how=seen.how,
        missing=(*seen.missing, add_line(name, table)),
        table=table,
    )


_VENDORS: Final = {AgentKind.OPENAI: "openai", AgentKind.ANTHROPIC: "anthropic", AgentKind.GEMINI: "google"}


def _keyed(unset: str) -> SignedIn:
    return SignedIn.NO if unset else SignedIn.YES


def _unset(names: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the first of these variables that is not set; "" where all are."""
    return next((name for name in names if not environment.get(name, "").strip()), "")
