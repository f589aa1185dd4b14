"""A coding agent without its screen: started for one question, in a profile's own words, read event by event.

- What a client's options, variables and events are called is data (`profiles`). What is demanded of it is here.
- A reviewer is started in the client's read-only mode and an author in the one that edits, named every time.
- Only the session that the seat's last accepted answer came out of is gone on with; where it is gone, a new one
  begins. Where a client can branch a session off, it does: an answer that was refused is in no later session.
- A client that counts tokens over a whole session reports the total; a turn's is what came on top of the last one.
- The prompt goes to standard input, never into an argument. HOME is the seat's own, or the person's.

Sources: ECOSYSTEM 2.2 to 2.5; SPEC B-05, B-12; FIELD-FAULTS F1, F27 to F33.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from counterpoint.agents.base import NOT_REPORTED, Agent, Progress, Reply, Workspace
from counterpoint.agents.capabilities import PROVIDER_DEFAULT, effort_fault, find
from counterpoint.agents.events import Event, Heard
from counterpoint.agents.profiles import Client
from counterpoint.agents.program import (
    PERSON_VARIABLES,
    ProgramCall,
    base_environment,
    demand_no_secret,
    demand_success,
    fill,
    parse_envelope,
    program_call,
    said,
)
from counterpoint.core.briefs import Brief
from counterpoint.core.canonical import visible
from counterpoint.core.values import Usage
from counterpoint.errors import BadReply, ConfigError, Unreachable
from counterpoint.isolation.environment import passed, without_secrets
from counterpoint.isolation.process import run

__all__ = ["HeadlessAgent", "HeadlessProfile"]

MAX_EVENT_BYTES: Final = 8 << 20
"""A longer line of output is passed over."""
_SESSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_LINE: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlessProfile:
    """What the settings say of one agent."""

    name: str
    """The agent's name in the settings."""
    destination: str
    timeout_s: float
    """For one call."""
    homes: Path
    """The folder of this case in which each seat has a HOME of its own; made when it is needed."""
    program: str = ""
    """Empty: the client's own name."""
    model: str = ""
    """Empty: the client chooses."""
    effort: str = ""
    """Empty: the one that the brief names."""
    base_url: str = ""
    user_home: bool = False
    """HOME is the person's own, where the client is signed in."""
    environment: tuple[str, ...] = ()
    """Names of variables that are passed on as they are here."""


