"""`counterpoint completion`: the script that completes commands, options and case names in a shell."""

from typing import Final

import click
from click.shell_completion import ShellComplete, get_completion_class

from counterpoint.cli.manual import Manual

__all__ = ["completion"]

_NAMES: Final = ("counterpoint", "cpt")
_VARIABLE: Final = "_COUNTERPOINT_COMPLETE"
"""Both names start the same program, which asks for this one variable."""


@click.command(
    cls=Manual,
    exits={0: "printed", 2: "the command line is wrong"},
    examples=[
        ('eval "$(counterpoint completion bash)"', "in ~/.bashrc"),
        ('eval "$(counterpoint completion zsh)"', "in ~/.zshrc, after compinit"),
        ("counterpoint completion fish > ~/.config/fish/completions/counterpoint.fish", "once, for fish"),
    ],
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell, for `counterpoint` and for `cpt`."""
    kind = get_completion_class(shell)
    assert kind is not None, f"click knows {shell}"
    for name in _NAMES:
        # The base class's `source`: that of bash starts a bash first, only to look at its version.
        click.echo(ShellComplete.source(kind(ctx.find_root().command, {}, name, _VARIABLE)))
