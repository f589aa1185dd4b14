"""The largest that hostile text can make of an entry still fits into a record, or the case could never be closed."""

from typing import Any

import pytest

from counterpoint.agents.base import MAX_REPLY_BYTES
from counterpoint.core.codec import encode, entry_type
from counterpoint.core.entries import Entry, SubmissionRevealed
from counterpoint.core.wording import describe
from counterpoint.record.block import ZEROS, parse, render
from counterpoint.record.store import Draft
from tests.review_case import SALT, Play, as_bytes, claim, finding, turn_of, verdict


def in_a_record(entry: Entry) -> Any:
    """Return the typed fields as they are read from the block that a strict channel makes of the entry."""
    draft = Draft(
        stamp="2026-11-30T12:00:00+00:00",
        sender="counterpoint",
        type=entry_type(entry),
        thread="review-1",
        text=describe(entry),
        fields=encode(entry),
    )
    return parse(render(draft, n=1, channel_id="0" * 32, prev=ZEROS), channel="review-1", strict=True).fields


@pytest.mark.parametrize("character", ["\n", "\x7f"])
def test_the_largest_reply_that_is_read_can_be_revealed(character: str) -> None:
    """Whatever it consists of: escaping makes six bytes of one (SECURITY S3, B.1)."""
    reply = character * (MAX_REPLY_BYTES // len(character.encode()))
    entry = SubmissionRevealed(turn=turn_of("critic"), salt=SALT, reply=reply)
    assert in_a_record(entry) == encode(entry)


@pytest.mark.parametrize("character", ["x", "\x7f", "\n", "\U000e0041"])
def test_whatever_an_accepted_verdict_becomes_can_be_recorded(character: str) -> None:
    """Every text as long as the schema lets it be (SECURITY S3)."""
    words = "w" + character * 19_999
    longest = finding(issue=words, suggestion=words, location="w" + character * 999, quote="w" + character * 3_999)
    claims = [{**claim("w" + character * 999, passes=True), "statement": words}]
    content = as_bytes(verdict(longest, claims=claims, summary=words))
    assert len(content) < MAX_REPLY_BYTES
    _, entries = Play().weigh("critic", content)
    assert [in_a_record(entry) for entry in entries] == [encode(entry) for entry in entries]