class HeadlessAgent(Agent):
    """Starts one coding agent for each question.

    Raises:
        ConfigError: the client does not take the effort.
    """

    def __init__(self, client: Client, profile: HeadlessProfile, *, environ: Mapping[str, str]) -> None:
        self.kind = client.kind
        self.destination = profile.destination
        self._client = client
        self._profile = profile
        self._environ = environ
        if profile.effort:
            self._demand_effort(profile.effort)

    def check_effort(self, effort: str) -> None:
        """Refuse the effort of the cases to come before one is opened; the agent's own wins over it.

        Raises:
            ConfigError: the client does not take it.
        """
        if not self._profile.effort:
            self._demand_effort(effort)

    async def ask(self, brief: Brief, *, workspace: Workspace, deadline: datetime, on_progress: Progress) -> Reply:
        del deadline  # the profile's timeout and the driver's cancellation hold
        profile, client = self._profile, self._client
        effort = self._effort(brief)
        home = self._home(workspace)
        before = _recorded(workspace.session) if self._is_there(workspace.session, home, on_progress) else _NONE
        with program_call(brief, workspace) as call:
            places = {
                **call.places,
                "home": str(home),
                "model": profile.model,
                "effort": effort,
                "base_url": profile.base_url,
                "session": before.session,
            }
            places["schema_text"] = self._lay_out_schema(brief, call)
            env = self._variables(call, places, edits=workspace.edits)
            listener = _Listener(client.take, lambda line: on_progress(without_secrets(line, env)[0][:_LINE]))
            beside = client.reads_beside and not workspace.edits
            note = fill(client.note, places).encode() if beside else b""
            finished = await run(
                self._command(places, edits=workspace.edits),
                cwd=call.folder if beside else workspace.tree,
                env=env,
                stdin=note + call.prompt,
                timeout_s=profile.timeout_s,
                max_output=0,
                on_output=listener.feed,
            )
            listener.end()
            if client.leaves_figures:
                listener.feed(_figures(call))
                listener.end()
        heard = listener.heard
        saying = said(heard.failure or finished.stderr.decode("utf-8", "replace"), env)
        demand_success(profile.name, finished, saying, timeout_s=profile.timeout_s)
        content = self._answer(heard, saying, is_cut=listener.is_cut)
        return demand_no_secret(profile.name, self._reply(content, heard, before), env)

    def _demand_effort(self, effort: str) -> None:
        if fault := self._effort_fault(effort):
            path = f"agents.{self._profile.name}"
            raise ConfigError(f"{path}.effort", "", sentence=f"{path}.effort: {fault}", hint=self._effort_hint(path))

    def _effort_fault(self, effort: str) -> str:
        client, model = self._client, self._profile.model
        known = find(client.api, model) if client.api and model else None
        if effort == PROVIDER_DEFAULT:
            leaves = f"{effort!r} leaves the effort open; model {model!r} takes"
            return f"{leaves} {', '.join(known.efforts)} ({known.says})" if known and known.efforts else ""
        if not client.efforts:
            return f"effort {effort!r} is asked for; {client.program!r} has no option for it"
        if effort not in client.efforts:
            return f"effort {effort!r} is asked for; {client.program!r} takes {', '.join(client.efforts)}"
        return effort_fault(model, known, effort) if known else ""

    def _effort_hint(self, path: str) -> str:
        client, model = self._client, self._profile.model
        known = find(client.api, model) if client.api and model else None
        words = client.efforts if known is None else [word for word in known.efforts if word in client.efforts]
        if words:
            return f"set `effort` in [{path}] to one of {', '.join(words)}"
        return f'set `effort = "{PROVIDER_DEFAULT}"` in [{path}], which sends none'

    def _effort(self, brief: Brief) -> str:
        """Return the effort to send; "" for none.

        Raises:
            Unreachable: the client does not take the one that the case asks for.
        """
        asked = self._profile.effort or str(brief.payload.get("effort", ""))
        if asked and (fault := self._effort_fault(asked)):
            path = f"agents.{self._profile.name}"
            raise Unreachable(f"{path}: {visible(fault)}", hint=self._effort_hint(path))
        return "" if asked == PROVIDER_DEFAULT else asked

    def _home(self, workspace: Workspace) -> Path:
        if self._profile.user_home:
            return Path(self._environ.get("HOME") or "/")
        home = self._profile.homes / workspace.turn.seat
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, content in self._client.files.items():
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            path.write_text(content, "utf-8")
        return home

    def _is_there(self, session: str, home: Path, on_progress: Progress) -> bool:
        """Say whether a recorded session can be gone on with."""
        found = _recorded(session).session
        if not found or not self._client.resumes:
            return False
        folder = next((self._environ[name] for name in self._home_folders() if name in self._environ), "")
        trace = self._client.trace.format(session=found)
        if folder:  # the variable names the folder that is the trace's first part otherwise
            home, trace = Path(folder), trace.partition("/")[2]
        if next(home.glob(trace), None) is not None:
            return True
        on_progress("the recorded session is not there any more; a new one begins")
        return False

    def _home_folders(self) -> Sequence[str]:
        return self._client.home_variables[:1] if self._profile.user_home else ()

    def _lay_out_schema(self, brief: Brief, call: ProgramCall) -> str:
        """Write the schema in the client's own form over the brief's; return it, "" where it takes none."""
        form = self._client.schema_form(brief.schema)
        if form is None:
            return ""
        text = json.dumps(form, default=dict)
        Path(call.places["schema"]).write_text(text, "utf-8")
        return text

    def _command(self, places: Mapping[str, str], *, edits: bool) -> list[str]:
        client, profile = self._client, self._profile
        texts = [
            profile.program or client.program,
            *client.arguments,
            *(client.edits if edits else client.reads),
            *(client.model if profile.model else ()),
            *(client.effort if places["effort"] else ()),
            *(client.schema if places["schema_text"] else ()),
            *(client.address if profile.base_url else client.no_address),
            *(client.resumes if places["session"] else client.begins),
        ]
        return [fill(text, places) for text in texts]

    def _variables(self, call: ProgramCall, places: Mapping[str, str], *, edits: bool) -> dict[str, str]:
        client, profile = self._client, self._profile
        if profile.user_home:
            home = passed(self._environ, (*PERSON_VARIABLES, *client.home_variables))
        else:
            home = {"HOME": places["home"]}
        mode = client.set_edits if edits else client.set_reads
        own = {**client.set, **mode, **(client.set_address if profile.base_url else {})}
        return {
            **base_environment(self._environ, call),
            **home,
            **passed(self._environ, profile.environment),
            **{name: fill(value, places) for name, value in own.items()},
        }

    def _answer(self, heard: Heard, saying: str, *, is_cut: bool) -> bytes:
        name = self._profile.name
        if heard.failure:
            raise Unreachable(f"{name!r} reports a failure{saying}", hint="run it by hand; is it signed in?")
        if is_cut and not heard.is_ended:
            raise BadReply(f"{name!r} printed a line of more than {MAX_EVENT_BYTES} bytes; no more are read")
        if not heard.is_ended:
            raise BadReply(f"{name!r} ended with exit 0 and did not say that its turn is over{saying}")
        if heard.answer is None or not heard.answer.strip():
            raise BadReply(f"{name!r} ended its turn without an answer{saying}")
        return heard.answer.encode("utf-8", "surrogatepass")

    def _reply(self, content: bytes, heard: Heard, before: "_Recorded") -> Reply:
        asked = self._profile.model
        # One that is not the one asked for is the one to report, however many others answered, too.
        others = [model for model in heard.models if model != asked]
        reported = (others or heard.models or [NOT_REPORTED])[0]
        session = heard.session if _SESSION.fullmatch(heard.session) else ""
        usage = heard.usage
        if self._client.is_cumulative:
            session = _with_total(session, usage)
            usage = _on_top(usage, before) if before.session else usage
        return Reply(content=content, model_requested=asked, model_reported=reported, usage=usage, session=session)


