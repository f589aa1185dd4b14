"""Any headless command-line agent, by a template: one program, started for one question.

- The brief lies in files (`{brief}` Markdown, `{brief_json}`, `{schema}`), and goes to standard input unless the
  profile says that the program reads a file. It is never an argument.
- The answer is the program's whole standard output or the file `{result}`, or one value within it, named by a JSON
  Pointer. A program that ends with anything but exit 0 has not answered.
- Its environment is built from nothing: PATH, locale, a fresh HOME and TMPDIR, and what the profile lists. A secret
  that was passed to it is not repeated, neither in an error nor in an answer.

Sources: SPEC D-10, D-18; FIELD-FAULTS F1, F27 to F30, F33; SECURITY S1 to S3, S7, S8.
"""

import json
import os
import re
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from counterpoint.agents.base import (
    MAX_REPLY_BYTES,
    NOT_REPORTED,
    Agent,
    Progress,
    Reply,
    Workspace,
    brief_json,
    render_prompt,
)
from counterpoint.core.briefs import Brief
from counterpoint.core.canonical import NotCanonical, canonical_json, visible
from counterpoint.core.values import Usage
from counterpoint.errors import BadReply, ConfigError, TurnTimeout, Unreachable
from counterpoint.isolation.environment import passed, without_secrets
from counterpoint.isolation.process import Finished, run

__all__ = ["PLACEHOLDERS", "CommandAgent", "CommandProfile"]

PLACEHOLDERS: Final = ("brief", "brief_json", "schema", "result", "tree", "scratch", "model", "effort")
_PLACEHOLDER: Final = re.compile(r"\{([a-z_]+)\}")
_BASE_VARIABLES: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
_PERSON_VARIABLES: Final = ("HOME", "USER", "LOGNAME")
_STDERR_SHOWN: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandProfile:
    """How one command-line agent is started and read."""

    name: str
    """The agent's name in the settings."""
    command: tuple[str, ...]
    """The program and its arguments, with `{placeholders}`."""
    destination: str
    timeout_s: float
    """For one call."""
    prompt_by_file: bool = False
    """The program reads `{brief}` or `{brief_json}`; its standard input is empty."""
    result_by_file: bool = False
    """The program writes `{result}`; what it prints is no answer."""
    environment: tuple[str, ...] = ()
    """Names of variables that are passed on as they are here."""
    set: Mapping[str, str] = field(default_factory=dict)
    """Variables with these values; placeholders are filled in."""
    user_home: bool = False
    """HOME is the person's own, for agents that are signed in there; else it is a fresh folder."""
    in_tree: bool = False
    """The program starts in the export; else in the folder that holds its brief. An author: in the work tree."""
    model: str = ""
    reply_pointer: str | None = None
    """JSON Pointer to the answer within what the program returns: a text that holds it, or the object itself."""
    model_pointer: str | None = None
    """This and the following are looked up in what the program prints: one JSON value, or one a line."""
    input_tokens_pointer: str | None = None
    output_tokens_pointer: str | None = None
    session_pointer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """The private folder of one call."""

    folder: Path
    descriptor: int
    """Opened before the program started: whatever it does to the path, the result is looked for here."""

    def read_result(self) -> bytes | None:
        """Return what the program wrote; None when it wrote nothing.

        Raises:
            ValueError: something else than a plain file of a bearable size lies there.
        """
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            descriptor = os.open(_RESULT, flags, dir_fd=self.descriptor)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ValueError(f"a result file that cannot be read: {error.strerror}") from None
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
                raise ValueError("something else than a plain file as its result")
            if found.st_size > MAX_REPLY_BYTES:
                raise ValueError(f"a result file of {found.st_size} bytes; at most {MAX_REPLY_BYTES} are read")
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return file.read(MAX_REPLY_BYTES + 1)
        finally:
            os.close(descriptor)


_RESULT: Final = "result.json"


