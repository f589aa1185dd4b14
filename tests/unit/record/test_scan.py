"""Where the blocks of a file lie, what the chain knows of each, and where the last whole batch ends."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from counterpoint.errors import Corrupt
from counterpoint.record.block import parse, render_plain, scan, take_apart
from counterpoint.record.scan import places
from counterpoint.record.seal import Seal, seal
from counterpoint.record.tail import Whole, last_whole
from tests.records import case_drafts, draft, file_of, head_of, record, shared_drafts, signer

CASE = record(case_drafts(), key=signer(), pairs=[3])
SHARED = record(shared_drafts(), mode="shared")
PLAIN = [render_plain(entry, n) for n, entry in enumerate(shared_drafts(), 1)]
HEADER = b"## MSG-9 | z | from: a | type: close | thread: t | refs: -"


def _found(content: bytes, start: int = 0) -> list[bytes]:
    return [content[at : at + length] for at, length in scan(content, start)]


@pytest.mark.parametrize("blocks", [CASE, SHARED, PLAIN])
def test_blocks_are_found_whatever_the_public_tool_puts_between(blocks: list[bytes]) -> None:
    """SPEC C-010, C-013, C-045: preamble, banner, blank lines, no last line end; from an offset as well."""
    content = file_of(blocks)
    assert _found(content) == blocks
    assert _found(content, len(blocks[0]) + 2) == blocks[1:]
    assert _found(b"> Older closed threads\n## MSG-x\n\n" + content) == blocks
    assert _found(content.replace(b"\n\n## MSG-", b"\n \t\n\n\r\n## MSG-")) == blocks
    assert _found(content + b"\n \n\x0c\n\x1f\n") == blocks
    assert _found(content.rstrip(b"\n")) == blocks
    assert _found(b"") == []


@pytest.mark.parametrize(
    "end", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
)
def test_header_begins_at_every_line_end_of_splitlines(end: str) -> None:
    """SPEC C-013: whatever the public tool takes for a line end is one for us."""
    content = b"\n" + HEADER + b"\n\nfirst" + end.encode() + HEADER + end.encode() + b"second\n"
    blocks = _found(content)
    assert blocks == [HEADER + b"\n\nfirst", HEADER + end.encode() + b"second"]
    assert [parse(block, channel="c", strict=False).refs for block in blocks] == ["-", "-"]


@pytest.mark.parametrize(
    "line",
    [
        *(b" " + HEADER, b"x" + HEADER, HEADER.replace(b"## ", b"##  "), HEADER.replace(b"MSG-9", b"MSG-")),
        *(HEADER.replace(b" | type", b" |  type"), HEADER.replace(b"from: a", b"from: a b"), HEADER[:-8]),
        *(HEADER.replace(b"refs: -", b"refs:"), HEADER.replace(b"thread: t", b"thread: "), b"\x1f" + HEADER),
    ],
)
def test_line_off_the_grammar_begins_no_entry(line: bytes) -> None:
    """SPEC C-011: column 0 and single spaces, exactly; what else stands there is text."""
    assert _found(b"\n" + HEADER + b"\n\ntext\n" + line + b"\n") == [HEADER + b"\n\ntext\n" + line]


def test_block_ends_at_its_trailer() -> None:
    """What is torn off, or written behind the trailer, never becomes part of an entry."""
    content = file_of(SHARED[:2])
    assert _found(content + b"\n## MSG-2 | 2026") == SHARED[:2]
    assert _found(content + b"a note in the margin\n" + file_of(SHARED[2:])) == SHARED
    quoting = HEADER + b"\n\n" + SHARED[1].rpartition(b"\n")[2] + b"\n\nis a trailer"
    assert _found(file_of([quoting])) == [quoting]


def test_number_beyond_all_measure_is_a_header_without_number() -> None:
    """5,000 digits are no traceback (SECURITY S4; the public tool stumbles over them)."""
    content = b"\n" + HEADER.replace(b"9", b"9" * 5000) + b"\n\ntext\n"
    assert [place[0] for place in places(content)] == [-1]


MUTATIONS = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),
        st.sampled_from(
            [b"", b"\0", b"\r", b"\n", b" ", b"\x85", "\u2028".encode(), "ż".encode(), b"\xff", b"7", b"A"]
        ),
        st.integers(0, 2),
    ),
    max_size=3,
)


def _mutated(content: bytes, mutations: list[tuple[float, bytes, int]]) -> bytes:
    for where, put, dropped in mutations:
        at = int(where * len(content))
        content = content[:at] + put + content[at + dropped :]
    return content


def _seal(content: bytes, *, strict: bool) -> list[Seal | str]:
    sealed: list[Seal | str] = []
    for place in places(content):
        try:
            sealed.append(seal(content, place, channel="c", strict=strict))
        except Corrupt as error:
            sealed.append(str(error))
    return sealed


def _take_apart(content: bytes, *, strict: bool) -> list[Seal | str]:
    apart: list[Seal | str] = []
    for n, at, end, _, _, _ in places(content):
        block = content[at:end]
        try:
            parts = take_apart(block, channel="c", strict=strict)
        except Corrupt as error:
            apart.append(str(error))
            continue
        trailer = parts.trailer
        known = (
            (trailer.channel_id, trailer.batch, trailer.prev, trailer.sig) if trailer else (None, (1, 1), "", None)
        )
        apart.append(Seal(n, at, end, parts.header.stamp, head_of([block]), *known))
    return apart


@given(mutations=MUTATIONS, strict=st.booleans())
@example(mutations=[], strict=True)
@example(mutations=[], strict=False)
def test_quick_lane_says_what_the_slow_one_says(mutations: list[tuple[float, bytes, int]], *, strict: bool) -> None:
    """`seal` and `take_apart` agree on every block, whole or damaged, and fail by `Corrupt` alone."""
    for blocks in (CASE, SHARED, PLAIN):
        content = _mutated(file_of(blocks), mutations)
        assert _seal(content, strict=strict) == _take_apart(content, strict=strict)


@pytest.mark.parametrize(
    "text",
    [
        *(
            b"## MSG-",
            b"<!-- cp1 ",
            "\u202e".encode(),
            b"a\0",
            b"\xff",
            b"a\xc5",
            b"\xc5a\xbc",
            b" ",
            b"x" * 2**20 + b"y",
            "ż".encode(),
        ),
        *(b"x\n```json counterpoint\n{}\n```", b"\n\n```json counterpoint\n{}\n```", b"```json counterpoint\n[\n```"),
    ],
)
@pytest.mark.parametrize("batch", [b"", b" batch=1/2", b" batch=3/2"])
def test_quick_lane_does_not_lean_on_the_digest(text: bytes, batch: bytes) -> None:
    """What is no entry is refused with a right `body` too, by the same rule in both lanes."""
    head, _, trailer = record([draft("x" * 80)])[1].partition(b"x" * 80)
    trailer = re.sub(rb"body=\w+", b"body=" + head_of([text]).encode(), trailer)
    content = b"\n" + head + text + trailer.replace(b" n=1", b" n=1" + batch) + b"\n"
    assert _seal(content, strict=True) == _take_apart(content, strict=True)
    assert _seal(content, strict=False) == _take_apart(content, strict=False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        *((b"2026-07-06", b"2026-02-30"), (b"2026-", b"0000-"), (b"T14:", b"T24:"), (b"case |", b"con |")),
        *((b"refs: -", "refs: ż".encode()), (b"refs: -", b"refs: - "), (b"refs: -", b"refs: " + b"r" * 9000)),
        *((b"x\n\n<!--", b"x\n<!--"), (b"x\n\n<!--", b"xy\n<!--"), (b" n=1 ", b" n=01 "), (b"-\n\n", b"-\n \n")),
    ],
)
def test_quick_lane_does_not_lean_on_the_rest_either(old: bytes, new: bytes) -> None:
    """A date that is none, a device, odd refs, another shape: as the slow lane has it, also where `body` is right."""
    content = b"\n" + record([draft("text x")])[1].replace(old, new) + b"\n"
    short = re.sub(rb"body=\w+", b"body=" + head_of([b"text "]).encode(), content)
    for damaged in (content, short):
        for strict in (True, False):
            assert _seal(damaged, strict=strict) == _take_apart(damaged, strict=strict)


def _whole(content: bytes, *, strict: bool = True) -> Whole:
    return last_whole(content, channel="c", strict=strict)


def _ends(blocks: list[bytes]) -> list[int]:
    ends = [0]
    for block in blocks:
        ends.append(ends[-1] + len(block) + 2)
    return ends


@pytest.mark.parametrize("zeros", [0, 1, 4096])
def test_torn_tail_ends_at_the_last_whole_batch(zeros: int) -> None:
    """SECURITY R8, C.1: cut at every byte, and filled with zeros, what is whole stays; a pair stays or goes."""
    content, ends = file_of(CASE), _ends(CASE)
    for cut in range(len(content) + 1):
        whole = max(n for n, end in enumerate(ends) if end <= cut and n != 4)
        digest = head_of(CASE[:whole])
        expected = Whole(end=ends[whole], n=whole - 1, digest=digest if whole else "")
        assert _whole(content[:cut] + b"\0" * zeros) == expected


@pytest.mark.parametrize("zeros", [0, 4096])
def test_torn_tail_of_a_shared_channel_takes_no_whole_entry_along(zeros: int) -> None:
    """SECURITY R8: torn between two lines, an entry of ours reads as a plain one there; no more."""
    content, ends = file_of(SHARED), _ends(SHARED)
    for cut in range(len(content) + 1):
        whole = max(n for n, end in enumerate(ends) if end <= cut)
        found = _whole(content[:cut] + b"\0" * zeros, strict=False)
        assert found.n in {whole - 1, whole}
        assert found.end == ends[whole] if found.n < whole else ends[whole] < found.end <= cut
        assert found.n < whole or content[found.end - 1 : found.end] == b"\n"


def test_batch_without_its_second_half_is_not_whole_whatever_follows() -> None:
    """DESIGN section 5: an entry behind half a pair does not make it whole."""
    single = record(case_drafts(), key=signer())[4]
    content = file_of([*CASE[:4], single])
    assert _whole(content) == Whole(end=len(file_of(CASE[:3])), n=2, digest=head_of(CASE[:3]))
    assert _whole(file_of([*CASE[:3], CASE[4]])).n == 2


def test_tail_is_looked_at_from_an_offset() -> None:
    """The writer reads only what was added since its index was written."""
    start = len(CASE[0]) + 2
    assert last_whole(file_of(CASE), start, channel="c", strict=True).n == len(CASE) - 1
    nothing = last_whole(file_of(CASE[:1]), start, channel="c", strict=True)
    assert nothing == Whole(end=start, n=-1, digest="")


@pytest.mark.parametrize(
    ("tail", "n"),
    [
        (b"", 4),
        (b"\n", 4),
        (b"\0\0\0", 4),
        (b"\n#", 4),
        (b"\n## MSG-5 | 2026", 4),
        (b"\n## MSG-5 | 2026\0\0", 4),
        (b"\n" + HEADER, 4),
        (b"\n" + HEADER + b"\n", 4),
        (b"\n" + HEADER + b"\n\n", 4),
        (b"\n" + HEADER + b"\n\ntex", 4),
        (b"\n" + HEADER + b"\n\ntext\n", 9),
        (b"\n" + HEADER + b"\r\n\r\ntext\r\n", 9),
    ],
)
def test_plain_tail_is_whole_with_its_last_line(tail: bytes, n: int) -> None:
    """An entry of the public tool ends in a line end; what was begun behind it does not take it along."""
    content = file_of(PLAIN)
    assert PLAIN[-1].startswith(b"## MSG-4 ")
    found = _whole(content + tail, strict=False)
    assert (found.n, found.end) == (n, len(content) + len(tail) if n == 9 else len(content))
