"""Kill the driver of a review of two rounds with an author at a stated step, resume, and say what is left.

Run as a program: `python -m tests.crash.killed_authors FOLDER MODE FIRST STEP` prints one JSON line for the run that
nobody disturbed and one for each kill, at every step whose number is FIRST, FIRST + STEP, and so on. MODE says which
steps count: `turn`, those of the author's second turn that change something; `all`, every one that changes something
and every start of git; `back`, those of the resume after a kill in the middle of the author's edits.

It imports everything once and forks for each run: real git, seats that are shell scripts, a real kill.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final

from counterpoint.cli import resume, review
from counterpoint.cli.main import run
from counterpoint.core.entries import AttemptFailed
from counterpoint.drive.casefile import CaseFile
from counterpoint.drive.cases import load_case
from counterpoint.drive.paths import find_folders
from counterpoint.drive.store import open_store
from counterpoint.isolation import restoring
from counterpoint.isolation.git import Git
from counterpoint.isolation.removal import remove
from counterpoint.record.files import FileStore
from counterpoint.record.vault import FileVault
from tests.crash.killed_drivers import forked
from tests.repositories import Scratch

PRELOADED: Final = (review, resume)
"""What each run would import for itself: once is enough, before the fork."""
_CRITIC: Final = r"""#!/bin/sh
state() { grep -q good "$2/$1.py" && echo resolved || echo open; }
said='{"id": "%s", "severity": "major", "location": "%s.py:1", "issue": "i", "suggestion": "s", "status": "%s"}'
one=$(printf "$said" F1 a "$(state a "$1")"); two=$(printf "$said" F2 b "$(state b "$1")")
case "$one$two" in *'"open"'*) approved=false;; *) approved=true;; esac
printf '{"summary": "s", "findings": [%s, %s], "responseToRebuttal": "", "approved": %s}\n' "$one" "$two" $approved
"""
_AUTHOR: Final = r"""#!/bin/sh
brief=$1 half=$2
said='{"finding": "%s", "disposition": "%s", "reasoning": "r"}'
if grep -q '"round": 2' "$brief"; then
  echo good > b.py; mkdir -p new; echo more > new/c.py; echo later > a.py
  if test -e "$half"; then
    signal=$(cat "$half"); rm "$half"; echo $$ > "$half.pid"
    echo half > half.py; git add half.py; kill -s "$signal" $PPID; exec sleep 1000
  fi
  echo 'good and later' > a.py
  two=$(printf "$said" F2 fix)
  printf '{"summary": "Two", "dispositions": [%s], "changed": ["a.py", "b.py", "new/c.py"]}\n' "$two"
else
  echo good > a.py; rm gone.py
  both="$(printf "$said" F1 fix), $(printf "$said" F2 rebut)"
  printf '{"summary": "One", "dispositions": [%s], "changed": ["a.py", "gone.py"]}\n' "$both"
fi
"""
REVIEW: Final = ("review", "--author", "author", "--reviewer", "critic")
_CHANGING: Final = ("hash-object", "unpack-objects", "update-ref", "update-index --index-info")


class Place:
    """A repository, its user's folders, and the two seats."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git = Scratch(folder / "shop")
        self.half = folder / "half"
        """Holds the signal that the author sends to its driver in the middle of its edits, once."""
        for name in ("tmp", "config", "bin"):
            (folder / name).mkdir()
        for name, text in (("critic", _CRITIC), ("author", _AUTHOR)):
            (folder / "bin" / name).write_text(text)
            (folder / "bin" / name).chmod(0o755)
        for name, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
            self.git.git("config", name, value)
        self.git.commit({"a.py": "x\n", "b.py": "x\n", "gone.py": "x\n"})
        self.git.git("checkout", "-q", "-b", "change")
        self.start = self.git.commit({"a.py": "bad\n", "b.py": "bad\n"})
        seats = {"critic": '"{tree}"', "author": f'"{{brief_json}}", "{self.half}"'}
        (folder / "config" / "config.toml").write_text(
            "".join(
                f'[agents.{name}]\nkind = "command"\ndestination = "local"\n'
                f'command = ["{folder / "bin" / name}", {arguments}]\n'
                for name, arguments in seats.items()
            )
        )

    @property
    def environment(self) -> dict[str, str]:
        """What differs from the environment of the tests."""
        return {
            "TMPDIR": str(self.folder / "tmp"),
            "COUNTERPOINT_STATE": str(self.folder / "state"),
            "COUNTERPOINT_CONFIG": str(self.folder / "config"),
            "HOME": str(self.folder),
        }

    def call(self, on_step: Callable[[str], None], *words: str) -> None:
        """Run one command with every step told; this process is a child that ends with it."""
        os.environ |= self.environment
        os.chdir(self.git.top)
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(self.folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), number)
        tell_steps(on_step)
        code = run(list(words))
        assert code == 0, code

    def review(self, on_step: Callable[[str], None]) -> None:
        self.call(on_step, *REVIEW)

    def resume(self, on_step: Callable[[str], None]) -> None:
        if self.has_case:
            self.call(on_step, "resume", "last")
        else:
            self.review(on_step)  # it was killed before there was a case

    @property
    def has_case(self) -> bool:
        return any((self.git.top / ".counterpoint" / "cases").glob("*/*.channel.md"))

    def sweep(self) -> None:
        """Remove what was left before there was a case: nobody has a name to find it by."""
        for folder in [] if self.has_case else (self.folder / "tmp").iterdir():
            remove(folder)

    @property
    def said(self) -> str:
        return (self.folder / "err").read_text()

    def summary(self) -> dict[str, Any]:
        """Return what became of the case and of the repository, without what may differ between two runs."""
        cases = self.git.top / ".counterpoint" / "cases"
        store = open_store(cases, find_folders(self.environment))
        name = max(path.name for path in cases.iterdir())
        loaded = load_case(store, cases, name)
        log = self.git.git("log", "--reverse", "--format=%T%x00%P%x00%B%x01", f"{self.start}..HEAD").decode()
        return {
            "decision": loaded.outcome.decision,
            "stop": loaded.outcome.stop_reason,
            "entries": [type(entry).__name__ for entry in loaded.entries if not isinstance(entry, AttemptFailed)],
            "failed": [f"{failure.turn.seat} {failure.reason}" for failure in loaded.state.failures],
            "commits": [_commit(text, name) for text in log.split("\x01") if text.strip()],
            "branch": self.git.git("symbolic-ref", "HEAD").decode().strip(),
            "status": self.git.git("status", "--porcelain").decode(),
            "kept": self._kept(),
            "verified": store.verify(name).is_clean,
            "left": sorted(path.name for path in (self.folder / "tmp").iterdir()),
        }

    def _kept(self) -> list[list[str]]:
        """Return what each ref holds under which edits are kept: the paths that differ from its parent."""
        refs = self.git.git("for-each-ref", "--format=%(refname)", "refs/counterpoint").decode().split()
        return [self.git.git("diff", "--name-only", f"{ref}~1", ref).decode().split() for ref in refs]


