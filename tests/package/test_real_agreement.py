"""A review to agreement on the source of a real package: its author edits files, a critic reads, its tests run."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.repositories import Scratch

TIMEOUT_S: Final = 110
SOUND: Final = 'int2byte = struct.Struct(">B").pack'
BROKEN: Final = 'int2byte = struct.Struct(">H").pack'
NEEDED: Final = "py_modules=["
LOST: Final = "py_module_names=["

CRITIC: Final = f"""
import json, pathlib, sys
payload = json.loads(pathlib.Path(sys.argv[1]).read_text())["payload"]
tree = pathlib.Path(sys.argv[2])
is_first = "your_findings" not in payload
known = [f["id"] for f in payload.get("your_findings", [])]
bugs = [("F1", "six.py", {BROKEN!r}, "blocking"), ("F2", "setup.py", {LOST!r}, "major")]
findings = []
for name, path, text, severity in bugs:
    is_there = text in (tree / path).read_text()
    if is_there if is_first else name in known:
        finding = {{"id": name, "severity": severity, "location": path, "issue": f"{{text}} is wrong"}}
        finding |= {{"suggestion": "", "status": "open" if is_there else "resolved", "reason": "looked at the file"}}
        findings.append(finding | ({{"quote": text}} if is_first else {{}}))
is_fine = all(f["status"] != "open" for f in findings)
print(json.dumps({{"summary": "read", "findings": findings, "responseToRebuttal": "", "approved": is_fine}}))
"""
AUTHOR: Final = f"""
import json, pathlib, sys
payload = json.loads(pathlib.Path(sys.argv[1]).read_text())["payload"]
stubborn = len(sys.argv) > 2
answers, changed = [], []
def mend(path, bad, good):
    file = pathlib.Path(path)
    file.write_text(file.read_text().replace(bad, good))
    changed.append(path)
for finding in payload["findings"]:
    answer = {{"finding": finding["id"], "reasoning": "It is right as it is.", "disposition": "rebut"}}
    if not finding["id"].endswith("critic-F2") and not stubborn:
        answer = {{**answer, "reasoning": "Packs one byte again.", "disposition": "fix"}}
    elif payload["round"] > 1 and not stubborn:
        mend("setup.py", {LOST!r}, {NEEDED!r})
        mend("CHANGES", "Changelog for six", "Changelog of six")
        answer = {{**answer, "reasoning": "So it is.", "disposition": "fix"}}
    answers.append(answer)
if payload["round"] == 1 and not stubborn:
    mend("six.py", {BROKEN!r}, {SOUND!r})
print(json.dumps({{"summary": f"Answer {{payload['round']}}", "dispositions": answers, "changed": changed}}))
"""


class Package:
    """A package with two planted bugs on a branch, and the agents of its user."""

    def __init__(self, six: Path, home: Path) -> None:
        self.git = Scratch(six)
        self.home = home
        self.git.git("config", "user.name", "Ana")
        self.git.git("config", "user.email", "ana@example.org")
        self.git.commit(message="six")
        self.git.git("checkout", "-q", "-b", "change")
        planted = {"six.py": (SOUND, BROKEN), "setup.py": (NEEDED, LOST)}
        for path, (good, bad) in planted.items():
            text = (six / path).read_text()
            assert good in text, path
            self.git.write(path, text.replace(good, bad))
        self.start = self.git.commit(message="two bugs")
        self._agents()

    def _agents(self) -> None:
        settings = self.home / "config" / "config.toml"
        settings.parent.mkdir(parents=True)
        text = ""
        for name, script, last in (
            ("author", AUTHOR, ""),
            ("stubborn", AUTHOR, "stubborn"),
            ("critic", CRITIC, "{tree}"),
        ):
            path = self.home / f"{name}.py"
            path.write_text(script)
            command = [sys.executable, str(path), "{brief_json}", *([last] if last else [])]
            text += f'[agents.{name}]\nkind = "command"\ncommand = {json.dumps(command)}\ndestination = "local"\n'
        settings.write_text(text)

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "counterpoint", *arguments],
            cwd=self.git.top,
            env=os.environ
            | {
                "HOME": str(self.home),
                "COUNTERPOINT_CONFIG": str(self.home / "config"),
                "COUNTERPOINT_STATE": str(self.home / "state"),
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )

    def review(self, author: str, *more: str) -> dict[str, Any]:
        seats = ("--author", author, "--reviewer", "checks", "--reviewer", "critic")
        done = self.run("review", "--base", "main", "--trust-commands", "--no-comment", "--json", *seats, *more)
        result: dict[str, Any] = json.loads(done.stdout)
        assert done.returncode == result.get("exit_code"), (done.stdout, done.stderr)
        return result

    def leave_one_bug(self) -> None:
        """Take out the bug that the tests find: what is left is one seat's word against another's."""
        text = (self.git.top / "six.py").read_text()
        self.git.commit({"six.py": text.replace(BROKEN, SOUND)}, message="one bug less")

    def commits(self) -> list[set[str]]:
        """Return the paths of each commit of the author, oldest first."""
        ids = self.git.git("rev-list", "--reverse", f"{self.start}..HEAD").decode().split()
        show = ("show", "--format=", "--name-only")
        return [set(self.git.git(*show, commit).decode().split()) for commit in ids]


@pytest.fixture
def package(six: Path, tmp_path: Path) -> Package:
    return Package(six, tmp_path / "home")


def test_two_planted_bugs_are_mended_in_two_rounds_and_two_commits(package: Package) -> None:
    """SPEC D-16; issue 3, "done when": approved, each commit exactly the listed paths, verified, the tree clean."""
    result = package.review("author")
    assert (result["decision"], result["stop_reason"], result["evidence"]) == ("approved", "agreed", "verified")
    assert package.commits() == [{"six.py"}, {"setup.py", "CHANGES"}]
    assert package.git.git("status", "--porcelain") == b""
    message = package.git.git("log", "-1", "--format=%B").decode()
    assert "critic-F2 (major)" in message
    assert "fix: So it is." in message
    verified = package.run("verify", result["case"])
    assert verified.returncode == 0, verified.stdout


def test_a_stubborn_author_ends_unresolved_with_both_positions(package: Package) -> None:
    """Issue 3, "done when": exit 3, no commit, and the report has what each of them says."""
    package.git.commit(
        {"six.py": (package.git.top / "six.py").read_text().replace(BROKEN, SOUND)}, message="one less"
    )
    head = package.git.id("rev-parse", "HEAD")
    result = package.review("stubborn")
    assert (result["decision"], result["stop_reason"], result["exit_code"]) == ("undetermined", "rounds_spent", 3)
    assert package.git.id("rev-parse", "HEAD") == head
    report = next((package.git.top / ".counterpoint" / "cases").glob("*/report.md")).read_text()
    assert "Unresolved" in report
    assert "It is right as it is." in report
    assert "looked at the file" in report


def test_until_agreement_ends_when_nothing_moves(package: Package) -> None:
    """Issue 3, "done when": a structural stall, not a number of rounds (DESIGN 7.2)."""
    package.git.commit(
        {"six.py": (package.git.top / "six.py").read_text().replace(BROKEN, SOUND)}, message="one less"
    )
    result = package.review("stubborn", "--until-agreement")
    assert (result["decision"], result["stop_reason"], result["exit_code"]) == ("undetermined", "stalled", 3)
