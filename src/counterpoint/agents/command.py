"""Any headless command-line agent, by a template: one program, started for one question.

- The brief lies in files (`{brief}` Markdown, `{brief_json}`, `{schema}`), and goes to standard input unless the
  profile says that the program reads a file. It is never an argument.
- The answer is the program's whole standard output or the file `{result}`, or one value within it, named by a JSON
  Pointer. A program that ends with anything but exit 0 has not answered.
- Its environment is that of `program`, with a fresh HOME unless the profile says the person's own.

Sources: SPEC D-10, D-18; FIELD-FAULTS F1, F27 to F30, F33; SECURITY S1 to S3, S7, S8.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from counterpoint.agents.base import MAX_REPLY_BYTES, NOT_REPORTED, Agent, Progress, Reply, Workspace
from counterpoint.agents.program import (
    PERSON_VARIABLES,
    PLACEHOLDER,
    ProgramCall,
    base_environment,
    count_or_none,
    demand_no_secret,
    demand_success,
    fill,
    parse_envelope,
    program_call,
    said,
)
from counterpoint.core.briefs import Brief
from counterpoint.core.canonical import NotCanonical, canonical_json, visible
from counterpoint.core.values import Usage
from counterpoint.errors import BadReply, ConfigError
from counterpoint.isolation.environment import passed
from counterpoint.isolation.process import Finished, run

__all__ = ["PLACEHOLDERS", "CommandAgent", "CommandProfile"]

PLACEHOLDERS: Final = ("brief", "brief_json", "schema", "result", "tree", "scratch", "model", "effort")


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


_NOTE: Final = "Your working folder, where this speaks of one, is {}\n\n"
"""For a program that starts elsewhere; the same words for every seat."""


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
            named = {name for text in texts for name in PLACEHOLDER.findall(text)}
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
        starts_there = profile.in_tree or workspace.edits
        with program_call(brief, workspace, note="" if starts_there else _NOTE.format(workspace.tree)) as call:
            effort = str(brief.payload.get("effort", ""))
            places = {**call.places, "model": profile.model, "effort": effort}
            env = self._environment(call, places)
            finished = await run(
                [fill(argument, places) for argument in profile.command],
                cwd=workspace.tree if starts_there else call.folder,
                env=env,
                stdin=None if profile.prompt_by_file else call.prompt,
                timeout_s=profile.timeout_s,
                max_output=MAX_REPLY_BYTES,
                on_line=on_progress,
            )
            saying = said(finished.stderr.decode("utf-8", "replace"), env)
            demand_success(profile.name, finished, saying, timeout_s=profile.timeout_s)
            returned = (
                call.read_result(profile.name, saying) if profile.result_by_file else self._printed(finished, saying)
            )
        return demand_no_secret(profile.name, self._reply(self._answer(returned), finished), env)

    def _environment(self, call: ProgramCall, places: Mapping[str, str]) -> dict[str, str]:
        profile = self._profile
        if profile.user_home:
            home = passed(self._environ, PERSON_VARIABLES)
        else:
            (call.folder / "home").mkdir()
            home = {"HOME": str(call.folder / "home")}
        return {
            **base_environment(self._environ, call),
            **home,
            **passed(self._environ, profile.environment),
            **{name: fill(value, places) for name, value in profile.set.items()},
        }

    def _printed(self, finished: Finished, saying: str) -> bytes:
        name = self._profile.name
        if finished.truncated:
            raise BadReply(f"{name!r} printed {finished.printed} bytes; at most {MAX_REPLY_BYTES} are read")
        if not finished.stdout.strip():
            raise BadReply(f"{name!r} ended with exit 0 and printed no answer{saying}")
        return finished.stdout

    def _answer(self, returned: bytes) -> bytes:
        """Return the answer within what came back."""
        pointer, name = self._profile.reply_pointer, self._profile.name
        if pointer is None:
            return returned
        try:
            value = _at(parse_envelope(returned), pointer)
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
        used = count_or_none(look_up(profile.input_tokens_pointer))
        made = count_or_none(look_up(profile.output_tokens_pointer))
        return Reply(
            content=content,
            model_requested=profile.model,
            model_reported=model if isinstance(model, str) and model else NOT_REPORTED,
            usage=Usage()
            if used is None or made is None
            else Usage(input_tokens=used, output_tokens=made, known=True),
            session=session if isinstance(session, str) else "",
        )


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
            return _at(parse_envelope(text), pointer)
        except (ValueError, RecursionError, LookupError):
            continue
    return None
