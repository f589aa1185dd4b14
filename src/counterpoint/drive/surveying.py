"""Which agents this machine has: what is installed, in which version, signed in or not, and what is missing.

Nothing is spent. Files are looked at, and programs are started with `--version`, `--help` or a question about their
login that makes no request: with an empty standard input, a bounded time, none of the person's keys, and an empty
HOME where the login is not what is asked about.
"""

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, assert_never

from counterpoint.agents.capabilities import known_models
from counterpoint.agents.probes import PROBES, Drift, Probe, drift_of, version_of
from counterpoint.agents.profiles import CLIENTS, Client
from counterpoint.agents.program import PERSON_VARIABLES
from counterpoint.drive.paths import disk_asked, read_plain
from counterpoint.drive.registry import key_variable
from counterpoint.drive.settings import (
    AgentKind,
    AgentSettings,
    ChecksAgent,
    CodingAgent,
    CommandAgent,
    Home,
    HumanAgent,
    ModelAgent,
    ScriptedAgent,
    Settings,
)
from counterpoint.errors import ConfigError, Unreachable
from counterpoint.frozen import dataclass
from counterpoint.isolation.environment import passed
from counterpoint.isolation.process import Finished, find_program, run
from counterpoint.isolation.removal import remove

__all__ = ["SignedIn", "Surveyed", "survey"]

TIMEOUT_S: Final = 20.0
"""For one start of a program."""
_MAX_PRINTED: Final = 1 << 20
_MAX_LOGIN: Final = 1 << 20
_APIS: Final = (AgentKind.OPENAI, AgentKind.ANTHROPIC, AgentKind.GEMINI)
_PASSED: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE")
_REVIEWS: Final = ("review",)
_ANSWERS: Final = ("review", "answer")
_EDITS: Final = ("review", "edit")


class SignedIn(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"
    """It can be signed in where nobody else may look."""
    NOT_NEEDED = "not needed"


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
    with disk_asked("the agents cannot be looked at"):
        return asyncio.run(_survey(found, others, environment))


async def _survey(
    agents: Mapping[str, AgentSettings], others: Sequence[AgentKind], environment: Mapping[str, str]
) -> tuple[Surveyed, ...]:
    looks = [_look(name, agent, environment) for name, agent in agents.items()]
    looks += [_look_for(kind, environment) for kind in others]
    return tuple(await asyncio.gather(*looks))


async def _look(name: str, agent: AgentSettings, environment: Mapping[str, str]) -> Surveyed:
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
            return await _coding(name, agent, environment)
        case _:
            assert_never(agent)


def _command(name: str, agent: CommandAgent, environment: Mapping[str, str]) -> Surveyed:
    path, fault = "", ""
    word = agent.command[0]
    if "{" not in word and "PATH" not in agent.set and (word.startswith("/") or "/" not in word):
        path, fault = _find(word, environment)
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


async def _coding(name: str, agent: CodingAgent, environment: Mapping[str, str]) -> Surveyed:
    client, probe = CLIENTS[agent.kind], PROBES[agent.kind]
    seen = await _probe(client, probe, agent.program or client.program, environment)
    if agent.home is Home.USER and not _unset(agent.environment, environment) and agent.environment:
        signed_in, how = SignedIn.YES, agent.environment[0]
    elif agent.home is Home.USER:
        signed_in, how = await _login(client, probe, seen.program, environment)
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
        missing=(*([] if seen.program else [probe.install]), *([sign_in] if is_out else [])),
    )


async def _look_for(kind: AgentKind, environment: Mapping[str, str]) -> Surveyed:
    """Look for an agent that nobody has set up."""
    if kind not in PROBES:
        return _look_for_model(kind, environment)
    client, probe = CLIENTS[kind], PROBES[kind]
    seen = await _probe(client, probe, client.program, environment)
    signed_in, how = await _login(client, probe, seen.program, environment)
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


