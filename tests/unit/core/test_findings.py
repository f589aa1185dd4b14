"""The ledger: an id is raised once, its raiser rules on it, only what stands blocks (DESIGN "Findings ledger")."""

from dataclasses import replace

import pytest

from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.findings import OWN_ID, Finding, FindingStatus, Ledger, Ruling, finding_id
from counterpoint.core.values import NAME, Severity

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
    settled = LEDGER.with_ruling("critic-F1", seat="critic", ruling=Ruling.SETTLED, reason="it returns early now")
    assert tuple(settled) == (replace(F1, status=FindingStatus.SETTLED, reason="it returns early now"), F2)
    again = settled.with_ruling("critic-F1", seat="critic", ruling=Ruling.STANDS, reason="only on Mondays")
    assert tuple(again) == (replace(F1, status=FindingStatus.OPEN, reason="only on Mondays"), F2)
    assert tuple(LEDGER) == (F1, F2)


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
