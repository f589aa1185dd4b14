import json
import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from counterpoint.core.canonical import canonical_json, digest
from counterpoint.drive.answers import login_name
from counterpoint.drive.consent import ConsentBook, Grant, KeptGrant, Scope, make_grant
from counterpoint.errors import ConfigError, RecordError
from tests import need
from tests.racing import all_at_once

NOW = datetime(2026, 7, 6, 14, 7, 48, 999_999, tzinfo=UTC)
HOUR = timedelta(hours=1)


def grant(
    *,
    destination: str = "anthropic",
    scope: Scope = Scope.CHANGE,
    repository: str = "/home/ana/shop",
    now: datetime = NOW,
    length: timedelta = HOUR,
    nonce: str = "0123abcd",
) -> Grant:
    return make_grant(
        destination=destination, scope=scope, repository=repository, by="ana", now=now, length=length, nonce=nonce
    )


def found(book: ConsentBook, *, now: datetime = NOW, destination: str = "anthropic") -> Grant | None:
    return book.find(destination=destination, repository="/home/ana/shop", scope=Scope.CHANGE, now=now)


def kept(tmp_path: Path) -> tuple[ConsentBook, Path]:
    """Return a book with one grant, and the file that it lies in."""
    book = ConsentBook(tmp_path / "state")
    book.keep(grant())
    return book, tmp_path / "state" / "consent" / f"{grant().digest}.json"


def test_a_grant_says_who_when_where_what_and_until_when(tmp_path: Path) -> None:
    """SPEC B-18: the authorisation record."""
    book, path = kept(tmp_path)
    assert json.loads(path.read_bytes()) == {
        "v": 1,
        "by": "ana",
        "granted_at": "2026-07-06T14:07:48+00:00",
        "destination": "anthropic",
        "scope": "change under review",
        "repository": "/home/ana/shop",
        "until": "2026-07-06T15:07:48+00:00",
        "nonce": "0123abcd",
    }
    assert path.stat().st_mode & 0o777 == 0o600
    assert digest(path.read_bytes().removesuffix(b"\n")) == path.stem == grant().digest
    assert found(book) == grant()


def test_without_a_grant_nothing_is_found_and_nothing_is_made(tmp_path: Path) -> None:
    """SPEC B-08: no call without authorisation; looking makes no folder."""
    book = ConsentBook(tmp_path / "state")
    assert found(book) is None
    assert book.grants() == ()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("offset", "valid"),
    [
        (timedelta(seconds=-1), False),
        (timedelta(seconds=0), True),
        (HOUR - timedelta(seconds=1), True),
        (HOUR - timedelta(microseconds=1), True),
        (HOUR, False),
        (HOUR + timedelta(days=9), False),
    ],
)
def test_a_grant_is_valid_from_its_second_until_just_before_its_end(
    tmp_path: Path, *, offset: timedelta, valid: bool
) -> None:
    """SPEC B-18: expiry. A grant from the future is none either: the clock went back."""
    book, _ = kept(tmp_path)
    assert (found(book, now=NOW.replace(microsecond=0) + offset) is not None) is valid


@pytest.mark.parametrize(
    "other",
    [grant(destination="openai"), grant(repository="/home/ana/shop2"), grant(repository="/home/ana")],
    ids=["destination", "repository", "above"],
)
def test_a_grant_for_something_else_does_not_cover(tmp_path: Path, other: Grant) -> None:
    """SPEC B-18: scope."""
    book = ConsentBook(tmp_path)
    book.keep(other)
    assert found(book) is None


def test_leave_for_the_whole_tree_covers_the_change_and_not_the_other_way_round(tmp_path: Path) -> None:
    """SPEC B-18: what may be sent is part of the grant."""
    book = ConsentBook(tmp_path)
    book.keep(grant(scope=Scope.TREE))
    assert found(book) == grant(scope=Scope.TREE)
    narrow = ConsentBook(tmp_path / "narrow")
    narrow.keep(grant())
    assert narrow.find(destination="anthropic", repository="/home/ana/shop", scope=Scope.TREE, now=NOW) is None


