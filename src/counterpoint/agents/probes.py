"""What a coding agent can be asked about itself without a request: its version, its options, whether it is signed in.

`--version` and `--help` of every client here were watched: none of them opens a connection. A login is looked for in
the client's own files, which is all that most of them allow; where a client can keep it in the system's keyring, its
absence there says nothing.

A profile line no longer holds where the client's help does not name an option or a mode of that line.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from counterpoint.agents.profiles import Client

__all__ = ["PROBES", "Drift", "Probe", "drift_of", "version_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """How one client is asked, and what its answers were when its profile was tried."""

    install: str
    """A command line that brings it here."""
    sign_in: str
    """A command line that signs the person in."""
    tried: str
    """The version that its profile was tried with."""
    key_variables: tuple[str, ...]
    """Where it looks for a key, the one for a fresh home first; none where that depends on the model's provider."""
    logins: Mapping[str, str]
    """By path below HOME: what a file holds, as a pattern, while the person is signed in."""
    moved: tuple[str, str] = ("", "")
    """A variable that names another folder in the place of one below HOME, and which."""
    help: tuple[str, ...] = ("--help",)
    unnamed: frozenset[str] = field(default_factory=frozenset)
    """Words of the profile that the help of that version did not name either."""
    status: tuple[str, ...] = ()
    """Words that make it end with exit 0 while signed in, and make no request."""
    keyrings: frozenset[str] = field(default_factory=frozenset)
    """Platforms where a login can lie in the system's keyring."""


PROBES: Final[Mapping[str, Probe]] = MappingProxyType(
    {
        "codex": Probe(
            install="npm install --global @openai/codex",
            sign_in="codex login",
            tried="0.171.0",
            key_variables=("CODEX_API_KEY",),
            logins={".codex/auth.json": r'"(OPENAI_API_KEY|access_token)"\s*:\s*"[^"]'},
            moved=("CODEX_HOME", ".codex"),
            help=("exec", "--help"),
            unnamed=frozenset({"plugins", "apps", "hooks", "unbounded_connection_retries"}),
            status=("login", "status"),
        ),
        "claude": Probe(
            install="npm install --global @anthropic-ai/claude-code",
            sign_in="claude auth login",
            tried="2.1.332",
            key_variables=("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"),
            logins={".claude/.credentials.json": r'"(accessToken|refreshToken)"\s*:\s*"[^"]'},
            moved=("CLAUDE_CONFIG_DIR", ".claude"),
            keyrings=frozenset({"darwin"}),
        ),
        "gemini-cli": Probe(
            install="npm install --global @google/gemini-cli",
            sign_in="gemini",
            tried="0.61.0",
            key_variables=("GEMINI_API_KEY",),
            logins={".gemini/oauth_creds.json": r'"(access|refresh)_token"\s*:\s*"[^"]'},
            unnamed=frozenset({"none"}),
            keyrings=frozenset({"darwin", "linux"}),
        ),
        "copilot": Probe(
            install="npm install --global @github/copilot",
            sign_in="copilot login",
            tried="1.0.102",
            key_variables=("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"),
            logins={},
            keyrings=frozenset({"darwin", "linux"}),
        ),
        "opencode": Probe(
            install="npm install --global opencode-ai",
            sign_in="opencode auth login",
            tried="1.18.33",
            key_variables=(),
            logins={".local/share/opencode/auth.json": r'"type"\s*:\s*"[^"]'},
            moved=("XDG_DATA_HOME", ".local/share"),
            help=("run", "--help"),
            unnamed=frozenset({"counterpoint", "plan", "build"}),
        ),
    }
)
"""By kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A word of a profile that the client does not name any more."""

    line: str
    """The profile's field."""
    word: str


_LINES: Final = (
    "arguments",
    "reads",
    "edits",
    "begins",
    "resumes",
    "model",
    "effort",
    "schema",
    "address",
    "no_address",
)
_VERSION: Final = re.compile(r"(?<![\w.])\d+\.\d+\.\d+(?:-[0-9A-Za-z.]*[0-9A-Za-z])?")
_WORD: Final = re.compile(r"[A-Za-z][\w-]*")


def version_of(printed: str) -> str:
    """Return the first version in what a client printed; "" where there is none."""
    found = _VERSION.search(printed)
    return found[0] if found else ""


def drift_of(client: Client, printed: str) -> tuple[Drift, ...]:
    """Return what of a client's profile its help does not name."""
    unnamed = PROBES[client.kind].unnamed
    needed = dict.fromkeys(drift for drift in _words(client) if drift.word not in unnamed)
    return tuple(drift for drift in needed if not _names(printed, drift.word))


def _names(printed: str, word: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", printed) is not None


def _words(client: Client) -> Iterator[Drift]:
    """Yield every option of a profile, and every word of it that stands by itself."""
    for line in _LINES:
        for text in getattr(client, line):
            word = text.partition("=")[0] if text.startswith("-") else text
            if (word.startswith("-") and len(word) > 1) or _WORD.fullmatch(word):
                yield Drift(line=line, word=word)
    if any(text.startswith("--") for text in client.effort):
        yield from (Drift(line="efforts", word=word) for word in client.efforts)
