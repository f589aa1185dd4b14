"""Where cases lie, how one is named on a command line, and one read whole (drive/cases.py, drive/casefile.py)."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from counterpoint.core.codec import encode, entry_type
from counterpoint.core.entries import Entry, NoteAdded
from counterpoint.drive.casefile import CaseFile, bell_of, read_entries
from counterpoint.drive.cases import case_name, find_case, list_cases, load_case, make_home
from counterpoint.errors import Corrupt, SourceError, UnknownEntry
from counterpoint.protocols.review import REVIEW
from counterpoint.record.memory import MemoryStore
from counterpoint.record.store import Draft, Genesis
from tests.review_case import CRITIC, opening

STAMP = "2026-07-06T14:07:48+00:00"
OLD = "review-20260701t140748z-aa00bb11"
NEW = "review-20260702t140748z-aa00cc22"
NEWEST = "review-20260703t140748z-bb11cc22"


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    for name in (NEWEST, OLD, NEW, "notes", "review-1"):
        (tmp_path / name).mkdir()
    (tmp_path / "review-20260704t140748z-00000000").write_text("a file is no case")
    return tmp_path


def test_cases_are_listed_by_their_age(cases: Path) -> None:
    """Whatever else lies there is none."""
    assert list_cases(cases) == (OLD, NEW, NEWEST)
    assert list_cases(cases / "nowhere") == ()


def test_names_sort_by_age_also_within_a_second(tmp_path: Path) -> None:
    """`last` is the newest, however fast they follow each other."""
    instants = [datetime(2026, 7, 6, 14, 7, 48, 999 * number, tzinfo=UTC) for number in range(1000)]
    names = [case_name("review", instant, f"{0xFFFFFFFF - number:08x}") for number, instant in enumerate(instants)]
    assert (names[0], names[-1]) == ("review-20260706t140748z-0000ffff", "review-20260706t140748z-ff7cfc18")
    for name in names:
        (tmp_path / name).mkdir()
    assert list_cases(tmp_path) == tuple(names)
    assert find_case(tmp_path, "last") == names[-1]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("last", NEWEST),
        (OLD, OLD),
        ("bb11", OLD),
        ("review-20260702", NEW),
        ("aa00cc22", NEW),
        ("0702t14", NEW),
        ("cc22", None),
    ],
)
def test_a_case_is_named_by_any_part_of_its_name(cases: Path, wanted: str, found: str | None) -> None:
    """Where that fits one alone; an end of one goes before the middle of another."""
    if found is not None:
        assert find_case(cases, wanted) == found
        return
    with pytest.raises(SourceError, match=f"'{wanted}' fits 2 cases: {NEW}, {NEWEST}") as caught:
        find_case(cases, wanted)
    assert caught.value.hint == "write more of the name"


def test_a_name_that_fits_none_is_answered_with_what_lists_them(cases: Path, tmp_path: Path) -> None:
    """Also where there is none at all."""
    with pytest.raises(SourceError, match="no case 'zz' among the 3 in ") as caught:
        find_case(cases, "zz")
    assert caught.value.hint == "run `counterpoint cases`"
    with pytest.raises(SourceError, match="no case 'last' among the 0 in "):
        find_case(tmp_path / "empty", "last")


def test_the_home_of_cases_ignores_itself_and_keeps_what_a_person_wrote_there(tmp_path: Path) -> None:
    """DESIGN 5: its own `.gitignore`."""
    home = make_home(tmp_path)
    assert (home, (tmp_path / ".counterpoint" / ".gitignore").read_text()) == (
        tmp_path / ".counterpoint" / "cases",
        "*\n",
    )
    (tmp_path / ".counterpoint" / ".gitignore").write_text("vault\n")
    make_home(tmp_path)
    assert (tmp_path / ".counterpoint" / ".gitignore").read_text() == "vault\n"


def test_a_home_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    """A file is in its place."""
    (tmp_path / ".counterpoint").write_text("")
    with pytest.raises(SourceError, match="cannot be made") as caught:
        make_home(tmp_path)
    assert caught.value.hint == "name a folder that can be written with --root DIR"


@pytest.mark.parametrize("link", [".counterpoint", ".counterpoint/cases", ".counterpoint/.gitignore"])
def test_a_home_that_is_a_link_is_not_used(tmp_path: Path, link: str) -> None:
    """A repository can hold one, and would have its cases written anywhere."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "shop" / link).parent.mkdir(parents=True)
    (tmp_path / "shop" / link).symlink_to(elsewhere)
    with pytest.raises(SourceError, match="is a link") as caught:
        make_home(tmp_path / "shop")
    assert "remove the link" in caught.value.hint
    assert list(elsewhere.iterdir()) == []


def written(name: str, entries: Sequence[Entry]) -> MemoryStore:
    """Return a store whose one channel holds these entries, whatever the rules say of them."""
    store = MemoryStore()
    genesis = Genesis(channel_id="ab" * 16, mode="strict", roster=("counterpoint", "owner", "critic"), keys=())
    settings = {"supervisor": "owner", "name": name, "managed_version": 3}
    store.create(name, genesis, stamp=STAMP, sender="counterpoint", settings=settings)
    drafts = [
        Draft(
            stamp=STAMP, sender="counterpoint", type=entry_type(e), thread=name, text=entry_type(e), fields=encode(e)
        )
        for e in entries
    ]
    if drafts:
        store.append(name, drafts, expected=0, bell=bell_of)
    return store


OPENED = opening(CRITIC)
NOTE = NoteAdded(by="owner", text="hello")


@pytest.mark.parametrize(
    ("name", "entries", "entry", "reason"),
    [
        ("review-1", [], 0, "the case was never opened: there is no entry after its genesis"),
        ("review-1", [NOTE], 1, "a case begins with case-opened, not note-added"),
        ("review-2", [OPENED], 1, "it opens the case 'review-1'; this one is called 'review-2'"),
        ("review-1", [OPENED, OPENED], 2, "the rules refuse this entry: "),
    ],
    ids=["never opened", "no opening", "another name", "opened twice"],
)
def test_what_is_no_case_is_corrupt_at_the_entry_where_it_shows(
    name: str, entries: list[Entry], entry: int, reason: str
) -> None:
    """A record is folded by the rules or not at all."""
    with pytest.raises(Corrupt) as caught:
        load_case(written(name, entries), Path("cases"), name)
    assert (caught.value.channel, caught.value.entry) == (name, entry)
    assert caught.value.reason.startswith(reason)
    assert caught.value.hint


def test_a_channel_of_something_else_is_no_case() -> None:
    """A mailbox, say: it does not even begin as one. An unknown entry in a case asks for a newer program."""
    plain = Draft(stamp=STAMP, sender="counterpoint", type="proposal", thread="t", text="hello", fields=None)
    store = written("mailbox", [])
    store.append("mailbox", [plain], expected=0, bell=bell_of)
    with pytest.raises(Corrupt, match="MSG-1: not a case: "):
        read_entries(store, "mailbox")
    store = written("review-1", [OPENED])
    store.append("review-1", [plain], expected=1, bell=bell_of)
    with pytest.raises(UnknownEntry, match="'proposal'"):
        read_entries(store, "review-1")


def test_reading_on_refuses_what_the_rules_refuse() -> None:
    """A driver that comes upon such an entry does not go on over it."""
    with pytest.raises(Corrupt, match="MSG-2: the rules refuse this entry: "):
        CaseFile(written("review-1", [OPENED, OPENED]), "review-1", REVIEW).refresh()
