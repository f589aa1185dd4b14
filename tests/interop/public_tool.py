"""The public tool `debate` 0.8.0 as tests use it: its commands, and its own functions in a process of its own."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from counterpoint.record.files import FileStore, Layout
from tests import need
from tests.channels import file_store

__all__ = ["Ran", "begun_by_the_tool", "debate", "in_its_python", "shared_store"]

_BOUND_S = 120


class Ran(NamedTuple):
    code: int
    output: str
    errors: str


def debate(root: Path, command: str, *arguments: str) -> Ran:
    """Run one command of the public tool on the channels in a folder."""
    ran = subprocess.run(
        [need.oracle(), command, "--root", root, *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=_BOUND_S,
        check=False,
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def begun_by_the_tool(root: Path, *, cap: int = 12) -> str:
    """Let the public tool begin a channel, and return its name."""
    settings = ("--parties", "claude,codex", "--supervisor", "owner", "--thread-cap", str(cap), "--label", "both")
    made = debate(root, "init", *settings)
    assert made.code == 0, made
    (path,) = root.glob("*.debate.json")
    return path.name.removesuffix(".debate.json")


def in_its_python(program: str, arguments: Sequence[str], *, given: object = None) -> Any:
    """Run a program in the public tool's environment; it reads one JSON value and prints one."""
    ran = subprocess.run(
        [need.oracle().with_name("python"), "-c", program, *arguments],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=_BOUND_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def shared_store(root: Path) -> FileStore:
    return file_store(str(root), Layout.SHARED)
