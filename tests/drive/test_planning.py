"""What a review is to be, before anything is asked or written (drive/planning.py; SPEC D-03 to D-06)."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from counterpoint.core.checks import Purpose
from counterpoint.core.docket import Effort, PathState, Terms
from counterpoint.core.values import Severity
from counterpoint.drive.committed import CommittedFiles, read_at, read_settings_files
from counterpoint.drive.ground import settings_here
from counterpoint.drive.paths import Folders
from counterpoint.drive.planning import ReviewPlan, ReviewRequest, plan_review
from counterpoint.drive.plans import seat_names
from counterpoint.errors import ConfigError, SourceError
from counterpoint.isolation.repository import Quarantine, Repository
from tests.repositories import Scratch

ADA = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org"}


@pytest.fixture
def shop(tmp_path: Path) -> Scratch:
    """Return a repository whose branch `change` changes one file, deletes one and adds what is no text."""
    made = Scratch(tmp_path / "shop")
    made.commit({"price.py": "x = 1\n", "old.py": "o = 1\n", "test_price.py": "import unittest\n"})
    made.git("checkout", "-q", "-b", "change")
    (made.top / "old.py").unlink()
    made.commit({"price.py": "x = 2\n", "logo.png": b"\x00\xff" * 10})
    return made


def plan(
    shop: Scratch,
    flags: Mapping[str, object] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    **wanted: Any,
) -> ReviewPlan:
    place = shop.top.parent
    return plan_review(
        ReviewRequest(repo=shop.top, flags=flags or {}, rationale="because", **wanted),
        folders=Folders(state=place / "state", config=place / "config"),
        environment=environment or {},
        snapshot_into=place / "objects",
    )


def test_a_plan_says_all_that_a_case_is_opened_with(shop: Scratch) -> None:
    """Candidate, base, paths and their states, commands and why, reviewers; nothing is written anywhere."""
    made = plan(shop)
    docket = made.docket
    assert (docket.candidate, docket.base) == (shop.id("rev-parse", "HEAD"), shop.id("rev-parse", "main"))
    assert docket.rationale == "because"
    assert [(path.path, path.state) for path in docket.paths] == [
        ("logo.png", PathState.BINARY),
        ("old.py", PathState.DELETED),
        ("price.py", PathState.TEXT),
    ]
    assert [command.argv[2] for command in docket.commands] == ["unittest", "compileall"]
    assert made.reviewers == ("checks",)
    assert made.materials.shown_paths == ("old.py", "price.py", "logo.png")
    assert sorted(path.name for path in shop.top.parent.iterdir()) == ["shop"]


def test_commands_are_listed_only_for_a_reviewer_that_runs_them(shop: Scratch) -> None:
    """Nobody is asked to trust what would not run."""
    assert plan(shop, {"review.reviewers": ("human",)}).docket.commands == ()


def test_commands_of_the_base_count_where_the_change_takes_them_away(shop: Scratch) -> None:
    """A change does not become good by removing the tests."""
    (shop.top / "test_price.py").unlink()
    shop.commit()
    assert ("python", "-m", "unittest", "discover") in [command.argv for command in plan(shop).docket.commands]


def test_a_repository_without_a_commit_in_the_work_tree_is_a_remark(shop: Scratch) -> None:
    """It has nothing that a tree could name; whoever reads the report sees that it was left out."""
    Scratch(shop.top / "inner")
    made = plan(shop, worktree=True)
    assert made.docket.remarks == ("inner/ is a repository without a commit, and was left out",)
    with pytest.raises(SourceError, match="the work tree has 1 path that no commit holds as it is: inner/"):
        plan(shop)


def test_more_than_a_few_paths_are_counted(shop: Scratch) -> None:
    """Five are named."""
    for number in range(7):
        shop.write(f"new{number}.py", "n\n")
    with pytest.raises(SourceError, match=r"has 7 paths that no commit holds: new0\.py, .*new4\.py, …$"):
        plan(shop)


@pytest.mark.parametrize(
    ("reviewers", "names"),
    [
        (("critic", "checks"), ("critic", "checks")),
        (("critic", "critic", "critic"), ("critic", "critic-2", "critic-3")),
        (("critic", "critic-2", "critic"), ("critic", "critic-2", "critic-3")),
        (("critic", "critic", "critic-2"), ("critic", "critic-3", "critic-2")),
        (("critic-2", "critic-2", "critic", "critic"), ("critic-2", "critic-2-2", "critic", "critic-3")),
    ],
)
def test_every_seat_has_a_name_of_its_own(reviewers: tuple[str, ...], names: tuple[str, ...]) -> None:
    """One agent may have several seats; the name of another agent is never taken from it."""
    assert seat_names(reviewers) == names


def test_too_few_calls_are_refused_with_the_number_that_is_needed(shop: Scratch) -> None:
    """Before anybody is asked anything."""
    with pytest.raises(ConfigError, match="expected at least 2, one question for each seat; got 1"):
        plan(shop, {"review.reviewers": ("human", "human"), "limits.max_calls": 1})


def test_an_author_sits_first_under_the_terms_of_the_settings(shop: Scratch) -> None:
    """SPEC D-02, D-15: what is asked for by flag is fixed with the case."""
    flags = {"review.reviewers": ("human",), "review.block_on": "minor", "review.effort": "low"}
    made = plan(shop, flags, author="human", context="for the author", environment=ADA)
    assert (made.seats, made.author, made.reviewers) == (("human", "human"), "human", ("human",))
    assert made.terms == Terms(block_on=Severity.MINOR, commits=True, effort=Effort.LOW)
    assert (made.docket.context, made.docket.candidate) == ("for the author", shop.id("rev-parse", "HEAD"))
    assert plan(shop, flags).terms.commits is True


def test_without_commits_the_files_are_judged_as_they_lie(shop: Scratch) -> None:
    """SPEC D-02 `--no-commit`: no identity is needed, and a tree that is not committed is no obstacle."""
    shop.write("price.py", "x = 3\n")
    made = plan(shop, author="human", commits=False)
    assert made.terms.commits is False
    assert made.docket.candidate != shop.id("rev-parse", "HEAD^{tree}")
    assert "+x = 3" in made.materials.change


def test_an_author_that_commits_needs_a_clean_tree_and_a_name(shop: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC D-06, D-16: said before anybody is asked anything."""
    monkeypatch.setenv("HOME", str(shop.top.parent))
    with pytest.raises(SourceError, match=r"git has no user\.name"):
        plan(shop, author="human")
    shop.write("price.py", "x = 3\n")
    with pytest.raises(SourceError, match="has 1 path that no commit holds as it is"):
        plan(shop, author="human", environment=ADA)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"author": "nobody"}, "--author: expected one of the agents human, local; got 'nobody'"),
        ({"author": "checks"}, "--author: expected an agent that can answer a finding; got 'checks'"),
        (
            {"author": "human", "worktree": True},
            "--worktree: expected no author that commits, since files nobody committed are judged",
        ),
        (
            {"flags": {"review.quorum": 2}},
            "review.quorum: expected at most 1, which is how many review; got 2 (in --quorum)",
        ),
    ],
)
def test_seats_that_cannot_be_are_refused_with_what_to_do(shop: Scratch, wanted: dict[str, Any], said: str) -> None:
    """Before a case is begun."""
    with pytest.raises(ConfigError) as caught:
        plan(shop, environment=ADA, **wanted)
    assert str(caught.value) == said
    assert caught.value.hint


