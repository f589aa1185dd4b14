"""The wire text of every entry in each of its versions; what is stored is read for ever (STYLE 4).

`entries/cases` holds whole cases as version 1 of the rules played them, each with its outcome in the last line. They
were written by the program of that time and are never written again.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from counterpoint.core.canonical import canonical_json
from counterpoint.core.checks import CommandCheck, Evidence, EvidenceStatus, Purpose
from counterpoint.core.codec import decode, encode, encode_value, entry_type, version_of
from counterpoint.core.docket import ChangedPath, Effort, PathState, Seat, Terms
from counterpoint.core.entries import (
    ENTRY_TYPES,
    AnswerRequested,
    AttemptFailed,
    CandidateKept,
    CandidateOffered,
    CaseClosed,
    ChallengeOpened,
    ClaimChecked,
    ConsentGranted,
    DispositionGiven,
    Entry,
    EvidenceGathered,
    FailureReason,
    FindingRuled,
    NoteAdded,
    ObserverDropped,
    RevisionOffered,
    RoundOpened,
    SubmissionRevealed,
    SubmissionSealed,
)
from counterpoint.core.findings import Disposition, Ruling
from counterpoint.core.limits import Limits
from counterpoint.core.values import Decision, Severity, StopReason, Usage
from counterpoint.core.wording import describe
from counterpoint.protocols.review import REVIEW
from tests.golden_files import check_golden
from tests.review_case import (
    AUTHOR,
    CANDIDATE,
    CHECKS,
    CRITIC,
    DOCKET,
    NAMED_CHECKS,
    NOW,
    Play,
    answered,
    finding,
    opening,
    raised_by,
    turn_of,
    verdict,
    verdict_of,
)

FOLDER: Final = Path(__file__).parent

ENTRIES: Final[tuple[Entry, ...]] = (
    opening(
        AUTHOR,
        CRITIC,
        CHECKS,
        docket=replace(DOCKET, context="the clock is mocked", pull_request="https://forge.example/shop/pull/7"),
        limits=Limits(max_rounds=3, deadline="2026-11-30T13:00:00+00:00"),
        terms=Terms(block_on=Severity.MINOR, commits=False, comments=True, effort=Effort.LOW),
        quorum=1,
    ),
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
    AnswerRequested(seat="author", round=1, findings=("critic-F1", "checks-F1")),
    DispositionGiven(
        seat="author",
        round=1,
        id="critic-F1",
        disposition=Disposition.PARTIAL,
        reasoning="It returns early now.\nThat it fired twice is not so.",
    ),
    CandidateOffered(
        seat="author",
        round=1,
        previous=CANDIDATE,
        candidate="a" * 40,
        changed=("src/timer.py", "src/żółć.py"),
        paths=(
            ChangedPath(path="src/timer.py", state=PathState.TEXT),
            ChangedPath(path="src/żółć.py", state=PathState.TEXT),
            ChangedPath(path="old.py", state=PathState.DELETED),
        ),
        change="e" * 64,
    ),
    CandidateKept(seat="author", round=2, candidate="a" * 40),
    RevisionOffered(seat="author", round=2, revision=2, candidate="c" * 64),
    RoundOpened(round=2, reason="critic holds I1 against it\nand says so"),
    ChallengeOpened(round=2, about=("ada", "bob")),
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
    return FOLDER / "entries" / f"v{version_of(type(entry))}" / f"{entry_type(entry)}.json"


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


def test_every_version_of_every_type_of_entry_is_stored() -> None:
    """A new type or version gets its example with it, and no example is taken away."""
    assert [entry_type(entry) for entry in ENTRIES] == list(ENTRY_TYPES)
    stored = {(path.parent.name, path.stem) for path in (FOLDER / "entries").glob("v*/*.json")}
    assert stored == {
        (f"v{version}", name) for name, kind in ENTRY_TYPES.items() for version in range(1, version_of(kind) + 1)
    }


def test_a_case_that_version_1_opened_is_read_as_what_it_meant() -> None:
    """From the stored text alone: no author, no context, and everything had to be settled."""
    stored = json.loads((FOLDER / "entries/v1/case-opened.json").read_text("utf-8"))
    limits = Limits(deadline="2026-11-30T13:00:00+00:00")
    assert decode("case-opened", stored) == replace(
        opening(CRITIC, CHECKS, limits=limits, quorum=1), rules_version=1, terms=Terms()
    )


def test_a_case_that_version_2_opened_is_read_as_what_it_meant() -> None:
    """From the stored text alone: it was about a change, and knew nothing of texts, votes and sources."""
    stored = json.loads((FOLDER / "entries/v2/case-opened.json").read_text("utf-8"))
    assert decode("case-opened", stored) == ENTRIES[0]


def _as_then(now: Any, then: Any) -> Any:
    """Return of a value what it had of old: its fields of that time."""
    if isinstance(then, dict):
        return {key: _as_then(now[key], value) for key, value in then.items()}
    if isinstance(then, list):
        return [_as_then(*pair) for pair in zip(now, then, strict=True)]
    return now


@pytest.mark.parametrize("name", ["approved", "late", "rejected", "undetermined"])
def test_a_case_of_the_first_rules_comes_to_what_it_came_to(name: str) -> None:
    """Entry by entry through the fold, the close included; nothing of its outcome differs (STYLE 4)."""
    *lines, last = (FOLDER / f"entries/cases/{name}.jsonl").read_text("utf-8").splitlines()
    entries = tuple(decode(*json.loads(line)) for line in lines)
    state, then = REVIEW.fold(entries), json.loads(last)
    assert state.case.rules_version == 1
    assert _as_then(encode_value(REVIEW.outcome(state)), then) == then
    assert REVIEW.due(state, NOW) == ()


@pytest.mark.parametrize("seat", [CRITIC, CHECKS], ids=lambda seat: str(seat.kind))
def test_a_brief_is_what_reviewers_were_given_before(seat: Seat) -> None:
    """What a model is told decides what it answers: a change of words is seen as a difference."""
    case = Play(CRITIC, CHECKS)
    case.fail(seat.name, FailureReason.REFUSED, "approved is true, but F1 is open [VERDICT-1]")
    _check_brief(case, seat.name, f"review-{seat.kind}")


def test_a_later_brief_is_what_authors_and_reviewers_were_given_before() -> None:
    """The author's, and that of a second reading (SPEC D-14, D-15)."""
    docket = replace(DOCKET, context="the clock is mocked")
    case = Play(AUTHOR, CRITIC, CHECKS, docket=docket, limits=Limits(max_rounds=3))
    named = (finding(quote="return 1"), finding(id="F2", location="the docs", status="resolved"))
    case.read(verdict(*named), NAMED_CHECKS)
    _check_brief(case, "author", "review-author")
    case.reply(answered("partial", "critic-F1"), changed=["src/timer.py"])
    _check_brief(case, "critic", "review-again")


def _check_brief(case: Play, seat: str, name: str) -> None:
    brief = REVIEW.brief(case.state, case.owed(seat), case.materials(seat))
    parts = {"payload": brief.payload, "schema": brief.schema, "shown_paths": brief.shown_paths}
    check_golden(FOLDER / "briefs" / f"{name}.txt", f"{brief.instructions}\n\n{json.dumps(parts, indent=2)}\n")
