"""`kill -9`, an interruption and a request to end, in the middle of a review whose author edits (issue 3).

The review has two rounds: one author, one reader, two commits. See `killed_authors` for how it is killed.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crash.killed_authors import REVIEW, Place
from tests.processes import is_gone

SHARES = 8
"""The steps of the whole sweep are shared out, so that its parts run side by side."""
EDITED = ["a.py", "b.py", "new/c.py"]
"""The paths that the author edits in its second turn."""


def _killed(folder: Path, mode: str, first: int = 1, step: int = 1) -> Iterator[dict[str, Any]]:
    """Return what the undisturbed run came to, then what each killed one did."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.crash.killed_authors", str(folder), mode, str(first), str(step)],
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
        env=os.environ | {"TMPDIR": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    return (json.loads(line) for line in done.stdout.splitlines())


def _check(plain: dict[str, Any], found: dict[str, Any], *, kills: int = 1) -> None:
    at = found["at"]
    assert found["again"] == 0, at
    same = ("decision", "stop", "entries", "commits", "branch", "status", "verified")
    assert {key: found[key] for key in same} == {key: plain[key] for key in same}, at
    assert set(found["failed"]) <= {"author driver_lost", "critic driver_lost"}, at
    assert len(found["failed"]) <= kills, at


def _check_plain(plain: dict[str, Any]) -> None:
    assert (plain["decision"], plain["stop"], plain["failed"], plain["kept"]) == ("approved", "agreed", [], [])
    assert (plain["status"], plain["branch"], plain["verified"], plain["left"]) == ("", "refs/heads/change", True, [])
    assert [message.split("\n")[0] for _, _, message in plain["commits"]] == ["One", "Two"]


def test_a_driver_killed_at_a_step_of_an_authors_turn_resumes_to_the_same_end(tmp_path: Path) -> None:
    """Issue 3: journal, claim, answer kept, commit made, evidence, seal, objects, branch, index, mark, reveal."""
    plain, *killed = _killed(tmp_path, "turn")
    _check_plain(plain)
    assert len(killed) == 11
    for found in killed:
        _check(plain, found)
        assert found["left"] == [], found["at"]
        # What an author had edited before its answer was on disk is kept, and asked for once more.
        assert found["kept"] == [EDITED] * len(found["failed"]), found["at"]


@pytest.mark.parametrize(
    ("name", "code"), [pytest.param("KILL", -signal.SIGKILL), pytest.param("INT", 130), pytest.param("TERM", 130)]
)
def test_an_edit_that_is_half_done_is_kept_and_the_case_goes_on(tmp_path: Path, name: str, code: int) -> None:
    """Issue 3, "in the middle of the author's edits": it is ended, its work is under a ref, the tree is clean."""
    place = Place(tmp_path / "place")
    place.half.write_text(name)
    err = _call(place, *REVIEW, expected=code)
    assert place.git.git("status", "--porcelain") == (_HALF if name == "KILL" else b"")
    if name != "KILL":
        assert b"everything so far is kept; go on with: counterpoint resume review-" in err
        assert is_gone(int(place.half.with_suffix(".pid").read_text()))
    _call(place, "resume", "last", expected=0)
    found = place.summary()
    assert is_gone(int(place.half.with_suffix(".pid").read_text()))
    assert (found["decision"], found["status"], found["verified"], found["left"]) == ("approved", "", True, [])
    assert found["failed"] == [f"author {'driver_lost' if name == 'KILL' else 'interrupted'}"]
    assert [message.split("\n")[0] for _, _, message in found["commits"]] == ["One", "Two"]
    assert found["kept"] == [["a.py", "b.py", "half.py", "new/c.py"]]
    [ref] = place.git.git("for-each-ref", "--format=%(refname)", "refs/counterpoint").decode().split()
    assert [place.git.git("show", f"{ref}:{path}") for path in ("a.py", "half.py")] == [b"later\n", b"half\n"]


_HALF = b" M a.py\n M b.py\nA  half.py\n?? new/\n"


def _call(place: Place, *words: str, expected: int) -> bytes:
    done = subprocess.run(
        [sys.executable, "-m", "counterpoint", *words],
        cwd=place.git.top,
        env=os.environ | place.environment,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == expected, done.stderr
    return done.stderr


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("mode", ["all", "back"])
@pytest.mark.parametrize("first", range(1, SHARES + 1))
def test_a_driver_killed_at_any_step_at_all_resumes_to_the_same_end(tmp_path: Path, mode: str, first: int) -> None:
    """Issue 3: every step of the whole review, and of the resume that puts a half edit away."""
    plain, *killed = _killed(tmp_path, mode, first, SHARES)
    _check_plain(plain)
    for found in killed:
        # Settings are read before the case has a folder of its own in the temporary one.
        assert [name for name in found["left"] if not name.startswith("counterpoint-git-")] == [], found["at"]
        _check(plain, found, kills=2 if mode == "back" else 1)