def test_of_several_grants_the_one_that_runs_longest_is_found(tmp_path: Path) -> None:
    """Ours: a case must not stop at the end of a grant while another still runs."""
    book = ConsentBook(tmp_path)
    for nonce, hours in (("00000001", 1), ("00000002", 3), ("00000003", 2)):
        book.keep(grant(nonce=nonce, length=hours * HOUR))
    longest = found(book)
    assert longest is not None
    assert longest.nonce == "00000002"


def test_a_revoked_grant_grants_nothing_and_stays_listed(tmp_path: Path) -> None:
    """SPEC B-18: the record of an authorisation outlives it."""
    book, path = kept(tmp_path)
    assert book.revoke(path.stem[:6], by="ana", now=NOW) == grant()
    assert found(book) is None
    assert book.grants() == (KeptGrant(grant=grant(), is_revoked=True),)
    book.keep(grant())
    assert found(book) is None
    book.keep(grant(nonce="11111111"))
    assert found(book) == grant(nonce="11111111")


def test_only_an_unambiguous_digest_is_revoked(tmp_path: Path) -> None:
    """Ours."""
    book, path = kept(tmp_path)
    for prefix in ("", path.stem[:5], "f" * 64, path.stem + "0"):
        with pytest.raises(ConfigError):
            book.revoke(prefix, by="ana", now=NOW)
    assert found(book) == grant()


def test_a_changed_byte_anywhere_in_a_grant_is_an_error_and_no_grant(tmp_path: Path) -> None:
    """Ours: fail closed; a later end, another destination and a torn file all show."""
    book, path = kept(tmp_path)
    whole = path.read_bytes()
    for position in range(len(whole)):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        with pytest.raises(ConfigError):
            found(book)
    for content in (b"", whole[:-1], whole[:40], whole + b"\n", b" " * 20_000, b"[1]\n"):
        path.write_bytes(content)
        with pytest.raises(ConfigError) as raised:
            found(book, destination="openai")
        assert raised.value.path == str(path)
        assert str(path) in raised.value.hint
    path.write_bytes(whole)
    assert found(book) == grant()


@pytest.mark.parametrize(
    "change",
    [
        {"v": 2},
        {"extra": "x"},
        {"by": 1},
        {"scope": "everything"},
        {"until": "for ever"},
        {"granted_at": "2026-07-06"},
        {"nonce": ""},
        {"until": None},
    ],
    ids=str,
)
def test_a_grant_with_other_fields_is_an_error_even_under_its_own_digest(
    tmp_path: Path, change: dict[str, object]
) -> None:
    """STYLE section 2: an unknown field or version fails closed."""
    book, path = kept(tmp_path)
    fields = {key: value for key, value in {**grant().fields(), **change}.items() if value is not None}
    text = canonical_json(fields)
    path.unlink()
    path = path.with_name(f"{digest(text.encode())}.json")
    path.touch(mode=0o600)
    path.write_text(text + "\n")
    with pytest.raises(ConfigError, match="a grant of version 1"):
        found(book)


def test_a_grant_that_somebody_else_could_have_written_is_an_error(tmp_path: Path) -> None:
    """DESIGN "Consent": a grant cannot be forged; links, pipes, folders and open modes are refused."""
    book, path = kept(tmp_path)
    path.chmod(0o622)
    with pytest.raises(ConfigError, match="mode 0600"):
        found(book)
    path.chmod(0o600)
    aside = path.rename(tmp_path / "aside")
    path.symlink_to(aside)
    with pytest.raises(ConfigError):
        found(book)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ConfigError):
        found(book)
    path.unlink()
    path.mkdir()
    with pytest.raises(ConfigError):
        found(book)
    path.rmdir()
    aside.rename(path)
    assert found(book) == grant()


@pytest.mark.parametrize("which", ["state", "consent"])
def test_a_folder_of_grants_that_others_can_write_to_is_an_error(tmp_path: Path, which: str) -> None:
    """DESIGN "Consent": whoever writes into the folder grants."""
    book, path = kept(tmp_path)
    folder = path.parent if which == "consent" else path.parent.parent
    folder.chmod(0o777)
    with pytest.raises(ConfigError):
        found(book)
    with pytest.raises(ConfigError):
        book.keep(grant())


