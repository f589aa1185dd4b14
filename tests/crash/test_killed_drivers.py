"""`kill -9` of the driver before every write, rename, sync and agent call of a case (FIELD-FAULTS F43, F44)."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

SHARES = 4
"""The operations are shared out, so that the parts run side by side."""


def _kill_everywhere(folder: Path, first: int) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.crash.killed_drivers", str(folder), str(first), str(SHARES)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env=os.environ | {"TMPDIR": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def _check(plain: dict[str, Any], found: dict[str, Any]) -> None:
    at = found["at"]
    assert found["entries"] == plain["entries"], at
    assert (found["decision"], found["stop"]) == (plain["decision"], plain["stop"]), at
    lost = [line for line in found["failed"] if line.endswith("driver_lost")]
    assert sorted(set(found["failed"]) - set(lost)) == plain["failed"], at
    assert len(set(found["turns"])) == len(found["turns"]) == len(plain["turns"]), at
    # A seat is asked once more than without the kill only where its answer was lost with the driver.
    more = Counter(found["asked"]) - Counter(plain["asked"])
    asked_again = sum(count for line, count in more.items() if line.startswith("asked"))
    assert asked_again <= len(lost), at
    assert more["ran"] <= 1, at


@pytest.mark.parametrize("first", range(1, SHARES + 1))
def test_a_killed_driver_resumes_to_the_same_end(first: int, tmp_path: Path) -> None:
    """Same entries and outcome but for stamps, ids, signatures and attempts; no finished seat is asked again."""
    plain, *killed = _kill_everywhere(tmp_path, first)
    assert plain["decision"] == "rejected"
    assert len(killed) > 60 // SHARES
    for found in killed:
        _check(plain, found)
