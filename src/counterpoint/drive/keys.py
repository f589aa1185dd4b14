"""Every setting there is: its key, what belongs there, and which variable and flag set it too.

The tables below are the one place that says so. `docs/settings.md` is held to them by a test. Agents are set in files
only, each by one table: the table of the source that wins is taken whole, so that no source can finish another's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, assert_never

from counterpoint.agents.capabilities import Control
from counterpoint.core.docket import Effort
from counterpoint.core.values import NAME, Severity
from counterpoint.drive import shapes
from counterpoint.drive.settings import (
    BUILT_IN,
    LOCAL,
    SECTION_NAMES,
    AgentKind,
    AgentSettings,
    ChecksAgent,
    CodingAgent,
    CommandAgent,
    Cwd,
    Home,
    HumanAgent,
    LocalAgent,
    ModelAgent,
    Origin,
    PromptBy,
    ResultBy,
    ScriptedAgent,
)
from counterpoint.drive.shapes import Place, Reader
from counterpoint.isolation.addresses import host_of, is_loopback

__all__ = ["AGENT_KEYS", "KEYS", "MAX_AGENTS", "SECTIONS", "Key", "read_agents"]

_DAY_S: Final = 86_400
_MONTH_S: Final = 31 * _DAY_S
_MANY: Final = 1_000_000_000
MAX_AGENTS: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One setting. `variable` and `flag` are empty where files alone can set it."""

    path: str
    read: Reader
    variable: str = ""
    flag: str = ""
    is_number: bool = False
    """Whether a variable's text is read as a number; else a list is split at commas."""
    is_list: bool = False


def _number(path: str, variable: str, lowest: int, highest: int, *, flag: str = "") -> Key:
    return Key(path=path, read=shapes.whole(lowest, highest), variable=variable, flag=flag, is_number=True)


def _seats(path: str, flag: str) -> Key:
    return Key(path=path, read=shapes.names, variable=_variable(path), flag=flag, is_list=True)


def _seat(path: str, flag: str) -> Key:
    return Key(path=path, read=shapes.name, variable=_variable(path), flag=flag)


def _effort(section: str) -> Key:
    path = f"{section}.effort"
    return Key(path=path, read=shapes.one_of(Effort), variable=_variable(path), flag="--effort")


def _folder(value: object, place: Place) -> str:
    """Read a folder's path: absolute, or in a repository's settings below its top."""
    found = shapes.text(value, place)
    if place.source.origin is Origin.REPOSITORY:
        if found.startswith("/") or ".." in found.split("/"):
            raise place.error("a path below the top of the repository", got=found)
    elif not found.startswith("/"):
        raise place.error("an absolute path", got=found)
    return found


def _variable(path: str) -> str:
    return f"COUNTERPOINT_{path.replace('.', '_').upper()}"


KEYS: Final = (
    _seats("review.reviewers", "--reviewer"),
    Key(path="review.base", read=shapes.revision, variable="COUNTERPOINT_REVIEW_BASE", flag="--base"),
    _number("review.max_rounds", "COUNTERPOINT_REVIEW_MAX_ROUNDS", 0, 100, flag="--max-rounds"),
    Key(
        path="review.block_on",
        read=shapes.one_of(Severity),
        variable="COUNTERPOINT_REVIEW_BLOCK_ON",
        flag="--block-on",
    ),
    _number("review.quorum", "COUNTERPOINT_REVIEW_QUORUM", 0, 256, flag="--quorum"),
    _effort("review"),
    _seats("answer.peers", "--peer"),
    _number("answer.max_rounds", "COUNTERPOINT_ANSWER_MAX_ROUNDS", 1, 100, flag="--max-rounds"),
    _effort("answer"),
    _seat("propose.proposer", "--proposer"),
    _seats("propose.critics", "--critic"),
    _number("propose.max_rounds", "COUNTERPOINT_PROPOSE_MAX_ROUNDS", 1, 12, flag="--max-rounds"),
    _number("propose.min_rounds", "COUNTERPOINT_PROPOSE_MIN_ROUNDS", 1, 12, flag="--min-rounds"),
    _number("propose.stall_rounds", "COUNTERPOINT_PROPOSE_STALL_ROUNDS", 1, 12, flag="--stall-rounds"),
    _effort("propose"),
    _seat("ballot.orchestrator", "--orchestrator"),
    _seats("ballot.voters", "--voters"),
    _number("ballot.max_rounds", "COUNTERPOINT_BALLOT_MAX_ROUNDS", 1, 3, flag="--max-rounds"),
    Key(path="ballot.sources", read=_folder, variable="COUNTERPOINT_BALLOT_SOURCES", flag="--sources"),
    _effort("ballot"),
    Key(path="checks.test", read=shapes.commands),
    Key(path="checks.lint", read=shapes.commands),
    Key(path="checks.require", read=shapes.each_a_command, flag="--require-check"),
    _number("checks.timeout_s", "COUNTERPOINT_CHECKS_TIMEOUT_S", 1, _DAY_S),
    Key(path="checks.environment", read=shapes.variables, is_list=True),
    _number("limits.max_calls", "COUNTERPOINT_LIMITS_MAX_CALLS", 1, 10_000, flag="--max-calls"),
    _number("limits.max_tokens", "COUNTERPOINT_LIMITS_MAX_TOKENS", 0, _MANY, flag="--max-tokens"),
    _number(
        "limits.max_output_tokens", "COUNTERPOINT_LIMITS_MAX_OUTPUT_TOKENS", 0, _MANY, flag="--max-output-tokens"
    ),
    _number("limits.call_timeout_s", "COUNTERPOINT_LIMITS_CALL_TIMEOUT_S", 1, _DAY_S, flag="--timeout"),
    _number("limits.deadline_s", "COUNTERPOINT_LIMITS_DEADLINE_S", 0, _MONTH_S, flag="--deadline"),
    _number("limits.asks_per_turn", "COUNTERPOINT_LIMITS_ASKS_PER_TURN", 1, 10),
)