class CommandAgent(Agent):
    """Starts one program for each question.

    Raises:
        ConfigError: the template names a placeholder that does not exist, or lacks one that it needs.
    """

    kind = "command"

    def __init__(self, profile: CommandProfile, *, environ: Mapping[str, str]) -> None:
        self._profile = profile
        self._environ = environ
        self.destination = profile.destination
        self._check()

    def _check(self) -> None:
        profile, path = self._profile, f"agents.{self._profile.name}"
        used = set()
        for key, texts in (("command", profile.command), ("set", profile.set.values())):
            named = {name for text in texts for name in _PLACEHOLDER.findall(text)}
            if unknown := sorted(named.difference(PLACEHOLDERS)):
                known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
                raise ConfigError(f"{path}.{key}", f"no placeholder but {known}", got=f"{{{unknown[0]}}}")
            used |= named
        if profile.prompt_by_file and not used & {"brief", "brief_json"}:
            raise ConfigError(f"{path}.command", "{brief} or {brief_json}, because the prompt goes by file")
        if profile.result_by_file and "result" not in used:
            raise ConfigError(f"{path}.command", "{result}, because the result comes by file")
        if not profile.destination:
            raise ConfigError(f"{path}.destination", "where the brief's bytes go: 'local' or a provider's name")

    async def ask(self, brief: Brief, *, workspace: Workspace, deadline: datetime, on_progress: Progress) -> Reply:
        del deadline  # the profile's timeout and the driver's cancellation hold
        profile = self._profile
        with _call(workspace.scratch) as call:
            places = _lay_out(brief, call.folder, workspace, profile.model)
            env = self._environment(call.folder, places)
            finished = await run(
                [_fill(argument, places) for argument in profile.command],
                cwd=workspace.tree if profile.in_tree or workspace.edits else call.folder,
                env=env,
                stdin=None if profile.prompt_by_file else render_prompt(brief).encode(),
                timeout_s=profile.timeout_s,
                max_output=MAX_REPLY_BYTES,
                on_line=lambda line: on_progress(without_secrets(line, env)[0]),
            )
            self._demand_success(finished, env)
            returned = self._returned(call, finished, env)
        content = self._answer(returned)
        if leaked := without_secrets(content.decode("utf-8", "replace"), env)[1]:
            raise BadReply(
                f"the answer of {profile.name!r} holds the value of {leaked[0]}",
                hint="replace that credential, and find out what made the agent print it",
            )
        return self._reply(content, finished)

    def _environment(self, folder: Path, places: Mapping[str, str]) -> dict[str, str]:
        profile = self._profile
        home = passed(self._environ, _PERSON_VARIABLES) if profile.user_home else {"HOME": str(folder / "home")}
        return {
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "NO_COLOR": "1",
            **passed(self._environ, _BASE_VARIABLES),
            **home,
            "TMPDIR": str(folder / "tmp"),
            **passed(self._environ, profile.environment),
            **{name: _fill(value, places) for name, value in profile.set.items()},
        }

    def _demand_success(self, finished: Finished, env: Mapping[str, str]) -> None:
        name, said = self._profile.name, _said(finished, env)
        if finished.timed_out:
            raise TurnTimeout(
                f"{name!r} did not answer within {self._profile.timeout_s:g} s{said}",
                hint="raise its timeout, or run it by hand to see what it waits for",
            )
        if finished.exit_code != 0:
            how = "was" if finished.exit_code is None else "ended with"
            raise Unreachable(f"{name!r} {how} {finished.ending}{said}", hint="run it by hand; is it signed in?")

    def _returned(self, call: _Call, finished: Finished, env: Mapping[str, str]) -> bytes:
        name, said = self._profile.name, _said(finished, env)
        if not self._profile.result_by_file:
            if finished.truncated:
                raise BadReply(f"{name!r} printed {finished.printed} bytes; at most {MAX_REPLY_BYTES} are read")
            if not finished.stdout.strip():
                raise BadReply(f"{name!r} ended with exit 0 and printed no answer{said}")
            return finished.stdout
        try:
            content = call.read_result()
        except ValueError as error:
            raise BadReply(f"{name!r} left {error}{said}") from None
        if content is None or not content.strip():
            raise BadReply(f"{name!r} ended with exit 0 and wrote no answer to its result file{said}")
        return content

    def _answer(self, returned: bytes) -> bytes:
        """Return the answer within what came back."""
        pointer, name = self._profile.reply_pointer, self._profile.name
        if pointer is None:
            return returned
        try:
            value = _at(_envelope(returned), pointer)
        except (ValueError, RecursionError) as error:
            raise BadReply(f"what {name!r} returned is not one JSON value: {visible(str(error))}") from None
        except LookupError:
            raise BadReply(f"what {name!r} returned has nothing at {pointer!r}") from None
        try:
            return value.encode() if isinstance(value, str) else canonical_json(value).encode()
        except (NotCanonical, UnicodeEncodeError) as error:
            raise BadReply(f"the answer of {name!r} at {pointer!r} is not strict JSON: {error}") from None

    def _reply(self, content: bytes, finished: Finished) -> Reply:
        profile, printed = self._profile, finished.stdout

        def look_up(pointer: str | None) -> Any:
            return None if pointer is None else _newest_at(printed, pointer)

        model, session = look_up(profile.model_pointer), look_up(profile.session_pointer)
        used, made = look_up(profile.input_tokens_pointer), look_up(profile.output_tokens_pointer)
        known = _is_count(used) and _is_count(made)
        return Reply(
            content=content,
            model_requested=profile.model,
            model_reported=model if isinstance(model, str) and model else NOT_REPORTED,
            usage=Usage(input_tokens=used, output_tokens=made, known=True) if known else Usage(),
            session=session if isinstance(session, str) else "",
        )


