"""What counts as a concession without evidence: a ruling is held against the answer that came before it."""

import pytest

from counterpoint.core.findings import Answer, Disposition, Finding, FindingStatus, Ruled, Ruling
from counterpoint.core.values import Severity
from counterpoint.views.rounds import is_unevidenced

UNSAID = "no reason given"
_STATUS = {
    Ruling.SETTLED: FindingStatus.SETTLED,
    Ruling.STANDS: FindingStatus.OPEN,
    Ruling.DEFERRED: FindingStatus.DEFERRED,
}


def _finding(*said: tuple[int, Disposition | Ruling, str]) -> Finding:
    rulings = tuple(Ruled(round=n, ruling=word, reason=why) for n, word, why in said if isinstance(word, Ruling))
    return Finding(
        id="F1",
        seat="critic",
        round=1,
        candidate="c" * 40,
        severity=Severity.MINOR,
        location="a.py",
        issue="It is wrong.",
        suggestion="",
        status=_STATUS[rulings[-1].ruling] if rulings else FindingStatus.OPEN,
        answers=tuple(
            Answer(round=n, disposition=word, reasoning=why) for n, word, why in said if isinstance(word, Disposition)
        ),
        rulings=rulings,
    )


@pytest.mark.parametrize("answer", [each for each in Disposition if each is not Disposition.FIX])
def test_giving_way_to_what_is_no_fix_without_a_reason_is_unevidenced(answer: Disposition) -> None:
    """A change of position needs a named flaw (DESIGN 7.3)."""
    assert is_unevidenced(_finding((1, answer, "no"), (2, Ruling.SETTLED, UNSAID)))


@pytest.mark.parametrize(
    "said",
    [
        (),
        ((1, Disposition.REBUT, "no"),),
        ((1, Disposition.FIX, "done"), (2, Ruling.SETTLED, UNSAID)),
        ((1, Disposition.REBUT, "no"), (2, Ruling.SETTLED, "I had misread it.")),
        ((1, Disposition.REBUT, "no"), (2, Ruling.STANDS, UNSAID)),
        ((1, Disposition.REBUT, "no"), (2, Ruling.DEFERRED, "sign-off")),
        ((1, Ruling.SETTLED, UNSAID),),
        (
            (1, Disposition.REBUT, "no"),
            (2, Ruling.STANDS, "so"),
            (2, Disposition.FIX, "ok"),
            (3, Ruling.SETTLED, UNSAID),
        ),
        ((1, Disposition.REBUT, "no"), (2, Ruling.SETTLED, "I see."), (3, Ruling.SETTLED, UNSAID)),
    ],
    ids=["new", "answered", "fixed", "reasoned", "stands", "deferred", "withdrawn", "fixed-later", "said-again"],
)
def test_everything_else_is_not(said: tuple[tuple[int, Disposition | Ruling, str], ...]) -> None:
    """Where it was fixed, where a reason was given when it was given up, and where it was not given up."""
    assert not is_unevidenced(_finding(*said))


def test_saying_it_again_with_a_reason_does_not_mend_it() -> None:
    """The reason counts where the position changed."""
    said = ((1, Disposition.REBUT, "no"), (2, Ruling.SETTLED, UNSAID), (3, Ruling.SETTLED, "I see."))
    assert is_unevidenced(_finding(*said))
