"""The folder of a recorded case: what is written is read again, and nothing else is (issue 5, point 6)."""

import json
import os
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterpoint.agents.cassette import Cassette, Header, TapedEdit, TapedReply, TapedSeat, TapedTurn
from counterpoint.core.values import Usage
from counterpoint.errors import RecordError
from counterpoint.isolation.patches import FileEdit

HEADER: Final = Header(
    case="review-1",
    base="a" * 40,
    candidate="b" * 40,
    seats=(TapedSeat(party="critic", kind="command", destination="acme"),),
    settings="c" * 64,
)
TURN: Final = "reviewing.1.critic.1"
_USAGE: Final = Usage(input_tokens=3, output_tokens=4, known=True)


@pytest.fixture
def cassette(tmp_path: Path) -> Cassette:
    made = Cassette(tmp_path / "tape")
    made.begin(HEADER, "[review]\n")
    return made


def a_turn(cassette: Cassette, *files: FileEdit) -> TapedTurn:
    content = cassette.keep_bytes(b'{"approved": true}')
    return TapedTurn(
        brief="d" * 64,
        reply=TapedReply(content=content, model_requested="m", model_reported="m-1", usage=_USAGE),
        edit=TapedEdit(before="1" * 40, after="2" * 40, files=cassette.tape_files(files)),
    )


def test_what_is_kept_is_read_again(cassette: Cassette) -> None:
    """Bytes as bytes: names that are no text, links, programs, what is gone."""
    files = (
        FileEdit(path=b"a b/\xff.py", mode="100755", content=b"\0\xff"),
        FileEdit(path=b"link", mode="120000", content=b"a b"),
        FileEdit(path=b"gone", mode=""),
    )
    kept = a_turn(cassette, *files)
    cassette.keep(TURN, kept)
    again = Cassette(cassette.folder)
    found = again.turn(TURN)
    assert (found, again.header(), again.settings(), again.turns()) == (
        kept,
        HEADER,
        b"[review]\n",
        frozenset({TURN}),
    )
    assert found is not None
    assert found.edit is not None
    assert again.files_of(found.edit) == files
    assert again.turn("reviewing.1.other.1") is None


def test_a_cassette_is_for_nobody_else_to_read(cassette: Cassette) -> None:
    """Folders 0700, files 0600, whatever the umask; nothing half written beside them."""
    cassette.keep(TURN, a_turn(cassette))
    paths = list(cassette.folder.rglob("*"))
    assert {path.stat().st_mode & 0o777 for path in paths if path.is_file()} == {0o600}
    assert {path.stat().st_mode & 0o777 for path in (cassette.folder, *paths) if path.is_dir()} == {0o700}
    assert [path for path in paths if path.name.endswith(".new")] == []


def test_a_folder_that_holds_something_is_not_recorded_into(cassette: Cassette) -> None:
    """One case, one cassette."""
    with pytest.raises(RecordError, match="not empty"):
        cassette.begin(HEADER, "")


def test_a_write_that_fails_leaves_what_was_there(cassette: Cassette) -> None:
    """Whole or not at all."""
    kept = a_turn(cassette)
    cassette.keep(TURN, kept)
    (cassette.folder / "turns" / f".{TURN}.json.new").mkdir()
    with pytest.raises(RecordError, match="cannot be used"):
        cassette.keep(TURN, TapedTurn(brief="e" * 64, lost="x"))
    assert cassette.turn(TURN) == kept


@pytest.mark.parametrize(
    "path", ["../x", "/x", "a//b", "a/../b", ".git/config", "a/.GIT/x", "%2e%2e/x", "a%00b", "", "%41"]
)
def test_an_edit_that_leads_out_is_refused(cassette: Cassette, path: str) -> None:
    """A cassette may come from anybody (SECURITY B.5)."""
    cassette.keep(TURN, a_turn(cassette, FileEdit(path=b"x", mode="100644", content=b"x")))
    _edit(cassette, lambda plain: plain["edit"]["files"][0].update(path=path))
    with pytest.raises(RecordError, match="edit"):
        cassette.turn(TURN)


def test_an_edit_says_each_path_once_and_with_a_mode_that_files_have(cassette: Cassette) -> None:
    """SECURITY B.5: no device, no folder, no second content for a name."""
    cassette.keep(TURN, a_turn(cassette, FileEdit(path=b"x", mode="100644", content=b"x")))
    for mode in ("040000", "100666", ""):
        _edit(cassette, lambda plain, mode=mode: plain["edit"]["files"][0].update(mode=mode))
        with pytest.raises(RecordError, match="has mode"):
            cassette.turn(TURN)
    _edit(cassette, lambda plain: plain["edit"]["files"][0].update(mode="100755"))
    _edit(cassette, lambda plain: plain["edit"]["files"].append(plain["edit"]["files"][0]))
    with pytest.raises(RecordError, match="a path stands twice"):
        cassette.turn(TURN)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("v", 2), ("v", True), ("brief", "d" * 63), ("brief", None), ("reply", None), ("failure", {"code": "x"}),
        ("session", "s"), ("edit", {"before": "1" * 40}), ("edit", {"before": "x", "after": "2" * 40, "files": []}),
    ],
)  # fmt: skip
def test_a_turn_that_is_not_exactly_one_is_refused(cassette: Cassette, key: str, value: object) -> None:
    """An unknown key, a version of tomorrow, neither reply nor failure: never a guess."""
    cassette.keep(TURN, a_turn(cassette))
    _edit(cassette, lambda plain: plain.update({key: value}))
    with pytest.raises(RecordError, match=TURN):
        cassette.turn(TURN)


def test_a_link_or_a_pipe_is_never_followed(cassette: Cassette, tmp_path: Path) -> None:
    """Neither for a turn nor for bytes."""
    name = cassette.keep_bytes(b"x")
    cassette.keep(TURN, a_turn(cassette))
    turn, content = cassette.folder / "turns" / f"{TURN}.json", cassette.folder / "bytes" / name
    turn.rename(tmp_path / "turn")
    turn.symlink_to(tmp_path / "turn")
    content.unlink()
    os.mkfifo(content)
    with pytest.raises(RecordError, match="cannot be read"):
        cassette.turn(TURN)
    with pytest.raises(RecordError, match="plain file"):
        cassette.bytes_of(name)


@given(cut=st.integers(0, 700), junk=st.binary(max_size=12), keep=st.integers(0, 12))
@settings(max_examples=60, deadline=None)
def test_any_damage_to_a_turn_is_read_as_it_was_or_refused(
    tmp_path_factory: pytest.TempPathFactory, cut: int, junk: bytes, keep: int
) -> None:
    """Bytes lost, added or exchanged anywhere: no other error, and no other brief or answer that has other bytes."""
    cassette = Cassette(tmp_path_factory.mktemp("fuzz") / "tape")
    cassette.begin(HEADER, "")
    cassette.keep(TURN, a_turn(cassette, FileEdit(path=b"x", mode="100644", content=b"x")))
    path = cassette.folder / "turns" / f"{TURN}.json"
    whole = path.read_bytes()
    path.write_bytes(whole[:cut] + junk + whole[cut + keep :])
    try:
        found = cassette.turn(TURN)
        assert found is not None
        if found.reply is not None:
            cassette.bytes_of(found.reply.content)
        if found.edit is not None:
            cassette.files_of(found.edit)
    except RecordError:
        return


def _edit(cassette: Cassette, change: Any) -> None:
    path = cassette.folder / "turns" / f"{TURN}.json"
    plain = json.loads(path.read_text())
    change(plain)
    path.write_text(json.dumps(plain))
