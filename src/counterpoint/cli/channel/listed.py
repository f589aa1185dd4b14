"""`counterpoint channel` among the commands of `counterpoint`: for its help, its page and completion in a shell.

Running one of them is handed over; `__main__` comes here only for the overview.
"""

from typing import TYPE_CHECKING, Any

import click

from counterpoint.cli.channel import COMMANDS, command, run
from counterpoint.cli.channel.manual import EXAMPLES, help_of
from counterpoint.cli.manual import Manual, ManualGroup

if TYPE_CHECKING:
    from counterpoint.cli.channel.parsing import Shape

__all__ = ["channel"]


class _Listed(Manual):
    """One command, with the options that a shell completes."""

    def __init__(self, name: str) -> None:
        shape: Shape = command(name).SHAPE
        options = [
            click.Option(
                [option.flag],
                is_flag=not option.takes,
                multiple=option.repeats,
                metavar=option.takes or None,
                help=option.about,
                hidden=option.hidden,
            )
            for option in shape.options
        ]
        super().__init__(
            name,
            params=list(options),
            help=f"{shape.summary[:1].upper()}{shape.summary[1:]}.",
            add_help_option=False,
            examples=shape.examples,
            exits=shape.exits,
        )

    def get_help(self, ctx: click.Context) -> str:
        return help_of(str(self.name))


class _Channel(ManualGroup):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _Listed(cmd_name) if cmd_name in COMMANDS else None

    def get_help(self, ctx: click.Context) -> str:
        return help_of("")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:  # a shell completes
            return super().parse_args(ctx, args)
        ctx.meta[__name__] = args
        return []

    def invoke(self, ctx: click.Context) -> Any:
        return run(ctx.meta[__name__])


channel = _Channel(
    "channel",
    help="The mailbox: two parties take turns in a Markdown file.",
    add_help_option=False,
    examples=EXAMPLES,
    exits={0: "done", 1: "refused, or something cannot be read", 2: "the command line is wrong"},
)
