"""A review to agreement with seats that are small programs, through the real command line, driver and git.

The project is one file, `price.py`, that says `x = 2`; the critic wants it to say `x = 3`, and the author's ordinary
answer is that edit. What a test writes are the lines in which a seat departs from that. They run with these names:

- `p`, the brief's payload; `again`, whether the last answer was refused; `here`, the work tree (of an author: where
  it runs); `tree`, what the seat was given to read;
- `git(*words)`, `write(path, text)`, `answer(*changed, ...)` and `verdict(*findings, ...)`, which print and end.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from counterpoint.core.entries import CandidateOffered
from counterpoint.drive.cases import LoadedCase, load_case
from counterpoint.drive.paths import find_folders
from counterpoint.drive.store import open_store
from tests.command_line import Called
from tests.reviewing import Project

__all__ = ["Stage", "seat_settings"]

_PRELUDE: Final = """\
import json, os, pathlib, signal, socket, subprocess, sys

p = json.loads(pathlib.Path(sys.argv[1]).read_text())["payload"]
again = "your_last_answer_was_not_accepted" in p
here, tree = pathlib.Path({top!r}), pathlib.Path(sys.argv[2])


def git(*words):
    env = os.environ | {{"HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}}
    done = subprocess.run(["git", "-C", here, *words], env=env, capture_output=True, check=True)
    return done.stdout.decode().strip()


def write(path, text):
    place = here / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def clean():
    if (here / "lib").is_symlink():
        (here / "lib").unlink()
    git("checkout", "-q", "--", ".")
    git("clean", "-fdq")


def answer(*changed, disposition="fix", findings=None, summary="Say three", **more):
    ids = [f["id"] for f in p["findings"] if f["must_be_answered"]] if findings is None else findings
    given = [{{"finding": i, "reasoning": "It is so.", "disposition": disposition}} for i in ids]
    print(json.dumps({{"summary": summary, "dispositions": given, "changed": list(changed)}} | more))
    sys.exit()


def finding(name="F1", severity="major", status="open", location="price.py:1", **more):
    said = {{"id": name, "severity": severity, "location": location, "issue": "It says two.", "suggestion": "three"}}
    return said | {{"status": status, "reason": "I looked."}} | more


def verdict(*findings, approved=None, **more):
    is_open = any(f["status"] == "open" for f in findings)
    said = {{"summary": "Read.", "findings": list(findings), "responseToRebuttal": ""}}
    print(json.dumps(said | {{"approved": not is_open if approved is None else approved}} | more))
    sys.exit()


"""
AUTHOR: Final = """
write("price.py", "x = 3\\n")
answer("price.py")
"""
CRITIC: Final = """
is_right = (tree / "price.py").read_text() == "x = 3\\n"
if is_right and "your_findings" not in p:
    verdict()
verdict(finding(status="resolved" if is_right else "open"))
"""
_NEW_IN_GIT: Final = (".git/objects/", ".git/refs/counterpoint/", ".git/logs/refs/counterpoint/")
"""Where what an author left is kept. Nothing of it is in anybody's way."""


def seat_settings(name: str, folder: Path, top: Path, body: str) -> str:
    """Write a seat's program and return the settings that name it."""
    program = folder / f"{name}.py"
    program.write_text(_PRELUDE.format(top=str(top)) + body)
    command = json.dumps([sys.executable, "-IS", str(program), "{brief_json}", "{tree}"])
    return f'[agents.{name}]\nkind = "command"\ncommand = {command}\ndestination = "local"\n'


class Stage:
    """A project and its two seats, `ana` who edits and `critic` who reads."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.top = project.top
        self.git = project.git
        self._settings: dict[str, str] = {}

    def begin(self, **files: str) -> str:
        """Commit the project and return the id of the candidate."""
        self.git.git("config", "user.name", "Ada")
        self.git.git("config", "user.email", "ada@example.org")
        self.git.commit({"price.py": "x = 1\n", ".gitignore": "*.ignored\n", **files})
        self.project.branch()
        candidate = self.git.commit({"price.py": "x = 2\n"})
        self.author()
        self.critic()
        return candidate

    def author(self, departs: str = "", name: str = "ana") -> None:
        """Set what the author does before its ordinary answer, or instead of it."""
        self._seat(name, departs + AUTHOR)

    def author_tries(self, *bodies: str) -> None:
        """Set what the author does at each ask, at most nine; after these it gives its ordinary answer."""
        asked = str(self.project.bin / "asked")
        counting = f"asked = pathlib.Path({asked!r})\nn = int(asked.read_text()) if asked.exists() else 0\n"
        counting += f"asked.write_text(str(n + 1))\nclean()\nfor body in {bodies!r}[n : n + 1]: exec(body)\n"
        self.author(counting)
        self._settings["limits"] = "[limits]\nasks_per_turn = 10\n"
        self._configure()

    def critic(self, departs: str = "", name: str = "critic") -> None:
        """Set what the reviewer does before its ordinary answer, or instead of it."""
        self._seat(name, departs + CRITIC)

    def _seat(self, name: str, body: str) -> None:
        self._settings[name] = seat_settings(name, self.project.bin, self.top, body)
        self._configure()

    def _configure(self) -> None:
        self.project.configure("\n".join(self._settings.values()))

    def review(self, *args: str) -> Called:
        """Review with the author, in this process, and hold the record to verify."""
        reviewers = [
            word for name in self._settings if name not in {"ana", "limits"} for word in ("--reviewer", name)
        ]
        return self._verified(self.project.call("review", "--author", "ana", *reviewers, *args))

    def resume(self, *args: str) -> Called:
        return self._verified(self.project.call("resume", "last", *args))

    def _verified(self, called: Called) -> Called:
        verified = self.project.call("verify", "last")
        assert verified.code == 0, verified
        return called

    @property
    def case(self) -> LoadedCase:
        """The newest case, read from its record."""
        cases = self.top / ".counterpoint" / "cases"
        folders = find_folders({**os.environ, **self.project.environment})
        return load_case(open_store(cases, folders), cases, self.project.cases[-1].name)

    @property
    def failures(self) -> list[tuple[str, str]]:
        """Seat and reason of each failed attempt."""
        return [(failure.turn.seat, failure.reason.value) for failure in self.case.state.failures]

    @property
    def said(self) -> str:
        """The details of the failed attempts."""
        return "\n".join(failure.detail for failure in self.case.state.failures)

    @property
    def offers(self) -> list[tuple[str, ...]]:
        """The paths of each candidate that an author offered and the record took."""
        return [entry.changed for entry in self.case.entries if isinstance(entry, CandidateOffered)]

    def git_dir(self, name: str) -> Path:
        return self.top / ".git" / name

    # --- what a person has

    @property
    def head(self) -> str:
        return self.git.id("rev-parse", "HEAD")

    @property
    def status(self) -> str:
        """What git says of work tree and index; empty where both are at HEAD."""
        return (
            self.git.git("status", "--porcelain=v1", "--ignored")
            .decode("utf-8", "backslashreplace")
            .replace("!! .counterpoint/\n", "")
        )

    def everything(self) -> dict[str, tuple[int, bytes]]:
        """Return mode and bytes of everything in the repository but the objects and refs that keep what was left."""
        found = {}
        for place, folders, names in os.walk(self.top):
            folders[:] = [name for name in folders if name != ".counterpoint"]
            for name in names:
                path = Path(place, name)
                shown = str(path.relative_to(self.top))
                if not shown.startswith(_NEW_IN_GIT):
                    found[shown] = (path.lstat().st_mode, _content(path))
        return found

    @property
    def kept(self) -> Mapping[str, str]:
        """The refs under which edits are kept that came to nothing."""
        lines = self.git.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/counterpoint").decode()
        return dict(line.split() for line in lines.splitlines())

    def kept_text(self, path: str) -> list[str]:
        """Return what each kept ref holds at a path, and where it was left out "-"."""
        return [self.at(ref, path) for ref in self.kept]

    def at(self, ref: str, path: str) -> str:
        done = subprocess.run(
            ["git", "-C", self.top, "show", f"{ref}:{path}"], capture_output=True, check=False, timeout=30
        )
        return done.stdout.decode("utf-8", "backslashreplace") if done.returncode == 0 else "-"

    def changed_in(self, commit: str = "HEAD") -> list[str]:
        """Return the paths that a commit changed."""
        out = self.git.git("diff-tree", "-r", "--name-only", "--no-commit-id", commit)
        return out.decode().splitlines()

    def result(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.project.cases[-1] / "result.json").read_text())
        return found


def _content(path: Path) -> bytes:
    if path.is_symlink():
        return os.fsencode(path.readlink())
    return path.read_bytes() if path.is_file() else b""
