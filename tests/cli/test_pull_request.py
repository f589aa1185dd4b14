"""A review of a pull request: brought here by its number, posted as one comment, and nothing else on the forge.

A program that stands in for `gh` and a loopback API hold the pull request (`tests.forge`); git is real.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from counterpoint.drive.pull_request import MARKER
from tests.command_line import Called
from tests.forge.fake import FakeForge
from tests.repositories import Scratch
from tests.reviewing import FINDING, Project, answer

FIELDS: Final = "number,url,title,state,baseRefName,headRefName,headRefOid,isCrossRepository"
VIEW: Final = f"gh pr view 12 --json {FIELDS}"
DISCOVER: Final = f"gh pr view --json {FIELDS}"
COMMENTS: Final = "gh pr view 12 --repo github.com/acme/shop --json comments"
POST: Final = "gh api --hostname github.com --method POST repos/acme/shop/issues/12/comments --input -"
PATCH: Final = "gh api --hostname github.com --method PATCH repos/acme/shop/issues/comments/1001 --input -"
ANSWERS: Final = {
    "summary": "Answer",
    "dispositions": [{"finding": "F1", "reasoning": "It is meant so.", "disposition": "rebut"}],
    "changed": [],
}


class Shop:
    """A clone whose remote has pull request 12, and the forge that it is on."""

    def __init__(self, project: Project, forge: FakeForge, folder: Path) -> None:
        self.project = project
        self.forge = forge
        upstream = Scratch(folder / "upstream")
        upstream.commit({"price.py": "x = 1\n"})
        upstream.git("switch", "-q", "-c", "feature")
        self.head = upstream.commit({"price.py": "x = 2\n"})
        upstream.git("update-ref", "refs/pull/12/head", "HEAD")
        upstream.git("switch", "-q", "main")
        self.upstream = upstream
        git = project.git
        git.git("remote", "add", "origin", upstream.top)
        git.git("config", "user.name", "Ada")
        git.git("config", "user.email", "ada@example.org")
        git.git("fetch", "-q", "origin", "main:refs/remotes/origin/main")
        git.git("reset", "-q", "--hard", "origin/main")
        forge.open_pull(12, commit=self.head)
        author = project.critic(says=json.dumps(ANSWERS), name="ana")
        project.configure(project.critic() + author + '[review]\nreviewers = ["critic"]\n')

    def run(self, *args: str) -> Called:
        variables = self.forge.environment()
        return self.project.run(*args, PATH=variables["PATH"], GH_TOKEN=self.forge.token)

    def upstream_refs(self) -> bytes:
        return self.upstream.git("for-each-ref")


@pytest.fixture
def shop(project: Project, tmp_path: Path) -> Iterator[Shop]:
    with FakeForge(tmp_path / "forge") as forge:
        yield Shop(project, forge, tmp_path)


def test_a_pull_request_is_judged_by_its_number_and_gets_one_comment(shop: Shop) -> None:
    """Checked out, compared with its base, posted once and then updated in place (SPEC D-04, D-19)."""
    before = shop.upstream_refs()
    first = shop.run("review", "12", "--json")
    assert first.code == 0, first
    docket = first.json["docket"]
    assert (docket["candidate"], docket["base"]) == (shop.head, shop.project.git.id("rev-parse", "origin/main"))
    assert docket["pull_request"] == "https://github.com/acme/shop/pull/12"
    assert shop.forge.lines == [VIEW, "gh pr checkout 12", VIEW, COMMENTS, POST]
    assert shop.run("review", "12").code == 0
    assert shop.forge.lines[5:] == [VIEW, VIEW, COMMENTS, PATCH]
    (body,) = shop.forge.bodies(12)
    assert body.startswith(MARKER)
    assert shop.upstream_refs() == before
    assert not [line for line in shop.forge.lines if re.search(r"push|merge|approve|review\b|close|edit", line)]


def test_the_comment_says_who_sat_there_and_on_whose_behalf(shop: Shop) -> None:
    """It stands under the operator's account and cannot approve (FIELD-FAULTS F39, SPEC D-19)."""
    shop.project.configure(shop.project.critic(says=answer(FINDING)) + '[review]\nreviewers = ["critic"]\n')
    assert shop.run("review", "12").code == 3
    (body,) = shop.forge.bodies(12)
    for said in ("critic", "Counterpoint", "F1", "not an approval"):
        assert said.lower() in body.lower(), said
    assert all(call.stdin.count("APPROVE") == 0 for call in shop.forge.calls)


