"""The forge: the exact calls of `gh`, what is made of its answers, and what it can never be asked."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from counterpoint.drive.forge import Forge
from counterpoint.drive.pull_request import (
    FIELDS,
    MARKER,
    MAX_BODY,
    PullRequest,
    PullState,
    marked,
)
from counterpoint.errors import SourceError
from tests.forge.clones import clone_shop
from tests.forge.fake import PULL, FakeForge
from tests.processes import is_gone
from tests.repositories import Scratch

VIEW = f"gh pr view 12 --json {FIELDS}"
THREAD = "gh pr view 12 --repo github.com/acme/shop --json comments"
POST = "gh api --hostname github.com --method POST repos/acme/shop/issues/12/comments --input -"
PATCH = "gh api --hostname github.com --method PATCH repos/acme/shop/issues/comments/{} --input -"
COMMENT = "https://github.com/acme/shop/pull/12#issuecomment-{}"


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeForge]:
    with FakeForge(tmp_path / "forge") as forge:
        forge.open_pull(12)
        yield forge


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Return the top folder of a work tree that the fake program never looks into."""
    folder = tmp_path / "top"
    folder.mkdir()
    return folder


@pytest.fixture
def shop(tmp_path: Path) -> Scratch:
    return clone_shop(tmp_path)


def found(fake: FakeForge, top: Path, **more: str) -> Forge:
    forge = Forge.find(top, fake.environment(**more))
    assert forge is not None
    return forge


def failure(forge: Forge, *, of: str = "view") -> SourceError:
    with pytest.raises(SourceError) as caught:
        _ = forge.view(12) if of == "view" else forge.discover()
    return caught.value


def test_a_pull_request_is_looked_at_from_the_top_folder_with_input_closed(fake: FakeForge, top: Path) -> None:
    """SPEC D-03, FIELD-FAULTS F27: where gh runs decides which repository it speaks of; it waits for no input."""
    forge = found(fake, top)
    assert forge.view(12) == PULL
    assert str(PULL) == "acme/shop#12"
    (call,) = fake.calls
    assert (fake.lines, call.cwd, call.stdin) == ([VIEW], top, "")
    fake.open_pull(12, base="release/2", head="fix", title="a\u202eb", fork=True, merged=True)
    assert forge.view(12) == PullRequest(
        number=12,
        repository="acme/shop",
        host="github.com",
        url=PULL.url,
        title="a\\u{202e}b",
        base="release/2",
        head="fix",
        commit="c" * 40,
        state=PullState.MERGED,
        is_fork=True,
    )


def test_gh_gets_the_login_and_the_home_and_no_other_variable(fake: FakeForge, top: Path) -> None:
    """DESIGN "Trust": what steers another program, or gh itself, does not come along."""
    kept = {
        "GH_HOST": "github.com",
        "XDG_CONFIG_HOME": "/c",
        "https_proxy": "http://localhost:9",
        "SSH_AUTH_SOCK": "/s",
        "XDG_RUNTIME_DIR": "/run/user/7",
    }
    left = {
        "GH_REPO": "evil/x",
        "GH_DEBUG": "api",
        "GH_FORCE_TTY": "1",
        "GIT_DIR": "/x",
        "LD_PRELOAD": "",
        "PAGER": "l",
    }
    found(fake, top, **kept, **left).view(12)
    (call,) = fake.calls
    assert kept.items() <= call.variables.items()
    assert not left.keys() & call.variables.keys()
    assert call.variables["GH_TOKEN"] == fake.token
    assert call.variables["HOME"] == os.environ["HOME"]
    quiet = ("GH_PROMPT_DISABLED", "GH_NO_UPDATE_NOTIFIER", "NO_COLOR", "GH_PAGER", "GIT_TERMINAL_PROMPT")
    assert [call.variables[name] for name in quiet] == ["1", "1", "1", "cat", "0"]


def test_a_repository_cannot_supply_gh_or_what_gh_starts(fake: FakeForge, tmp_path: Path, top: Path) -> None:
    """SECURITY I13: folders of PATH that are relative or lead into the checkout are passed over, by gh too."""
    (top / "bin").mkdir()
    (top / "bin" / "gh").write_text("#!/bin/sh\n")
    (top / "bin" / "gh").chmod(0o755)
    (tmp_path / "link").symlink_to(top / "bin")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "gh").symlink_to(top / "bin" / "gh")
    (top / "links").mkdir()
    (top / "links" / "gh").symlink_to(fake.bin / "gh")  # the program is an honest one, its neighbours need not be
    bad = ["", "bin", *map(str, (top / "bin", top / "links", tmp_path / "link", tmp_path / "own"))]
    assert Forge.find(top, {"PATH": os.pathsep.join(bad)}) is None
    forge = Forge.find(top, fake.environment(PATH=os.pathsep.join([*bad, str(fake.bin), "/usr/bin"])))
    assert forge is not None
    assert forge.program == fake.bin / "gh"
    assert forge.variables["PATH"] == f"{fake.bin}:/usr/bin"
    assert fake.token not in repr(forge)


