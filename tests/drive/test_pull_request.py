"""What gh prints of a pull request, read strictly; where its base lies in a clone; the words for who has no gh."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from counterpoint.drive.pull_request import (
    read_pull_request,
    remote_branch,
    words_to_check_out,
    words_to_post,
)
from counterpoint.errors import SourceError
from counterpoint.isolation.repository import Repository
from tests.forge.clones import clone_shop
from tests.forge.fake import PULL
from tests.repositories import Scratch


@pytest.fixture
def shop(tmp_path: Path) -> Scratch:
    return clone_shop(tmp_path)


def printed(**changes: Any) -> str:
    """Return what `gh pr view --json` prints of pull request 12, changed; `None` takes a field out."""
    whole = {
        "number": 12,
        "url": PULL.url,
        "title": "Mend the till",
        "state": "OPEN",
        "baseRefName": "main",
        "headRefName": "feature",
        "headRefOid": "c" * 40,
        "isCrossRepository": False,
    }
    return json.dumps({key: value for key, value in (whole | changes).items() if value is not None})


@pytest.mark.parametrize(
    ("stdout", "complaint"),
    [
        ("", "did not print one JSON object"),
        ("Here is your pull request!", "did not print one JSON object"),
        ("[]", "printed a JSON list"),
        (printed()[:-1] + ', "number": 12}', "stands twice"),
        (printed(isCrossRepository=None), "printed no 'isCrossRepository'"),
        (printed(number=True), "'number' is True, which is not of type int"),
        (printed(isCrossRepository="no"), "'isCrossRepository' is 'no', which is not of type bool"),
        (printed(number=13, url=PULL.url[:-1] + "3"), "asked for pull request 12 and answered with 13"),
        (printed(url=PULL.url[:-1] + "3"), "names pull request 12 and gives the address of 13"),
        (printed(url="https://github.com/acme/shop/issues/12"), "not the address of a pull request"),
        (printed(url="https://github.com/acme/../pull/12"), "not the address of a pull request"),
        (printed(url="https://github.com/acme/shop/pull/12?x"), "not the address of a pull request"),
        (printed(baseRefName="a..b"), "'baseRefName' is 'a..b', which is not the name of a branch"),
        (printed(baseRefName="-x"), "not the name of a branch"),
        (printed(headRefName="a b" * 99), "a ba…, which is not the name of a branch"),
        (printed(headRefOid="c" * 39), "not a full commit id"),
        (printed(state="HALF"), "not OPEN or CLOSED or MERGED"),
    ],
)
def test_an_answer_that_is_not_the_one_asked_for_is_refused(stdout: str, complaint: str) -> None:
    """SPEC D-07, and ours: what gh prints is untrusted, and is read once and strictly."""
    with pytest.raises(SourceError) as caught:
        read_pull_request(stdout.encode(), number=12)
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/acme/shop",
        "https://u:pw@GitHub.com/Acme/Shop.git/",
        "git@github.com:acme/shop.git",
        "github.com:acme/shop",
        "ssh://git@github.com:22/acme/shop.git",
        "ssh://git@ssh.github.com:443/acme/shop",
        "git+ssh://git@www.github.com/acme/shop.git",
    ],
)
def test_the_remote_is_the_one_that_names_the_repository(tmp_path: Path, address: str) -> None:
    """SPEC D-04: the base is a remote-tracking ref of the repository that the pull request goes into."""
    mine = Scratch(tmp_path / "mine")
    commit = mine.commit()
    mine.git("remote", "add", "origin", "https://github.com/ada/shop")
    mine.git("remote", "add", "the.shop", address)
    repository = Repository.find(mine.top)
    with pytest.raises(SourceError) as caught:
        remote_branch(repository, PULL)
    assert str(caught.value) == (
        "acme/shop#12 goes into 'main', and there is no 'refs/remotes/the.shop/main' in this clone"
    )
    assert caught.value.hint == "run `git fetch the.shop main:refs/remotes/the.shop/main`"
    mine.git("update-ref", "refs/remotes/the.shop/main", commit)
    assert remote_branch(repository, PULL) == "refs/remotes/the.shop/main"


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com.evil.example/acme/shop",
        "https://gitlab.com/acme/shop",
        "alias:acme/shop",
        "/srv/acme/shop",
    ],
)
def test_without_a_remote_of_that_name_it_is_origin(tmp_path: Path, address: str) -> None:
    """SPEC D-04: an alias of ssh, a folder or another host names nobody; then origin, and none is an error."""
    mine = Scratch(tmp_path / "mine")
    mine.git("update-ref", "refs/remotes/origin/main", mine.commit())
    mine.git("remote", "add", "aside", address)
    repository = Repository.find(mine.top)
    with pytest.raises(SourceError, match=r"no remote of this clone is github\.com/acme/shop, .* it has aside"):
        remote_branch(repository, PULL)
    mine.git("remote", "add", "origin", "/srv/x")
    assert remote_branch(repository, PULL) == "refs/remotes/origin/main"


def test_of_two_remotes_that_name_it_origin_is_taken(tmp_path: Path) -> None:
    """SPEC D-04: a clone can have the same repository twice."""
    mine = Scratch(tmp_path / "mine")
    commit = mine.commit()
    for name in ("again", "origin"):
        mine.git("remote", "add", name, PULL.url.removesuffix("/pull/12"))
        mine.git("update-ref", f"refs/remotes/{name}/main", commit)
    assert remote_branch(Repository.find(mine.top), PULL) == "refs/remotes/origin/main"


def test_the_hint_for_a_missing_base_mends_it(shop: Scratch) -> None:
    """SPEC D-04: also in a clone that fetches one branch alone, where plain `git fetch` would not."""
    shop.git("config", "remote.origin.fetch", "+refs/heads/other:refs/remotes/origin/other")
    shop.git("update-ref", "-d", "refs/remotes/origin/main")
    repository = Repository.find(shop.top)
    with pytest.raises(SourceError) as caught:
        remote_branch(repository, PULL)
    command = caught.value.hint.removeprefix("run `").removesuffix("`")
    subprocess.run(command, shell=True, cwd=shop.top, check=True, capture_output=True, timeout=30)
    assert remote_branch(repository, PULL) == "refs/remotes/origin/main"


def test_without_gh_a_person_is_told_what_to_run(shop: Scratch) -> None:
    """SPEC D-04, D-19: a machine without gh is no dead end."""
    words = words_to_check_out(12)
    assert words == (
        "`git fetch origin pull/12/head && git switch --detach FETCH_HEAD`, "
        "then `counterpoint review --base origin/main`"
    )
    command = words.split("`")[1]
    subprocess.run(command, shell=True, cwd=shop.top, check=True, capture_output=True, timeout=30)
    assert (shop.top / "till.py").read_text() == "2\n"
    assert words_to_post(12, Path("my report.md"), repository="o/r") == (
        "`gh pr comment 12 --repo o/r --body-file 'my report.md'`"
    )
    assert words_to_post(12, Path("r.md"), repository="o/r", host="h.example") == (
        "`gh pr comment 12 --repo h.example/o/r --body-file r.md`"
    )
    assert words_to_post(12, Path("r.md")) == "`gh pr comment 12 --body-file r.md`"
