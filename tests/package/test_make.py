"""The two commands of a fresh machine, and what stands beside them in the docs."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests import need


def test_every_target_is_in_help_and_in_the_docs() -> None:
    """`make help`, the Makefile and docs/developing.md name the same targets."""
    text = (need.ROOT / "Makefile").read_text("utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.*)", text, re.MULTILINE)
    helped = dict(re.findall(r"^([a-z-]+):.*## (.*)", text, re.MULTILINE))
    documented = re.findall(
        r"^\| `make ([a-z-]+)`", (need.ROOT / "docs/developing.md").read_text("utf-8"), re.MULTILINE
    )
    assert sorted(helped) == sorted(phony.split())
    assert sorted([*documented, "help"]) == sorted(helped)


@pytest.mark.parametrize("target", ["demo", "test"])
def test_old_python_is_named_and_nothing_is_made(target: str, tmp_path: Path) -> None:
    """A machine without Python 3.11 is told so, with what it has and what to do."""
    need.tool("make")
    folder = tmp_path / "a folder"
    folder.mkdir()
    shutil.copy(need.ROOT / "Makefile", folder)
    shutil.copy(need.ROOT / "pyproject.toml", folder)
    shutil.copytree(need.ROOT / "requirements", folder / "requirements")
    old = folder / "old-python"
    old.write_text("#!/bin/sh\n[ $1 = --version ] && echo 'Python 3.9.18' && exit 0\nexit 1\n")
    old.chmod(0o755)
    done = subprocess.run(
        ["make", "PYTHON=./old-python", target], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "Python 3.11 or newer is needed; ./old-python is Python 3.9.18" in done.stderr
    assert "hint: install it, or run make PYTHON=/path/to/python3.11" in done.stderr
    assert not (folder / ".venv").exists()


def test_a_user_installs_what_the_project_declares() -> None:
    """The requirements that are pinned for a user are the dependencies of the package, no more and no less."""
    declared = tomllib.loads((need.ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    wanted = (need.ROOT / "requirements/run.in").read_text("utf-8").split()
    assert wanted == declared


@pytest.mark.parametrize("name", ["run", "build", "dev", "oracle", "fuzz", "example"])
def test_every_requirement_is_pinned_and_hashed(name: str) -> None:
    """A requirements file names versions and hashes, and no address to fetch them from."""
    text = (need.ROOT / f"requirements/{name}.txt").read_text("utf-8")
    entries = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert entries
    assert all(re.match(r"[a-z0-9-]+==\S+", entry) and "--hash=sha256:" in entry for entry in entries)
    assert not re.search(r"^\s*(-|https?:)(?!-hash)", text, re.MULTILINE)


@pytest.mark.parametrize("kind", ["codex", "claude", "gemini-cli", "copilot", "opencode"])
def test_every_coding_agent_is_pinned_and_hashed(kind: str) -> None:
    """A lock file names versions and hashes, and no address to fetch them from."""
    text = (need.ROOT / f"requirements/agents/{kind}/package-lock.json").read_text("utf-8")
    _, *entries = json.loads(text)["packages"].values()
    assert entries
    assert all(re.fullmatch(r"sha512-[\w+/]{86}==", entry["integrity"]) for entry in entries)
    assert "resolved" not in text
    assert "http" not in text