@pytest.mark.parametrize("number", [0, -1, 10**10])
def test_a_number_that_no_pull_request_has_is_refused_unasked(fake: FakeForge, top: Path, number: int) -> None:
    """Ours: `-1` would be an option of gh."""
    forge = found(fake, top)
    for call in (forge.view, forge.checkout):
        with pytest.raises(SourceError, match=f"{number} is not the number of a pull request"):
            call(number)
    assert fake.calls == []


def test_a_machine_without_gh_has_no_forge(top: Path) -> None:
    """SPEC D-07: no program is no error; the caller says what to run by hand."""
    assert Forge.find(top, {"PATH": str(top.parent)}) is None


def test_the_pull_request_of_the_branch_is_told_from_none(fake: FakeForge, shop: Scratch) -> None:
    """SPEC D-07: a branch without one and a detached HEAD have none; the open one is preferred to a merged one."""
    forge = found(fake, shop.top)
    assert forge.discover() is None
    shop.git("switch", "-q", "-c", "feature")
    assert forge.discover() == PULL
    fake.open_pull(11, merged=True)
    assert forge.discover() == PULL
    shop.git("switch", "-q", "--detach")
    assert forge.discover() is None
    assert fake.lines == [f"gh pr view --json {FIELDS}"] * 4


@pytest.mark.parametrize(
    ("stderr", "code"),
    [
        ("no git remotes found\n", 1),
        ("error connecting to api.github.com\ncheck your internet connection or https://githubstatus.com\n", 1),
        ("GraphQL: API rate limit exceeded for user ID 1.\n", 1),
        ('no pull requests found for branch "x"\n', 2),
        ('no pull requests found for branch "x"\nHTTP 502: Bad Gateway\n', 1),
        ('unknown ref "no pull requests found for branch "x""\n', 1),
        ("could not determine current branch: failed to run git: fatal: not a git repository\n", 1),
        ("", 1),
    ],
)
def test_a_failure_is_never_taken_for_no_pull_request(fake: FakeForge, top: Path, stderr: str, code: int) -> None:
    """SPEC D-07: only gh's own words for none, alone and with its code, mean none."""
    fake.misbehave(stderr=stderr, code=code)
    error = failure(found(fake, top), of="discover")
    said = stderr.splitlines()[0] if stderr else "it said nothing"
    assert str(error) == f"gh pr view failed with exit {code}: {said}"
    assert error.hint == "run `gh auth status` to see why"


def test_somebody_who_is_not_signed_in_is_told_so(fake: FakeForge, top: Path) -> None:
    """SPEC D-07: no login (exit 4) and a login that is not taken (401) are errors, with gh's own words."""
    error = failure(found(fake, top, GH_TOKEN=""), of="discover")
    words = "To get started with GitHub CLI, please run:  gh auth login"
    assert str(error) == f"gh pr view failed with exit 4: {words}"
    error = failure(found(fake, top, GH_TOKEN="stale-token"))
    assert str(error).startswith("gh pr view 12 failed with exit 1: HTTP 401: Bad credentials")
    assert error.hint == "run `gh auth status` to see why"


def test_no_secret_and_no_control_character_is_in_an_error(fake: FakeForge, top: Path) -> None:
    """SECURITY T1, and ours: a token of the environment, a login in an address, a token of gh's own are cut out."""
    shaped = "gho" + "_" + "a1B2" * 5
    fake.misbehave(stderr=f"fatal: {fake.token} https://u:pw@github.com/x {shaped} \x1b[31m\n")
    error = failure(found(fake, top))
    assert str(error) == "gh pr view 12 failed with exit 1: fatal: [$GH_TOKEN] https://…@github.com/x … \\u{1b}[31m"


