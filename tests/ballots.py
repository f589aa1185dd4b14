"""A project with an orchestrator and two voters that are small programs, and do as a plan says."""

import re
from typing import Final

from tests import planned_seats
from tests.reviewing import Project

__all__ = ["TEXT", "WHO", "begin", "document", "text_in", "timeless"]

_OWES: Final = """\
words = {"vote": "voting", "classifications": "classifying", "challenges": "challenging", "answers": "revising"}
phase = next(words[key] for key in brief["schema"]["properties"] if key in words)
turn, usual = f"{phase}.{payload['version'] + (phase == 'revising')}", "yes"
"""
_SAYS: Final = """\
from tests.balloting import reply_to

if told.startswith("edit:"):
    pathlib.Path(told.removeprefix("edit:")).write_text("My own words.\\n")
    told = usual
if told.startswith("lock:"):
    pathlib.Path(told.removeprefix("lock:")).chmod(0o444)
    told = usual
print(json.dumps(reply_to(phase, payload, told)))
"""
TEXT: Final = "# Plan\r\n\r\nWe ship on Friday.\r\n"
WHO: Final = ("--orchestrator", "chief", "--voters", "ann,ben")


def begin(project: Project) -> Project:
    """Set the seats up, write a plain text, and let everybody say yes."""
    planned_seats.begin(project, ("chief", "ann", "ben"), owes=_OWES, says=_SAYS)
    (project.top / "DOC.md").write_bytes(TEXT.encode())
    return project


def document(project: Project) -> str:
    return (project.top / "DOC.md").read_bytes().decode()


def text_in(content: str) -> str:
    """Return the text between the two headings, as a reader who knows only these would (SPEC B-13)."""
    found = re.search(
        r"^## Current Consolidated Version — v[0-9]+\n(.*?)^## Debate", content, re.MULTILINE | re.DOTALL
    )
    assert found is not None
    return found[1]


def timeless(content: str) -> str:
    """Return a document without what each run has of its own: the case's name and the dates."""
    return re.sub(r"ballot-[0-9tz]+-[0-9a-f]{8}|- Date: .*", "", content)