def _figures(call: ProgramCall) -> bytes:
    """Return what the client left about its usage, on one line; nothing where it left none that can be read."""
    with suppress(ValueError):
        return (call.read() or b"").replace(b"\n", b" ")
    return b""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recorded:
    """A session as it was recorded: its id, and what it had used by then."""

    session: str = ""
    total: Usage = field(default_factory=Usage)


_NONE: Final = _Recorded()


def _recorded(text: str) -> _Recorded:
    session, *counts = text.split(" ")
    if not _SESSION.fullmatch(session):
        return _NONE
    match counts:
        case [used, made] if used.isdecimal() and made.isdecimal():
            total = Usage(input_tokens=int(used), output_tokens=int(made), known=True)
            return _Recorded(session=session, total=total)
        case _:
            return _Recorded(session=session)


def _with_total(session: str, total: Usage) -> str:
    return f"{session} {total.input_tokens} {total.output_tokens}" if session and total.known else session


def _on_top(total: Usage, before: _Recorded) -> Usage:
    """Return what came on top of a session's earlier total; unknown where the two do not fit."""
    used = total.input_tokens - before.total.input_tokens
    made = total.output_tokens - before.total.output_tokens
    if not (total.known and before.total.known) or min(used, made) < 0:
        return Usage()
    return Usage(input_tokens=used, output_tokens=made, known=True)


class _Listener:
    """Takes a client's output apart into events as it comes, and holds no more of it than one line."""

    def __init__(self, take: Callable[[Event, Heard], None], tell: Progress) -> None:
        self.heard = Heard()
        self.is_cut = False
        """Whether a line was too long to be read."""
        self._take = take
        self._tell = tell
        self._line = bytearray()
        self._skips = False

    def feed(self, chunk: bytes) -> None:
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            self._add(piece)
            self.end()
        self._add(rest)

    def end(self) -> None:
        line, skips = bytes(self._line), self._skips
        self._line.clear()
        self._skips = False
        if not skips and line.lstrip().startswith(b"{"):
            self._hear(line)

    def _add(self, piece: bytes) -> None:
        if self._skips or len(self._line) + len(piece) > MAX_EVENT_BYTES:
            self._skips = self.is_cut = True
            self._line.clear()
        else:
            self._line += piece

    def _hear(self, line: bytes) -> None:
        try:
            event = parse_envelope(line)
        except (ValueError, RecursionError):  # clients print other things, too; the end of the turn is demanded
            return
        self.heard.doing = ""
        self._take(event, self.heard)
        if self.heard.doing:
            self._tell(visible(" ".join(self.heard.doing.split())))