SECTIONS: Final[Mapping[str, Mapping[str, Key]]] = {
    section: {key.path.partition(".")[2]: key for key in KEYS if key.path.startswith(f"{section}.")}
    for section in SECTION_NAMES
}

_MODEL_KEYS: Final[Mapping[str, Reader]] = {
    "model": shapes.model,
    "effort": shapes.word,
    "base_url": shapes.address,
    "key_variable": shapes.variable,
    "destination": shapes.destination,
    "max_output_tokens": shapes.whole(1, _MANY),
    "temperature": shapes.number(0, 2),
    "timeout_s": shapes.whole(1, _DAY_S),
    "controls": shapes.each_one_of(Control),
    "efforts": shapes.words,
}

_CODING_KEYS: Final[Mapping[str, Reader]] = {
    "program": shapes.program,
    "model": shapes.plain_model,
    "effort": shapes.word,
    "home": shapes.one_of(Home),
    "environment": shapes.variables,
    "base_url": shapes.address,
    "destination": shapes.destination,
    "timeout_s": shapes.whole(1, _DAY_S),
}

AGENT_KEYS: Final[Mapping[AgentKind, Mapping[str, Reader]]] = {
    AgentKind.COMMAND: {
        "command": shapes.command,
        "destination": shapes.destination,
        "prompt": shapes.one_of(PromptBy),
        "result": shapes.one_of(ResultBy),
        "environment": shapes.variables,
        "set": shapes.assignments,
        "home": shapes.one_of(Home),
        "cwd": shapes.one_of(Cwd),
        "timeout_s": shapes.whole(1, _DAY_S),
        "model": shapes.model,
        "reply_pointer": shapes.pointer,
        "model_pointer": shapes.pointer,
        "input_tokens_pointer": shapes.pointer,
        "output_tokens_pointer": shapes.pointer,
        "session_pointer": shapes.pointer,
    },
    AgentKind.SCRIPTED: {"file": shapes.text},
    AgentKind.HUMAN: {},
    AgentKind.CHECKS: {},
    AgentKind.OPENAI: _MODEL_KEYS,
    AgentKind.ANTHROPIC: _MODEL_KEYS,
    AgentKind.CHAT: _MODEL_KEYS,
    AgentKind.GEMINI: _MODEL_KEYS,
    AgentKind.LOCAL: {
        "model_file": shapes.text,
        "context": shapes.whole(512, 1 << 20),
        "max_output_tokens": shapes.whole(1, 1 << 20),
        "threads": shapes.whole(1, 1024),
        "timeout_s": shapes.whole(1, _DAY_S),
    },
    AgentKind.CODEX: _CODING_KEYS,
    AgentKind.CLAUDE: _CODING_KEYS,
    AgentKind.GEMINI_CLI: _CODING_KEYS,
    AgentKind.COPILOT: _CODING_KEYS,
    AgentKind.OPENCODE: _CODING_KEYS,
}
_PROVIDERS: Final = {
    AgentKind.OPENAI: "openai",
    AgentKind.ANTHROPIC: "anthropic",
    AgentKind.GEMINI: "google",
    AgentKind.CODEX: "openai",
    AgentKind.CLAUDE: "anthropic",
    AgentKind.GEMINI_CLI: "google",
    AgentKind.COPILOT: "github",
}
_WHERE: Final = ("base_url", "key_variable", "destination", "model_file")
"""Where bytes and keys go, and what reads them. No repository says that: a person's consent is to a name."""


def read_agents(value: object, place: Place) -> Mapping[str, AgentSettings]:
    """Read the `agents` table: one table of settings for each name."""
    found: dict[str, AgentSettings] = {}
    tables = value if isinstance(value, Mapping) else shapes.table(value, place, ())
    if len(tables) > MAX_AGENTS:
        raise place.error(f"at most {MAX_AGENTS} agents", got=len(tables))
    for name, settings in tables.items():
        below = place.below(name)
        if not NAME.fullmatch(name):
            raise below.error("a name of lower-case letters, digits and hyphens", got=name)
        agent = _agent(settings, below)
        if name in BUILT_IN and agent.kind is not BUILT_IN[name].kind:
            hint = f"give the agent another name; {name!r} is built in"
            raise below.below("kind").error(repr(str(BUILT_IN[name].kind)), got=str(agent.kind), hint=hint)
        found[name] = agent
    return found


