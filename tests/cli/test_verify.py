"""`counterpoint verify`: what it finds, how it names it, and that it changes nothing."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from counterpoint.cli.verify import verify as command
from counterpoint.core.codec import encode
from counterpoint.core.entries import NoteAdded
from counterpoint.drive.casefile import DRIVER_PARTY
from counterpoint.drive.paths import find_folders
from counterpoint.drive.store import machine_key, open_store
from counterpoint.record.block import render_plain
from counterpoint.record.files import FileStore, Layout
from counterpoint.record.signing import load_key, make_key
from counterpoint.record.store import Draft, Genesis
from tests.command_line import Called, call, keep

STAMP = "2024-11-30T10:15:00+00:00"
Verify = Callable[..., Called]


@pytest.fixture
def verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Verify:
    return lambda *args: call(capsys, "verify", *args, "--root", tmp_path / "cases")


@pytest.fixture
def rejected(tmp_path: Path, own_home: Path) -> str:
    return keep(tmp_path / "cases", own_home, "rejected")[0]


@pytest.fixture
def record(tmp_path: Path, rejected: str) -> Path:
    return tmp_path / "cases" / rejected / f"{rejected}.channel.md"


def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Go to another machine: another home, which has neither key nor memory."""
    home = tmp_path / "elsewhere"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


def test_an_untouched_case_is_clean(rejected: str, verify: Verify, own_home: Path) -> None:
    """Chain, signatures, memory and rules, and what it came to (issue 2, point 7)."""
    done = verify("last")
    key = machine_key(find_folders({"HOME": str(own_home)})).public
    assert done.code == 0
    assert done.out.splitlines()[:5] == [
        f"{rejected}: 21 entries, clean",
        "  strict: every byte of the file counts",
        "  tamper-evident from MSG-0",
        f"  signed with this machine's key: {key}",
        "  the rules of 'review' accept every entry: rejected (rounds_spent)",
    ]
    assert "first seen" not in done.out


def test_verifying_changes_nothing_of_the_case(rejected: str, record: Path, verify: Verify) -> None:
    """Not a byte, not a time, not a file more (DESIGN 5)."""
    seen = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in record.parent.iterdir()}
    assert verify(rejected).code == 0
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in record.parent.iterdir()} == seen


@pytest.mark.parametrize(
    ("old", "new", "entry"),
    [(b"good to merge", b"well to merge", 1), (b"The comparison is off", b"The comparison is odd", 10)],
)
def test_one_changed_byte_is_found_and_its_entry_named(
    record: Path, verify: Verify, old: bytes, new: bytes, entry: int
) -> None:
    """In words and as an object, with a hint that does not send one in a circle (SECURITY R1)."""
    rejected = record.parent.name
    record.write_bytes(record.read_bytes().replace(old, new, 1))
    done = verify(rejected)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: {rejected} MSG-{entry}: ")
    assert "hint: compare with a copy you trust" in done.err
    error = verify(rejected, "--json").json["error"]
    assert (error["code"], error["entry"]) == ("record.corrupt", entry)


def test_a_stripped_trailer_is_tampering(rejected: str, record: Path, verify: Verify) -> None:
    """A case channel has no plain entries (DESIGN 5, issue 2)."""
    lines = record.read_bytes().split(b"\n")
    last = max(at for at, line in enumerate(lines) if line.startswith(b"<!-- cp1 "))
    record.write_bytes(b"\n".join(lines[: last - 1] + lines[last + 1 :]))
    assert verify(rejected).code == 1


def test_a_record_whose_entries_the_rules_refuse_is_reported(
    rejected: str, tmp_path: Path, own_home: Path, verify: Verify
) -> None:
    """Every byte is in its place and signed; a note after the close has no place in a review (issue 2, point 7)."""
    store = open_store(tmp_path / "cases", find_folders({"HOME": str(own_home)}))
    late = NoteAdded(by="owner", text="one more thing")
    draft = Draft(
        stamp=STAMP,
        sender=DRIVER_PARTY,
        type="note-added",
        thread=rejected,
        text="one more thing",
        fields=encode(late),
    )
    store.append(rejected, [draft], expected=20)
    done = verify(rejected)
    assert done.code == 1
    assert done.err.startswith(f"error: {rejected} MSG-21: the rules refuse this entry: ")


