"""How a channel command ends: what it printed is out, and what went wrong is one sentence and an exit code."""

import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

from counterpoint.cli.channel.printing import print_json, tell
from counterpoint.errors import Corrupt, CounterpointError, LockBusy, NoKey, Refused, UnsafeFile

__all__ = ["ends", "fail", "give_up_output", "say_usage"]

FAILED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130
DEBUG_VARIABLE: Final = "COUNTERPOINT_DEBUG"
_SAME_WORDS: Final = frozenset(
    {"POST-1", *(f"POST-{n}" for n in range(3, 11)), "THREAD-1", "THREAD-2", "THREAD-3"},
)
"""Rules that the public tool states in the same sentence; its own would promise what does not work in the others."""


@contextmanager
def ends() -> Iterator[None]:
    """Let a request to end be an interruption, and have all that was printed leave this process."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    taken = [number for number, handler in handlers.items() if handler is signal.SIG_DFL]
    with suppress(ValueError):  # not in the main thread
        for number in taken:
            signal.signal(number, signal.default_int_handler)
    try:
        yield
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    finally:
        with suppress(ValueError):
            for number in taken:
                signal.signal(number, signal.SIG_DFL)


def say_usage(reason: str, name: str, *, as_json: bool) -> int:
    """Say what is wrong with the command line; return the exit code."""
    command = f"counterpoint channel {name}".rstrip()
    fields = {"code": "usage", "message": reason, "hint": f"run `{command} --help`"}
    if not as_json:
        tell(f"usage: {command} [options]")
    return _say(fields, f"{command}: error: {reason}", USAGE, as_json=as_json)


def fail(error: BaseException, *, as_json: bool) -> int:
    """Say what went wrong; return the exit code."""
    match error:
        case CounterpointError():
            return _say(_fields(error), _sentence(error), FAILED, as_json=as_json)
        case KeyboardInterrupt():
            fields = {"code": "interrupted", "message": "interrupted", "hint": ""}
            return _say(fields, "interrupted", INTERRUPTED, as_json=as_json)
        case BrokenPipeError():
            return give_up_output()
        case OSError():
            where = f"{error.filename}: " if error.filename else ""
            message = f"refused: {where}{error.strerror or error}"
            return _say({"code": "disk", "message": message, "hint": ""}, message, FAILED, as_json=as_json)
        case _:
            return _say_bug(error, as_json=as_json)


def _fields(error: CounterpointError) -> Mapping[str, object]:
    return {**error.fields(), "message": _sentence(error).partition("\n")[0]}


def _sentence(error: CounterpointError) -> str:
    match error:
        case Refused() if error.rule in _SAME_WORDS:
            return error.reason
        case LockBusy():
            return f"refused: another writer holds {error.path} (crashed holders are cleared after 30s; try again)"
        case Refused() | Corrupt() | UnsafeFile() | NoKey():
            message = str(error)
            said = message if message.startswith("refused: ") else f"refused: {message}"
            return f"{said}\nhint: {error.hint}" if error.hint else said
        case _:
            return str(error)


def _say(fields: Mapping[str, object], sentence: str, code: int, *, as_json: bool) -> int:
    try:
        if as_json:
            print_json({"error": {**fields, "exit_code": code}})
        else:
            tell(sentence)
        sys.stdout.flush()
    except OSError:  # there is nowhere to say it
        give_up_output()
    return code


def give_up_output() -> int:
    """Drop what nobody reads any more; return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            descriptor = stream.fileno()
            try:
                stream.flush()
            except OSError:
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, descriptor)
                os.close(nowhere)
    return FAILED


def _say_bug(error: BaseException, *, as_json: bool) -> int:
    message = f"this is a bug in Counterpoint: {type(error).__name__}: {error}"
    hint = f"set {DEBUG_VARIABLE}=FILE, repeat the command, and report the bug with that file"
    if path := os.environ.get(DEBUG_VARIABLE):
        import traceback  # noqa: PLC0415 - cold start: only a bug needs it

        with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123 - as above
            file.write("".join(traceback.format_exception(error)))
        hint = f"report the bug with {path}"
    fields = {"code": "bug", "message": message, "hint": hint}
    return _say(fields, f"{message}\nhint: {hint}", FAILED, as_json=as_json)
