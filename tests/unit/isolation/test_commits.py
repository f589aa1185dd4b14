"""Commits that a program makes for a person."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Final

import pytest

from counterpoint.errors import SourceError
from counterpoint.isolation.commits import Identity, identity_of, make_commit
from counterpoint.isolation.repository import Quarantine, Repository
from tests.repositories import Scratch

AT: Final = datetime(2026, 7, 6, 14, 7, 48, tzinfo=timezone(timedelta(hours=2)))


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    made = Scratch(tmp_path / "repo")
    made.commit({"a": "1\n"})
    return made


def make(scratch: Scratch, tmp_path: Path, message: str, who: Identity, at: datetime = AT) -> tuple[str, bytes]:
    """Return a commit's id and its content, read from the private object folder."""
    repository = Repository.find(scratch.top)
    commit = make_commit(
        repository,
        parent=scratch.id("rev-parse", "HEAD"),
        tree=scratch.id("rev-parse", "HEAD^{tree}"),
        message=message,
        who=who,
        at=at,
        objects_dir=tmp_path / "objects",
    )
    with Quarantine(repository, extra=[tmp_path / "objects"]) as quarantine:
        return commit, quarantine.objects.commit(commit)


def test_the_same_arguments_give_the_same_commit(scratch: Scratch, tmp_path: Path) -> None:
    """SPEC D-16: no clock, no setting and no signature has a say; the repository gets nothing."""
    ada = Identity(name="Ada Ünal", email="ada@example.org")
    commit, content = make(scratch, tmp_path, "Round 1\n\nfixes F1\n", ada)
    scratch.git("config", "commit.gpgSign", "true")
    scratch.git("config", "i18n.commitEncoding", "latin1")
    assert make(scratch, tmp_path / "again", "\nRound 1\n\nfixes F1", ada)[0] == commit
    tree, parent = scratch.id("rev-parse", "HEAD^{tree}"), scratch.id("rev-parse", "HEAD")
    by = f"Ada Ünal <ada@example.org> {int(AT.timestamp())} +0200"
    assert content.decode() == (f"tree {tree}\nparent {parent}\nauthor {by}\ncommitter {by}\n\nRound 1\n\nfixes F1\n")
    assert not scratch.loose(commit).exists()


def test_nothing_invisible_and_no_forged_line_is_in_a_commit(scratch: Scratch, tmp_path: Path) -> None:
    """SECURITY R19: a finding's text ends up in the message, and an agent wrote it."""
    who = Identity(name="Ada\nparent 0<\u202e>", email="<ada@example.org>")
    _, content = make(scratch, tmp_path, "a\0b\x1b[2J\u202e\ud800", who, AT.astimezone(UTC))
    header, _, message = content.decode().partition("\n\n")
    assert header.splitlines()[2:] == [
        f"{word} Adaparent 0\\u{{202e}} <ada@example.org> {int(AT.timestamp())} +0000"
        for word in ("author", "committer")
    ]
    assert message == "a\\u{0}b\\u{1b}[2J\\u{202e}\\u{d800}\n"


def test_a_parent_or_tree_that_is_not_there_is_refused(scratch: Scratch, tmp_path: Path) -> None:
    """Ours: a commit that git would call broken is never made."""
    who = Identity(name="Ada", email="ada@example.org")
    commit, tree = scratch.id("rev-parse", "HEAD"), scratch.id("rev-parse", "HEAD^{tree}")
    for parent, of in (("1" * 40, tree), (tree, tree), (commit, "1" * 40), (commit, commit)):
        with pytest.raises(SourceError, match=f"object ({parent}|{of}) is"):
            make_commit(
                Repository.find(scratch.top),
                parent=parent,
                tree=of,
                message="x",
                who=who,
                at=AT,
                objects_dir=tmp_path / "objects",
            )


def test_the_identity_is_the_one_that_git_would_use(scratch: Scratch, own_home: Path) -> None:
    """SPEC D-16: environment, repository, included by folder, user; an author's name before the common one."""
    repository = Repository.find(scratch.top)
    with pytest.raises(SourceError, match=r"git has no user\.name") as caught:
        identity_of(repository, environ={"HOME": str(own_home), "GIT_AUTHOR_NAME": " <> ", "EMAIL": "x@example.org"})
    assert "git config --global user.name" in caught.value.hint
    (own_home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = home@example.org\n")
    assert identity_of(repository) == Identity(name="Ada", email="home@example.org")
    (own_home / "work").write_text("[user]\n\temail = work@example.org\n")
    with (own_home / ".gitconfig").open("a") as file:
        file.write(f'[includeIf "gitdir:{scratch.top}/"]\n\tpath = work\n')
    assert identity_of(repository).email == "work@example.org"
    scratch.git("config", "user.email", "here@example.org")
    scratch.git("config", "author.name", "Ada Lovelace")
    assert identity_of(repository) == Identity(name="Ada Lovelace", email="here@example.org")
    environ = {"HOME": str(own_home), "GIT_AUTHOR_NAME": "Grace <\n>", "GIT_COMMITTER_EMAIL": "grace@example.org"}
    assert identity_of(repository, environ=environ) == Identity(name="Grace", email="grace@example.org")
    environ = {"GIT_CONFIG_GLOBAL": str(own_home / "work"), "EMAIL": "not used"}
    scratch.git("config", "--unset", "user.email")
    assert identity_of(repository, environ=environ).email == "work@example.org"