@contextmanager
def _call(scratch: Path) -> Iterator[_Call]:
    # A folder for this call alone: an answer that an earlier call left cannot be taken for this one's.
    folder = Path(tempfile.mkdtemp(prefix="call-", dir=scratch))
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield _Call(folder=folder, descriptor=descriptor)
    finally:
        os.close(descriptor)


def _lay_out(brief: Brief, folder: Path, workspace: Workspace, model: str) -> dict[str, str]:
    """Write the files of a call and return what each placeholder stands for."""
    (folder / "home").mkdir()
    (folder / "tmp").mkdir()
    (folder / "brief.md").write_text(render_prompt(brief), "utf-8")
    (folder / "brief.json").write_text(brief_json(brief), "utf-8")
    (folder / "schema.json").write_text(json.dumps(brief.schema, indent=2, default=dict) + "\n", "utf-8")
    places = {
        "brief": folder / "brief.md",
        "brief_json": folder / "brief.json",
        "schema": folder / "schema.json",
        "result": folder / _RESULT,
        "tree": workspace.tree,
        "scratch": folder,
    }
    effort = brief.payload.get("effort", "")
    return {name: str(path) for name, path in places.items()} | {"model": model, "effort": str(effort)}


def _fill(text: str, places: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: places[found[1]], text)


def _said(finished: Finished, env: Mapping[str, str]) -> str:
    """Return the end of standard error for a message, on one line, without the secrets that were passed."""
    text, _ = without_secrets(finished.stderr.decode("utf-8", "replace"), env)
    line = " ".join(visible(text).split())
    if not line:
        return ""
    return f": {line}" if len(line) <= _STDERR_SHOWN else f": …{line[-_STDERR_SHOWN:]}"


def _envelope(content: bytes) -> Any:
    """Read the JSON that a program wraps its answer in; unlike an answer it may hold fractions.

    Raises:
        ValueError: it is not exactly one JSON value, or a key stands twice in one object.
    """
    return json.loads(content.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


def _at(document: Any, pointer: str) -> Any:
    """Return the value at a JSON Pointer (RFC 6901).

    Raises:
        LookupError: there is nothing there.
    """
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        match document:
            case dict() if key in document:
                document = document[key]
            case list() if key.isdecimal() and int(key) < len(document):
                document = document[int(key)]
            case _:
                raise LookupError(pointer)
    return document


def _newest_at(printed: bytes, pointer: str) -> Any:
    """Return the value at a pointer in what was printed: in the one JSON value, or in the last line that has it."""
    for text in (printed, *reversed(printed.splitlines())):
        try:
            return _at(_envelope(text), pointer)
        except (ValueError, RecursionError, LookupError):
            continue
    return None


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
