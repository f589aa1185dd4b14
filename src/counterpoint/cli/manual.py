"""Commands whose `--help` stands alone: what they do, examples, exit codes.

`@click.command(cls=Manual, examples=…, exits=…)`, and `ManualGroup` for a command with commands of its own.
`reference` renders the same fields into `docs/cli.md`.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import click

__all__ = ["CASE_EXITS", "READ_EXITS", "Manual", "ManualGroup", "ManualWithMore", "json_option"]

CASE_EXITS: Final[Mapping[int, str]] = MappingProxyType(
    {
        0: "approved or agreed, and nothing else",
        1: "failed: infrastructure, settings, input, or a seat that gave no valid answer",
        2: "the command line is wrong",
        3: "decided but not approved, or unresolved",
        4: "a person is needed",
        130: "interrupted",
    }
)
"""Of commands that drive a case."""

READ_EXITS: Final[Mapping[int, str]] = MappingProxyType(
    {0: "printed", 1: "the record or a setting cannot be read", 2: "the command line is wrong"}
)
"""Of commands that only read."""


class _Told(click.Command):
    def __init__(
        self,
        *args: Any,
        examples: Sequence[tuple[str, str]] = (),
        exits: Mapping[int, str] = READ_EXITS,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)
        """Command line and what it does, for each example."""
        self.exits = exits

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.examples:
            with formatter.section("Examples"):
                for line, what in self.examples:
                    formatter.write_text(f"# {what}")
                    # As it stands: a command line that was broken in two could not be copied.
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in self.exits.items()])
        super().format_epilog(ctx, formatter)


class Manual(_Told):
    """A command with examples and exit codes in its help."""


class ManualWithMore(Manual):
    """A command that has others below it, each by its name in the place of the first argument.

    A file or a question of such a name is written as `./verify`, or after `--`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.below: dict[str, click.Command] = {}

    def add(self, command: click.Command) -> None:
        """Put a command below this one."""
        assert command.name is not None, "a command is called by its name"
        self.below[command.name] = command

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args and args[0] in self.below:
            return self.below[args[0]].make_context(f"{info_name} {args[0]}", args[1:], parent=parent, **extra)
        return super().make_context(info_name, args, parent=parent, **extra)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(80)) for name, command in self.below.items()])


class ManualGroup(_Told, click.Group):
    """As `Manual`, for a group; its commands are `Manual` by default."""

    command_class: type[click.Command] | None = Manual


json_option: Final = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
"""`--json` of a command that prints a result; the errors of such a command are JSON too."""
