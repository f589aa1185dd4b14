"""Channels that the public tool made, kept in `tests/data/interop`: read, rendered and surveyed."""

from typing import Final

from counterpoint.record.block import parse, render_plain, scan
from counterpoint.record.store import Block, Draft
from counterpoint.record.verify import verify
from tests import need

SAMPLES: Final = need.ROOT / "tests/data/interop"
TEXT: Final = (SAMPLES / "text/text-81212.channel.md").read_bytes()
ARCHIVED: Final = (SAMPLES / "archived/archived-85636.channel.md").read_bytes()
ARCHIVES: Final = [
    (path.name, path.read_bytes()) for path in sorted((SAMPLES / "archived/archive").glob("*-????-??.md"))
]


def _blocks(content: bytes) -> list[tuple[bytes, Block]]:
    found = [content[at : at + length] for at, length in scan(content)]
    return [(block, parse(block, channel="c", strict=False)) for block in found]


def test_every_entry_is_rendered_as_the_public_tool_rendered_it() -> None:
    """SPEC C-010 to C-013: `render_plain(parse(b)) == b` for Unicode, CR LF, quoted headers, pipes, archives."""
    count = 0
    for content in (TEXT, ARCHIVED, *(moved for _, moved in ARCHIVES)):
        for block, entry in _blocks(content):
            draft = Draft(
                stamp=entry.stamp,
                sender=entry.sender,
                type=entry.type,
                thread=entry.thread,
                refs=entry.refs,
                text=entry.text,
            )
            assert render_plain(draft, entry.n) == block
            assert not entry.signed
            count += 1
    assert count == 23


def test_odd_texts_are_read_whole() -> None:
    """SPEC C-013, C-014: CR LF stays CR LF, an indented or quoted header is text, refs hold pipes."""
    first, second, _, last = (entry for _, entry in _blocks(TEXT))
    assert first.refs == "path/with spaces, x | thread: fake | refs: y"
    assert second.text.startswith(
        "crlf line 1\r\nline 2\r\n\r\n> ## MSG-1 | quoted header is fine | x\n   ## MSG-9 | "
    )
    assert last.text == "trailing spaces kept?   \n\n\n\nend"


def test_archived_channel_is_whole() -> None:
    """SPEC C-045: 19 entries over a channel file and three archives; without these there are gaps."""
    whole = verify("archived-85636", ARCHIVED, archives=ARCHIVES, doorbell=19)
    assert (whole.mode, whole.entries, whole.n) == ("plain", 19, 19)
    assert [finding.code for finding in whole.findings] == ["no-chain"]
    alone = verify("archived-85636", ARCHIVED, doorbell=19)
    assert [finding.code for finding in alone.findings] == ["gap", "no-chain"]
