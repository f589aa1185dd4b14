"""Seats of `propose` that answer by what their brief holds: as a function, as a program, and behind the fake API.

The first review raises one high issue, the revision fixes it, and every later review settles it and accepts. Of each
question a program writes `seat phase` to a file, so that a test knows who was asked.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

from tests.agents.fake_script import Answer, Question
from tests.propose_case import answer, issue, proposal, review, ruling, scan
from tests.reviewing import Project

__all__ = ["NEED", "answer_of", "program_of", "reply_to", "result"]

NEED: Final = "Let users export their data."
_IDS: Final = r'"id": "((?:[a-z0-9-]+-)?I1)"'
_VERSION: Final = r'"version": ([0-9]+),\s+"proposal"'
_CRITIC: Final = "You are a critic"


def reply_to(shown: str, *, is_critic: bool) -> dict[str, Any]:
    """Return the reply to a brief, of which only the keys and the version are looked at."""
    if '"your_proposal"' in shown:
        return proposal(*(answer(each) for each in dict.fromkeys(re.findall(_IDS, shown))))
    if '"your_issues"' in shown:
        found = re.search(_VERSION, shown)
        assert found is not None, shown
        version = int(found[1])
        return review(1, new=(issue(),)) if version == 1 else review(version, ruling())
    return scan() if is_critic else proposal()


def answer_of(question: Question) -> Answer:
    """Answer a request to the fake API: a critic's instructions say that it is one."""
    whole = json.dumps(question.body)
    return Answer(text=json.dumps(reply_to("\n".join(question.users), is_critic=_CRITIC in whole)))


_PROGRAM: Final = """\
import json, os, pathlib, re, signal, sys

brief = pathlib.Path(sys.argv[1]).read_text()
phase = "revise" if '"your_proposal"' in brief else "review" if '"your_issues"' in brief else "open"
with open({asked!r}, "a") as asked:
    print({name!r}, phase, file=asked)
{first}
said = json.loads({said!r})
reply = said["scan" if {critic!r} in brief else "proposal"]
if phase == "revise":
    ids = dict.fromkeys(re.findall({ids!r}, brief))
    reply["responses"] = [said["answer"] | {{"issue_id": each}} for each in ids]
if phase == "review":
    version = int(re.search({version!r}, brief)[1])
    reply = said["raising" if version == 1 else "settling"] | {{"reviewed_version": version}}
print(json.dumps(reply))
"""


def program_of(folder: Path, name: str, *, first: str = "", target: str = "implementation_steps") -> str:
    """Write a seat's program and return the settings that name it.

    Args:
        folder: where it is written, and its list of questions.
        name: of the agent.
        first: Python that runs before it answers.
        target: what its one issue is about, where it is a critic.
    """
    said = {
        "proposal": proposal(),
        "scan": scan(),
        "answer": answer(),
        "raising": review(1, new=(issue(target=target),)),
        "settling": review(2, ruling()),
    }
    program = _PROGRAM.format(
        asked=str(folder / "asked"),
        name=name,
        first=first,
        said=json.dumps(said),
        critic=_CRITIC,
        ids=_IDS,
        version=_VERSION,
    )
    path = folder / f"{name}.py"
    path.write_text(program)
    command = json.dumps([sys.executable, "-IS", str(path), "{brief_json}"])
    return f'[agents.{name}]\nkind = "command"\ncommand = {command}\ndestination = "local"\n'


def result(project: Project) -> dict[str, Any]:
    """Return what the newest case of a project came to."""
    found: dict[str, Any] = json.loads((project.cases[-1] / "result.json").read_text("utf-8"))
    return found
