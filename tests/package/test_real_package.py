"""A review of a real package from the package index: its own tests find a planted bug, and pass without it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.repositories import Scratch

TIMEOUT_S = 110
SOUND = 'int2byte = struct.Struct(">B").pack'
BROKEN = 'int2byte = struct.Struct(">H").pack'


def _review(repository: Path, home: Path) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "counterpoint", "review", "--base", "main", "--trust-commands", "--json"],
        cwd=repository,
        env=os.environ
        | {"HOME": str(home), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)


def test_a_planted_bug_in_a_real_package_is_found_and_its_repair_approved(six: Path, tmp_path: Path) -> None:
    """Issue 2, "done when": exit 3 with the failing test; with the bug taken out, exit 0 and evidence verified."""
    repository = Scratch(six)
    repository.commit(message="six")
    repository.git("checkout", "-q", "-b", "change")
    source = (six / "six.py").read_text()
    assert SOUND in source
    repository.commit({"six.py": source.replace(SOUND, BROKEN)}, message="a bug")
    code, found = _review(six, tmp_path)
    assert (code, found["decision"], found["evidence"]) == (3, "rejected", "refuted")
    (finding,) = found["findings"]
    assert finding["severity"] == "blocking"
    assert "pytest" in finding["location"]
    assert "failed" in finding["issue"]
    assert "passes at the merge base" in finding["issue"]
    repository.commit({"six.py": source, "README.rst": "changed\n"}, message="without the bug")
    code, found = _review(six, tmp_path)
    assert (code, found["decision"], found["evidence"]) == (0, "approved", "verified")
    assert found["findings"] == []
    assert repository.git("status", "--porcelain") == b""