def test_required_commands_run_whoever_reviews(shop: Scratch) -> None:
    """Issue 3 point 1, `--require-check`: checks sit in for them, and they count as tests."""
    required = (("sh", "-c", "exit 0"), ("python", "-m", "compileall", "-q", "."))
    here = {"PATH": f"{Path(sys.executable).parent}:{os.defpath}"}
    made = plan(shop, {"review.reviewers": ("human",), "checks.require": required}, environment=here)
    assert made.reviewers == ("human", "checks")
    assert [(command.argv, command.purpose, command.why) for command in made.docket.commands] == [
        (argv, Purpose.TEST, "required by --require-check") for argv in required
    ]
    made = plan(shop, {"checks.require": required}, environment=here)
    assert made.reviewers == ("checks",)
    assert [command.purpose for command in made.docket.commands if command.argv in required] == [Purpose.TEST] * 2
    assert len({command.argv for command in made.docket.commands}) == len(made.docket.commands)


@pytest.mark.parametrize(
    ("argv", "said"),
    [(("no-such-tool", "--x"), "a program that can be started"), (("grep", "x", "|", "cat"), "needs no shell")],
)
def test_a_required_command_that_cannot_run_is_refused_beforehand(
    shop: Scratch, argv: tuple[str, ...], said: str
) -> None:
    """Before anybody is asked, or anything is committed."""
    with pytest.raises(ConfigError, match=said):
        plan(shop, {"checks.require": (argv,)})