def _commit(text: str, case: str) -> list[str]:
    tree, parents, message = text.strip().split("\0")
    return [tree, str(len(parents.split())), message.replace(case, "CASE")]


def tell_steps(on_step: Callable[[str], None]) -> None:
    """Have every step that changes something told before it is taken, in this process."""

    def told(owner: Any, name: str, label: Callable[[tuple[Any, ...]], str]) -> None:
        whole = getattr(owner, name)

        def telling(*arguments: Any, **named: Any) -> Any:
            on_step(label(arguments))
            return whole(*arguments, **named)

        setattr(owner, name, telling)

    for name in ("put", "put_new"):
        told(FileVault, name, lambda given: f"keep {given[1]}")
    told(FileStore, "claim_all", lambda given: f"claim {' '.join(turn for turn, _ in given[2])}")
    told(CaseFile, "append_anyway", lambda given: f"append {' '.join(type(entry).__name__ for entry in given[1])}")
    told(Git, "start", lambda given: _git(*given[1:]))
    told(restoring, "_put", lambda given: f"put back {given[1].path!r}")
    told(restoring, "_delete", lambda given: f"delete {given[1]!r}")


def _git(*arguments: object) -> str:
    is_ours = "--index-info" in arguments  # another update of an index is of a copy
    return f"git {arguments[0]}{' --index-info' if is_ours else ''}"


class Steps:
    """Counts the steps that count, and kills this process at one of them."""

    def __init__(self, counts: Callable[[str], bool], at: int | None = None, note: Path = Path(os.devnull)) -> None:
        self._counts, self._at, self._note = counts, at, note
        self._seen = 0

    def __call__(self, label: str) -> None:
        if not self._counts(label):
            return
        self._seen += 1
        if self._seen == self._at:
            self._note.write_text(label)
            os.kill(os.getpid(), signal.SIGKILL)


class SecondTurn:
    """Says of each step whether it is of the author's second turn, from its journal to the reading after it."""

    def __init__(self) -> None:
        self._is_on = False

    def __call__(self, label: str) -> bool:
        if label.startswith("keep begun") and "answering.2." in label:
            self._is_on = True
        if label.startswith("claim reviewing.3."):
            self._is_on = False
        return self._is_on and changes(label)


def changes(label: str) -> bool:
    kind, _, what = label.partition(" ")
    return kind != "git" or what in _CHANGING


def everything(label: str) -> bool:
    return True


def nothing(label: str) -> bool:
    return False


def main(folder: Path, mode: str, first: int, step: int) -> None:
    plain = made(folder / "plain")
    assert forked(partial(plain.review, Steps(nothing))) == 0, plain.said
    print(json.dumps({"at": "", **plain.summary()}), flush=True)
    for at in count(first, step):
        place = made(folder / f"kill-{at}")
        note = place.folder / "at"
        if mode == "back":
            place.half.write_text("KILL")
            assert forked(partial(place.review, Steps(nothing))) == -signal.SIGKILL, place.said
            killed = partial(place.resume, Steps(everything, at, note))
        else:
            killed = partial(place.review, Steps(SecondTurn() if mode == "turn" else everything, at, note))
        ended = forked(killed)
        assert ended in {0, -signal.SIGKILL}, place.said
        if ended == 0:
            return
        place.sweep()
        again = forked(partial(place.resume, Steps(nothing)))
        print(json.dumps({"at": f"{at} {note.read_text()}", "again": again, **place.summary()}), flush=True)


def made(folder: Path) -> Place:
    folder.mkdir()
    return Place(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