def test_an_author_answers_on_the_branch_of_a_pull_request_that_is_found(shop: Shop) -> None:
    """Without a number the open pull request of the branch is looked for (SPEC D-07)."""
    shop.project.git.git("fetch", "-q", "origin", "feature:feature")
    shop.project.git.git("switch", "-q", "feature")
    shop.project.configure(
        shop.project.critic(says=answer(FINDING))
        + shop.project.critic(says=json.dumps(ANSWERS), name="ana")
        + '[review]\nreviewers = ["critic"]\n'
    )
    called = shop.run("review", "--author", "ana", "--max-rounds", "1", "--base", "origin/main", "--json")
    assert called.code == 3, called
    assert called.json["decision"] == "undetermined"
    assert shop.forge.lines == [DISCOVER, VIEW, COMMENTS, POST]


def test_no_pull_request_is_told_from_an_error(shop: Shop) -> None:
    """None: the review goes on and posts nothing. An error: nothing is started (SPEC D-07)."""
    shop.project.git.git("switch", "-q", "-c", "other")
    shop.project.git.commit({"price.py": "x = 3\n"})
    assert shop.run("review", "--author", "ana", "--base", "origin/main").code == 0
    assert shop.forge.lines == [DISCOVER]
    shop.forge.misbehave(stderr="error connecting to api.github.com")
    refused = shop.run("review", "--author", "ana", "--base", "origin/main")
    assert refused.code == 1
    assert "--no-comment" in refused.err
    assert len(shop.project.cases) == 1


def test_gh_is_not_called_where_nothing_is_to_be_posted(shop: Shop) -> None:
    """Neither for reviewers alone, nor with --no-comment and no number (SPEC D-07)."""
    shop.project.git.git("switch", "-q", "-c", "other")
    shop.project.git.commit({"price.py": "x = 3\n"})
    assert shop.run("review", "--base", "origin/main").code == 0
    assert shop.run("review", "--author", "ana", "--no-comment", "--base", "origin/main").code == 0
    assert shop.forge.lines == []
    assert shop.run("review", "12", "--no-comment").code == 0
    assert shop.forge.lines == [VIEW, "gh pr checkout 12"]


def test_without_gh_the_words_for_doing_it_by_hand_are_said(shop: Shop) -> None:
    """The file and the command take its place (issue: pull requests through gh where present)."""
    called = shop.project.run("review", "12", PATH=os.defpath)
    assert called.code == 1
    assert "git fetch origin pull/12/head" in called.err


def test_a_dirty_tree_is_refused_before_anything_is_checked_out(shop: Shop) -> None:
    """What is not committed is not carried to another branch (SPEC D-06)."""
    shop.project.git.write("price.py", "x = 9\n")
    refused = shop.run("review", "12")
    assert refused.code == 1
    assert shop.forge.lines == []
    assert (shop.project.top / "price.py").read_text() == "x = 9\n"


def test_a_kept_answer_about_trust_does_not_cover_a_pull_request(shop: Shop) -> None:
    """Its commands are a stranger's (DESIGN "Trust")."""
    assert shop.run("trust", "grant").code == 0
    refused = shop.run("review", "12", "--reviewer", "checks", "--require-check", "true")
    assert refused.code == 4, refused
    assert "trust grant" not in refused.err
    assert shop.run("review", "12", "--reviewer", "checks", "--require-check", "true", "--trust-commands").code == 0


def test_a_comment_that_cannot_be_posted_is_named_and_the_outcome_stands(shop: Shop) -> None:
    """The file is there, and the command that posts it; the exit code is the outcome's."""
    shop.forge.misbehave("api", stderr="gh: Server Error (HTTP 502)")
    called = shop.run("review", "12")
    assert called.code == 0
    assert "not posted" in called.err
    (case,) = shop.project.cases
    assert (case / "comment.md").read_text().startswith(MARKER)


@pytest.mark.parametrize("words", [["fix", "my", "branch"], ["please"], ["review", "fix it"], ["12x"]])
def test_prose_starts_nothing(shop: Shop, words: list[str]) -> None:
    """Only a command, a number or a flag does (SPEC D-01)."""
    called = shop.run(*words)
    assert called.code == 2, called
    assert shop.project.cases == []
    assert shop.forge.lines == []


def test_a_number_or_a_flag_alone_is_a_review(shop: Shop) -> None:
    """As `review` with it (SPEC D-01)."""
    assert shop.run("12", "--no-comment").code == 0
    assert shop.run("--base", "HEAD~1", "--reviewer", "critic").code == 0
    assert len(shop.project.cases) == 2
