"""The coding agents that Counterpoint knows, as data: what each one's options, variables and events are called.

Every line was tried with the version that `requirements/agents` pins; `make test-agents` tries them again. What the
options leave open is in `docs/howto/coding-agents.md`.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from counterpoint.agents.events import (
    Event,
    Heard,
    take_claude,
    take_codex,
    take_copilot,
    take_gemini,
    take_opencode,
)
from counterpoint.agents.questions import is_strict, loosened

__all__ = ["CLIENTS", "Client"]

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """How one coding agent is started and read. In every text `{placeholders}` are filled in.

    The command is `arguments`, then the mode, model, effort, schema and address, then how a session is begun.
    """

    kind: str
    vendor: str
    """Where it sends what it is given, unless the settings say otherwise."""
    program: str
    arguments: tuple[str, ...]
    reads: tuple[str, ...]
    """A reviewer's mode: nothing can be written."""
    edits: tuple[str, ...]
    """An author's mode: the work tree can be written, and nothing beyond it."""
    take: Callable[[Event, Heard], None]
    """Adds one event to what was heard."""
    begins: tuple[str, ...] = ()
    resumes: tuple[str, ...] = ()
    """Goes on with `{session}`; empty: it cannot."""
    trace: str = ""
    """Glob below HOME of what the session `{session}` lies in."""
    is_cumulative: bool = False
    """Whether its usage is counted over the whole session."""
    model: tuple[str, ...] = ()
    effort: tuple[str, ...] = ()
    efforts: tuple[str, ...] = ()
    """Every word that it takes as its effort; empty: it has no such option."""
    api: str = ""
    """Whose models it asks, in the table of capabilities."""
    schema: tuple[str, ...] = ()
    schema_form: Callable[[Schema], Schema | None] = dict
    """Returns the schema as the client takes it, None for one that it does not take."""
    address: tuple[str, ...] = ()
    """With a `{base_url}` of the person's own."""
    no_address: tuple[str, ...] = ()
    set: Mapping[str, str] = field(default_factory=dict)
    set_reads: Mapping[str, str] = field(default_factory=dict)
    set_edits: Mapping[str, str] = field(default_factory=dict)
    set_address: Mapping[str, str] = field(default_factory=dict)
    """Variables for a `{base_url}` of the person's own."""
    files: Mapping[str, str] = field(default_factory=dict)
    """What is written below a fresh HOME before each call."""
    home_variables: tuple[str, ...] = ()
    """Passed on with the person's own HOME: where else the client keeps its login and sessions. The first one names
    the folder that is the first part of `trace` otherwise."""
    leaves_figures: bool = False
    """Whether it leaves one more event, its figures, in `{result}`."""
    reads_beside: bool = False
    """A reviewer starts beside the tree, because the client obeys the settings of the folder that it starts in."""
    note: str = ""
    """Said to a reviewer that starts beside the tree."""


def _strict_or_none(schema: Schema) -> Schema | None:
    """Return the schema in the form that OpenAI's strict mode takes; None where a key is optional.

    Codex asks for strict mode always, and the API refuses such a schema there.
    """
    form = loosened(schema)
    return form if is_strict(form) else None


def _without_dialect(schema: Schema) -> Schema:
    """Return the schema without its `$schema`: Claude Code knows no 2020-12."""
    return {key: value for key, value in schema.items() if key != "$schema"}


_CODEX_PROVIDER: Final = (
    '{name="OpenAI",%swire_api="responses",requires_openai_auth=true,'
    "request_max_retries=0,stream_max_retries=0,supports_websockets=false}"
)
"""A provider of our own: retries cannot be switched off in the one that is built in."""

CODEX: Final = Client(
    kind="codex",
    vendor="openai",
    program="codex",
    arguments=(
        *("exec", "--json", "--color", "never", "--skip-git-repo-check"),
        *("--strict-config", "--ignore-user-config", "--ignore-rules"),
        *("--disable", "plugins", "--disable", "apps", "--disable", "hooks"),
        *("--disable", "unbounded_connection_retries"),
        *("-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false"),
        *("-c", 'web_search="disabled"', "-c", 'model_provider="counterpoint"'),
    ),
    reads=("-s", "read-only"),
    edits=("-s", "workspace-write", "-c", "sandbox_workspace_write.exclude_slash_tmp=true"),
    model=("-m", "{model}"),
    effort=("-c", 'model_reasoning_effort="{effort}"'),
    efforts=("none", "minimal", "low", "medium", "high", "xhigh", "max"),
    api="openai",
    schema=("--output-schema", "{schema}"),
    schema_form=_strict_or_none,
    address=("-c", "model_providers.counterpoint=" + _CODEX_PROVIDER % 'base_url="{base_url}",'),
    no_address=("-c", "model_providers.counterpoint=" + _CODEX_PROVIDER % ""),
    begins=("-",),
    resumes=("fork", "{session}", "-"),
    trace=".codex/sessions/*/*/*/rollout-*-{session}.jsonl",
    is_cumulative=True,
    home_variables=("CODEX_HOME",),
    take=take_codex,
)

