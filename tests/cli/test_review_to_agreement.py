"""A review with an author, as its user starts it: flags, what each seat is told, files, side by side.

Sources: SPEC D-02 to D-24, D-33; issue 3.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from tests.need import ROOT
from tests.reviewing import FINDING, Project, answer

AUTHOR: Final = """
import json, pathlib, sys
brief = json.loads(pathlib.Path(sys.argv[1]).read_text())
payload = brief["payload"]
pathlib.Path({kept!r}, f"author-{{payload['round']}}.json").write_text(json.dumps(payload))
pathlib.Path("price.py").write_text("x = 3\\n")
answers = [
    {{"finding": f["id"], "reasoning": "It is three now.", "disposition": "fix"}} for f in payload["findings"]
]
print(json.dumps({{"summary": "Make it three", "dispositions": answers, "changed": ["price.py"]}}))
"""
CRITIC: Final = """
import json, pathlib, sys
payload = json.loads(pathlib.Path(sys.argv[1]).read_text())["payload"]
pathlib.Path({kept!r}, f"critic-{{payload['round']}}.json").write_text(json.dumps(payload))
is_three = pathlib.Path(sys.argv[2], "price.py").read_text() == "x = 3\\n"
finding = {finding} | {{"status": "resolved" if is_three else "open", "reason": "read it"}}
print(json.dumps({{"summary": "Read.", "findings": [finding], "responseToRebuttal": "", "approved": is_three}}))
"""
SEATS: Final = ("--author", "ana", "--reviewer", "critic")


class Pair:
    """An author that makes it three, and a critic that wants it so."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.kept = project.bin / "kept"
        self.kept.mkdir()
        project.begin()
        project.git.git("config", "user.name", "Ana")
        project.git.git("config", "user.email", "ana@example.org")
        self.write("ana", AUTHOR.format(kept=str(self.kept)), '"{brief_json}"')
        critic = CRITIC.format(kept=str(self.kept), finding=dict(FINDING))
        self.write("critic", critic, '"{brief_json}", "{tree}"')

    def write(self, name: str, script: str, arguments: str) -> None:
        path = self.project.bin / f"{name}.py"
        path.write_text(script)
        settings = self.project.config / "config.toml"
        before = settings.read_text() if settings.exists() else ""
        command = f'command = ["python3", "{path}", {arguments}]'
        settings.write_text(f'{before}[agents.{name}]\nkind = "command"\n{command}\ndestination = "local"\n')

    def told(self, name: str) -> dict[str, Any]:
        """Return the payload that a seat was given."""
        payload: dict[str, Any] = json.loads((self.kept / f"{name}.json").read_text())
        return payload

    def judge(self, *more: str, seats: Sequence[str] = SEATS) -> dict[str, Any]:
        return self.project.judge("--no-comment", *seats, *more)


@pytest.fixture
def pair(project: Project) -> Pair:
    return Pair(project)


