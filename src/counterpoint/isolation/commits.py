"""Commits that a program makes for a person: the same arguments, the same bytes; never a signature, never a hook.

Source: SPEC D-16.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from counterpoint.core.canonical import visible
from counterpoint.errors import SourceError
from counterpoint.isolation.bench import to_names
from counterpoint.isolation.git import Place
from counterpoint.isolation.repository import Quarantine, Repository, quoted

__all__ = ["Identity", "identity_of", "make_commit"]

_ENDS: Final = "".join(map(chr, range(0x21))) + ".,:;<>\"\\'"
"""What git cuts off both ends of a name."""
_FROM_USER: Final = ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who a commit is by."""

    name: str
    email: str


def identity_of(repository: Repository, *, environ: Mapping[str, str] | None = None) -> Identity:
    """Return whom git would name as the author of a commit here; nothing is made up from the machine's name.

    Args:
        repository: whose settings are read after the user's.
        environ: the user's environment; by default that of this process.

    Raises:
        SourceError: there is no name or no address.
    """
    environ = os.environ if environ is None else environ
    variables = {name: environ.get(name) for name in _FROM_USER}
    # The user's own file takes the place of the one that lets git read another owner's repository.
    place = Place(cwd=repository.top, variables=variables, settings={"safe.directory": "*"})
    found: dict[str, str] = {}
    for entry in to_names(repository.git.run("config", "--list", "-z", place=place)):
        key, _, value = entry.decode("utf-8", "replace").partition("\n")
        if key in {f"{who}.{what}" for who in ("author", "committer", "user") for what in ("name", "email")}:
            found[key] = value
    chosen = {}
    for what in ("name", "email"):
        told = [environ.get(f"GIT_{who}_{what.upper()}", "") for who in ("AUTHOR", "COMMITTER")]
        told += [found.get(f"{who}.{what}", "") for who in ("author", "user", "committer")]
        chosen[what] = next(filter(None, map(_cleaned, told)), "")
    chosen["email"] = chosen["email"] or _cleaned(environ.get("EMAIL", ""))
    for what, value in chosen.items():
        if not value:
            raise SourceError(
                f"git has no user.{what} for {str(repository.top)!r}, and a commit needs one",
                hint=f"run `git config --global user.{what} …`",
            )
    return Identity(name=chosen["name"], email=chosen["email"])


def make_commit(
    repository: Repository,
    *,
    parent: str,
    tree: str,
    message: str,
    who: Identity,
    at: datetime,
    objects_dir: Path,
) -> str:
    """Write a commit into `objects_dir` and return its id; author and committer are `who`, at `at`.

    Raises:
        SourceError: `parent` is no commit or `tree` no tree, in the repository or in `objects_dir`.
    """
    assert at.tzinfo is not None, "an instant without a zone is no instant"
    text = visible(message).strip("\n")
    assert text, "a commit says what it is for"
    objects_dir.mkdir(parents=True, exist_ok=True)
    by = f"{_cleaned(who.name)} <{_cleaned(who.email)}> {int(at.timestamp())} {at:%z}"
    content = f"tree {tree}\nparent {parent}\nauthor {by}\ncommitter {by}\n\n{text}\n".encode()
    with Quarantine(repository, extra=(objects_dir,)) as quarantine:
        quarantine.objects.commit(parent)
        quarantine.objects.tree(tree)
        variables = {
            **quarantine.place.variables,
            "GIT_OBJECT_DIRECTORY": str(objects_dir.absolute()),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.fsdecode(quoted(repository.objects_dir)),
        }
        place = Place(cwd=quarantine.folder, variables=variables)
        stored = quarantine.git.run("hash-object", "-t", "commit", "-w", "--stdin", place=place, stdin=content)
    return stored.decode("ascii").strip()


def _cleaned(text: str) -> str:
    """Return a name as it stands in a commit: no line end, no angle bracket, nothing invisible."""
    return visible("".join(char for char in text if char not in "\0\r\n<>")).strip(_ENDS)
