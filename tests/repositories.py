"""Git repositories made for one test: ordinary ones, and ones that no working git would write."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

__all__ = ["Scratch", "exported_bytes"]

_WHO: Final = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"), ("DATE", "2026-07-06T14:07:48+00:00"))
}


class Scratch:
    """A repository in a folder of its own. The same steps give the same ids."""

    def __init__(self, top: Path, *options: str) -> None:
        self.top = top
        top.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main", *options)

    @property
    def git_dir(self) -> Path:
        return self.top / ".git"

    def git(self, *arguments: str | bytes | Path, stdin: bytes = b"", cwd: Path | None = None) -> bytes:
        """Run the user's git, as a user would, and return what it prints."""
        environment = os.environ | _WHO | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd or self.top,
            input=stdin,
            env=environment,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def id(self, *arguments: str | bytes, stdin: bytes = b"") -> str:
        return self.git(*arguments, stdin=stdin).decode("ascii").strip()

    def write(self, name: str | bytes, content: str | bytes) -> Path:
        path = self.top / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def commit(self, files: dict[str, str | bytes] | None = None, *, message: str = "change") -> str:
        """Write files, commit everything that lies there and return the commit's id."""
        for name, content in (files or {}).items():
            self.write(name, content)
        self.git("add", "--all", "--force")
        self.git("commit", "-q", "--allow-empty", "--no-verify", "-m", message)
        return self.id("rev-parse", "HEAD")

    def blob(self, content: bytes) -> str:
        return self.id("hash-object", "-w", "--no-filters", "--stdin", stdin=content)

    def tree(self, entries: Sequence[tuple[str, bytes, str]]) -> str:
        """Store a tree of exactly these entries (mode, name, id), however malformed it is."""
        content = b"".join(b"%s %s\0" % (mode.encode(), name) + bytes.fromhex(oid) for mode, name, oid in entries)
        return self.id("hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=content)

    def commit_tree(self, tree: str, *parents: str) -> str:
        return self.id("commit-tree", "-m", "made", *(part for parent in parents for part in ("-p", parent)), tree)

    def loose(self, oid: str) -> Path:
        """Return where a loose object lies."""
        return self.git_dir / "objects" / oid[:2] / oid[2:]


def exported_bytes(out: Path) -> dict[bytes, bytes]:
    """Return every file below `out` with its content, by its raw path."""
    top = os.fsencode(out)
    found = {}
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)  # noqa: PTH118 - names that are not UTF-8 stay bytes
            with open(path, "rb") as file:  # noqa: PTH123 - as above
                found[path[len(top) + 1 :]] = file.read()
    return found
