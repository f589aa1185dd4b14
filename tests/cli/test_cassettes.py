"""A review is recorded, and played again where no agent, no login and no settings are (issue 5, point 6)."""

import json
import re
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from counterpoint.core.codec import encode
from counterpoint.drive.cases import load_case
from counterpoint.drive.paths import find_folders
from counterpoint.drive.store import open_store
from tests.reviewing import FINDING, Project

AUTHOR: Final = """
import json, os, pathlib, sys
payload = json.loads(pathlib.Path(sys.argv[1]).read_text())["payload"]
number = payload["round"]
pathlib.Path("price.py").write_bytes(f"x = {number + 1}\\n".encode() + (b"\\xff\\x00" if number == 1 else b""))
changed = ["price.py"]
if number == 1:
    pathlib.Path("tools").mkdir()
    pathlib.Path("tools/run me.sh").write_text("#!/bin/sh\\n")
    os.chmod("tools/run me.sh", 0o755)
    os.symlink("run me.sh", "tools/link")
    changed += ["tools/run me.sh", "tools/link"]
else:
    os.unlink("tools/link")
    changed += ["tools/link"]
answers = [
    {"finding": f["id"], "reasoning": f"Round {number}.", "disposition": "fix"} for f in payload["findings"]
]
print(json.dumps({"summary": f"Edit {number}", "dispositions": answers, "changed": sorted(changed)}))
"""
CRITIC: Final = """
import json, pathlib, sys
payload = json.loads(pathlib.Path(sys.argv[1]).read_text())["payload"]
is_right = pathlib.Path(sys.argv[2], "price.py").read_bytes() == b"x = 3\\n"
if payload["round"] == 1 and "your_last_answer_was_not_accepted" not in payload:
    print("It looks good to me.")
    raise SystemExit
finding = dict(FINDING) | {"status": "resolved" if is_right else "open", "reason": "read it"}
print(json.dumps({"summary": "Read.", "findings": [finding], "responseToRebuttal": "", "approved": is_right}))
"""
SEATS: Final = ("--no-comment", "--author", "ana", "--reviewer", "critic", "--consent", "acme")
_HEX: Final = re.compile(r"\b[0-9a-f]{12,64}\b")
SECRET: Final = "sk-planted-4f2a9c7e11"


class Studio:
    """A project with an author and a critic, and the same commits on another machine."""

    def __init__(self, project: Project, top: Path) -> None:
        self.project = project
        self.tape = top / "tape"
        self.other = top / "other"
        self.git = project.git
        project.begin()
        self.git.git("config", "user.name", "Ana")
        self.git.git("config", "user.email", "ana@example.org")
        shutil.copytree(project.top, self.other / "shop", symlinks=True)
        self.settings = ""
        self.write("ana", AUTHOR, '"{brief_json}"')
        self.write("critic", CRITIC.replace("FINDING", repr(dict(FINDING))), '"{brief_json}", "{tree}"')

    def write(self, name: str, script: str, arguments: str) -> None:
        path = self.project.bin / f"{name}.py"
        path.write_text(script)
        self.settings += (
            f'[agents.{name}]\nkind = "command"\ncommand = ["python3", "{path}", {arguments}]\n'
            f'destination = "acme"\nenvironment = ["ACME_API_KEY"]\n'
        )
        self.project.configure("[review]\neffort = 'low'\n" + self.settings)

    def record(self, **environment: str) -> dict[str, Any]:
        ran = self.project.run("review", *SEATS, "--record", self.tape, "--trust-commands", "--json", **environment)
        found: dict[str, Any] = ran.json
        assert "decision" in found, ran
        return found

    def replay(self, *more: str, command: tuple[str, ...] = ("review", *SEATS)) -> Any:
        """Play the cassette on the other machine: another home, and nothing on PATH but git and a shell."""
        programs = self.other / "bin"
        if not programs.exists():
            programs.mkdir()
            for name in ("git", "sh"):
                (programs / name).symlink_to(str(shutil.which(name)))
        environment = {
            "HOME": str(self.other),
            "PATH": str(programs),
            "COUNTERPOINT_STATE": str(self.other / "state"),
            "COUNTERPOINT_CONFIG": str(self.other / "config"),
        }
        repo = ("--repo", str(self.other / "shop"))
        return self.project.run(
            *command, *repo, "--replay", self.tape, "--trust-commands", "--json", *more, **environment
        )

    def record_of(self, repo: Path, case: int = 0) -> list[str]:
        """Return the record of a case there, but for times, signatures and names that are drawn or made of times."""
        names: dict[str, str] = {}
        folder = sorted((repo / ".counterpoint" / "cases").iterdir())[case]
        entries = load_case(open_store(folder.parent, find_folders({"HOME": str(repo)})), folder.parent, folder.name)
        texts = [json.dumps([type(entry).__name__, encode(entry)], sort_keys=True) for entry in entries.entries]
        texts = [
            re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+(Z|\+00:00)", "TIME", text.replace(folder.name, "CASE"))
            for text in texts
        ]
        return [_HEX.sub(lambda m: names.setdefault(m[0][:12], f"HEX-{len(names)}"), text) for text in texts]


@pytest.fixture
def studio(project: Project, tmp_path: Path) -> Studio:
    return Studio(project, tmp_path)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_two_rounds_play_again_on_another_machine(studio: Studio) -> None:
    """No settings, no agent program and no key there; the same record, and the same files on the branch."""
    recorded = studio.record()
    assert (recorded["decision"], len(recorded["rounds"])) == ("approved", 3), recorded
    assert [failure["reason"] for failure in recorded["failed_attempts"]] == ["bad_reply"]
    played = studio.replay()
    assert played.json["decision"] == "approved", played
    assert "note: the cassette" not in played.err
    here, there = studio.git.top, studio.other / "shop"
    assert studio.record_of(there) == studio.record_of(here)
    tree = [studio.git.git("-C", str(top), "rev-parse", "HEAD^{tree}", "HEAD~1^{tree}") for top in (here, there)]
    assert tree[0] == tree[1]
    assert (there / "tools" / "run me.sh").stat().st_mode & 0o111
    assert not (there / "tools" / "link").is_symlink()
    assert not (studio.other / "config").exists()
