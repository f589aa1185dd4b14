"""`counterpoint completion`, and what the scripts ask of the program."""

import subprocess
from pathlib import Path

import pytest

from tests import need
from tests.command_line import call, keep


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_serves_both_names(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`cpt` asks the same program by the same variable."""
    done = call(capsys, "completion", shell)
    assert done.code == 0
    assert done.err == ""
    assert f"_COUNTERPOINT_COMPLETE={shell}_complete" in done.out
    assert "_CPT_COMPLETE" not in done.out
    assert "_cpt_completion" in done.out


def test_bash_takes_the_script(capsys: pytest.CaptureFixture[str]) -> None:
    """Its own reader finds no fault in it."""
    script = call(capsys, "completion", "bash").out
    read = subprocess.run(
        [need.tool("bash"), "-n"], input=script, text=True, capture_output=True, timeout=10, check=False
    )
    assert (read.returncode, read.stderr) == (0, "")


def test_an_unknown_shell_is_a_wrong_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    """With those that are known."""
    done = call(capsys, "completion", "tcsh")
    assert done.code == 2
    assert "'bash', 'zsh', 'fish'" in done.err


def _complete(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str) -> list[str]:
    words = line.split(" ")
    monkeypatch.setenv("_COUNTERPOINT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    return [each.partition(",")[2] for each in call(capsys).out.splitlines()]


def test_commands_and_case_names_are_completed(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`last`, then the newest case first."""
    names = keep(tmp_path / ".counterpoint" / "cases", own_home, "approved", "rejected")
    monkeypatch.chdir(tmp_path)
    assert _complete(monkeypatch, capsys, "cpt ver") == ["verify"]
    assert _complete(monkeypatch, capsys, "cpt show ") == ["last", *reversed(names)]
    assert _complete(monkeypatch, capsys, "cpt verify review-20241201") == [names[1]]
    assert _complete(monkeypatch, capsys, f"cpt report --root {tmp_path} la") == ["last"]


def test_agents_are_completed_where_they_are_named(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of one's own settings and always there; behind a comma, those that are left; none where none can be read."""
    settings = own_home / "config.toml"
    table = 'kind = "command"\ncommand = ["true"]\ndestination = "local"\n'
    settings.write_text(f"[agents.claude]\n{table}[agents.codex]\n{table}")
    monkeypatch.setenv("COUNTERPOINT_CONFIG", str(own_home))
    monkeypatch.chdir(tmp_path)
    for option in ("review --author", "answer --peers", "propose --critic", "ballot x.md --voters"):
        assert _complete(monkeypatch, capsys, f"cpt {option} c") == ["checks", "claude", "codex"], option
    assert _complete(monkeypatch, capsys, "cpt answer --peers claude,c") == ["claude,checks", "claude,codex"]
    settings.write_text("[agents")
    assert _complete(monkeypatch, capsys, "cpt answer --peers c") == [""]
