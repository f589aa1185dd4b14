"""A file in pieces of bounded size, each of whole entries (issue 4, memory)."""

import tempfile
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoint.record.files import Layout
from counterpoint.record.fs import Access, RealFiles
from counterpoint.record.listing import list_entries
from counterpoint.record.windows import windows
from tests.channels import file_store

HEADER: Final = "## MSG-{} | 2026-07-06T14:07:48+00:00 | from: a | type: info | thread: t | refs: -"
PARTS: Final = st.one_of(
    st.integers(0, 99).map(lambda n: HEADER.format(n).encode()),
    st.sampled_from([b"\n", b"\r\n", b"\n\n", b"\xe2\x80\xa8", b"\xc2\x85", b"## MSG-", b"\x0b", b"\xff"]),
    st.binary(max_size=30),
)


def pieces(content: bytes, size: int) -> list[tuple[int, bytes]]:
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "file").write_bytes(content)
        fs = RealFiles()
        folder = fs.folder(name)
        fd = fs.open(folder, "file", Access.READ)
        try:
            return list(windows(fs, fd, size=size))
        finally:
            fs.close(fd)
            fs.close(folder)


@given(parts=st.lists(PARTS, max_size=30), size=st.integers(1, 400))
def test_pieces_hold_the_same_entries_as_the_whole(parts: list[bytes], size: int) -> None:
    """Together they are the file, and no entry is cut, whatever ends its lines (SPEC C-013)."""
    content = b"".join(parts)
    found = pieces(content, size)
    assert b"".join(piece for _, piece in found) == content
    whole = [(row.n, content[row.at : row.end]) for row in list_entries(content)]
    assert [(row.n, piece[row.at : row.end]) for _, piece in found for row in list_entries(piece)] == whole
    places = [offset + row.at for offset, piece in found for row in list_entries(piece)]
    assert places == [row.at for row in list_entries(content)]


@pytest.mark.parametrize("entries", [1, 50])
def test_no_piece_is_much_longer_than_it_has_to_be(entries: int) -> None:
    """A piece is one entry or twice the size; a file without entries is one piece."""
    content = b"".join(f"\n{HEADER.format(n)}\n\ntext\n".encode() for n in range(entries))
    size = len(content) // entries
    assert max(len(piece) for _, piece in pieces(content, size)) <= 3 * size
    assert pieces(b"", 8) == [(0, b"")]


def test_a_look_at_a_long_channel_keeps_the_index_for_the_next_one(tmp_path: Path) -> None:
    """Also where only the public tool has written; a short channel is left alone, and so is a locked one (C-151)."""
    store = file_store(str(tmp_path), Layout.SHARED)
    for name, entries in (("short-00001", 3), ("long-00001", 500)):
        store.create_plain(name, {"parties": ["a", "b"], "supervisor": "owner", "name": name})
        content = "".join(f"\n{HEADER.format(n)}\n\ntext\n" for n in range(1, entries + 1))
        (tmp_path / f"{name}.channel.md").write_text(content)
        (tmp_path / f"{name}.signal.json").unlink()
        index = tmp_path / f"{name}.index"
        with store.hold(name):
            index.unlink()
            assert store.head(name)[0] == entries
            assert not index.exists()
        assert store.head(name)[0] == entries
        assert index.exists() == (name == "long-00001")
        assert [block.n for block in store.read_thread(name, "t")] == list(range(1, entries + 1))
