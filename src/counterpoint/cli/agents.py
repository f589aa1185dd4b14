"""`counterpoint agents`: who could take a seat on this machine, and how to set up who is missing."""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from counterpoint.agents.capabilities import Control
from counterpoint.cli.manual import ManualGroup, json_option
from counterpoint.cli.output import print_json, say, tell
from counterpoint.cli.where import Where, where_options
from counterpoint.drive.adding import add_agent
from counterpoint.drive.config import load
from counterpoint.drive.ground import settings_here
from counterpoint.drive.paths import path_text
from counterpoint.drive.probing import SignedIn
from counterpoint.drive.settings import AgentKind, Home
from counterpoint.drive.surveying import Surveyed, survey

__all__ = ["agents"]

EXITS: Final = {0: "listed, or added", 1: "a setting cannot be read or written", 2: "the command line is wrong"}
_CODING: Final = (AgentKind.CODEX, AgentKind.CLAUDE, AgentKind.GEMINI_CLI, AgentKind.COPILOT, AgentKind.OPENCODE)


@click.group(
    cls=ManualGroup,
    exits=EXITS,
    invoke_without_command=True,
    examples=[
        ("counterpoint agents", "what is installed, signed in, and missing"),
        ("counterpoint agents --json", "the same, for a program"),
        ("counterpoint agents add codex", "give Codex a seat, signed in as you are"),
    ],
)
@where_options
@json_option
@click.pass_context
def agents(ctx: click.Context, /, *, where: Where, as_json: bool) -> int:
    """List the agents that are set up, and those that could be: version, login, destination, what each may do.

    Nothing is spent: programs are started for their version and their options, and files say who is signed in. Below
    the table stands, for each agent that lacks something, the command line that brings it, and what of an agent's
    profile its installed version does not know any more.
    """
    if ctx.invoked_subcommand is not None:
        return 0
    files, why = settings_here(where.repo, flags={}, folders=where.folders, environment=os.environ)
    loaded = load(flags={}, environment=os.environ, settings_file=where.folders.settings_file, repository=files)
    for notice in (*loaded.notices, *([why] if why else ())):
        tell(f"note: {notice}", colour="yellow")
    found = survey(loaded.settings, environment=os.environ)
    if as_json:
        print_json({"agents": [_fields(each) for each in found]})
        return 0
    _print(found)
    return 0


_HEADS: Final = ("AGENT", "KIND", "VERSION", "SIGNED IN", "SENDS TO", "MAY")


def _print(found: Sequence[Surveyed]) -> None:
    table = [_HEADS, *(_cells(each) for each in found)]
    widths = [max(len(row[column]) for row in table) for column in range(len(_HEADS))]
    for row in table:
        say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for each in found:
        for index, line in enumerate(_notes(each)):
            if not index:
                say()
            say(f"{'' if index else each.name:{widths[0]}}  {line}")


def _cells(each: Surveyed) -> tuple[str, ...]:
    name = each.name if each.is_set_up else f"({each.name})"
    version = each.version or ("not here" if each.tried and not each.program else "-")
    is_told = each.signed_in is not SignedIn.NOT_NEEDED and (each.program or not each.tried)
    signed_in = each.signed_in.value if is_told else "-"
    return name, each.kind.value, version, signed_in, each.destination or "its provider", ", ".join(each.may)


def _notes(each: Surveyed) -> Iterator[str]:
    if each.program or each.is_set_up:
        yield from each.faults
    if each.remark:
        yield each.remark
    for drift in each.drift:
        known = f"the help of {each.version or 'this version'} does not name {drift.word}"
        yield f"the line `{drift.line}` of its profile no longer holds: {known}; it was tried with {each.tried}"
    yield from each.missing