def test_a_linked_folder_of_grants_is_an_error(tmp_path: Path) -> None:
    """DESIGN "Consent": the grants lie in the state folder and nowhere else."""
    book, path = kept(tmp_path)
    path.parent.rename(tmp_path / "elsewhere")
    path.parent.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="symbolic link"):
        found(book)
    with pytest.raises(ConfigError):
        book.keep(grant())


def test_leftovers_of_a_killed_process_are_no_grants(tmp_path: Path) -> None:
    """Ours: a half-written file never has the name of a grant."""
    book, path = kept(tmp_path)
    path.with_name(f".{path.name}.1.2").write_bytes(b"{")
    path.with_name("notes.txt").touch()
    assert book.grants() == (KeptGrant(grant=grant(), is_revoked=False),)


GRANTER = """
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from counterpoint.drive.consent import ConsentBook, Scope, make_grant
book = ConsentBook(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for n in range(20):
    for nonce in (f"{n:08x}", f"{n:07x}{sys.argv[2]}"):
        book.keep(make_grant(destination="x", scope=Scope.TREE, repository="/r", by="ana",
                             now=datetime(2026, 7, 6, tzinfo=UTC), nonce=nonce))
    book.grants()
"""


def test_processes_that_grant_at_once_lose_nothing_and_read_whole_grants(tmp_path: Path) -> None:
    """Ours: every process keeps 20 grants of its own and 20 that the other keeps too."""
    all_at_once(GRANTER, [[str(tmp_path / "state"), own] for own in "ef"])
    nonces = {each.grant.nonce for each in ConsentBook(tmp_path / "state").grants()}
    shared = {f"{n:08x}" for n in range(20)}
    assert nonces == shared | {f"{n:07x}{own}" for n in range(20) for own in "ef"}
    assert not [path for path in (tmp_path / "state" / "consent").iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("destination", "repository", "length", "path"),
    [
        ("local", "/r", HOUR, "destination"),
        ("Local", "/r", HOUR, "destination"),
        ("", "/r", HOUR, "destination"),
        ("x", "/r", timedelta(0), "length"),
        ("x", "/r", timedelta(days=367), "length"),
        ("x", "https://ana:hunter2@host/r", HOUR, "repository"),
        ("x", "/r\udcff", HOUR, "repository"),
    ],
)
def test_a_grant_that_says_too_much_or_nothing_is_refused(
    destination: str, repository: str, length: timedelta, path: str
) -> None:
    """SPEC B-18: scope and expiry are not optional."""
    with pytest.raises(ConfigError) as raised:
        grant(destination=destination, repository=repository, length=length)
    assert raised.value.path == path
    assert "hunter2" not in str(raised.value)


def test_a_grant_that_cannot_be_written_is_a_typed_error(tmp_path: Path, measured: Mapping[str, str]) -> None:
    """Issue 2: a full disk is bad input with its test."""
    need.linux()
    program = f"""
import resource, signal
from datetime import UTC, datetime
from pathlib import Path
from counterpoint.drive.consent import ConsentBook, Scope, make_grant
from counterpoint.errors import RecordError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
book = ConsentBook(Path({str(tmp_path / "state")!r}))
try:
    book.keep(make_grant(destination="x", scope=Scope.TREE, repository="/r", by="ana",
                         now=datetime(2026, 7, 6, tzinfo=UTC), nonce="00000000"))
except RecordError as error:
    print(error.code)
print(book.grants(), list(Path({str(tmp_path / "state" / "consent")!r}).iterdir()))
"""
    command, environment = [sys.executable, "-c", program], {**os.environ, **measured}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=20)
    assert done.stdout == f"{RecordError.code}\n() []\n"


def test_who_grants_is_the_user_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC B-18: who; a variable is not a name."""
    monkeypatch.setenv("LOGNAME", "somebody-else")
    monkeypatch.setenv("USER", "somebody-else")
    assert login_name() not in {"", "somebody-else"}
