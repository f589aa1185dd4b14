"""Where a folder of the person's own lies, from the environment alone.

Apart from `paths`, because a post that only needs to know this shall not load what looks after folders.
"""

from collections.abc import Mapping

from counterpoint.errors import ConfigError

__all__ = ["heads_folder", "home_folder", "state_folder"]


def state_folder(environment: Mapping[str, str]) -> str:
    """Return where this machine's key and memory lie.

    Raises:
        ConfigError: a variable of ours is empty or relative, or none of the variables leads to a folder.
    """
    return home_folder(environment, "COUNTERPOINT_STATE", "XDG_STATE_HOME", ".local/state")


def heads_folder(environment: Mapping[str, str]) -> str:
    """Return where this machine's memory of channels lies.

    Raises:
        ConfigError: as `state_folder`.
    """
    return f"{state_folder(environment)}/heads"


def home_folder(environment: Mapping[str, str], own: str, xdg: str, below_home: str) -> str:
    """Return the folder that a variable of ours names, or else our own below the XDG folder or below `HOME`.

    Raises:
        ConfigError: our variable is empty or relative, or none of the variables leads to a folder.
    """
    if own in environment:
        return _absolute(own, environment[own])
    shared = environment.get(xdg, "")
    if shared.startswith("/"):
        return f"{_absolute(xdg, shared)}/counterpoint"
    home = environment.get("HOME", "")
    if not home:
        raise ConfigError("HOME", "the path of a home folder", got=home, hint=f"set HOME or {own}")
    return f"{_absolute('HOME', home)}/{below_home}/counterpoint"


def _absolute(variable: str, value: str) -> str:
    if not value.startswith("/") or "\0" in value:
        raise ConfigError(variable, "an absolute path", got=value, hint=f"set {variable} to an absolute path")
    return value.rstrip("/") or "/"