def test_a_gh_that_hangs_chats_or_floods_is_a_typed_error(
    fake: FakeForge, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FIELD-FAULTS F29, SECURITY S7: it is killed, and what it prints too much is an error."""
    fake.misbehave(hangs=True)
    forge = replace(found(fake, top), timeout_s=2)
    error = failure(forge)
    assert str(error) == "gh pr view 12 took longer than 2 s"
    assert error.hint == "try again, or run `gh auth status`"
    with pytest.raises(SourceError, match=r"gh pr checkout 12 took longer than 0\.7 s"):
        replace(forge, checkout_s=0.7).checkout(12)
    assert is_gone(int((fake.folder / "pids").read_text()))
    fake.behave()
    fake.misbehave(stdout="Here is your pull request!\n", code=0)
    assert str(failure(found(fake, top))).startswith("gh pr view did not print one JSON object: not JSON")
    fake.behave()
    monkeypatch.setattr("counterpoint.drive.forge.MAX_PRINTED", 1000)
    fake.misbehave(flood=1, code=0)
    assert str(failure(found(fake, top))) == "gh pr view 12 printed 1048576 bytes; at most 1000 are read"


def test_a_gh_that_cannot_be_started_is_a_typed_error(fake: FakeForge, top: Path) -> None:
    """Ours: the program can vanish between two calls."""
    forge = found(fake, top)
    (fake.bin / "gh").unlink()
    assert str(failure(forge)).startswith("gh pr view 12: there is no program at")


def test_a_checkout_brings_the_branch_and_runs_no_hook(fake: FakeForge, shop: Scratch) -> None:
    """SPEC D-04, DESIGN "Trust": the hooks folder can lie in the tree that somebody else's branch brings."""
    shop.git("config", "core.hooksPath", "hooks")
    found(fake, shop.top).checkout(12)
    assert fake.lines == ["gh pr checkout 12"]
    assert (shop.top / "till.py").read_text() == "2\n"
    assert shop.id("symbolic-ref", "HEAD") == "refs/heads/feature"
    assert not (shop.top / "ran").exists()
    shop.git("checkout", "-q", "main")
    shop.git("checkout", "-q", "feature")
    assert (shop.top / "ran").exists()  # by hand it does run


def test_a_checkout_that_git_refuses_says_what_git_says(fake: FakeForge, shop: Scratch) -> None:
    """Ours: the caller has refused a dirty tree; nothing is forced where one slips through."""
    shop.write("till.py", "mine\n")
    with pytest.raises(
        SourceError, match="gh pr checkout 12 failed with exit 1: error: Your local changes"
    ) as caught:
        found(fake, shop.top).checkout(12)
    assert caught.value.hint == "run `gh pr checkout 12` to see why"
    assert (shop.top / "till.py").read_text() == "mine\n"


def test_the_comment_is_made_once_and_written_anew_by_the_next_run(fake: FakeForge, top: Path) -> None:
    """SPEC D-19, FIELD-FAULTS F39: one comment, found on the third page of the thread, its body by standard input."""
    forge = found(fake, top)
    for n in range(2 * 2):
        fake.say(12, author="ada", body=f"remark {n}, about\n{MARKER}")
    assert forge.comment(PULL, "first\n") == COMMENT.format(1005)
    assert fake.bodies(12)[4:] == [f"{MARKER}\nfirst\n"]
    for n in range(2):
        fake.say(12, author="bob", body=f"more {n}")
    before = fake.bodies(12)
    assert forge.comment(PULL, "second `$(x)` é\n") == COMMENT.format(1005)
    before[4] = f"{MARKER}\nsecond `$(x)` é\n"
    assert fake.bodies(12) == before
    assert fake.lines == [THREAD, POST, THREAD, PATCH.format(1005)]
    assert [json.loads(call.stdin) for call in fake.calls if call.stdin] == [
        {"body": f"{MARKER}\nfirst\n"},
        {"body": f"{MARKER}\nsecond `$(x)` é\n"},
    ]
    assert ("GET", "/repos/acme/shop/issues/12/comments?page=4") in fake.requests


def test_somebody_elses_comment_is_never_written_over(fake: FakeForge, top: Path) -> None:
    """SPEC D-19: the marker is public; only the signed-in account's own comment is ours."""
    fake.say(12, author="mallory", body=f"{MARKER}\nApproved by everybody.")
    assert found(fake, top).comment(PULL, "ours") == COMMENT.format(1002)
    assert fake.bodies(12) == [f"{MARKER}\nApproved by everybody.", f"{MARKER}\nours"]
    assert fake.lines == [THREAD, POST]


def test_another_host_is_named_in_every_call(tmp_path: Path, top: Path) -> None:
    """SPEC D-19: the comment goes to the pull request's own forge, whichever gh would take by itself."""
    with FakeForge(tmp_path / "forge", host="git.example.com", repository="a/b.c") as fake:
        fake.open_pull(12)
        forge = found(fake, top)
        forge.comment(forge.view(12), "x")
        assert fake.lines[1:] == [
            "gh pr view 12 --repo git.example.com/a/b.c --json comments",
            "gh api --hostname git.example.com --method POST repos/a/b.c/issues/12/comments --input -",
        ]


def test_a_body_is_refused_above_the_limit_of_the_forge(fake: FakeForge, top: Path) -> None:
    """SPEC D-19: 65536 characters, the marker counted; nothing is called for one more."""
    forge = found(fake, top)
    longest = "é" * (MAX_BODY - len(marked("")))
    with pytest.raises(SourceError, match="has 65537 characters; GitHub takes 65536"):
        forge.comment(PULL, longest + "é")
    assert fake.calls == []
    forge.comment(PULL, longest)
    assert fake.bodies(12) == [f"{MARKER}\n{longest}"]
    assert marked(marked("x")) == marked("x") == f"{MARKER}\nx"
    assert marked(f"x\n{MARKER}") == f"{MARKER}\nx\n{MARKER}"


@pytest.mark.parametrize(
    ("comments", "complaint"),
    [
        ({}, "'comments' is None, which is not a list"),
        ({"comments": ["x"]}, "which is not a list of objects"),
        ({"comments": [{"body": MARKER, "url": COMMENT.format(1)}]}, "printed no 'viewerDidAuthor'"),
        (
            {"comments": [{"body": MARKER, "url": COMMENT.format(1).replace("12", "13"), "viewerDidAuthor": True}]},
            "not the address of a comment on acme/shop#12",
        ),
    ],
)
def test_a_thread_that_cannot_be_read_is_not_written_to(
    fake: FakeForge, top: Path, comments: object, complaint: str
) -> None:
    """SPEC D-19: without knowing which comment is ours, there would be two."""
    fake.misbehave("pr", "view", stdout=json.dumps(comments), code=0)
    with pytest.raises(SourceError, match=complaint):
        found(fake, top).comment(PULL, "x")
    assert fake.lines == [THREAD]


def test_an_answer_about_another_comment_is_refused(fake: FakeForge, top: Path) -> None:
    """Ours: the address that is printed is that of what was written."""
    forge = found(fake, top)
    fake.misbehave("pr", "view", stdout='{"comments": []}', code=0)
    fake.pulls.clear()
    with pytest.raises(
        SourceError, match=r"gh api POST .*/12/comments failed with exit 1: gh: Not Found \(HTTP 404\)"
    ):
        forge.comment(PULL, "x")
    fake.behave()
    fake.open_pull(12)
    fake.say(12, author="ada", body=marked("x"))
    fake.misbehave("api", stdout=json.dumps({"html_url": COMMENT.format(7)}), code=0)
    with pytest.raises(SourceError, match="comment 1001 was written anew and the forge answered with 7"):
        forge.comment(PULL, "x")


@pytest.mark.parametrize(
    "arguments",
    [
        "pr merge 12",
        "pr review 12 --approve",
        "pr review 12 --request-changes",
        "pr close 12",
        "pr edit 12 --add-label x",
        "pr checkout 12 --force",
        "pr checkout --force",
        "pr view 12 --web",
        "repo sync",
        "api graphql",
        "api --hostname github.com --method PUT repos/acme/shop/pulls/12/merge --input -",
        "api --hostname github.com --method PATCH repos/acme/shop/issues/12 --input -",
        "api --hostname github.com --method DELETE repos/acme/shop/issues/comments/1 --input -",
        "api --hostname github.com --method POST repos/acme/shop/pulls/12/reviews --input -",
        "api --hostname github.com --method POST repos/acme/shop/../x/issues/12/comments --input -",
        "api --hostname github.com --method POST repos/../shop/issues/12/comments --input -",
        "api --hostname github.com --method POST repos/acme/../issues/12/comments --input -",
    ],
)
def test_no_call_can_be_made_that_changes_more_than_our_comment(fake: FakeForge, top: Path, arguments: str) -> None:
    """SPEC D-16, FIELD-FAULTS F39: no push, approval, merge or edit, by construction; `python -O` changes nothing."""
    with pytest.raises(AssertionError, match="no call of gh has this shape"):
        found(fake, top)._call(*arguments.split())
    assert fake.calls == []
