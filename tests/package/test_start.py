"""The ways to start the program in this environment; `test_wheel` starts it where nothing else is installed."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import counterpoint

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


def test_closed_standard_streams_lead_nowhere(measured: Mapping[str, str]) -> None:
    """Also before any command is read: what is opened next is not the program's output."""
    closed = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *WAYS["module"], "--version"]
    done = subprocess.run(closed, env={**os.environ, **measured}, timeout=60, check=False)
    assert done.returncode == 0


def test_the_package_lists_what_it_offers() -> None:
    """Names that are imported on first use are there to be found."""
    assert dir(counterpoint) == sorted(counterpoint.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        counterpoint.no_such_name  # noqa: B018 - the look-up is what is tested
