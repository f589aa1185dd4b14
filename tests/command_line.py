"""Calling the command line inside this process, as a shell would call it."""

import json
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from counterpoint.cli.main import run
from counterpoint.drive.ids import CountedIds
from counterpoint.drive.paths import find_folders
from counterpoint.drive.store import machine_key, open_store
from tests.example_cases import START, play

__all__ = ["Called", "call", "keep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """What one call came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def call(capsys: pytest.CaptureFixture[str], *args: str | Path) -> Called:
    """Run one command and return its code and what it printed."""
    capsys.readouterr()
    try:
        code = run([str(arg) for arg in args])
    except SystemExit as done:  # as the shell's completion ends
        code = int(done.code or 0)
    printed = capsys.readouterr()
    return Called(code=code, out=printed.out, err=printed.err)


def keep(cases: Path, home: Path, *examples: str) -> tuple[str, ...]:
    """Play examples, one a day, into the file store of a folder, signed with the key of that home."""
    cases.mkdir(parents=True, exist_ok=True)
    folders = find_folders({"HOME": str(home)})
    store, key, ids = open_store(cases, folders), machine_key(folders), CountedIds()
    return tuple(
        play(example, store, keys=(key.public,), start=START + timedelta(days=day), ids=ids)
        for day, example in enumerate(examples)
    )
