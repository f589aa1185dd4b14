"""The entry of the command line: commands by name, imported when used, and the one place that ends in a code.

Exit codes of case commands: 0 approved or agreed, and nothing else; 1 failed (infrastructure, configuration, input);
2 usage; 3 decided but not approved, or unresolved; 4 a person is needed; 130 interrupted.
"""

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Final, NamedTuple

import click

from counterpoint.cli.channel.ending import give_up_output
from counterpoint.cli.interruption import ends_as_interruption
from counterpoint.cli.output import fail, flush_output, say_interrupted, say_usage

__all__ = ["COMMANDS", "counterpoint", "run"]


class Listed(NamedTuple):
    """A command as the overview shows it; its module is imported when it is used."""

    module: str
    summary: str


COMMANDS: Final[Mapping[str, Listed]] = MappingProxyType(
    {
        "demo": Listed("demo", "Run a whole review on a small repository: no key, no network, under a minute."),
        "review": Listed("review", "Have reviewers judge the change between the merge base and HEAD."),
        "answer": Listed("answer", "Have several answer one question for themselves, and confirm one text."),
        "ballot": Listed("ballot", "Have a frozen roster vote on a document, until all approve the same bytes."),
        "propose": Listed("propose", "Have a requirement answered by a proposal that critics hold to a ledger."),
        "resume": Listed("resume", "Go on with a case that waits or was interrupted."),
        "status": Listed("status", "Say where a case stands now, also while another terminal drives it."),
        "cases": Listed("cases", "List the cases of this repository."),
        "show": Listed("show", "Print a case's record for reading."),
        "report": Listed("report", "Write report.md and result.json of a case, from its record alone."),
        "verify": Listed("verify", "Check that a record is what it was when it was written."),
        "note": Listed("note", "Add a note of the supervisor's to a case."),
        "withdraw": Listed("withdraw", "End a case without a decision."),
        "channel": Listed("channel.listed", "The mailbox: post, read, verify and watch as `debate` does."),
        "consent": Listed("consent", "Say which destinations may be sent what, and until when."),
        "trust": Listed("trust", "Say whether this checkout's own commands may run unboxed."),
        "agents": Listed("agents", "List the agents of this machine, and add one to your settings."),
        "doctor": Listed("doctor", "Say what a case would still need, before it is started."),
        "settings": Listed("settings", "Print every setting, its value and where it comes from."),
        "completion": Listed("completion", "Print the shell completion script."),
    }
)

WHICH: Final = """\
Which do I want?

  see it work, nothing set up            counterpoint demo
  is this branch good to merge?          counterpoint review
  the same, with my own reviewer         counterpoint review --reviewer NAME
  and have the findings mended           counterpoint review --reviewer NAME --author NAME
  who could review, what is missing?     counterpoint agents
  could such a review start now?         counterpoint doctor --reviewer NAME
  what do several say to this?           counterpoint answer -- "QUESTION"
  how should this need be met?           counterpoint propose "REQUIREMENT"
  judge what is not committed yet        counterpoint review --worktree
  do all approve this document?          counterpoint ballot DOC.md
  it was interrupted, or waits for me    counterpoint resume CASE
  how far is it, is it stuck?            counterpoint status CASE
  what happened, in words                counterpoint show CASE
  is the record untouched?               counterpoint verify CASE

`counterpoint COMMAND --help` stands alone; `counterpoint --help` lists every command.
"""


_OWN_OPTIONS: Final = frozenset({"-h", "--help", "--version"})
_NUMBER: Final = re.compile(r"#?[0-9]{1,10}")


class LazyGroup(click.Group):
    """A group whose commands are imported when they are used, so that none pays for another.

    A number or a flag in the place of a command is a review's (SPEC D-01). Any other word that is no command starts
    nothing: prose never runs what may change a work tree.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and (_NUMBER.fullmatch(args[0]) or (args[0].startswith("--") and args[0] not in _OWN_OPTIONS)):
            args = ["review", *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS:
            # Only somebody who mistyped a command pays for it.
            from counterpoint.drive.shapes import nearest  # noqa: PLC0415

            near = nearest(args[0], COMMANDS)
            hint = f"did you mean `counterpoint {near}`?" if near else "`counterpoint --help` lists the commands"
            raise click.UsageError(f"{args[0]!r} is no command; nothing was started. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(f"counterpoint.cli.{COMMANDS[cmd_name].module}"), cmd_name)
        assert isinstance(command, click.Command), f"{cmd_name} is not a command"
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, listed.summary) for name, listed in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help=(
        "AI agents and people check each other's work under rules that a program enforces,"
        " in one record that a program can verify."
    ),
)
@click.version_option(package_name="counterpoint", prog_name="counterpoint", message="%(prog)s %(version)s")
@click.pass_context
def counterpoint(ctx: click.Context) -> None:
    """Say which command is wanted when none is given."""
    if ctx.invoked_subcommand is None:
        click.echo(WHICH, nl=False)


def run(argv: Sequence[str]) -> int:
    """Run one command and return its exit code. No traceback reaches a user."""
    as_json = "--json" in argv
    try:
        with ends_as_interruption():
            code = counterpoint.main(args=list(argv), prog_name="counterpoint", standalone_mode=False)
            flush_output()
    except (KeyboardInterrupt, click.exceptions.Abort):
        return say_interrupted(as_json=as_json)
    except click.ClickException as error:
        return say_usage(error, as_json=as_json)
    except BrokenPipeError:
        return give_up_output()
    except Exception as error:  # noqa: BLE001 - the last boundary: whatever it is, a user gets a sentence and a code
        return fail(error, as_json=as_json)
    return code if isinstance(code, int) else 0
