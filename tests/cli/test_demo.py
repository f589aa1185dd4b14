"""`counterpoint demo`: the whole story on a small repository, with nothing set up (issue 2, point 8)."""

import os
import re
from pathlib import Path

import pytest

from tests.command_line import call
from tests.reviewing import Project


def test_the_demo_shows_every_promise_kept(project: Project, own_home: Path) -> None:
    """Refused out of turn, a claim and a finding refuted, tampering named; nothing of the person's is touched."""
    called = project.call("demo", "--json")
    assert called.code == 0
    found = called.json
    folder = Path(found["folder"])
    assert folder.parent == project.tmp
    assert found == {
        "case": found["case"],
        "folder": str(folder),
        "refused_by": "TURN-1",
        "tampering_named_in": found["tampering_named_in"],
        "is_decided_as_expected": True,
        "is_out_of_turn_refused": True,
        "is_claim_refuted": True,
        "is_finding_refuted": True,
        "is_tampering_named": True,
    }
    assert not project.state.exists()
    assert list(project.config.iterdir()) == []
    assert list(own_home.iterdir()) == []
    project.sweep()


def test_what_the_demo_says_to_try_next_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its last lines are commands: each of them runs in the folder that it left."""
    monkeypatch.chdir(tmp_path)
    called = call(capsys, "demo", "--dir", "here")
    assert called.code == 0
    assert [line[:2] for line in called.out.splitlines() if re.match(r"[0-9]\. ", line)] == [
        f"{number}." for number in range(1, 9)
    ]
    *_, export, commands = lines = [line.strip() for line in called.out.splitlines()]
    monkeypatch.chdir(next(line.removeprefix("cd ") for line in lines if line.startswith("cd ")))
    for assignment in export.removeprefix("export ").split():
        name, _, value = assignment.partition("=")
        monkeypatch.setenv(name, value.replace("$PWD", str(Path.cwd())))
    codes = [call(capsys, *command.split()[1:]).code for command in commands.split(";")]
    assert codes == [0, 0, 4]
    assert call(capsys, "review", "--trust-commands").code == 3


def test_the_demo_takes_no_folder_that_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1; what lies there stays as it is."""
    called = call(capsys, "demo", "--dir", tmp_path)
    assert called.code == 1
    assert "hint: name a folder that is not there yet with --dir" in called.err
    assert list(tmp_path.iterdir()) == []


def test_the_demo_says_when_git_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 1, one sentence."""
    monkeypatch.setenv("PATH", str(tmp_path))
    called = call(capsys, "demo", "--dir", tmp_path / "demo")
    assert called.code == 1
    assert called.err == "error: git is not installed; the demo needs it\nhint: install git\n"


def test_the_demo_does_not_meet_the_persons_git(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither a signing key that is missing, nor a template of hooks, nor a GIT_DIR that is set."""
    hooks = tmp_path / "template" / "hooks"
    hooks.mkdir(parents=True)
    (hooks / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (hooks / "pre-commit").chmod(0o755)
    settings = f"[commit]\ngpgsign = true\n[init]\ntemplateDir = {hooks.parent}\n[core]\nhooksPath = {hooks}\n"
    (own_home / ".gitconfig").write_text(settings)
    monkeypatch.setenv("GIT_DIR", os.devnull)
    assert call(capsys, "demo", "--dir", tmp_path / "demo").code == 0
