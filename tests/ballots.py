"""A project with an orchestrator and two voters that are small programs, and do as a plan says."""

import json
import re
import sys
from typing import Final

from tests.need import ROOT
from tests.reviewing import Project

__all__ = ["TEXT", "WHO", "begin", "document", "plan", "text_in"]

SEAT: Final = f"""\
#!{sys.executable}
import json, os, pathlib, signal, sys

sys.path.insert(0, {str(ROOT)!r})
from tests.balloting import reply_to

brief, here = json.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(__file__).parent
name, p = pathlib.Path(__file__).name, brief["payload"]
words = {{"vote": "voting", "classifications": "classifying", "challenges": "challenging", "answers": "revising"}}
phase = next(words[key] for key in brief["schema"]["properties"] if key in words)
turn = f"{{phase}}.{{p['version'] + (phase == 'revising')}}"
with (here / "asked").open("a") as file:
    file.write(f"{{name}} {{turn}}\\n")
word = json.loads((here / "plan.json").read_text()).get(name, {{}}).get(turn, "yes")
if word == "kill":
    if not (here / "killed").exists():
        (here / "killed").touch()
        os.kill(os.getppid(), signal.SIGKILL)
        sys.exit(1)
    word = "yes"
if word.startswith("edit:"):
    pathlib.Path(word.removeprefix("edit:")).write_text("My own words.\\n")
    word = "yes"
print(json.dumps(reply_to(phase, p, word)))
"""
TEXT: Final = "# Plan\r\n\r\nWe ship on Friday.\r\n"
WHO: Final = ("--orchestrator", "chief", "--voters", "ann,ben")


def begin(project: Project) -> Project:
    """Set the seats up, write a plain text, and let everybody say yes."""
    project.begin()
    settings = ""
    for name in ("chief", "ann", "ben"):
        (project.bin / name).write_text(SEAT)
        (project.bin / name).chmod(0o755)
        command = f'kind = "command"\ncommand = ["{project.bin / name}", "{{brief_json}}"]\ndestination = "local"'
        settings += f"[agents.{name}]\n{command}\n"
    project.configure(settings + '[agents.me]\nkind = "human"\n')
    plan(project)
    (project.top / "DOC.md").write_bytes(TEXT.encode())
    return project


def plan(project: Project, **says: dict[str, str]) -> None:
    (project.bin / "plan.json").write_text(json.dumps(says))


def document(project: Project) -> str:
    return (project.top / "DOC.md").read_bytes().decode()


def text_in(content: str) -> str:
    """Return the text between the two headings, as a reader who knows only these would (SPEC B-13)."""
    found = re.search(
        r"^## Current Consolidated Version — v[0-9]+\n(.*?)^## Debate", content, re.MULTILINE | re.DOTALL
    )
    assert found is not None
    return found[1]
