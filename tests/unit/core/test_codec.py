"""What an entry that does not fit is told: the type, the key path, what was expected and what was there."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from counterpoint.core.canonical import canonical_json
from counterpoint.core.checks import EditCheck, Evidence, EvidenceStatus, QuoteCheck
from counterpoint.core.codec import decode, decode_value, encode, encode_value, entry_type, version_of
from counterpoint.core.docket import ChangedPath, PathState, Terms
from counterpoint.core.edits import Edit, Made
from counterpoint.core.entries import ENTRY_TYPES, CaseClosed, CaseOpened, EvidenceGathered, NoteAdded
from counterpoint.core.values import Decision, StopReason
from counterpoint.errors import UnknownEntry
from tests.review_case import CHECKS, CRITIC, opening

OPENED: dict[str, Any] = encode(opening(CRITIC, CHECKS))
QUOTED = EvidenceGathered(
    evidence=Evidence(
        request=QuoteCheck(path="a.py", text="x = 1", candidate="c" * 40),
        status=EvidenceStatus.VERIFIED,
        detail="found",
        paths_unread=("b.py",),
    )
)
GATHERED: dict[str, Any] = encode(QUOTED)
NOTE = {"v": 1, "by": "owner", "text": "hello"}


def changed(typed: Any, path: str, value: Any) -> Any:
    """Return a copy in which the value at a dotted path is another; `None` of a path that ends in `!` removes it."""
    head, _, rest = path.partition(".")
    key: Any = int(head) if head.isdigit() else head.removesuffix("!")
    copy = list(typed) if isinstance(typed, list) else dict(typed)
    if head.endswith("!"):
        del copy[key]
    else:
        copy[key] = changed(copy[key], rest, value) if rest else value
    return copy


def test_an_entry_is_an_object_with_its_version() -> None:
    """Enums are their words, tuples lists, absent values null; a union says its kind (STYLE 4)."""
    assert GATHERED == {
        "v": 1,
        "evidence": {
            "request": {"kind": "quote", "path": "a.py", "text": "x = 1", "candidate": "c" * 40},
            "status": "verified",
            "detail": "found",
            "output": "",
            "exit_code": None,
            "failing_before": None,
            "paths_unread": ["b.py"],
        },
    }
    assert decode("evidence-gathered", GATHERED) == QUOTED


def test_wire_names_are_words_with_hyphens_and_never_class_paths() -> None:
    """They never change; a new one is added here by hand (STYLE 4)."""
    assert tuple(ENTRY_TYPES) == (
        "case-opened",
        "consent-granted",
        "submission-sealed",
        "submission-revealed",
        "evidence-gathered",
        "claim-checked",
        "finding-raised",
        "finding-ruled",
        "verdict-given",
        "answer-requested",
        "disposition-given",
        "candidate-offered",
        "candidate-kept",
        "revision-offered",
        "round-opened",
        "challenge-opened",
        "attempt-failed",
        "note-added",
        "observer-dropped",
        "case-closed",
    )
    closed = CaseClosed(stop_reason=StopReason.AGREED, decision=Decision.APPROVED, detail="")
    assert entry_type(closed) == "case-closed"


@pytest.mark.parametrize(
    ("name", "typed", "reason"),
    [
        ("Case-Opened", OPENED, f"not one of {', '.join(sorted(ENTRY_TYPES))}"),
        ("case-opened", None, "it has no typed fields"),
        ("note-added", {"by": "owner", "text": ""}, "version None; this program reads version 1"),
        ("note-added", NOTE | {"v": 2}, "version 2; this program reads version 1"),
        ("note-added", NOTE | {"v": "1"}, "version '1'; this program reads version 1"),
        ("note-added", NOTE | {"v": True}, "version True; this program reads version 1"),
        ("note-added", NOTE | {"zeal": 1, "hue": 1}, "hue: no such field"),
        ("note-added", {"v": 1}, "by: missing"),
        ("note-added", NOTE | {"by": None}, "by: expected str, got NoneType"),
        ("case-closed", NOTE, "by: no such field"),
        ("case-opened", OPENED | {"v": 4}, "version 4; this program reads versions 1 to 3"),
        ("case-opened", OPENED | {"v": 0}, "version 0; this program reads versions 1 to 3"),
        ("case-opened", changed(OPENED, "roster", {}), "roster: expected a list, got dict"),
        ("case-opened", changed(OPENED, "roster.1", "critic"), "roster[1]: expected an object, got str"),
        ("case-opened", changed(OPENED, "roster.1.name!", None), "roster[1].name: missing"),
        ("case-opened", changed(OPENED, "roster.0.rank", 1), "roster[0].rank: no such field"),
        (
            "case-opened",
            changed(OPENED, "roster.0.kind", "judge"),
            "roster[0].kind: expected one of opinion, checks, author, got 'judge'",
        ),
        (
            "case-opened",
            changed(OPENED, "roster.0.kind", ["opinion"]),
            "roster[0].kind: expected one of opinion, checks, author, got ['opinion']",
        ),
        ("case-opened", OPENED | {"quorum": True}, "quorum: expected int, got bool"),
        ("case-opened", changed(OPENED, "quorum", "2"), "quorum: expected int, got str"),
        ("case-opened", changed(OPENED, "limits", None), "limits: expected an object, got NoneType"),
        ("case-opened", changed(OPENED, "limits.deadline", 5), "limits.deadline: expected str, got int"),
        (
            "case-opened",
            changed(OPENED, "docket.commands.1.argv.0", None),
            "docket.commands[1].argv[0]: expected str, got NoneType",
        ),
        (
            "evidence-gathered",
            changed(GATHERED, "evidence.request.kind", "vision"),
            "evidence.request.kind: expected one of command, quote, path, got 'vision'",
        ),
        (
            "evidence-gathered",
            changed(GATHERED, "evidence.request.kind", ["quote"]),
            "evidence.request.kind: expected one of command, quote, path, got ['quote']",
        ),
        (
            "evidence-gathered",
            changed(GATHERED, "evidence.request", "quote"),
            "evidence.request.kind: expected one of command, quote, path, got None",
        ),
        (
            "evidence-gathered",
            changed(GATHERED, "evidence.request.kind", "path"),
            "evidence.request.text: no such field",
        ),
        (
            "evidence-gathered",
            changed(GATHERED, "evidence.failing_before", 0),
            "evidence.failing_before: expected bool, got int",
        ),
        (
            "evidence-gathered",
            changed(GATHERED, "evidence.paths_unread", [None]),
            "evidence.paths_unread[0]: expected str, got NoneType",
        ),
        (
            "evidence-gathered",
            changed(GATHERED, "evidence.status", "v" * 1000),
            "evidence.status: expected one of verified, refuted, not_checked, got 'vvvvvvvvvvvv...vvvvvvvvvvvvv'",
        ),
    ],
)
def test_an_entry_that_does_not_fit_names_its_key_path(name: str, typed: dict[str, Any] | None, reason: str) -> None:
    """Fails closed on type, version, field, kind and word; never coerces; stays short (STYLE 4)."""
    with pytest.raises(UnknownEntry) as caught:
        decode(name, typed)
    assert (caught.value.entry_type, caught.value.reason) == (name, reason)


def without(fields: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key not in names}


SECOND: dict[str, Any] = OPENED | {
    "v": 2,
    "docket": without(OPENED["docket"], "text", "tree"),
    "limits": without(OPENED["limits"], "min_rounds", "stall_rounds", "max_output_tokens"),
    "terms": without(OPENED["terms"], "vote_only", "sources", "options"),
    "roster": [without(seat, "given") for seat in OPENED["roster"]],
}
"""The opening as version 2 wrote it."""
FIRST: dict[str, Any] = without(SECOND, "terms") | {
    "v": 1,
    "docket": without(SECOND["docket"], "context", "pull_request"),
}
"""The opening as version 1 wrote it."""


def test_an_older_version_is_read_as_what_it_meant() -> None:
    """Terms were not written then: everything had to be settled, and nothing was edited (STYLE 4)."""
    assert (version_of(CaseOpened), version_of(NoteAdded)) == (3, 1)
    assert decode("case-opened", FIRST) == opening(CRITIC, CHECKS)
    assert decode("case-opened", SECOND) == opening(CRITIC, CHECKS)
    assert opening(CRITIC, CHECKS).terms == Terms()


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        (FIRST | {"terms": OPENED["terms"]}, "terms: no such field in version 1"),
        (changed(FIRST, "docket.context", ""), "context: no such field in version 1"),
        (changed(FIRST, "docket.pull_request", ""), "pull_request: no such field in version 1"),
        (FIRST | {"docket": "none"}, "terms: missing"),
        (FIRST | {"v": 2}, "terms: missing"),
        (OPENED | {"v": 2}, "docket.text: no such field before version 3"),
        (changed(SECOND, "roster.1.given", ""), "roster[1].given: no such field before version 3"),
        (changed(SECOND, "roster.1", "critic"), "roster[1]: expected an object, got str"),
        (changed(SECOND, "roster", "critic"), "roster: expected a list, got str"),
        (changed(OPENED, "terms.mood", "good"), "terms.mood: no such field"),
        (
            changed(OPENED, "terms.effort", "huge"),
            "terms.effort: expected one of low, medium, high, xhigh, got 'huge'",
        ),
    ],
)
def test_a_version_has_its_own_fields_and_no_others(typed: dict[str, Any], reason: str) -> None:
    """A mixture of two versions is neither (STYLE 4: an unknown field fails closed)."""
    with pytest.raises(UnknownEntry) as caught:
        decode("case-opened", typed)
    assert (caught.value.entry_type, caught.value.reason) == ("case-opened", reason)


EDIT = Edit(
    request=EditCheck(turn="answering.1.author.1", start="c" * 40, paths=("a.py",), commits=True, message="m"),
    faults=(),
    made=Made(candidate="e" * 40, paths=(ChangedPath(path="a.py", state=PathState.TEXT),), change="d"),
)


def test_an_edit_comes_back_from_the_vault_as_it_was() -> None:
    """What code found of it is kept beside the reply (DESIGN "Sealing")."""
    for edit in (EDIT, replace(EDIT, faults=("'b.py' was changed and is not listed",), made=None)):
        assert decode_value(Edit, encode_value(edit)) == edit
    assert encode_value(EDIT)["request"]["kind"] == "edit"
    wrong = changed(encode_value(EDIT), "request.kind", "path")
    with pytest.raises(UnknownEntry, match=r"request.kind: expected one of edit, got 'path'"):
        decode_value(Edit, wrong)


def test_a_value_that_does_not_fit_names_its_type_and_key_path() -> None:
    """The same for what lies in the vault."""
    stored = {**encode_value(QUOTED.evidence), "detail": 5}
    with pytest.raises(UnknownEntry) as caught:
        decode_value(Evidence, stored)
    assert (caught.value.entry_type, caught.value.reason) == ("Evidence", "detail: expected str, got int")
    with pytest.raises(UnknownEntry) as caught:
        decode_value(Evidence, [])
    assert (caught.value.entry_type, caught.value.reason) == ("Evidence", "value: expected an object, got list")


def test_a_value_that_is_not_of_the_core_is_our_own_mistake() -> None:
    """Nothing else than the core's own types is ever written."""
    with pytest.raises(AssertionError, match="float is not a value of the core"):
        encode_value((1, 2.0))


def test_an_entry_has_a_canonical_text() -> None:
    """No field of an entry holds what has none."""
    assert canonical_json(encode(NoteAdded(by="owner", text="é\n"))) == '{"by":"owner","text":"é\\n","v":1}'
