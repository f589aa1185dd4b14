"""What no entry may hold: one accepted and one refused example of each rule of docs/protocols/entries.md."""

from collections.abc import Callable

import pytest

from counterpoint.errors import Refused
from counterpoint.record.block import ZEROS, parse, render
from counterpoint.record.keys import sign_with
from counterpoint.record.signing import Signer
from counterpoint.record.store import Draft, Genesis
from counterpoint.record.text import MAX_TEXT
from counterpoint.record.typed import MAX_FIELDS
from tests.records import CHANNEL_ID, draft, signer

HEADER = "## MSG-9 | z | from: a | type: close | thread: t | refs: -"
TRAILER_START = "<!-- cp1 ch="
FENCE = '```json counterpoint\n{"a":1}\n```'


def _accepted(entry: Draft, *, strict: bool = True) -> None:
    block = render(entry, n=7, channel_id=CHANNEL_ID, prev=ZEROS, strict=strict)
    found = parse(block, channel="c", strict=strict)
    assert (found.sender, found.thread, found.refs) == (entry.sender, entry.thread, entry.refs)
    assert (found.text, found.fields) == (entry.text, entry.fields)


def _refused(rule: str, entry: Draft, *, strict: bool = True) -> Refused:
    with pytest.raises(Refused) as caught:
        render(entry, n=7, channel_id=CHANNEL_ID, prev=ZEROS, strict=strict)
    assert caught.value.rule == rule
    return caught.value


def test_ascii_name_is_accepted() -> None:
    """NAME-1, SECURITY R20: the longest name of a strict channel; a longer one in a shared channel (SPEC C-004)."""
    _accepted(draft("x", thread="0" + "a-" * 31 + "z"))
    _accepted(draft("x", thread="con" + "a" * 200), strict=False)
    _accepted(draft("x", sender="con"), strict=False)


@pytest.mark.parametrize(
    "name",
    [
        *("", "-a", "A", "Retry", "a_b", "a.b", "a b", "a|b", "ä", "se\u0430t", "a\u200bb", "a\n", "a\nb", "a\0"),
        *("../etc", "..", "/etc", "a/b", "a\\b", "a" * 65, "a" * 200, "con", "nul", "com1", "lpt9", "prn", "aux"),
    ],
)
def test_name_that_is_no_file_name_everywhere_is_refused(name: str) -> None:
    """NAME-1, SECURITY R19, R20: paths, controls, homoglyphs, upper case, device names, 200 characters."""
    for entry in (draft("x", thread=name), draft("x", sender=name), draft("x", type=name)):
        _refused("NAME-1", entry)


def test_one_line_of_refs_is_accepted() -> None:
    """REFS-1, SPEC C-011, C-015: pipes and any script are fine."""
    _accepted(draft("x", refs="src/żółć.py@4e9f21c | thread: y | refs: z"))


@pytest.mark.parametrize("refs", ["a\nb", "a\x0bb", "a\u2028b", " a", "a ", "a\u202e", "\x1b[31m", "r" * 20_000])
def test_refs_of_two_lines_are_refused(refs: str) -> None:
    """REFS-1, SPEC C-015, SECURITY R19: no second line, no outer blanks, nothing hidden, an end."""
    _refused("REFS-1", draft("x", refs=refs))


def test_indented_header_is_accepted() -> None:
    """TEXT-1, SPEC C-014, SECURITY R17: quoted or indented it is text, in a fence as well."""
    _accepted(draft(f"```\n {HEADER}\n> {HEADER}\n```\n## MSG-9 is where it broke"))


@pytest.mark.parametrize("before", ["", "first\n", "```\n", "a\r\n", "a\x0b", "a\x1c", "a\x85", "a\u2028", "a\u2029"])
def test_line_that_reads_as_a_header_is_refused(before: str) -> None:
    """TEXT-1, SPEC C-013, C-014: at column 0, behind every line end of `str.splitlines`, in a fence too."""
    _refused("TEXT-1", draft(before + HEADER), strict=False)
    _refused("TEXT-1", draft(before + HEADER.replace("9", "\u0669"), {"a": 1}), strict=False)


def test_trailer_within_a_line_is_accepted() -> None:
    """TEXT-2: a line begins as a trailer at column 0 or not at all."""
    _accepted(draft(f"see `{TRAILER_START}`\n {TRAILER_START}"))


