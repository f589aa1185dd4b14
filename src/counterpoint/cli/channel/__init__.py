"""`counterpoint channel`: the mailbox, with the commands, flags, words and exit codes of the public tool (SPEC 3.4).

    alias debate='counterpoint channel'

A command is a module with a `SHAPE` and a `run`, imported when it is used. Nothing here imports click: half of what
a post costs would be the command line. Here is the one place that ends in an exit code:

- what the public tool says on standard error is said in its words, one sentence;
- with `--json` it is an object that names the rule too, as every other command of ours prints it.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

from counterpoint.cli.channel.ending import ends, fail, say_usage
from counterpoint.cli.channel.parsing import Usage, parse

__all__ = ["COMMANDS", "run"]

COMMANDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "init": "init",
        "post": "post",
        "read": "read",
        "status": "status",
        "verify": "verify",
        "compact": "compact",
        "migrate": "migrate",
        "watch-once": "watch_once",
        "watch": "watch",
        "watch-status": "watch_status",
        "setup": "setup",
    }
)
"""By name: the module of the command."""


def run(argv: Sequence[str]) -> int:
    """Run one channel command and return its exit code. No traceback reaches a user."""
    as_json = "--json" in argv
    try:
        with ends():
            return _run(list(argv))
    except Usage as error:
        return say_usage(str(error), argv[0] if argv and argv[0] in COMMANDS else "", as_json=as_json)
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 - the boundary: nothing may pass it
        return fail(error, as_json=as_json)


def command(name: str) -> Any:
    """Return the module of a command."""
    return import_module(f"counterpoint.cli.channel.{COMMANDS[name]}")


def _run(argv: list[str]) -> int:
    if not argv:
        raise Usage("the following arguments are required: COMMAND")
    name, *words = argv
    if name in {"-h", "--help"}:
        return _print_help("")
    if name not in COMMANDS:
        raise Usage(f"invalid choice: {name!r} (choose from {', '.join(map(repr, COMMANDS))})")
    module = command(name)
    given = parse(module.SHAPE, words)
    if given is None:
        return _print_help(name)
    code: int = module.run(given)
    return code


def _print_help(name: str) -> int:
    # Only who asks for help pays for it.
    from counterpoint.cli.channel.manual import print_help  # noqa: PLC0415

    return print_help(name)
