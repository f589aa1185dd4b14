"""The fold of the shared entries: each changes what it says, and nothing else (DESIGN 4)."""

from dataclasses import replace
from typing import Any

import pytest

from counterpoint.core.case import CaseState, fold_shared
from counterpoint.core.checks import Evidence, EvidenceStatus, PathCheck
from counterpoint.core.entries import (
    AttemptFailed,
    CaseClosed,
    ClaimChecked,
    ConsentGranted,
    Entry,
    EvidenceGathered,
    FailureReason,
    FindingRuled,
    NoteAdded,
    ObserverDropped,
    SubmissionRevealed,
    SubmissionSealed,
)
from counterpoint.core.findings import Finding, FindingStatus, Ledger, Ruled, Ruling
from counterpoint.core.limits import Spent
from counterpoint.core.values import Decision, Severity, StopReason, Usage
from tests.review_case import CANDIDATE, CHECKS, CRITIC, opening, raised_by, turn_of, verdict_of

OPENED = opening(CRITIC, CHECKS)
EMPTY = CaseState(phase="somewhere", opened=OPENED)
USED = Usage(input_tokens=1, output_tokens=2, known=True)
SEALED = SubmissionSealed(
    turn=turn_of("critic"),
    digest="d",
    evidence="e",
    model_requested="m",
    model_reported="m",
    usage=USED,
    shown_paths=("a.py",),
)
FAILED = AttemptFailed(
    turn=turn_of("critic"), attempt=1, reason=FailureReason.TIMEOUT, detail="no answer", usage=Usage()
)
CHECKED = Evidence(
    request=PathCheck(path="a.py", line=None, candidate=CANDIDATE), status=EvidenceStatus.VERIFIED, detail="found"
)
CLAIM = ClaimChecked(
    seat="critic", statement="s", command="c", says_passes=True, status=EvidenceStatus.VERIFIED, detail="exit 0"
)
F1 = Finding(
    id="F1",
    seat="critic",
    round=1,
    candidate=CANDIDATE,
    severity=Severity.MAJOR,
    location="src/timer.py:2",
    issue="the timer still fires twice",
    suggestion="return early",
    detail="seen",
    evidence=EvidenceStatus.VERIFIED,
)
CONSENT = ConsentGranted(destination="x", by="owner", granted_at="t", until="u", scope="all", digest="d")
NOTE = NoteAdded(by="owner", text="hello")
DROPPED = ObserverDropped(detail="ValueError: x")
CLOSED = CaseClosed(stop_reason=StopReason.WITHDRAWN, decision=Decision.UNDETERMINED, detail="")
REVEALED = SubmissionRevealed(turn=turn_of("critic"), salt="00", reply="{}")
RAISED = replace(raised_by("critic"), evidence=EvidenceStatus.VERIFIED, detail="seen")


