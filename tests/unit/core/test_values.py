"""Small values: turn ids and sums."""

from enum import StrEnum

import pytest

from counterpoint.core.checks import EvidenceStatus, Purpose
from counterpoint.core.docket import Docket, Effort, PathState, SeatKind
from counterpoint.core.entries import FailureReason
from counterpoint.core.findings import Disposition, FindingStatus, Ruling
from counterpoint.core.outcome import SeatEnd
from counterpoint.core.values import NAME, Decision, Severity, StopReason, Turn, Usage
from counterpoint.protocols.review import Phase


def test_a_turn_id_names_phase_round_seat_and_question() -> None:
    """It is a file's name in the vault, so it holds nothing that a path would read (DESIGN 4)."""
    turn = Turn(phase="reviewing", round=1, seat="critic-2", ask=3)
    assert (turn.id, turn.blind) == ("reviewing.1.critic-2.3", False)


def test_usage_adds_up_and_is_known_only_if_all_of_it_is() -> None:
    """A sum with an unknown part is not shown as a count (DESIGN "Limits")."""
    one = Usage(input_tokens=1, output_tokens=2, known=True)
    assert one.plus(Usage(input_tokens=10, output_tokens=20, known=True)) == Usage(
        input_tokens=11, output_tokens=22, known=True
    )
    assert (one.plus(Usage()).known, Usage().plus(one).known, one.tokens) == (False, False, 3)


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (Decision, "approved conditional rejected needs_input undetermined"),
        (
            StopReason,
            "agreed rounds_spent budget_spent deadline_passed stalled needs_input withdrawn failed",
        ),
        (Severity, "blocking major minor nit"),
        (EvidenceStatus, "verified refuted not_checked"),
        (Purpose, "test lint"),
        (SeatKind, "opinion checks author"),
        (PathState, "text binary deleted submodule withheld"),
        (Effort, "low medium high xhigh"),
        (FindingStatus, "open settled deferred"),
        (Ruling, "settled stands deferred"),
        (Disposition, "fix partial rebut accept_risk clarify"),
        (SeatEnd, "answered failed never_answered"),
        (
            FailureReason,
            "bad_reply refused unreachable timeout wrong_identity tree_touched vault_touched driver_lost interrupted",
        ),
        (Phase, "opening reviewing revealed answering answered closed"),
    ],
)
def test_words_in_a_record_never_change(words: type[StrEnum], values: str) -> None:
    """A new one is added here by hand (STYLE 4: wire names never change)."""
    assert " ".join(words) == values


def test_what_a_docket_does_not_say_is_empty() -> None:
    """A docket of words has a question and a candidate."""
    assert Docket(question="q", candidate="c") == Docket(
        question="q",
        candidate="c",
        base="",
        instructions="",
        rationale="",
        paths=(),
        commands=(),
        change="",
        remarks=(),
    )


def test_a_name_is_short_lower_case_ascii() -> None:
    """SECURITY B.1, R20."""
    good = ("a", "0", "a-b", "a" * 64)
    bad = ("", "-a", "A", "a_b", "a.b", "a/b", "é", "a\n", "a" * 65)
    assert [bool(NAME.fullmatch(name)) for name in (*good, *bad)] == [True] * len(good) + [False] * len(bad)
