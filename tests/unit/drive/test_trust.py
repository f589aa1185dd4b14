from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from counterpoint.drive.trust import KeptTrust, TrustAnswer, TrustBook, _write_mark
from counterpoint.errors import ConfigError, RecordError
from tests.racing import all_at_once

NOW = datetime(2026, 7, 6, 14, 7, 48, tzinfo=UTC)
MARK = "ab" * 16


@pytest.fixture
def book(tmp_path: Path) -> TrustBook:
    return TrustBook(tmp_path / "state")


@pytest.fixture
def git_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "shop" / ".git"
    folder.mkdir(parents=True)
    return folder


def keep(book: TrustBook, git_folder: Path, *, mark: str = MARK, now: datetime = NOW) -> TrustAnswer:
    return book.keep(git_folder, by="ana", now=now, mark=mark)


def test_a_checkout_is_not_trusted_before_somebody_said_so(book: TrustBook, git_folder: Path) -> None:
    """DESIGN "Trust": running project commands unboxed needs the answer; looking writes nothing."""
    assert book.find(git_folder, own_branch=True) is None
    assert list(git_folder.iterdir()) == []


def test_an_answer_covers_its_checkouts_own_branches(book: TrustBook, git_folder: Path, tmp_path: Path) -> None:
    """DESIGN "Trust": this checkout's own branches, whichever way its folder is named."""
    answer = keep(book, git_folder)
    assert (answer.by, answer.answered_at, answer.git_folder) == (
        "ana",
        "2026-07-06T14:07:48+00:00",
        str(git_folder),
    )
    (tmp_path / "link").symlink_to(git_folder.parent)
    assert book.find(git_folder, own_branch=True) == answer
    assert book.find(tmp_path / "link" / ".git", own_branch=True) == answer


def test_an_answer_never_covers_a_pull_request_fetched_by_number(book: TrustBook, git_folder: Path) -> None:
    """DESIGN "Trust"."""
    keep(book, git_folder)
    assert book.find(git_folder, own_branch=False) is None


def test_an_answer_does_not_cover_another_checkout(book: TrustBook, git_folder: Path, tmp_path: Path) -> None:
    """DESIGN "Trust": a copy of the checkout, mark and all, is another checkout."""
    keep(book, git_folder)
    other = tmp_path / "copy" / ".git"
    other.mkdir(parents=True)
    assert book.find(other, own_branch=True) is None
    (other / "counterpoint-checkout").write_bytes((git_folder / "counterpoint-checkout").read_bytes())
    assert book.find(other, own_branch=True) is None
    assert keep(book, other, mark="cd" * 16).mark == MARK


@pytest.mark.parametrize("mark", [None, "cd" * 16 + "\n", "", "ab" * 8, "x" * 99, "AB" * 16])
def test_an_answer_does_not_cover_what_stands_at_the_same_path_later(
    book: TrustBook, git_folder: Path, mark: str | None
) -> None:
    """Ours: file systems hand out inode numbers again, so a random mark tells two clones at one path apart."""
    keep(book, git_folder)
    path = git_folder / "counterpoint-checkout"
    path.unlink()
    if mark is not None:
        path.write_text(mark)
    assert book.find(git_folder, own_branch=True) is None


def test_what_stands_in_place_of_a_mark_is_replaced_by_one(book: TrustBook, git_folder: Path, tmp_path: Path) -> None:
    """Ours: a link is not followed, neither to read nor to write."""
    (tmp_path / "target").write_text(MARK + "\n")
    (git_folder / "counterpoint-checkout").symlink_to(tmp_path / "target")
    assert book.find(git_folder, own_branch=True) is None
    answer = keep(book, git_folder, mark="cd" * 16)
    assert answer.mark == "cd" * 16
    assert book.find(git_folder, own_branch=True) == answer
    assert (tmp_path / "target").read_text() == MARK + "\n"
    assert [path.name for path in git_folder.iterdir()] == ["counterpoint-checkout"]


def test_an_answer_is_revoked_and_stays_listed(book: TrustBook, git_folder: Path) -> None:
    """DESIGN "Trust": answers can be listed and taken back; a later yes counts again."""
    answer = keep(book, git_folder)
    assert book.revoke(answer.digest[:12], by="ana", now=NOW) == answer
    assert book.find(git_folder, own_branch=True) is None
    assert book.answers() == (KeptTrust(answer=answer, is_revoked=True),)
    later = keep(book, git_folder, now=NOW + timedelta(seconds=1))
    assert book.find(git_folder, own_branch=True) == later
    assert book.answers() == (
        KeptTrust(answer=answer, is_revoked=True),
        KeptTrust(answer=later, is_revoked=False),
    )


def test_a_damaged_answer_is_an_error_and_nothing_is_trusted(
    book: TrustBook, git_folder: Path, tmp_path: Path
) -> None:
    """Ours: fail closed."""
    answer = keep(book, git_folder)
    path = tmp_path / "state" / "trust" / f"{answer.digest}.json"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"ana", b"eva"))
    with pytest.raises(ConfigError) as raised:
        book.find(git_folder, own_branch=True)
    assert raised.value.path == str(path)
    path.unlink()
    foreign = TrustBook(tmp_path / "state")
    foreign._book.keep({"v": 2, "by": "ana"})
    with pytest.raises(ConfigError, match="a trust answer of version 1"):
        book.find(git_folder, own_branch=True)


def test_a_checkout_that_cannot_be_marked_is_a_typed_error(book: TrustBook, tmp_path: Path) -> None:
    """Ours: the hint names the flag that needs no mark."""
    with pytest.raises(RecordError) as raised:
        keep(book, tmp_path / "missing")
    assert "--trust-commands" in raised.value.hint


def test_the_mark_of_whoever_answered_first_stands(git_folder: Path) -> None:
    """Ours: between looking for a mark and making one, another process may have made one."""
    assert _write_mark(git_folder, MARK) == MARK
    assert _write_mark(git_folder, "cd" * 16) == MARK
    assert [path.name for path in git_folder.iterdir()] == ["counterpoint-checkout"]


KEEPER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from counterpoint.drive.trust import TrustBook
print("ready", flush=True)
sys.stdin.readline()
book, folder = TrustBook(Path(sys.argv[1])), Path(sys.argv[2])
book.keep(folder, by="ana", now=datetime(2026, 7, 6, tzinfo=UTC), mark=sys.argv[3] * 32)
print(book.find(folder, own_branch=True).mark)
"""


def test_two_processes_that_answer_at_once_agree_on_one_mark(tmp_path: Path, git_folder: Path) -> None:
    """Ours: an answer that the other process made void at once would be asked for again."""
    marks = set(all_at_once(KEEPER, [[str(tmp_path / "state"), str(git_folder), own] for own in "ef"]))
    assert len(marks) == 1
    assert [path.name for path in git_folder.iterdir()] == ["counterpoint-checkout"]