def test_every_flag_of_a_review_reaches_its_case(pair: Pair) -> None:
    """SPEC D-02 and the limits: what is asked for stands in the record."""
    result = pair.judge(
        "--base", "main", "--effort", "low", "--max-rounds", "2", "--block-on", "major", "--quorum", "1",
        "--rationale", "why", "--context", "for you", "--max-calls", "9", "--require-check", "true",
    )  # fmt: skip
    docket = result["docket"]
    assert (docket["rationale"], docket["context"]) == ("why", "for you")
    ours = {"block_on": "major", "comments": False, "commits": True, "effort": "low"}
    assert result["terms"] == {**ours, "options": [], "sources": "", "vote_only": False}
    assert (result["limits"]["max_rounds"], result["limits"]["max_calls"], result["quorum"]) == (2, 9, 1)
    assert [command["argv"] for command in docket["commands"]] == [["true"]]
    assert [seat["name"] for seat in result["seats"]] == ["ana", "critic", "checks"]
    assert result["decision"] == "approved"
    assert pair.told("author-1")["effort"] == "low"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--no-commit",), "--no-commit is about an author"),
        (("--max-rounds", "2"), "--max-rounds is about an author"),
        (("--context", "x"), "--context is about an author"),
        (("--until-agreement",), "--until-agreement is about an author"),
        ((*SEATS, "--max-rounds", "2", "--until-agreement"), "give one of them"),
        (("12", "--worktree"), "is a pull request"),
        ((*SEATS, "--effort", "extreme"), "'extreme' is not one of"),
        ((*SEATS, "--max-rounds", "0"), "range"),
    ],
)
def test_a_flag_that_would_do_nothing_is_refused(pair: Pair, flags: tuple[str, ...], said: str) -> None:
    """SPEC D-02; exit 2, and no case."""
    called = pair.project.review(*flags)
    assert called.code == 2
    assert said in called.err
    assert pair.project.cases == []


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--author", "nobody", "--reviewer", "critic"), "one of the agents"),
        (("--author", "checks", "--reviewer", "critic"), "can answer a finding"),
        ((*SEATS, "--quorum", "2"), "at most 1"),
        ((*SEATS, "--worktree"), "no author that commits"),
        ((*SEATS, "--max-calls", "1"), "at least 2"),
    ],
)
def test_seats_that_no_review_can_have_are_refused_before_anybody_is_asked(
    pair: Pair, flags: tuple[str, ...], said: str
) -> None:
    """Exit 1, the two values that disagree, and no case."""
    called = pair.project.review("--no-comment", *flags)
    assert called.code == 1
    assert said in called.err
    assert pair.project.cases == []


