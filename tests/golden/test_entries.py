"""The wire text of every entry as version 1 of the codec writes it; what is stored is read for ever (STYLE 4)."""

import json
from pathlib import Path
from typing import Final

import pytest

from counterpoint.core.canonical import canonical_json
from counterpoint.core.checks import CommandCheck, Evidence, EvidenceStatus, Purpose
from counterpoint.core.codec import VERSION, decode, encode, entry_type
from counterpoint.core.docket import Seat
from counterpoint.core.entries import (
    ENTRY_TYPES,
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
from counterpoint.core.findings import Ruling
from counterpoint.core.limits import Limits
from counterpoint.core.values import Decision, StopReason, Usage
from counterpoint.core.wording import describe
from counterpoint.protocols.review import REVIEW
from tests.golden_files import check_golden
from tests.review_case import (
    CANDIDATE,
    CHECKS,
    CRITIC,
    MATERIALS,
    Play,
    opening,
    raised_by,
    turn_of,
    verdict_of,
)

FOLDER: Final = Path(__file__).parent

ENTRIES: Final[tuple[Entry, ...]] = (
    opening(CRITIC, CHECKS, limits=Limits(deadline="2026-11-30T13:00:00+00:00"), quorum=1),
    ConsentGranted(
        destination="a-provider",
        by="owner",
        granted_at="2026-11-30T12:00:00+00:00",
        until="2026-12-30T12:00:00+00:00",
        scope="the change and the files that the reviewer opens",
        digest="e" * 64,
    ),
    SubmissionSealed(
        turn=turn_of("critic"),
        digest="f" * 64,
        evidence="e" * 64,
        model_requested="a-model",
        model_reported="a-model-2026",
        usage=Usage(input_tokens=1200, output_tokens=300, known=True),
        shown_paths=("src/timer.py",),
    ),
    SubmissionRevealed(turn=turn_of("critic"), salt="0123456789abcdef" * 2, reply='{"approved": true}\n\u202e'),
    EvidenceGathered(
        evidence=Evidence(
            request=CommandCheck(argv=("pytest", "-q"), purpose=Purpose.TEST, candidate=CANDIDATE),
            status=EvidenceStatus.REFUTED,
            detail="exit 1",
            output="1 failed\n",
            exit_code=1,
            failing_before=False,
            paths_unread=("old.py",),
        )
    ),
    ClaimChecked(
        seat="critic",
        statement="the tests pass",
        command="pytest -q",
        says_passes=True,
        status=EvidenceStatus.REFUTED,
        detail="exit 1",
    ),
    raised_by("critic", "critic-F1"),
    FindingRuled(seat="critic", id="critic-F1", ruling=Ruling.SETTLED, reason="it returns early now"),
    verdict_of("critic"),
    AttemptFailed(
        turn=turn_of("critic", 2),
        attempt=3,
        reason=FailureReason.BAD_REPLY,
        detail="the reply is empty",
        usage=Usage(),
    ),
    NoteAdded(by="owner", text="mind the timer\nand the clock"),
    ObserverDropped(detail="ValueError: closed"),
    CaseClosed(
        stop_reason=StopReason.ROUNDS_SPENT, decision=Decision.REJECTED, detail="1 of 2 reviewers have answered"
    ),
)


def _path(entry: Entry) -> Path:
    return FOLDER / "entries" / f"v{VERSION}" / f"{entry_type(entry)}.json"


@pytest.mark.parametrize("entry", ENTRIES, ids=entry_type)
def test_an_entry_is_written_as_it_was_when_the_format_was_fixed(entry: Entry) -> None:
    """A difference here is a new version of the format, never an edit (STYLE 4: wire names never change)."""
    check_golden(_path(entry), canonical_json(encode(entry)) + "\n")


@pytest.mark.parametrize("entry", ENTRIES, ids=entry_type)
def test_an_entry_that_was_stored_is_read_for_ever(entry: Entry) -> None:
    """From the stored text alone."""
    assert decode(entry_type(entry), json.loads(_path(entry).read_text("utf-8"))) == entry


@pytest.mark.parametrize("entry", ENTRIES, ids=entry_type)
def test_an_entry_says_to_people_what_it_said_before(entry: Entry) -> None:
    """The Markdown above the typed fields; a change of words is seen as a difference."""
    check_golden(FOLDER / "words" / f"{entry_type(entry)}.md", describe(entry) + "\n")


def test_every_type_of_entry_is_stored_once() -> None:
    """A new type of entry gets its example with it."""
    assert [entry_type(entry) for entry in ENTRIES] == list(ENTRY_TYPES)
    stored = {path.stem for path in (FOLDER / "entries" / f"v{VERSION}").iterdir()}
    assert stored == set(ENTRY_TYPES)


@pytest.mark.parametrize("seat", [CRITIC, CHECKS], ids=lambda seat: str(seat.kind))
def test_a_brief_is_what_reviewers_were_given_before(seat: Seat) -> None:
    """What a model is told decides what it answers: a change of words is seen as a difference."""
    case = Play(CRITIC, CHECKS)
    case.fail(seat.name, FailureReason.REFUSED, "approved is true, but F1 is open [VERDICT-1]")
    brief = REVIEW.brief(case.state, case.owed(seat.name), MATERIALS)
    parts = {"payload": brief.payload, "schema": brief.schema, "shown_paths": brief.shown_paths}
    check_golden(
        FOLDER / "briefs" / f"review-{seat.kind}.txt", f"{brief.instructions}\n\n{json.dumps(parts, indent=2)}\n"
    )
