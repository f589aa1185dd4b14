"""How the command line speaks: results on standard output, progress and errors on standard error.

Colour only on a terminal, and not where `NO_COLOR` is set. `--json` prints one object, errors included. Text that
came from a repository or a seat is made visible before it reaches a terminal.
"""

import json
import os
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from counterpoint.cli.channel.ending import give_up_output
from counterpoint.core.canonical import visible
from counterpoint.errors import CounterpointError, NeedsPerson

__all__ = [
    "DEBUG_VARIABLE",
    "fail",
    "flush_output",
    "print_json",
    "say",
    "say_interrupted",
    "say_usage",
    "styled",
    "tell",
]

DEBUG_VARIABLE: Final = "COUNTERPOINT_DEBUG"
"""Set to a file's path, it receives the traceback of an unexpected error."""

FAILED: Final = 1
PERSON_NEEDED: Final = 4
INTERRUPTED: Final = 130


def say(text: str = "") -> None:
    """Print a line of the result."""
    click.echo(visible(text))


def tell(text: str, *, colour: str | None = None) -> None:
    """Print a line of progress, advice or warning on standard error."""
    click.echo(styled(visible(text), colour, sys.stderr), err=True)


def styled(text: str, colour: str | None, stream: Any) -> str:
    """Return `text` in a colour where `stream` is a terminal that may be coloured."""
    if colour is None or os.environ.get("NO_COLOR") or stream is None or not stream.isatty():
        return text
    return click.style(text, fg=colour)


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object as the whole result."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=True, sort_keys=True))


def fail(error: Exception, *, as_json: bool, resume: str = "") -> int:
    """Print what went wrong and what to do next; return the exit code.

    Args:
        error: what went wrong.
        as_json: whether it is printed as an object.
        resume: the command that goes on with a case that is left open.
    """
    match error:
        case CounterpointError():
            code = PERSON_NEEDED if isinstance(error, NeedsPerson) else FAILED
            return _say_error(error.fields(), code, as_json=as_json, resume=resume)
        case OSError():
            return _say_error(_of_the_disk(error), FAILED, as_json=as_json, resume=resume)
        case _:
            return _unexpected(error, as_json=as_json)


def say_interrupted(*, as_json: bool, resume: str = "") -> int:
    """Say that the command was interrupted; return the exit code."""
    fields = {"code": "interrupted", "message": "interrupted", "hint": ""}
    return _say_error(fields, INTERRUPTED, as_json=as_json, resume=resume)


def say_usage(error: click.ClickException, *, as_json: bool) -> int:
    """Say what is wrong with the command line; return the exit code."""
    error.show()
    if as_json:
        context = error.ctx if isinstance(error, click.UsageError) else None
        hint = f"run `{context.command_path} --help`" if context else ""
        fields = {"code": "usage", "message": error.format_message(), "hint": hint}
        print_json({"error": {**fields, "exit_code": error.exit_code}})
    return error.exit_code


def flush_output() -> None:
    """Have everything that was printed leave this process, so that a failure is known before the exit code is."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def _say_error(fields: Mapping[str, object], code: int, *, as_json: bool, resume: str = "") -> int:
    going_on = {"resume": resume} if resume else {}
    try:
        if as_json:
            print_json({"error": {**fields, "exit_code": code, **going_on}})
        else:
            tell(f"error: {fields['message']}", colour="red")
            if fields["hint"]:
                tell(f"hint: {fields['hint']}")
        if resume:
            tell(f"everything so far is kept; go on with: {resume}")
        flush_output()
    except OSError:  # there is nowhere to say it
        give_up_output()
    return code


def _of_the_disk(error: OSError) -> Mapping[str, object]:
    where = f"{error.filename}: " if error.filename else ""
    hint = "look at that file or folder, then run the command again"
    return {"code": "disk", "message": f"{where}{error.strerror or error}", "hint": hint}


def _unexpected(error: Exception, *, as_json: bool) -> int:
    said = f"{type(error).__name__}: {error}"
    hint = f"set {DEBUG_VARIABLE}=FILE, repeat the command, and report the bug with that file"
    if path := os.environ.get(DEBUG_VARIABLE):
        Path(path).write_text("".join(traceback.format_exception(error)), encoding="utf-8")
        hint = f"report the bug with {path}"
    return _say_error(
        {"code": "bug", "message": f"this is a bug in Counterpoint: {said}", "hint": hint}, FAILED, as_json=as_json
    )
