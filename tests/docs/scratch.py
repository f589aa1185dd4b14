"""Where the commands of a page run: a home folder and, in it, the repository that `counterpoint demo` makes.

The repository is `~/shop`, on its branch `round-totals`; `origin` knows `main`. Nothing is taken from the
environment but PATH. Blocks of one page go on in the same folder with the same variables.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from counterpoint.drive.demo import build_repository
from tests import need
from tests.docs.normal import Normaliser

__all__ = ["Command", "Scratch", "commands_of"]

BOUND_S: Final = 60
_WHO: Final = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Ana"), ("EMAIL", "ana@example.org"), ("DATE", "2026-07-06T14:07:48+00:00"))
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What is typed, and what it prints."""

    typed: str
    output: str


def commands_of(text: str) -> tuple[str, tuple[Command, ...]]:
    """Split a `console` block at its `$ ` lines, which `> ` lines go on; return what stands before the first, too."""
    before, *rest = f"\n{text}".split("\n$ ")
    commands = []
    for each in rest:
        typed, *output = each.removesuffix("\n").split("\n")
        while output and output[0].startswith("> "):
            typed += f"\n{output.pop(0)[2:]}"
        commands.append(Command(typed=typed, output="\n".join(output)))
    return before.strip(), tuple(commands)


class Scratch:
    def __init__(self, top: Path) -> None:
        need.tool("git")
        self.home = top
        programs = Path(sys.executable).parent
        assert (programs / "counterpoint").exists(), "counterpoint is not installed beside this Python"
        self.environment = {
            **_WHO,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(top),
            "LOGNAME": "ana",
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "TMPDIR": str(top / "tmp"),
        }
        self.normalise = Normaliser(str(top), begin=datetime.now(UTC))
        self._kept = top / ".page.sh"

    def begin(self) -> None:
        """Make the repository, once."""
        if self._kept.exists():
            return
        (self.home / "tmp").mkdir()
        build_repository(self.home / "shop", self.environment)
        refs = "main:refs/remotes/origin/main", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"
        for arguments in (["fetch", "-q", ".", refs[0]], ["symbolic-ref", *refs[1:]]):
            subprocess.run(["git", *arguments], cwd=self.home / "shop", env=self.environment, check=True)
        self._kept.write_text("cd ~/shop\n")

    def write(self, path: str, text: str) -> None:
        """Write a file that the page names, `~/` being the home folder."""
        target = self.home / path.removeprefix("~/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(self.normalise.real(text), "utf-8")

    def run(self, typed: str) -> tuple[str, int]:
        """Run a command where the last one ended; return what it printed, on both streams, and its exit code."""
        self.begin()
        keep = f'{{ export -p; printf "cd \'%s\'\\n(exit %d)\\n" "$PWD" $code; }} > {self._kept}; exit $code'
        script = f". {self._kept}\n{self.normalise.real(typed)}\ncode=$?\n{keep}"
        done = subprocess.run(
            ["sh", "-c", script],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=BOUND_S,
            check=False,
        )
        return self.normalise(done.stdout.decode("utf-8", "backslashreplace")), done.returncode