def _fields(each: Surveyed) -> Mapping[str, Any]:
    return {
        "name": each.name,
        "kind": each.kind.value,
        "set_up": each.is_set_up,
        "ready": each.is_ready,
        "program": each.program,
        "version": each.version,
        "tried_version": each.tried,
        "model": each.model,
        "signed_in": each.signed_in.value,
        "signed_in_by": each.how,
        "destination": each.destination,
        "may": list(each.may),
        "drift": [{"line": drift.line, "word": drift.word} for drift in each.drift],
        "faults": list(each.faults),
        "remark": each.remark,
        "missing": list(each.missing),
    }


@agents.command(
    exits={0: "added", 1: "nothing was written; the error says why", 2: "the command line is wrong"},
    examples=[
        ("counterpoint agents add codex", "the person's own Codex, signed in"),
        (
            "counterpoint agents add critic --kind claude --environment ANTHROPIC_API_KEY",
            "with a key, in a fresh home",
        ),
        ("counterpoint agents add gpt --kind openai --model gpt-5.5 --effort xhigh", "a model over its API"),
    ],
)
@click.argument("name")
@where_options
@click.option("--kind", type=click.Choice([kind.value for kind in AgentKind]), help="What it is.  [default: NAME]")
@click.option("--model", metavar="M", help="The model, by its full name.")
@click.option("--effort", metavar="E", help="Its own effort; wins over a review's.")
@click.option("--destination", metavar="D", help="Where it sends; needed for a command, else known.")
@click.option("--program", metavar="PATH", help="A coding agent's program.  [default: by its name on PATH]")
@click.option(
    "--home",
    type=click.Choice([home.value for home in Home]),
    help="Whose home a program has.  [default: user for a coding agent without a key or an address, else fresh]",
)
@click.option("--environment", multiple=True, metavar="VAR", help="A variable that it is given; repeat for several.")
@click.option("--base-url", metavar="URL", help="Another API than its vendor's.")
@click.option("--key-variable", metavar="VAR", help="Where a model's key is, if not where its provider says.")
@click.option("--max-output-tokens", type=int, metavar="N", help="For one answer of a model.")
@click.option("--timeout", "timeout_s", type=int, metavar="SECONDS", help="For one call.")
@click.option(
    "--control",
    "controls",
    multiple=True,
    type=click.Choice([control.value for control in Control]),
    help="What a model takes that no table knows; repeat for several.",
)
@click.option("--efforts", multiple=True, metavar="E", help="An effort that such a model takes; repeat for several.")
@click.option("--command", metavar="CMD", help="What a command agent runs.")
@click.option("--file", type=click.Path(path_type=Path), metavar="FILE", help="What a scripted agent answers from.")
@json_option
def add(*, name: str, where: Where, as_json: bool, **given: Any) -> int:
    """Write the agent NAME into your own settings, at the end of the file.

    An agent of that name is never written over. The agent is built as a review would build it first: where its
    program, model or effort is not known, nothing is written.
    """
    table = _table(name, given)
    added = add_agent(name, table, folders=where.folders, environment=os.environ)
    if as_json:
        print_json({"agent": name, "settings": table, "file": path_text(added.path)})
        return 0
    say(f"added to {path_text(added.path)}:")
    say()
    say(added.text.rstrip())
    tell(f"next: counterpoint doctor --reviewer {shlex.quote(name)}")
    return 0


def _table(name: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the agent's table: what was given, and the home that makes a coding agent work as it is."""
    words = {key: list(value) if isinstance(value, tuple) else value for key, value in given.items()}
    table: dict[str, Any] = {key: value for key, value in words.items() if value not in (None, [])}
    kind = table.setdefault("kind", name)
    if kind not in list(AgentKind):
        raise click.UsageError(f"{name!r} is no kind of agent; say which it is with --kind")
    if kind in _CODING and not table.keys() & {"home", "environment", "base_url"}:
        table["home"] = Home.USER.value
    if "file" in table:
        table["file"] = str(Path(table["file"]).absolute())
    return {"kind": str(table.pop("kind")), **table}