def _find(program: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the path of a program, or "" and why there is none."""
    try:
        found = find_program(program, env={"PATH": environment.get("PATH", os.defpath)}, cwd=Path("/"))
    except Unreachable as error:
        return "", str(error)
    return str(found), ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    program: str = ""
    version: str = ""
    drift: tuple[Drift, ...] = ()
    faults: tuple[str, ...] = ()


async def _probe(client: Client, probe: Probe, program: str, environment: Mapping[str, str]) -> _Seen:
    """Start a client for its version and its options, in an empty HOME."""
    path, fault = _find(program, environment)
    if fault:
        return _Seen(faults=(fault,))
    home = Path(tempfile.mkdtemp(prefix="counterpoint-look-"))
    try:
        env = {**_variables(client, environment), "HOME": str(home), "TMPDIR": str(home)}
        version, why_no_version = await _ask(path, ("--version",), home, env)
        options, why_no_options = await _ask(path, probe.help, home, env)
    finally:
        remove(home)
    faults = [why for why in (why_no_version, why_no_options) if why]
    number = version_of(version)
    if not why_no_version and not number:
        faults.append(f"what {path} prints for `--version` holds no version")
    drift = () if why_no_options else drift_of(client, options)
    return _Seen(program=path, version=number, drift=drift, faults=tuple(faults))


def _variables(client: Client, environment: Mapping[str, str]) -> dict[str, str]:
    """Return what a client is given that is asked about itself: no key, and what keeps it from updating itself."""
    fixed = {name: value for name, value in client.set.items() if "{" not in value}
    return {"LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1", **passed(environment, _PASSED), **fixed}


async def _ask(path: str, words: Sequence[str], folder: Path, env: Mapping[str, str]) -> tuple[str, str]:
    """Return what a program prints, or "" and why it cannot be known."""
    line = f"`{' '.join((Path(path).name, *words))}`"
    try:
        finished = await _start(path, words, folder, env)
    except Unreachable as error:
        return "", str(error)
    if finished.timed_out:
        return "", f"{line} did not end within {TIMEOUT_S:g} s"
    if finished.exit_code != 0:
        return "", f"{line} ended with {finished.ending}"
    return (finished.stdout + b"\n" + finished.stderr).decode("utf-8", "replace"), ""


async def _start(path: str, words: Sequence[str], folder: Path, env: Mapping[str, str]) -> Finished:
    argv = (path, *words)
    return await run(argv, cwd=folder, env=env, stdin=None, timeout_s=TIMEOUT_S, max_output=_MAX_PRINTED)


async def _login(client: Client, probe: Probe, program: str, environment: Mapping[str, str]) -> tuple[SignedIn, str]:
    """Say whether the person is signed in to a client, and what says so."""
    home = environment.get("HOME", "")
    for name, pattern in probe.logins.items():
        path = _moved(probe, name, environment)
        if home and _holds(path, pattern):
            return SignedIn.YES, str(path)
    if probe.status and program and home:
        env = {
            **_variables(client, environment),
            **passed(environment, (*PERSON_VARIABLES, *client.home_variables)),
        }
        try:
            finished = await _start(program, probe.status, Path("/"), env)
        except Unreachable:
            return SignedIn.UNKNOWN, ""
        if finished.timed_out or finished.exit_code is None:
            return SignedIn.UNKNOWN, ""
        line = f"`{' '.join((client.program, *probe.status))}`"
        return (SignedIn.YES if finished.exit_code == 0 else SignedIn.NO), line
    return (SignedIn.UNKNOWN if sys.platform in probe.keyrings else SignedIn.NO), ""


def _moved(probe: Probe, name: str, environment: Mapping[str, str]) -> Path:
    variable, folder = probe.moved
    if environment.get(variable):
        return Path(environment[variable], name.removeprefix(f"{folder}/"))
    return Path(environment.get("HOME", "/"), name)


def _holds(path: Path, pattern: str) -> bool:
    try:
        found = read_plain(path, max_bytes=_MAX_LOGIN, follow=True)
    except ConfigError:
        return False
    return found is not None and re.search(pattern, found[0].decode("utf-8", "replace")) is not None
