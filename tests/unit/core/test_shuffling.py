"""Neutral names in each reader's own order (DESIGN 4 "Anonymity and order")."""

from counterpoint.core.shuffling import labels_of, shuffled

NAMES = ("ada", "bob", "cid", "dee", "eve")


def test_everybody_else_has_one_label_and_nobody_knows_itself_by_one() -> None:
    """A reader's labels name the other seats, each once."""
    for reader in NAMES:
        labels = labels_of("5eed", reader, NAMES)
        assert list(labels) == ["peer-1", "peer-2", "peer-3", "peer-4"]
        assert sorted(labels.values()) == sorted(set(NAMES) - {reader})


def test_the_order_is_the_seeds_and_the_readers() -> None:
    """The same draw every time; another seed or reader draws another; the roster's own order decides nothing."""
    first = shuffled("5eed", "ada", NAMES)
    assert first == shuffled("5eed", "ada", reversed(NAMES))
    assert len({shuffled(seed, "ada", NAMES) for seed in map(str, range(40))}) > 20
    assert len({shuffled("5eed", reader, NAMES) for reader in map(str, range(40))}) > 20
