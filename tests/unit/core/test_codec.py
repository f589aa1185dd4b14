"""What an entry that does not fit is told: the type, the key path, what was expected and what was there."""

from typing import Any

import pytest

from counterpoint.core.canonical import canonical_json
from counterpoint.core.checks import Evidence, EvidenceStatus, QuoteCheck
from counterpoint.core.codec import VERSION, decode, decode_value, encode, encode_value, entry_type
from counterpoint.core.entries import ENTRY_TYPES, CaseClosed, EvidenceGathered, NoteAdded
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
        "v": VERSION,
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
        ("case-closed", OPENED, "case: no such field"),
        ("case-opened", changed(OPENED, "roster", {}), "roster: expected a list, got dict"),
        ("case-opened", changed(OPENED, "roster.1", "critic"), "roster[1]: expected an object, got str"),
        ("case-opened", changed(OPENED, "roster.1.name!", None), "roster[1].name: missing"),
        ("case-opened", changed(OPENED, "roster.0.rank", 1), "roster[0].rank: no such field"),
        (
            "case-opened",
            changed(OPENED, "roster.0.kind", "judge"),
            "roster[0].kind: expected one of opinion, checks, got 'judge'",
        ),
        (
            "case-opened",
            changed(OPENED, "roster.0.kind", ["opinion"]),
            "roster[0].kind: expected one of opinion, checks, got ['opinion']",
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