def test_an_author_does_not_commit_on_a_detached_head(shop: Scratch) -> None:
    """Its commits would be on no branch."""
    shop.git("config", "user.name", "Ana")
    shop.git("config", "user.email", "ana@example.org")
    shop.git("checkout", "-q", "--detach")
    with pytest.raises(SourceError, match="HEAD is detached") as caught:
        plan(shop, author="human")
    assert "--no-commit" in caught.value.hint


def test_a_branch_that_holds_head_already_is_named(shop: Scratch) -> None:
    """Which one it was compared with tells why there is nothing."""
    shop.git("checkout", "-q", "main")
    with pytest.raises(SourceError, match="main holds HEAD"):
        plan(shop, {"review.base": "main"})


def test_an_agent_called_like_the_supervisor_is_refused_with_what_to_do(shop: Scratch) -> None:
    """ROSTER-2, beforehand."""
    settings = shop.top.parent / "config" / "config.toml"
    settings.parent.mkdir()
    settings.write_text('[agents.owner]\nkind = "human"\n')
    with pytest.raises(ConfigError, match="no agent called 'owner'") as caught:
        plan(shop, {"review.reviewers": ("owner",)})
    assert caught.value.hint == "give [agents.owner] another name"


def test_the_disk_refusing_is_a_sentence(shop: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    """No temporary folder that can be written."""
    monkeypatch.setattr("tempfile.tempdir", str(shop.top / "nowhere"))
    with pytest.raises(SourceError, match=r"the review cannot be prepared: .*nowhere.*: No such file") as caught:
        plan(shop)
    assert "TMPDIR" in caught.value.hint


def test_settings_are_read_at_the_merge_base_and_beside_it(shop: Scratch) -> None:
    """For the review and for its notice."""
    shop.commit({"counterpoint.toml": "[checks]\n"})
    base = shop.id("rev-parse", "HEAD")
    shop.write("counterpoint.toml", "[review]\n")
    found = read_settings_files(Repository.find(shop.top), base)
    assert (found.commit, found.at_base, found.in_working_copy) == (
        base,
        {"counterpoint.toml": b"[checks]\n"},
        {"counterpoint.toml": b"[review]\n"},
    )
    (shop.top / "counterpoint.toml").unlink()
    (shop.top / "counterpoint.toml").symlink_to("price.py")
    assert read_settings_files(Repository.find(shop.top), base).in_working_copy == {}


def test_settings_too_large_to_be_any_are_refused(shop: Scratch) -> None:
    """A review does not go on without the rules that it cannot read."""
    base = shop.commit({"counterpoint.toml": b"#" * ((1 << 20) + 1)})
    with pytest.raises(SourceError, match="at most"):
        read_settings_files(Repository.find(shop.top), base)


def test_why_a_repositorys_settings_are_left_out_is_said(shop: Scratch, tmp_path: Path) -> None:
    """For `counterpoint settings`, which prints the others."""
    folders = Folders(state=tmp_path / "state", config=tmp_path / "config")
    files, why = settings_here(shop.top, flags={}, folders=folders, environment={})
    assert files is not None
    assert (files.commit, why) == (shop.id("rev-parse", "main"), "")
    files, why = settings_here(tmp_path, flags={}, folders=folders, environment={})
    assert files is None
    assert why == f"the repository's settings are left out: '{tmp_path}' is in no git repository"


def test_a_committed_file_is_read_or_there_is_none(shop: Scratch) -> None:
    """Missing, too large, or lost: none to look into. Names that are not UTF-8 are there, under another name."""
    shop.write(b"caf\xe9", "c")
    commit = shop.commit({"large.bin": b"0" * ((4 << 20) + 1)})
    repository = Repository.find(shop.top)
    assert read_at(repository, commit, "price.py") == b"x = 2\n"
    assert read_at(repository, commit, "gone.py") is None
    assert read_at(repository, commit, "large.bin") is None
    with Quarantine(repository) as quarantine:
        names = CommittedFiles(quarantine, commit).names
    assert "caf\ufffd" in names
    assert "price.py" in names


def test_what_an_export_withholds_is_said_and_never_counts_as_checked(shop: Scratch) -> None:
    """FIELD-FAULTS F15, SECURITY G10: no reviewer has it in its tree, and no command meets it."""
    shop.commit({"odd\nname.py": "x = 3\n", **{f"more\n{number:02d}": "" for number in range(20)}})
    docket = plan(shop).docket
    states = {path.path: path.state for path in docket.paths}
    assert states["odd\\u{a}name.py"] is PathState.WITHHELD
    assert states["price.py"] is PathState.TEXT
    assert docket.remarks[0].startswith("more\\u{a}00 is not in the export: ")
    assert docket.remarks[-1] == "1 more paths are not in the export"
