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

from counterpoint.core.canonical import visible
from counterpoint.errors import CounterpointError, NeedsPerson

__all__ = ["DEBUG_VARIABLE", "fail", "print_json", "say", "styled", "tell"]

DEBUG_VARIABLE: Final = "COUNTERPOINT_DEBUG"
"""Set to a file's path, it receives the traceback of an unexpected error."""

FAILED: Final = 1
PERSON_NEEDED: Final = 4


def say(text: str = "") -> None:
    """Print a line of the result."""
    click.echo(visible(text))


def tell(text: str, *, colour: str | None = None) -> None:
    """Print a line of progress, advice or warning on standard error."""
    click.echo(styled(visible(text), colour, sys.stderr), err=True)


def styled(text: str, colour: str | None, stream: Any) -> str:
    """Return `text` in a colour where `stream` is a terminal that may be coloured."""
    if colour is None or os.environ.get("NO_COLOR") or not stream.isatty():
        return text
    return click.style(text, fg=colour)


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object as the whole result."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=True, sort_keys=True))


def fail(error: Exception, *, as_json: bool) -> int:
    """Print what went wrong and what to do next; return the exit code."""
    if not isinstance(error, CounterpointError):
        return _unexpected(error, as_json=as_json)
    code = PERSON_NEEDED if isinstance(error, NeedsPerson) else FAILED
    if as_json:
        print_json({"error": {**error.fields(), "exit_code": code}})
        return code
    tell(f"error: {error}", colour="red")
    if error.hint:
        tell(f"hint: {error.hint}")
    return code


def _unexpected(error: Exception, *, as_json: bool) -> int:
    said = f"{type(error).__name__}: {error}"
    hint = f"set {DEBUG_VARIABLE}=FILE, repeat the command, and report the bug with that file"
    if path := os.environ.get(DEBUG_VARIABLE):
        Path(path).write_text("".join(traceback.format_exception(error)), encoding="utf-8")
        hint = f"report the bug with {path}"
    if as_json:
        print_json({"error": {"code": "bug", "message": said, "hint": hint, "exit_code": FAILED}})
    else:
        tell(f"error: this is a bug in Counterpoint: {said}", colour="red")
        tell(f"hint: {hint}")
    return FAILED
