"""The ledger: an id is raised once, its raiser rules on it, only what stands blocks (DESIGN "Findings ledger")."""

from dataclasses import replace

import pytest

from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.findings import (
    OWN_ID,
    Answer,
    Disposition,
    Finding,
    FindingStatus,
    Ledger,
    Ruled,
    Ruling,
    finding_id,
)
from counterpoint.core.values import NAME, Severity
from counterpoint.errors import Refused

F1 = Finding(
    id="critic-F1",
    seat="critic",
    round=1,
    candidate="c" * 40,
    severity=Severity.NIT,
    location="src/timer.py:2",
    issue="the timer fires twice",
    suggestion="return early",
)
F2 = replace(F1, id="skeptic-F1", seat="skeptic", severity=Severity.BLOCKING)
LEDGER = Ledger().with_raised(F1).with_raised(F2)


def test_a_new_finding_is_open_and_not_checked() -> None:
    """Until code has looked and its raiser has ruled."""
    assert (F1.status, F1.reason, F1.evidence, F1.detail) == (FindingStatus.OPEN, "", EvidenceStatus.NOT_CHECKED, "")


def test_findings_are_kept_in_the_order_in_which_they_were_raised() -> None:
    """A report lists them alike every time (STYLE 7: same inputs, same bytes)."""
    assert (tuple(LEDGER), LEDGER.raised_by("skeptic"), LEDGER.raised_by("nobody")) == ((F1, F2), (F2,), ())
    assert tuple(Ledger()) == ()


def test_a_ruling_changes_status_and_reason_and_nothing_else() -> None:
    """Severity, words and evidence stay as they were raised (FIELD-FAULTS F19)."""
    ledger, said = LEDGER, []
    for number, ruling, reason, status in (
        (1, Ruling.SETTLED, "it returns early now", FindingStatus.SETTLED),
        (2, Ruling.STANDS, "only on Mondays", FindingStatus.OPEN),
        (3, Ruling.DEFERRED, "the release", FindingStatus.DEFERRED),
    ):
        said.append(Ruled(round=number, ruling=ruling, reason=reason))
        ledger = ledger.with_ruling("critic-F1", seat="critic", ruled=said[-1])
        assert tuple(ledger) == (replace(F1, status=status, reason=reason, rulings=tuple(said)), F2)
    assert tuple(LEDGER) == (F1, F2)


@pytest.mark.parametrize("disposition", Disposition)
def test_an_answer_is_kept_and_closes_nothing(disposition: Disposition) -> None:
    """An accepted risk stays a risk, and a fix is one when its raiser says so (DESIGN "Findings ledger")."""
    answers = tuple(Answer(round=n, disposition=disposition, reasoning="it is so") for n in (1, 2))
    ledger = LEDGER.with_answer("critic-F1", answers[0]).with_answer("critic-F1", answers[1])
    assert tuple(ledger) == (replace(F1, answers=answers), F2)
    assert ledger.blocking() == tuple(ledger)


def test_an_answer_to_nothing_is_refused() -> None:
    """LEDGER-1: nobody answers what nobody raised."""
    with pytest.raises(Refused, match=r"an answer to 'F9', which nobody raised \[LEDGER-1\]"):
        LEDGER.with_answer("F9", Answer(round=1, disposition=Disposition.REBUT, reasoning="no"))


@pytest.mark.parametrize(
    ("answers", "status", "is_disputed"),
    [
        ("", FindingStatus.OPEN, False),
        ("rebut", FindingStatus.OPEN, True),
        ("partial", FindingStatus.OPEN, True),
        ("fix", FindingStatus.OPEN, False),
        ("accept_risk", FindingStatus.OPEN, False),
        ("clarify", FindingStatus.OPEN, False),
        ("rebut fix", FindingStatus.OPEN, False),
        ("fix rebut", FindingStatus.OPEN, True),
        ("rebut", FindingStatus.SETTLED, False),
        ("rebut", FindingStatus.DEFERRED, False),
    ],
)
def test_a_finding_is_disputed_while_it_is_open_and_the_newest_answer_denies_it(
    answers: str, status: FindingStatus, *, is_disputed: bool
) -> None:
    """Wholly or in part; what the author said before does not count."""
    said = tuple(Answer(round=1, disposition=Disposition(word), reasoning="no") for word in answers.split())
    finding = replace(F1, answers=said, status=status)
    assert finding.is_disputed is is_disputed
    assert finding.stance == ("critic-F1", status.value, answers.rpartition(" ")[2])


@pytest.mark.parametrize(
    ("least", "ids"),
    [("nit", ["F1", "F2", "F3"]), ("minor", ["F2", "F3"]), ("major", ["F3"]), ("blocking", ["F3"])],
)
def test_what_must_be_settled_is_as_heavy_as_the_terms_say(least: str, ids: list[str]) -> None:
    """And what is open is counted alike, refuted or not (FIELD-FAULTS F17: blocking is bounded by severity)."""
    ledger = Ledger()
    for number, severity in enumerate((Severity.NIT, Severity.MINOR, Severity.BLOCKING), 1):
        ledger = ledger.with_raised(replace(F1, id=f"F{number}", severity=severity))
    refuted = ledger.with_raised(replace(F1, id="F4", severity=Severity.BLOCKING, evidence=EvidenceStatus.REFUTED))
    assert [f.id for f in refuted.blocking(Severity(least))] == ids
    assert [f.id for f in refuted.unsettled(Severity(least))] == [*ids, "F4"]


@pytest.mark.parametrize(
    ("status", "evidence", "blocks"),
    [
        (FindingStatus.OPEN, EvidenceStatus.NOT_CHECKED, True),
        (FindingStatus.OPEN, EvidenceStatus.VERIFIED, True),
        (FindingStatus.OPEN, EvidenceStatus.REFUTED, False),
        (FindingStatus.SETTLED, EvidenceStatus.NOT_CHECKED, False),
        (FindingStatus.SETTLED, EvidenceStatus.VERIFIED, False),
        (FindingStatus.SETTLED, EvidenceStatus.REFUTED, False),
    ],
)
def test_a_finding_blocks_while_it_is_open_and_not_refuted(
    status: FindingStatus, evidence: EvidenceStatus, *, blocks: bool
) -> None:
    """Of whatever severity: the default is that everything has to be settled (SPEC D-11)."""
    finding = replace(F1, status=status, evidence=evidence)
    assert finding.blocks is blocks
    assert Ledger().with_raised(finding).with_raised(F2).blocking() == ((finding, F2) if blocks else (F2,))


def test_a_ledger_id_names_one_seat_and_one_id() -> None:
    """The only reviewer's ids are its own; several reviewers' are told apart by the first capital (SPEC D-11)."""
    assert finding_id("critic", "F1", only_reviewer=True) == "F1"
    assert finding_id("critic", "F1", only_reviewer=False) == "critic-F1"
    assert all(NAME.fullmatch(seat) for seat in ("a", "a-b", "a-"))
    assert all(OWN_ID.fullmatch(own) for own in ("F1", "B-F1", "SEC_2-x"))
    assert not any(OWN_ID.fullmatch(own) for own in ("", "f1", "1", "b-F1", "-F1", "F 1", "F1\n", "F" * 33, "É"))
