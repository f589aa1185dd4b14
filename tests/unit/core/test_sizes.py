"""The largest that hostile text can make of an entry still fits into a record, or the case could never be closed."""

from dataclasses import replace
from typing import Any

import pytest

from counterpoint.agents.base import MAX_REPLY_BYTES
from counterpoint.core.codec import encode, entry_type
from counterpoint.core.entries import Entry, SubmissionRevealed
from counterpoint.core.wording import describe
from counterpoint.record.block import ZEROS, parse, render
from counterpoint.record.store import Draft
from counterpoint.record.typed import MAX_FIELDS, write_fields
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


def test_the_largest_reply_that_is_read_can_be_revealed() -> None:
    """Its words are cut, its fields are whole (SECURITY S3)."""
    entry = SubmissionRevealed(turn=turn_of("critic"), salt=SALT, reply="\n" * MAX_REPLY_BYTES)
    assert in_a_record(entry) == encode(entry)


@pytest.mark.parametrize("character", ["\x7f", "\n", '"', "\u202e", "\U000e0041"])
def test_escaping_makes_at_most_six_bytes_of_one(character: str) -> None:
    """So the fields have room for the largest reply, whatever it consists of (SECURITY B.1)."""
    reply = character * 1000
    entry = SubmissionRevealed(turn=turn_of("critic"), salt=SALT, reply=reply)
    around = len(write_fields(encode(replace(entry, reply=""))))
    assert len(write_fields(encode(entry))) <= around + 6 * len(reply.encode())
    assert around + 6 * MAX_REPLY_BYTES <= MAX_FIELDS


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
