"""A quarantine over the work tree: git with a copy of the index, where nothing of the repository can start anything.

Of the repository's and the user's settings a short list is taken that decides how files are compared (`_PASSIVE`),
with their lists of ignored files and of attributes. No filter is defined here, so an attribute that names one changes
nothing. The repository's own index and objects are never written.

Source: SECURITY B.5, G1 to G8.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from counterpoint.isolation.git import Place
from counterpoint.isolation.objects import Objects
from counterpoint.isolation.repository import Quarantine, Repository, copy_plain_file, quoted
from counterpoint.isolation.revisions import head_or_none

__all__ = ["Bench", "from_names", "open_bench", "passive_settings", "to_names"]

_PASSIVE: Final = frozenset(
    {
        "core.attributesfile",
        "core.autocrlf",
        "core.checkstat",
        "core.eol",
        "core.excludesfile",
        "core.filemode",
        "core.ignorecase",
        "core.precomposeunicode",
        "core.symlinks",
        "core.trustctime",
    }
)
_LISTS: Final = {"core.attributesfile": "attributes", "core.excludesfile": "ignore"}
"""Settings that name a file, and the file's name where nothing is set."""
_TIMEOUT_S: Final = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A quarantine with a copy of the index, over the repository's work tree."""

    quarantine: Quarantine
    place: Place

    @property
    def top(self) -> Path:
        return self.quarantine.repository.top

    @property
    def objects(self) -> Objects:
        return self.quarantine.objects

    def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        variables: Mapping[str, str] | None = None,
        accept: Collection[int] = (0,),
    ) -> bytes:
        place = replace(self.place, variables={**self.place.variables, **(variables or {})})
        return self.quarantine.git.run(*arguments, place=place, stdin=stdin, accept=accept, timeout_s=_TIMEOUT_S)

    def untracked(self) -> tuple[bytes, ...]:
        return to_names(self.run("ls-files", "-z", "--others", "--exclude-standard"))

    def storing(self, objects_dir: Path) -> dict[str, str]:
        """Return the variables with which new objects go to `objects_dir`, and are read from there too."""
        return {
            "GIT_OBJECT_DIRECTORY": str(objects_dir.absolute()),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.fsdecode(quoted(self.quarantine.repository.objects_dir)),
        }


@contextmanager
def open_bench(repository: Repository, *, extra: Iterable[Path] = ()) -> Iterator[Bench]:
    """Make a bench for the block; `extra` are more object folders to read from."""
    with Quarantine(repository, extra=tuple(extra)) as quarantine:
        folder = quarantine.folder
        copy_plain_file(repository.git_dir / "index", folder / "index")
        for shared in repository.git_dir.glob("sharedindex.*"):
            copy_plain_file(shared, folder / shared.name)
        (folder / "info").mkdir()
        for name in ("exclude", "attributes"):
            copy_plain_file(repository.common_dir / "info" / name, folder / "info" / name)
        commit = head_or_none(quarantine)
        if commit:
            (folder / "HEAD").write_text(f"{commit}\n")
        variables = {"GIT_DIR": str(folder), "GIT_WORK_TREE": str(repository.top)}
        place = Place(cwd=repository.top, variables=variables, settings=passive_settings(repository))
        bench = Bench(quarantine=quarantine, place=place)
        _clear_marks(bench)
        yield bench


def _clear_marks(bench: Bench) -> None:
    """Make the copied index look at every file that is there."""
    marked = [(line[:1], line[2:]) for line in to_names(bench.run("ls-files", "-z", "-v"))]
    assumed = [path for mark, path in marked if mark.islower()]
    skipped = [
        path for mark, path in marked if mark in b"Ss" and os.path.lexists(os.fsencode(bench.top) + b"/" + path)
    ]
    for option, paths in (("--no-assume-unchanged", assumed), ("--no-skip-worktree", skipped)):
        if paths:
            bench.run("update-index", option, "-z", "--stdin", stdin=from_names(paths))


def passive_settings(repository: Repository) -> dict[str, str]:
    """Return what decides how files on disk are compared: the user's settings, then the repository's."""
    home = {name: os.environ.get(name) for name in ("HOME", "XDG_CONFIG_HOME")}
    ours = dict.fromkeys(("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"))
    of_user = Place(cwd=Path("/"), variables={**home, **ours})
    config_home = home["XDG_CONFIG_HOME"] or "~/.config"
    found = {key: f"{config_home}/git/{name}" for key, name in _LISTS.items()}
    for place in (of_user, repository.place):
        entries = to_names(repository.git.run("config", "--list", "--show-scope", "-z", place=place))
        for scope, entry in zip(entries[::2], entries[1::2], strict=True):
            key, has_value, value = os.fsdecode(entry).partition("\n")
            if scope != b"command" and key in _PASSIVE:
                found[key] = value if has_value else "true"
    for key in _LISTS:
        with suppress(RuntimeError):  # nobody's home
            found[key] = str(Path(found[key] or os.devnull).expanduser())
    return found


def to_names(output: bytes) -> tuple[bytes, ...]:
    """Take apart what git printed with `-z`."""
    return tuple(output.split(b"\0")[:-1])


def from_names(paths: Iterable[bytes]) -> bytes:
    """Return paths as git reads them with `-z --stdin`."""
    return b"".join(path + b"\0" for path in paths)