def _agent(settings: object, place: Place) -> AgentSettings:
    every_key = {"kind"}.union(*AGENT_KEYS.values())
    given = shapes.table(settings, place, every_key)
    kind = shapes.one_of(AgentKind)(given.get("kind", shapes.NOTHING), place.below("kind"))
    readers = AGENT_KEYS[kind]
    shapes.table(given, place, {"kind", *readers})
    values = {key: read(given[key], place.below(key)) for key, read in readers.items() if key in given}
    match kind:
        case AgentKind.COMMAND:
            return _command_agent(values, place)
        case AgentKind.SCRIPTED:
            return ScriptedAgent(file=_script(_required(values, "file", "the path of a file", place), place))
        case AgentKind.HUMAN:
            return HumanAgent()
        case AgentKind.CHECKS:
            return ChecksAgent()
        case AgentKind.OPENAI | AgentKind.ANTHROPIC | AgentKind.CHAT | AgentKind.GEMINI:
            return _model_agent(kind, values, place)
        case AgentKind.LOCAL:
            return _local_agent(values, place)
        case AgentKind.CODEX | AgentKind.CLAUDE | AgentKind.GEMINI_CLI | AgentKind.COPILOT | AgentKind.OPENCODE:
            return _coding_agent(kind, values, place)
        case _:
            assert_never(kind)


def _required(values: Mapping[str, Any], key: str, expected: str, place: Place) -> Any:
    if key not in values:
        raise place.below(key).error(expected, got=shapes.NOTHING, hint=f"add `{key}` to {place.path}")
    return values[key]


def _command_agent(values: Mapping[str, Any], place: Place) -> CommandAgent:
    _required(values, "command", "a command", place)
    _required(values, "destination", f"{LOCAL!r}, or the name of the provider that the brief goes to", place)
    both = sorted(set(values.get("environment", ())) & set(values.get("set", ())))
    if both:
        raise place.below("set").error("no variable that `environment` passes on", got=both[0])
    return CommandAgent(**values)


def _model_agent(kind: AgentKind, values: Mapping[str, Any], place: Place) -> ModelAgent:
    _required(values, "model", "the name of one model", place)
    _demand_own(values, place)
    if kind is AgentKind.CHAT:
        _required(values, "base_url", "the address of the API", place)
    if values.get("efforts") and "controls" not in values:
        raise place.below("controls").error(
            "what the model takes, because `efforts` is set",
            got=shapes.NOTHING,
            hint=f"add `controls` to {place.path}",
        )
    return ModelAgent(kind=kind, **{"destination": _destination(kind, values.get("base_url", "")), **values})


def _local_agent(values: Mapping[str, Any], place: Place) -> LocalAgent:
    _demand_own(values, place)
    if not str(values.get("model_file", "/")).startswith("/"):
        raise place.below("model_file").error("an absolute path", got=values["model_file"])
    return LocalAgent(**values)


def _demand_own(values: Mapping[str, Any], place: Place) -> None:
    if place.source.origin is not Origin.REPOSITORY:
        return
    for key in _WHERE:
        if key in values:
            hint = f"set {place.path} in your own settings"
            raise place.below(key).error("nothing in a repository's settings", got=values[key], hint=hint)


def _coding_agent(kind: AgentKind, values: Mapping[str, Any], place: Place) -> CodingAgent:
    _demand_own(values, place)
    model, base_url = values.get("model", ""), values.get("base_url", "")
    is_user = values.get("home") is Home.USER
    if base_url and is_user:
        hint = "with an address of your own, use a fresh home and list the variable of its key in `environment`"
        raise place.below("base_url").error('none with `home = "user"`: your login is for its vendor', hint=hint)
    if base_url and kind in {AgentKind.COPILOT, AgentKind.OPENCODE}:
        _required(values, "model", "the name of one model, because `base_url` is set", place)
    if not base_url and kind is AgentKind.OPENCODE and "/" not in _required(values, "model", _WITH_PROVIDER, place):
        raise place.below("model").error(_WITH_PROVIDER, got=model)
    if not (base_url or is_user or values.get("environment")):
        hint = f'add `environment = ["…"]` with the name of that variable to {place.path}, or `home = "user"`'
        expected = "the variable that holds its key, because a fresh home is signed in nowhere"
        raise place.below("environment").error(expected, got=shapes.NOTHING, hint=hint)
    return CodingAgent(kind=kind, **{"destination": _destination(kind, base_url, model), **values})


_WITH_PROVIDER: Final = "a model as provider/model"


def _destination(kind: AgentKind, base_url: str, model: str = "") -> str:
    if not base_url:
        return _PROVIDERS.get(kind) or model.partition("/")[0].lower()
    return LOCAL if is_loopback(base_url) else host_of(base_url)


def _script(file: str, place: Place) -> str:
    parts = file.lower().split("/")
    if place.source.origin is Origin.REPOSITORY and (file.startswith("/") or not {"..", ".git"}.isdisjoint(parts)):
        raise place.below("file").error("a path below the top of the repository", got=file)
    return file