def test_line_that_begins_as_a_trailer_is_refused() -> None:
    """TEXT-2: the trailer is found without a doubt, whatever is taken away behind it."""
    _refused("TEXT-2", draft(f"a\n{TRAILER_START}", {"a": 1}))
    _refused("TEXT-2", draft(f"a\x0b{TRAILER_START}\nb"), strict=False)


def test_entry_of_fields_alone_is_accepted() -> None:
    """TEXT-3: a typed object needs no text."""
    _accepted(draft("", {"a": 1}))


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\t\n"])
def test_empty_entry_is_refused(text: str) -> None:
    """TEXT-3, SPEC C-020: neither text nor typed object."""
    _refused("TEXT-3", draft(text))


def test_typed_lookalike_before_the_end_is_accepted() -> None:
    """TEXT-4: the typed object is the last fence; an earlier one is text, and so is one before the real one."""
    _accepted(draft(f"{FENCE}\n"))
    _accepted(draft(f"x{FENCE}"))
    _accepted(draft(FENCE, {"real": True}))


def test_text_that_ends_as_a_typed_object_is_refused() -> None:
    """TEXT-4: whoever writes text alone writes no typed object."""
    _refused("TEXT-4", draft(FENCE))
    _refused("TEXT-4", draft(f"I say\n{FENCE}"))


def test_hidden_character_is_accepted_in_a_shared_channel() -> None:
    """TEXT-5, SPEC C-013: the public tool's channels carry every character and CR LF as they are."""
    _accepted(draft("a\u202eb\r\nc\0"), strict=False)
    _accepted(draft("tab\there"))


@pytest.mark.parametrize(
    "character", ["\0", "\x07", "\x1b", "\r", "\x85", "\u2028", "\u202e", "\u200b", "\U000e0041"]
)
def test_hidden_character_is_refused_in_a_strict_channel(character: str) -> None:
    """TEXT-5, SECURITY R19, B.1 (6): NUL, C0, C1, CR, separators, bidi, zero width, tags."""
    _refused("TEXT-5", draft(f"a{character}b"))


def test_lone_surrogate_is_refused() -> None:
    """TEXT-5, SECURITY S4: it has no UTF-8 form, in no channel."""
    _refused("TEXT-5", draft("a\ud800"), strict=False)


def test_text_of_a_mebibyte_is_accepted() -> None:
    """TEXT-6: the cap itself."""
    _accepted(draft("x" * MAX_TEXT))


def test_text_beyond_a_mebibyte_is_refused() -> None:
    """TEXT-6: one byte more, counted in UTF-8."""
    _refused("TEXT-6", draft("x" * (MAX_TEXT + 1)))
    _refused("TEXT-6", draft("ż" * (MAX_TEXT // 2 + 1)))


def test_typed_object_at_the_cap_is_accepted() -> None:
    """FIELDS-1: the cap itself."""
    _accepted(draft("", {"a": "x" * (MAX_FIELDS - len('{"a":""}'))}))


@pytest.mark.parametrize(
    "fields", [{"a": 1.5}, {"a": 2**53}, {"a": "\ud800"}, {"a": float("nan")}, {"a": "x" * (MAX_FIELDS - 7)}]
)
def test_typed_object_without_canonical_form_is_refused(fields: dict[str, object]) -> None:
    """FIELDS-1, SECURITY B.4: fractions, large integers, surrogates, and one byte beyond the cap."""
    _refused("FIELDS-1", draft("x", fields))


def _signs(sender: str, key: Signer) -> Callable[[bytes], str] | None:
    genesis = Genesis(
        channel_id=CHANNEL_ID,
        mode="shared",
        roster=("claude", "glm"),
        keys=(signer().public,),
        party_keys=(("claude", signer(2).public),),
    )
    return sign_with(lambda: key, genesis, channel="c", sender=sender)


def test_entry_signed_with_its_senders_key_is_accepted() -> None:
    """SIGN-1, SECURITY B.1: a party's own key for the party, the channel's for whoever has none."""
    assert _signs("claude", signer(2)) is not None
    assert _signs("glm", signer()) is not None


@pytest.mark.parametrize("seed", [1, 3])
def test_entry_that_another_key_would_sign_is_refused(seed: int) -> None:
    """SIGN-1, SECURITY R3, R12: the channel's key is none of the party's, nor is a stranger's."""
    with pytest.raises(Refused) as caught:
        _signs("claude", signer(seed))
    assert (caught.value.rule, caught.value.seat) == ("SIGN-1", "claude")
    assert "--sign-key" in caught.value.hint