@pytest.mark.parametrize(
    ("entry", "changes"),
    [
        (opening(CHECKS), {"opened": opening(CHECKS)}),
        (CONSENT, {"consents": (CONSENT,)}),
        (
            SEALED,
            {
                "sealed": {"critic": SEALED},
                "seals": {"reviewing.1.critic.1": SEALED},
                "judged": {"critic": CANDIDATE},
                "shown": {"critic": ("a.py",)},
                "spent": Spent(calls=1, usage=USED),
            },
        ),
        (REVEALED, {"revealed": {"reviewing.1.critic.1": REVEALED}}),
        (EvidenceGathered(evidence=CHECKED), {"evidence": (CHECKED,)}),
        (CLAIM, {"claims": (CLAIM,)}),
        (RAISED, {"ledger": Ledger({"F1": F1})}),
        (verdict_of("critic"), {"verdicts": {"critic": verdict_of("critic")}, "votes": (verdict_of("critic"),)}),
        (FAILED, {"failures": (FAILED,), "spent": Spent(calls=1, usage=Usage())}),
        (NOTE, {"notes": (NOTE,)}),
        (DROPPED, {"dropped": (DROPPED,)}),
        (CLOSED, {"closed": CLOSED}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_entry_changes_what_it_says(entry: Entry, changes: dict[str, Any]) -> None:
    """And leaves the state it was given as it was (STYLE 4)."""
    assert fold_shared(EMPTY, entry) == replace(EMPTY, **changes)
    assert CaseState(phase="somewhere", opened=OPENED) == EMPTY


def test_what_came_before_stays() -> None:
    """Entries are only ever added."""
    state = EMPTY
    for entry in (CONSENT, NOTE, FAILED, SEALED, EvidenceGathered(evidence=CHECKED), CLAIM, REVEALED, DROPPED):
        state = fold_shared(fold_shared(state, entry), entry)
    for verdict in (verdict_of("critic"), verdict_of("skeptic")):
        state = fold_shared(fold_shared(state, verdict), verdict)
    state = fold_shared(fold_shared(state, replace(SEALED, turn=turn_of("skeptic"))), RAISED)
    assert state == CaseState(
        phase="somewhere",
        opened=OPENED,
        consents=(CONSENT, CONSENT),
        notes=(NOTE, NOTE),
        failures=(FAILED, FAILED),
        sealed={"critic": SEALED, "skeptic": replace(SEALED, turn=turn_of("skeptic"))},
        seals={
            "reviewing.1.critic.1": SEALED,
            "reviewing.1.skeptic.1": replace(SEALED, turn=turn_of("skeptic")),
        },
        judged={"critic": CANDIDATE, "skeptic": CANDIDATE},
        shown={"critic": ("a.py",), "skeptic": ("a.py",)},
        spent=Spent(calls=5, usage=Usage(input_tokens=3, output_tokens=6, known=False)),
        evidence=(CHECKED, CHECKED),
        claims=(CLAIM, CLAIM),
        revealed={"reviewing.1.critic.1": REVEALED},
        dropped=(DROPPED, DROPPED),
        verdicts={"critic": verdict_of("critic"), "skeptic": verdict_of("skeptic")},
        votes=(verdict_of("critic"), verdict_of("critic"), verdict_of("skeptic"), verdict_of("skeptic")),
        ledger=Ledger({"F1": F1}),
    )


def test_a_newer_verdict_of_a_seat_takes_the_place_of_its_older_one() -> None:
    """DESIGN "Binding"."""
    state = fold_shared(fold_shared(EMPTY, verdict_of("critic")), verdict_of("critic", approved=False))
    assert dict(state.verdicts) == {"critic": verdict_of("critic", approved=False)}


def test_the_last_seal_of_a_seat_is_of_its_newest_round() -> None:
    """Of this seat, and none where it has not answered."""
    later = replace(SEALED, turn=turn_of("critic", number=2))
    state = EMPTY
    for entry in (SEALED, replace(SEALED, turn=turn_of("skeptic")), later):
        state = fold_shared(state, entry)
    assert (state.last_seal("critic"), state.last_seal("author")) == (later, None)


def test_a_ruling_settles_a_finding_with_its_reason() -> None:
    """DESIGN "Findings ledger"."""
    ruled = FindingRuled(seat="critic", id="F1", ruling=Ruling.SETTLED, reason="mended")
    state = fold_shared(fold_shared(EMPTY, RAISED), ruled)
    said = Ruled(round=1, ruling=Ruling.SETTLED, reason="mended")
    after = replace(F1, status=FindingStatus.SETTLED, reason="mended", rulings=(said,))
    assert state == replace(EMPTY, ledger=Ledger({"F1": after}))


def test_a_seat_is_out_after_as_many_failures_of_its_own_as_it_may_be_asked() -> None:
    """Of this round and of this seat; a driver's death is not the seat's (FIELD-FAULTS F43)."""
    state = replace(EMPTY, opened=opening(CRITIC))
    others = (
        replace(FAILED, turn=turn_of("skeptic")),
        replace(FAILED, turn=replace(FAILED.turn, round=2)),
        replace(FAILED, reason=FailureReason.DRIVER_LOST),
        replace(FAILED, reason=FailureReason.INTERRUPTED),
    )
    for entry in (*others, FAILED, *others):
        state = fold_shared(state, entry)
    assert state.failures_of("critic") == (others[2], others[3], FAILED, others[2], others[3])
    assert not state.is_out("critic")
    state = fold_shared(state, FAILED)
    assert state.is_out("critic")
    assert not replace(state, round=3).is_out("critic")


def test_nothing_is_asked_of_a_case_before_its_opening() -> None:
    """Our own mistake (STYLE 5: us, so assert)."""
    with pytest.raises(AssertionError, match="the case has not been opened"):
        CaseState(phase="somewhere").is_out("critic")
    assert replace(EMPTY, opened=opening(CRITIC)).case == opening(CRITIC)
