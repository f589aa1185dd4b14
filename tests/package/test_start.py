"""The ways to start the program in this environment; `test_wheel` starts it where nothing else is installed."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

WAYS = {
    "module": [sys.executable, "-m", "counterpoint"],
    "counterpoint": [str(Path(sys.executable).parent / "counterpoint")],
    "cpt": [str(Path(sys.executable).parent / "cpt")],
}


@pytest.mark.parametrize(("argument", "code"), [("--version", 0), ("--no-such-option", 2)])
@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_ends_with_the_code_of_the_command(
    way: str, argument: str, code: int, measured: Mapping[str, str]
) -> None:
    """`python -m counterpoint` and both console scripts are one program (DESIGN section 8, exit codes)."""
    command = [*WAYS[way], argument]
    done = subprocess.run(
        command, env={**os.environ, **measured}, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
