"""What a shell completes where an agent is named."""

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click
from click.shell_completion import CompletionItem

from counterpoint.drive.config import load_own
from counterpoint.drive.paths import find_folders
from counterpoint.errors import CounterpointError

__all__ = ["agent_option", "complete_agent"]


def agent_option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    """Return an option that names agents: one, or several between commas."""
    return click.option(*names, shell_complete=complete_agent, **settings)


def complete_agent(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Return the names of agents that begin with what is written, of several with the last of them."""
    del ctx, param
    before, comma, begun = incomplete.rpartition(",")
    taken = set(before.split(","))
    names: list[str] = []
    # A shell shows no error: where settings cannot be read there is nothing to offer.
    with suppress(CounterpointError):
        file = find_folders(os.environ).settings_file
        names = sorted(load_own(flags={}, environment=os.environ, settings_file=file).agents)
    return [
        CompletionItem(f"{before}{comma}{name}") for name in names if name.startswith(begun) and name not in taken
    ]
