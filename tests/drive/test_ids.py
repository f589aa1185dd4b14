"""Random names as an argument (DESIGN 4: ids are arguments)."""

from counterpoint.drive.ids import CountedIds, RandomIds


def test_counted_names_are_the_same_bytes_every_time() -> None:
    """Of the size that is asked for, in hex digits."""
    ids = CountedIds()
    assert [ids.token(2), ids.token(2), ids.token(4)] == ["0001", "0002", "00000003"]


def test_random_names_come_from_the_source_that_is_given() -> None:
    """Outside tests that is the operating system's."""
    assert RandomIds(lambda size: "ab" * size).token(3) == "ababab"
