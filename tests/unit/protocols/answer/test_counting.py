"""Which answers are the same, and what a count of them is."""

import pytest

from counterpoint.core.docket import Seat, Terms
from counterpoint.protocols.answer import Tally, Votes, count, is_same, normalised
from tests.answer_case import Play


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Paris", "  paris. "),
        ("It depends", "it\n depends"),
        ("yes", '"Yes"'),
        ("yes", "**Yes**."),
        ("STRASSE", "straße"),
        ("?", "?"),
    ],
)
def test_case_space_quotes_and_the_last_point_make_no_other_answer(one: str, other: str) -> None:
    """DESIGN 7.1: normalised text."""
    assert is_same(one, other)
    assert is_same(other, one)


@pytest.mark.parametrize(
    ("one", "other"), [("5", ".5"), ("5", "-5"), ("5", "5!"), ("f", "f()"), ("yes", "yes and no"), (".", ",")]
)
def test_what_means_something_else_is_another_answer(one: str, other: str) -> None:
    """LITERATURE, on parsing: a digit that is read wrong is a vote that is lost."""
    assert not is_same(one, other)


def test_normalising_twice_changes_nothing_more() -> None:
    """Ours: what is compared is stable."""
    for text in ('"**Yes**".', "' a '", "...", "“It is.”"):
        assert normalised(normalised(text)) == normalised(text)


def counted(*answers: str | None, options: tuple[str, ...] = ()) -> Tally:
    seats = [Seat(name=f"p{number}", party="x") for number, _ in enumerate(answers)]
    case = Play(*seats, terms=Terms(vote_only=True, options=options))
    case.all_say(**{seat.name: answer for seat, answer in zip(seats, answers, strict=True)})
    return count(case.state, case.state.held_in(1))


def test_the_most_given_answer_comes_first_in_the_words_of_its_first_voter() -> None:
    """Ours: and the others keep their votes."""
    tally = counted("no", "Yes", "yes.", "YES")
    assert tally.votes == (
        Votes(answer="Yes", seats=("p1", "p2", "p3")),
        Votes(answer="no", seats=("p0",)),
    )
    assert (tally.majority, tally.leaders, tally.is_unanimous) == (tally.votes[0], tally.votes[:1], False)


@pytest.mark.parametrize(
    ("answers", "leaders"),
    [(("a", "b"), 2), (("a", "b", "c"), 3), (("a", "a", "b", "b"), 2), (("a", "a", "b", "c"), 1)],
)
def test_half_of_all_is_no_majority(answers: tuple[str, ...], leaders: int) -> None:
    """LITERATURE, on majority votes: two of four do not pass, and equals are a tie."""
    tally = counted(*answers)
    assert (tally.majority, len(tally.leaders)) == (None, leaders)


def test_what_is_no_option_or_never_came_counts_for_none() -> None:
    """DESIGN 7.1: and weighs in the whole all the same."""
    tally = counted("yes", "YES!", None, "Yes.", options=("Yes", "No"))
    assert tally == Tally(votes=(Votes(answer="Yes", seats=("p0", "p3")),), uncounted=("p1", "p2"), peers=4)
    assert (tally.majority, tally.is_unanimous) == (None, False)
    nothing = counted("...", "...")
    assert (nothing.votes, nothing.leaders, nothing.majority, nothing.is_unanimous) == ((), (), None, False)


@pytest.mark.parametrize(
    "option", ["\u2764\ufe0f", "\U0001f469\u200d\U0001f680", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"]
)
def test_an_option_counts_whatever_it_is_written_with(option: str) -> None:
    """A reply is kept with its invisible characters written out: an emoji's, or those that Persian is spelt with."""
    tally = counted(option, option, "no", options=(option, "no"))
    assert tally.votes == (Votes(answer=option, seats=("p0", "p1")), Votes(answer="no", seats=("p2",)))
    assert tally.uncounted == ()
