"""One program, started for one question: what every agent that is a program does alike.

- A call has a private folder, opened before the program starts: the brief, the schema, a place for the result.
- Its environment is built from nothing: PATH, locale, a HOME and a TMPDIR, and what is listed.
- A program that was killed, ran out of time or ended with anything but exit 0 has not answered.
- A secret that was passed to it is not repeated, neither in an error nor in an answer.

Sources: SPEC D-10, D-18; FIELD-FAULTS F1, F27 to F30; SECURITY S1 to S3, S7, S8.
"""

import json
import os
import re
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from counterpoint.agents.base import MAX_REPLY_BYTES, Reply, Workspace, brief_json, render_prompt
from counterpoint.core.briefs import Brief
from counterpoint.core.canonical import visible
from counterpoint.errors import BadReply, TurnTimeout, Unreachable
from counterpoint.isolation.environment import passed, secrets_in, without_secrets
from counterpoint.isolation.process import Finished

__all__ = [
    "PERSON_VARIABLES",
    "PLACEHOLDER",
    "ProgramCall",
    "base_environment",
    "count_or_none",
    "demand_no_secret",
    "demand_success",
    "fill",
    "parse_envelope",
    "program_call",
    "said",
]

PLACEHOLDER: Final = re.compile(r"\{([a-z_]+)\}")
PERSON_VARIABLES: Final = ("HOME", "USER", "LOGNAME")
_BASE_VARIABLES: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
_STDERR_SHOWN: Final = 400
_RESULT: Final = "result.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramCall:
    """The private folder of one call."""

    folder: Path
    descriptor: int
    """Opened before the program started: whatever it does to the path, the result is looked for here."""
    places: Mapping[str, str]
    """What each placeholder stands for."""
    prompt: bytes
    """The brief as one Markdown text."""

    def read_result(self, name: str, saying: str) -> bytes:
        """Return what the program wrote into its result file.

        Args:
            name: the agent's, for errors.
            saying: what the program said on standard error, for errors.

        Raises:
            BadReply: it wrote nothing, or something else than a plain file of a bearable size lies there.
        """
        try:
            content = self.read()
        except ValueError as error:
            raise BadReply(f"{name!r} left {error}{saying}") from None
        if content is None or not content.strip():
            raise BadReply(f"{name!r} ended with exit 0 and wrote no answer to its result file{saying}")
        return content

    def read(self) -> bytes | None:
        """Return the bytes of the result file; None where there is none.

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


@contextmanager
def program_call(brief: Brief, workspace: Workspace, *, note: str = "") -> Iterator[ProgramCall]:
    """Make a folder for one call, with its brief in it.

    Args:
        brief: what is asked.
        workspace: where the files lie that it is about.
        note: what the program is told before the brief.
    """
    # A folder for this call alone: an answer that an earlier call left cannot be taken for this one's.
    folder = Path(tempfile.mkdtemp(prefix="call-", dir=workspace.scratch))
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        prompt = (note + render_prompt(brief)).encode()
        places = _lay_out(brief, prompt, folder, workspace)
        yield ProgramCall(folder=folder, descriptor=descriptor, places=places, prompt=prompt)
    finally:
        os.close(descriptor)


def _lay_out(brief: Brief, prompt: bytes, folder: Path, workspace: Workspace) -> dict[str, str]:
    (folder / "tmp").mkdir()
    (folder / "brief.md").write_bytes(prompt)
    (folder / "brief.json").write_text(brief_json(brief, working_folder=str(workspace.tree)), "utf-8")
    (folder / "schema.json").write_text(json.dumps(brief.schema, indent=2, default=dict) + "\n", "utf-8")
    places = {
        "brief": folder / "brief.md",
        "brief_json": folder / "brief.json",
        "schema": folder / "schema.json",
        "result": folder / _RESULT,
        "tree": workspace.tree,
        "scratch": folder,
    }
    return {name: str(path) for name, path in places.items()}


def fill(text: str, places: Mapping[str, str]) -> str:
    """Replace each `{placeholder}` by what it stands for."""
    return PLACEHOLDER.sub(lambda found: places[found[1]], text)


def base_environment(environ: Mapping[str, str], call: ProgramCall) -> dict[str, str]:
    """Return what every program is given, without a HOME."""
    return {
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
        **passed(environ, _BASE_VARIABLES),
        "TMPDIR": str(call.folder / "tmp"),
    }


def demand_success(name: str, finished: Finished, saying: str, *, timeout_s: float) -> None:
    """Go on where the program ended by itself with exit 0.

    Raises:
        TurnTimeout: it ran out of time.
        Unreachable: it ended otherwise.
    """
    if finished.timed_out:
        raise TurnTimeout(
            f"{name!r} did not answer within {timeout_s:g} s{saying}",
            hint="raise its timeout, or run it by hand to see what it waits for",
        )
    if finished.exit_code != 0:
        how = "was" if finished.exit_code is None else "ended with"
        raise Unreachable(f"{name!r} {how} {finished.ending}{saying}", hint="run it by hand; is it signed in?")


def demand_no_secret(name: str, reply: Reply, env: Mapping[str, str]) -> Reply:
    """Return the reply where nothing that is kept of it holds a secret that the program was given.

    Raises:
        BadReply: it does.
    """
    for text in (reply.content.decode("utf-8", "replace"), reply.model_reported, reply.session):
        if leaked := secrets_in(text, env):
            raise BadReply(
                f"the answer of {name!r} holds the value of {leaked[0]}",
                hint="replace that credential, and find out what made the agent print it",
            )
    return reply


def said(text: str, env: Mapping[str, str]) -> str:
    """Return the end of what a program said, for a message: one line, without the secrets that were passed."""
    line = " ".join(visible(without_secrets(text, env)[0]).split())
    if not line:
        return ""
    return f": {line}" if len(line) <= _STDERR_SHOWN else f": …{line[-_STDERR_SHOWN:]}"


def parse_envelope(content: bytes) -> Any:
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


def count_or_none(value: Any) -> int | None:
    """Return a number of tokens, None for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