def test_a_case_under_another_name_is_refused(rejected: str, record: Path, verify: Verify) -> None:
    """A folder that was copied and renamed is not another case (SECURITY R10)."""
    other = "review-20241130t101500z-deadbeef"
    folder = record.parent.parent / other
    shutil.copytree(record.parent, folder)
    for path in list(folder.iterdir()):
        path.rename(folder / path.name.replace(rejected, other))
    settings = folder / f"{other}.debate.json"
    settings.write_text(settings.read_text().replace(rejected, other))
    done = verify(other)
    assert done.code == 1
    assert f"{other} MSG-1: it opens the case '{rejected}'" in done.err


def test_a_record_that_was_rolled_back_is_found_by_memory(
    tmp_path: Path, own_home: Path, verify: Verify, rejected: str, record: Path
) -> None:
    """This machine knows how far it was (SECURITY R6)."""
    blocks = record.read_bytes().split(b"\n\n## MSG-4 |")[0]
    record.write_bytes(blocks + b"\n")
    (record.parent / f"{rejected}.signal.json").unlink()
    (record.parent / f"{rejected}.index").unlink()
    done = verify(rejected)
    assert done.code == 1
    assert f"{rejected} MSG-4: " in done.err


def test_on_another_machine_a_record_is_first_seen_and_then_remembered(
    rejected: str, verify: Verify, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says whose key signed, and that nothing vouches for it yet (DESIGN 5)."""
    _elsewhere(monkeypatch, tmp_path)
    first = verify(rejected)
    assert first.code == 0
    assert "  first seen here: no head is known yet" in first.out
    assert "  signed with a key that is not this machine's: ssh-ed25519 " in first.out
    assert "first seen" not in verify(rejected).out


def test_a_file_is_verified_by_its_path(
    rejected: str, record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verify: Verify
) -> None:
    """A copy that somebody sent, alone in its folder; its rules are replayed too."""
    _elsewhere(monkeypatch, tmp_path)
    copy = tmp_path / "mail" / record.name
    copy.parent.mkdir()
    shutil.copy(record, copy)
    done = verify(copy)
    assert done.code == 0
    assert done.out.splitlines()[0] == f"{rejected}: 21 entries, clean"
    assert "the rules of 'review' accept every entry: rejected (rounds_spent)" in done.out
    monkeypatch.chdir(copy.parent)
    assert verify(copy.name).code == 0


def test_a_file_under_another_kind_of_name_is_refused(record: Path, tmp_path: Path, verify: Verify) -> None:
    """The banner of a compaction names the channel, so a file has to be called as it was."""
    copy = tmp_path / "copy.md"
    shutil.copy(record, copy)
    done = verify(copy)
    assert done.code == 1
    assert "is not named like a channel file, NAME.channel.md" in done.err
    assert verify(tmp_path / "missing.channel.md").code == 1


def test_a_checkpoint_holds_and_finds_what_was_cut_off_elsewhere(
    rejected: str, record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verify: Verify
) -> None:
    """A signed head finds on another machine what memory finds on this one (SECURITY R5, R6)."""
    note = tmp_path / "head.txt"
    assert verify(rejected, "--write-checkpoint", note).code == 0
    _elsewhere(monkeypatch, tmp_path)
    held = verify(rejected, "--checkpoint", note, "--json").json
    assert held["checkpoint"] == held["head"]
    copy = tmp_path / "mail" / record.name
    copy.parent.mkdir()
    copy.write_bytes(record.read_bytes().split(b"\n\n## MSG-4 |")[0] + b"\n")
    _elsewhere(monkeypatch, tmp_path / "mail")
    assert verify(copy).code == 0
    cut = verify(copy, "--checkpoint", note)
    assert cut.code == 1
    assert f"{rejected} MSG-4: it is gone: the checkpoint knows MSG-20" in cut.err


def test_a_checkpoint_counts_by_the_keys_that_are_named(
    rejected: str, tmp_path: Path, own_home: Path, verify: Verify
) -> None:
    """With --key, this machine's key and those of the record do not count by themselves."""
    note, ours, other = tmp_path / "head.txt", tmp_path / "ours.pub", tmp_path / "other.pub"
    verify(rejected, "--write-checkpoint", note)
    ours.write_text(f"# mine\n{machine_key(find_folders({'HOME': str(own_home)})).public} me@host\n")
    (tmp_path / "h").mkdir()
    other.write_text(machine_key(find_folders({"HOME": str(tmp_path / "h")})).public + "\n")
    assert verify(rejected, "--checkpoint", note, "--key", ours).code == 0
    wrong = verify(rejected, "--checkpoint", note, "--key", other)
    assert wrong.code == 1
    assert "is signed by none of the 1 keys that may" in wrong.err
    other.write_text("ssh-rsa AAAA\n")
    assert "has no ssh-ed25519 key" in verify(rejected, "--checkpoint", note, "--key", other).err
    assert verify(rejected, "--key", ours).code == 2


def test_a_note_that_is_no_checkpoint_is_refused(rejected: str, tmp_path: Path, verify: Verify) -> None:
    """Before anything is said of the record."""
    note = tmp_path / "note.txt"
    note.write_text("trust me\n")
    done = verify(rejected, "--checkpoint", note)
    assert (done.code, done.out) == (1, "")
    assert f"{note} is no checkpoint" in done.err


def _shared(tmp_path: Path, home: Path) -> tuple[FileStore, Path]:
    folder = tmp_path / "shared"
    folder.mkdir()
    key = machine_key(find_folders({"HOME": str(home)}))
    store = FileStore(str(folder), Layout.SHARED, signer=lambda: key)
    genesis = Genesis(channel_id="ab" * 16, mode="shared", roster=("glm", "claude"), keys=(key.public,))
    store.create("talk", genesis, stamp=STAMP, sender="owner", settings={"parties": ["glm", "claude"]})
    post = Draft(stamp=STAMP, sender="glm", type="question", thread="retry", text="why?")
    store.append("talk", [post], expected=None)
    return store, folder / "talk.channel.md"


def test_plain_entries_of_a_shared_channel_are_named(tmp_path: Path, own_home: Path, verify: Verify) -> None:
    """By number, and from where on the chain has no gap again; it is no case, so no rules are replayed (DESIGN 5)."""
    store, record = _shared(tmp_path, own_home)
    plain = Draft(stamp=STAMP, sender="claude", type="info", thread="retry", text="because")
    record.write_bytes(record.read_bytes() + b"\n" + render_plain(plain, 2) + b"\n")
    behind = verify(record)
    assert behind.code == 1
    assert behind.out.splitlines()[0] == "talk: 3 entries, NOT CLEAN"
    assert "anomaly: the record ends at MSG-2; the doorbell stands at 1" in behind.out
    assert verify(record, "--write-checkpoint", tmp_path / "head.txt").code == 1
    assert not (tmp_path / "head.txt").exists()
    store.append("talk", [Draft(stamp=STAMP, sender="glm", type="info", thread="retry", text="I see")], expected=None)
    done = verify(record)
    assert done.code == 0
    assert "  tamper-evident from MSG-3; by the public tool: MSG-2" in done.out
    assert done.out.count("by the public tool") == 1
    assert "the rules of" not in done.out
    assert verify(record, "--json").json["plain"] == [2]


def test_a_channel_that_its_parties_alone_sign_says_so(tmp_path: Path, verify: Verify) -> None:
    """Nobody reads "not signed" of a channel whose parties have keys of their own (issue 4, 5)."""
    own = load_key(make_key(bytes(32)), source="a fixed key")
    store = FileStore(str(tmp_path), Layout.SHARED, signer=lambda: own)
    genesis = Genesis(
        channel_id="ab" * 16, mode="shared", roster=("glm", "claude"), keys=(), party_keys=(("glm", own.public),)
    )
    store.create("talk", genesis, stamp=STAMP, sender="owner", settings={"parties": ["glm", "claude"]})
    store.append(
        "talk", [Draft(stamp=STAMP, sender="glm", type="question", thread="retry", text="why?")], expected=None
    )
    done = verify(tmp_path / "talk.channel.md")
    assert (done.code, "  signed only by glm, each with its own key\n" in done.out) == (0, True), done


def test_a_channel_without_a_chain_says_so(tmp_path: Path, verify: Verify) -> None:
    """Begun by the public tool: its numbers are looked at, and nothing vouches for it (SPEC C-044)."""
    record = tmp_path / "old.channel.md"
    posts = [Draft(stamp=STAMP, sender=who, type="info", thread="t", text="hello") for who in ("glm", "claude")]
    record.write_bytes(
        b"# old\n" + b"".join(b"\n" + render_plain(post, n) + b"\n" for n, post in enumerate(posts, 1))
    )
    done = verify(record)
    assert "  tamper-evident from nowhere: there is no genesis entry" in done.out
    assert "  not signed: " in done.out
    assert verify(record, "--json").json["channel_id"] is None


def test_the_help_says_what_each_code_means() -> None:
    """The public tool's verify has other codes (DESIGN 8)."""
    assert sorted(command.exits) == [0, 1, 2]
