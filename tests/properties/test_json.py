"""Canonical JSON against the standard library, and text made visible (SECURITY B.4)."""

import json

from hypothesis import given
from hypothesis import strategies as st

from counterpoint.core.canonical import HIDDEN, NotCanonical, canonical_json, parse_json, visible
from tests.properties.values import json_values

ASCII = st.text(st.characters(max_codepoint=0x7F))


@given(json_values(ASCII))
def test_the_canonical_text_is_the_standard_librarys_and_reads_back(value: object) -> None:
    """On the allowed subset both agree, and the text of what was read is the text (SECURITY B.4)."""
    text = canonical_json(value)
    assert text == json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert parse_json(text.encode(), max_bytes=len(text.encode())) == value == json.loads(text)
    assert canonical_json(parse_json(text, max_bytes=len(text.encode()))) == text


@given(json_values(st.text()))
def test_whatever_the_standard_library_writes_is_read_alike(value: object) -> None:
    """Other spacing, other escapes, other keys: the same value."""
    for text in (json.dumps(value), json.dumps(value, indent=1, ensure_ascii=False)):
        assert parse_json(text, max_bytes=len(text.encode())) == value


@given(st.binary() | st.text() | json_values(st.text()).map(json.dumps).map(lambda text: text[:-1] + "}"))
def test_anything_at_all_is_read_or_refused_by_one_error(content: bytes | str) -> None:
    """No other exception leaves the reader, and what it reads has a value in the standard library, too."""
    try:
        value = parse_json(content, max_bytes=10_000)
    except NotCanonical:
        return
    assert value == json.loads(content)


@given(st.text(st.characters()) | st.text("\r\n\t\u202e\u200b\\u{}2e"))
def test_visible_text_hides_nothing_and_stays_as_it_is(text: str) -> None:
    """Idempotent, free of hidden characters, and the drawn ones are all still there (SECURITY B.1)."""
    shown = visible(text)
    assert not HIDDEN.search(shown)
    assert visible(shown) == shown
    assert HIDDEN.sub("", text.replace("\r\n", "\n")) == HIDDEN.sub("", _unwritten(text, shown))


def _unwritten(text: str, shown: str) -> str:
    """Undo `visible` with the help of the original: what was written out becomes itself again."""
    rest, back = shown, ""
    for character in text.replace("\r\n", "\n"):
        written = f"\\u{{{ord(character):x}}}" if HIDDEN.match(character) else character
        assert rest.startswith(written)
        rest, back = rest[len(written) :], back + character
    assert rest == ""
    return back