CLAUDE: Final = Client(
    kind="claude",
    vendor="anthropic",
    program="claude",
    # `--restricted` keeps the file tools in the work tree, and ignores the settings and instructions of every folder.
    arguments=("-p", "--output-format", "stream-json", "--verbose", "--restricted", "--strict-mcp-config"),
    reads=("--tools", "Read,Grep,Glob", "--permission-mode", "dontAsk"),
    edits=("--tools", "Read,Grep,Glob,Edit,Write", "--permission-mode", "acceptEdits"),
    model=("--model", "{model}"),
    effort=("--effort", "{effort}"),
    efforts=("low", "medium", "high", "xhigh", "max"),
    api="anthropic",
    schema=("--json-schema", "{schema_text}"),
    schema_form=_without_dialect,
    resumes=("--resume", "{session}", "--fork-session"),
    trace=".claude/projects/*/{session}.jsonl",
    set={
        "CLAUDE_CODE_MAX_RETRIES": "0",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    },
    set_address={"ANTHROPIC_BASE_URL": "{base_url}"},
    home_variables=("CLAUDE_CONFIG_DIR",),
    take=take_claude,
)

_GEMINI_SETTINGS: Final = {
    "general": {"maxAttempts": 1, "retryFetchErrors": False, "enableAutoUpdate": False, "disableUpdateNag": True},
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "hooksConfig": {"enabled": False},
}

GEMINI_CLI: Final = Client(
    kind="gemini-cli",
    vendor="google",
    program="gemini",
    arguments=("-o", "stream-json", "--extensions", "none"),
    reads=("--approval-mode", "plan", "--include-directories", "{tree}"),
    edits=("--approval-mode", "auto_edit"),
    model=("-m", "{model}"),
    files={".gemini/settings.json": json.dumps(_GEMINI_SETTINGS)},
    # Without it the client does nothing in a folder that nobody has told it to trust.
    set={"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_CLI_NO_RELAUNCH": "true"},
    set_address={"GOOGLE_GEMINI_BASE_URL": "{base_url}"},
    reads_beside=True,
    note="Your working folder, where this speaks of one, is {tree}\n\n",
    take=take_gemini,
)

COPILOT: Final = Client(
    kind="copilot",
    vendor="github",
    program="copilot",
    arguments=(
        *("--output-format", "json", "--log-level", "none", "--no-ask-user", "--no-auto-update", "--no-color"),
        *("--disable-builtin-mcps", "--no-custom-instructions", "--no-remote", "--disallow-temp-dir"),
        *("--usage-output-file", "{result}"),
    ),
    reads=("--available-tools", "view,grep,glob", "--deny-tool=write", "--deny-tool=shell"),
    edits=("--available-tools", "view,grep,glob,create,edit,apply_patch", "--allow-tool=write", "--deny-tool=shell"),
    model=("--model", "{model}"),
    effort=("--reasoning-effort", "{effort}"),
    efforts=("none", "minimal", "low", "medium", "high", "xhigh", "max"),
    resumes=("--resume={session}",),
    trace=".copilot/session-state/{session}",
    is_cumulative=True,
    leaves_figures=True,
    set={"COPILOT_AUTO_UPDATE": "false"},
    set_address={
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": "{base_url}",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_WIRE_API": "completions",
    },
    home_variables=("COPILOT_HOME",),
    take=take_copilot,
)


_OPENCODE_READS: Final = {"*": "deny", "read": "allow", "grep": "allow", "glob": "allow", "list": "allow"}
_OPENCODE_CONFIG: Final = {"autoupdate": False, "share": "disabled"}
_OPENCODE_ADDRESS: Final = {
    **_OPENCODE_CONFIG,
    "enabled_providers": ["counterpoint"],
    "small_model": "counterpoint/{model}",
    "provider": {
        "counterpoint": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "counterpoint",
            "options": {"baseURL": "{base_url}", "apiKey": "{env:OPENCODE_API_KEY}"},
            "models": {"{model}": {"name": "{model}", "tool_call": True}},
        }
    },
}

OPENCODE: Final = Client(
    kind="opencode",
    vendor="",
    program="opencode",
    # A title of ours: without one the client asks its model for one.
    arguments=("run", "--format", "json", "--pure", "--title", "counterpoint"),
    reads=("--agent", "plan"),
    edits=("--agent", "build"),
    address=("-m", "counterpoint/{model}"),
    no_address=("-m", "{model}"),
    set={
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
        "OPENCODE_CONFIG_CONTENT": json.dumps(_OPENCODE_CONFIG),
    },
    set_reads={"OPENCODE_PERMISSION": json.dumps(_OPENCODE_READS)},
    set_edits={"OPENCODE_PERMISSION": json.dumps({**_OPENCODE_READS, "edit": "allow"})},
    set_address={"OPENCODE_CONFIG_CONTENT": json.dumps(_OPENCODE_ADDRESS)},
    home_variables=("XDG_DATA_HOME", "XDG_CONFIG_HOME"),
    take=take_opencode,
)

CLIENTS: Final[Mapping[str, Client]] = MappingProxyType(
    {client.kind: client for client in (CODEX, CLAUDE, GEMINI_CLI, COPILOT, OPENCODE)}
)
