"""One scan of a file serves whoever needs its places and whoever needs its rows."""

from itertools import islice

from counterpoint.record.listing import Listing, list_entries
from tests.records import file_of, record, shared_drafts

BLOCKS = record(shared_drafts(), mode="shared")
CONTENT = file_of(BLOCKS)


def test_rows_are_whole_however_far_the_places_were_gone_through() -> None:
    """Verification stops at the first entry that does not hold; the rows behind it are still rows."""
    rows = list_entries(CONTENT)
    assert [row.n for row in rows] == list(range(len(BLOCKS)))
    for far in range(len(rows) + 2):
        listing = Listing(CONTENT)
        assert [place[0] for place in islice(listing.places(), far)] == [row.n for row in rows[:far]]
        assert listing.rows() == rows
        assert [place[0] for place in listing.places()] == [row.n for row in rows]
        assert listing.rows() == rows


def test_a_trailer_that_does_not_begin_its_line_is_text() -> None:
    """SPEC C-013: such an entry is the public tool's; that it quotes a trailer of its own number changes nothing."""
    head, _, trailer = BLOCKS[1].rpartition(b"\n")
    (row,) = list_entries(b"\n%b> %b\n" % (head + b"\n", trailer))
    assert (row.n, row.is_ours) == (1, False)
    (row,) = list_entries(b"\n%b\n%b\n" % (head, trailer))
    assert (row.n, row.is_ours) == (1, True)