def test_everything_is_rooted_in_the_repository_that_is_named(pair: Pair, tmp_path: Path) -> None:
    """SPEC D-03: from another folder, with --repo."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ran = pair.project.run("review", "--repo", pair.project.top, "--no-comment", "--trust-commands", *SEATS, "--json")
    assert ran.json["decision"] == "approved"
    assert pair.project.git.git("log", "-1", "--format=%s") == b"Make it three\n"


def test_a_work_tree_that_is_not_clean_is_refused_where_commits_are_made(pair: Pair) -> None:
    """SPEC D-06; with --no-commit the files are judged as they lie, and HEAD stays where it is."""
    pair.project.git.write("price.py", "x = 4\n")
    refused = pair.project.review("--no-comment", *SEATS)
    assert refused.code == 1
    assert "price.py" in refused.err
    head = pair.project.git.id("rev-parse", "HEAD")
    result = pair.judge("--no-commit")
    assert (result["decision"], pair.project.git.id("rev-parse", "HEAD")) == ("approved", head)
    assert (pair.project.top / "price.py").read_text() == "x = 3\n"


def test_nobody_is_committed_for_who_has_no_name(pair: Pair) -> None:
    """Said before anybody is asked, with the command that mends it."""
    pair.project.git.git("config", "--unset", "user.name")
    pair.project.git.git("config", "--unset", "user.email")
    called = pair.project.run("review", "--no-comment", *SEATS, HOME=str(pair.project.config))
    assert called.code == 1
    assert "user.name" in called.err + called.out
    assert pair.project.cases == []


def test_the_rationale_goes_to_everybody_and_the_context_to_the_author(pair: Pair) -> None:
    """SPEC D-15; a later reading is lean (D-14)."""
    pair.judge("--rationale", "the reason", "--context", "a secret of the house")
    first, later, author = pair.told("critic-1"), pair.told("critic-2"), pair.told("author-1")
    assert (first["rationale"], author["rationale"]) == ("the reason", "the reason")
    assert author["context"] == "a secret of the house"
    assert "a secret of the house" not in json.dumps([first, later])
    assert "rationale" not in later
    assert [finding["id"] for finding in later["your_findings"]] == ["F1"]


def test_the_files_for_scripts_are_written_as_the_rounds_go(pair: Pair) -> None:
    """SPEC D-10, D-11, D-13: one verdict a reading, one section an answer, from the record."""
    pair.judge()
    (case,) = pair.project.cases
    first, second = (json.loads((case / f"verdict-00{n}.json").read_text()) for n in (1, 2))
    assert first.keys() == {"approved", "summary", "findings", "responseToRebuttal"}
    assert [(v["approved"], v["findings"][0]["status"]) for v in (first, second)] == [
        (False, "open"),
        (True, "resolved"),
    ]
    section = (case / "section-001-2-ana.md").read_text()
    assert re.search(r"`F1`.*fixed", section)
    assert "It is three now." in section


def test_a_reviewer_without_a_verdict_ends_the_case_as_failed(pair: Pair) -> None:
    """SPEC D-18: asked again once with the reason, then a failure of the machinery and not an agreement."""
    pair.write("mute", "print('It looks good to me.')\n", '"{brief_json}"')
    result = pair.judge(seats=("--author", "ana", "--reviewer", "mute"))
    assert (result["decision"], result["stop_reason"], result["exit_code"]) == ("undetermined", "failed", 1)
    assert [failure["reason"] for failure in result["failed_attempts"]] == ["bad_reply", "bad_reply"]


def test_the_report_has_rounds_effort_and_commits(pair: Pair) -> None:
    """SPEC D-20."""
    pair.judge("--effort", "xhigh")
    (case,) = pair.project.cases
    report = (case / "report.md").read_text()
    assert pair.project.git.id("rev-parse", "HEAD") in report
    assert "xhigh" in report
    assert "round" in report.lower()


def test_the_pages_say_that_nobody_is_boxed() -> None:
    """SPEC D-21: the diff is to be trusted, since whoever reads it can do what the user can."""
    for page in ("README.md", "docs/howto/review-to-agreement.md"):
        assert re.search(r"boxed", (ROOT / page).read_text()), page


def test_two_reviews_side_by_side_do_not_collide(pair: Pair, tmp_path: Path) -> None:
    """SPEC D-33: in two work trees of one repository each has its own cases; in one, the second author is refused."""
    other = tmp_path / "other"
    pair.project.git.git("worktree", "add", "-q", "-b", "second", str(other), "change")
    gate = pair.project.gate()
    pair.write("slow", f"import os\nos.system({gate.wait!r})\nprint({answer()!r})\n", '"{brief_json}"')
    running = pair.project.start("review", "--no-comment", "--author", "ana", "--reviewer", "slow")
    gate.arrived()
    beside = pair.project.run("review", "--no-comment", "--repo", other, *SEATS, "--trust-commands", "--json")
    assert beside.json["decision"] == "approved"
    refused = pair.project.run("review", "--no-comment", *SEATS, "--trust-commands")
    assert refused.code == 1
    assert "the work tree" in refused.err
    gate.open()
    out, err = running.communicate(timeout=30)
    assert running.returncode == 0, (out, err)
    assert len(list((other / ".counterpoint" / "cases").iterdir())) == 1


def test_a_case_that_is_withdrawn_leaves_no_half_edit_behind(pair: Pair) -> None:
    """Also where its driver was killed in the middle of one: it is kept under a ref, and said."""
    gate = pair.project.gate()
    script = f"import os\nopen('price.py', 'a').write('half')\nos.system({gate.wait!r})\n"
    pair.write("slow", script, '"{brief_json}"')
    running = pair.project.start("review", "--no-comment", "--author", "slow", "--reviewer", "critic")
    gate.arrived()
    running.kill()
    running.communicate(timeout=30)
    assert b"half" in (pair.project.top / "price.py").read_bytes()
    withdrawn = pair.project.run("withdraw", "last", "--reason", "enough")
    assert withdrawn.code == 0, withdrawn
    assert "refs/counterpoint/" in withdrawn.err
    assert pair.project.git.git("status", "--porcelain") == b""
    gate.open()
    pair.project.run("resume", "last")
    pair.project.sweep()
