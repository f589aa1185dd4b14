"""One byte form, strict reading, visible text (SECURITY B.1, B.4)."""

import sys
import unicodedata
from types import MappingProxyType
from typing import Any

import pytest

from counterpoint.core.canonical import (
    HIDDEN,
    MAX_DEPTH,
    MAX_INT,
    NotCanonical,
    canonical_json,
    digest,
    parse_json,
    visible,
)
from counterpoint.core.values import Severity


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        ([True, False, 0, -0, MAX_INT, -MAX_INT], "[true,false,0,0,9007199254740991,-9007199254740991]"),
        ({"b": 1, "a": {"d": (), "c": ""}, "B": []}, '{"B":[],"a":{"c":"","d":[]},"b":1}'),
        ({"a b": '\u20ac$\u000f\nA\'B"\\\\"/'}, '{"a b":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'),
        ("\x00\x08\x09\x0c\x0d\x1f\x7f\u2028\U0001f600", '"\\u0000\\b\\t\\f\\r\\u001f\x7f\u2028\U0001f600"'),
        (MappingProxyType({"b": MappingProxyType({}), "a": 1}), '{"a":1,"b":{}}'),
        ([Severity.MAJOR], '["major"]'),
    ],
    ids=["null", "scalars", "keys", "rfc 8785 3.2.2", "escapes", "immutable", "a word"],
)
def test_a_value_has_one_text(value: object, text: str) -> None:
    """Sorted keys, no spaces, the escapes of RFC 8785 (SECURITY B.4)."""
    assert canonical_json(value) == text


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (1.0, "float has no canonical form"),
        ([float("nan")], "float has no canonical form"),
        (MAX_INT + 1, "an integer of 54 bits; at most 53 are kept"),
        (-(10**5000), "an integer of 16610 bits; at most 53 are kept"),
        ({"a": 1.0}, "float has no canonical form"),
        ({"a": ({"b": {"é": 1}},)}, "key 'é' is not ASCII"),
        ({1: 2}, "key 1 is not a string"),
        ({"é": 1}, "key 'é' is not ASCII"),
        ({"é" * 60: 1}, f"key {'é' * 60!r} is not ASCII"),
        ({"é" * 100: 1}, f"key {'é' * 60 + '...'!r} is not ASCII"),
        (["\udc80"], "a lone surrogate has no UTF-8 form"),
        ({"\ud800": 1}, "key '\\ud800' is not ASCII"),
        (b"x", "bytes has no canonical form"),
        ({1, 2}, "set has no canonical form"),
        (nested(MAX_DEPTH + 1), "nested deeper than 64"),
        ({"a": nested(MAX_DEPTH)}, "nested deeper than 64"),
    ],
    ids=[
        "float",
        "nan",
        "54 bits",
        "5000 digits",
        "float inside",
        "key inside",
        "int key",
        "key",
        "sixty",
        "long key",
        "surrogate",
        "bad key",
        "bytes",
        "set",
        "deep",
        "deep inside",
    ],
)
def test_a_value_without_one_text_is_refused(value: object, reason: str) -> None:
    """What two programs would write differently is not hashed (SECURITY B.4)."""
    with pytest.raises(NotCanonical) as caught:
        canonical_json(value)
    assert str(caught.value) == reason


def test_a_value_may_be_nested_as_deep_as_the_limit() -> None:
    """The limit is the deepest that is accepted, for writing and for reading."""
    value = nested(MAX_DEPTH)
    assert parse_json(canonical_json(value), max_bytes=1000) == value
    assert parse_json("[[1]]", max_bytes=5, max_depth=2) == [[1]]


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b' {"a": [1, -0, true, null, "\\ud83d\\ude00"]}\r\n', {"a": [1, 0, True, None, "\U0001f600"]}),
        ('"caf\u00e9"', "caf\u00e9"),
        (b'{"\xc3\xa9": 9007199254740991}', {"é": MAX_INT}),
        (b"-9007199254740991", -MAX_INT),
    ],
    ids=["object", "text", "other keys", "least"],
)
def test_strict_json_is_read(content: bytes | str, value: object) -> None:
    """Bytes or text, with white space around it, with keys that would not be canonical."""
    assert parse_json(content, max_bytes=100) == value


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"decision":"NO_PASS","decision":"PASS"}', "key 'decision' stands twice in one object"),
        (b'[{"a":{"b":1,"b":1}}]', "key 'b' stands twice in one object"),
        (b'{"%s":1,"%s":1}' % (b"k" * 99, b"k" * 99), f"key '{'k' * 60}...' stands twice in one object"),
        (b"NaN", "NaN is not a JSON value"),
        (b"[-Infinity]", "-Infinity is not a JSON value"),
        (b"1.5", "1.5 is not an integer; fractions and exponents are not accepted"),
        (b"1e999", "1e999 is not an integer; fractions and exponents are not accepted"),
        (b"0." + b"0" * 99, f"0.{'0' * 58}... is not an integer; fractions and exponents are not accepted"),
        (b"9007199254740992", "an integer of 54 bits; at most 53 are kept"),
        (b"-" + b"9" * 17, "an integer of 18 characters; at most 53 bits are kept"),
        (b"1" * 5000, "an integer of 5000 characters; at most 53 bits are kept"),
        (b'"\\ud800"', "a lone surrogate has no UTF-8 form"),
        (b'{"\\udfff":1}', "a lone surrogate has no UTF-8 form"),
        (b'"\xff"', "not UTF-8 at byte 1"),
        (b"\xef\xbb\xbf1", "not JSON: Expecting value at line 1 column 1"),
        (b"", "not JSON: Expecting value at line 1 column 1"),
        (b"{} {}", "not JSON: Extra data at line 1 column 4"),
        (b'{"a":1,}', "not JSON: Expecting property name enclosed in double quotes at line 1 column 8"),
        (b"{'a':1}", "not JSON: Expecting property name enclosed in double quotes at line 1 column 2"),
        (b'"\n"', "not JSON: Invalid control character at at line 1 column 2"),
        (b"[" * 100 + b"]" * 100, "nested deeper than 64"),
        (b"[" * 200_000, "nested deeper than 64"),
        (b"9" * 1_000_001, "1000001 bytes; at most 1000000 are read"),
        ("é" * 500_001, "1000002 bytes; at most 1000000 are read"),
        ("\ud800", "not JSON: Expecting value at line 1 column 1"),
    ],
    ids=[
        "twice",
        "twice inside",
        "twice and long",
        "nan",
        "infinity",
        "fraction",
        "overflow",
        "long fraction",
        "54 bits",
        "18 characters",
        "5000 digits",
        "surrogate",
        "surrogate key",
        "utf-8",
        "bom",
        "empty",
        "two",
        "comma",
        "quotes",
        "newline",
        "deep",
        "very deep",
        "large",
        "large text",
        "surrogate text",
    ],
)
def test_hostile_json_is_refused_by_a_typed_error(content: bytes | str, reason: str) -> None:
    """SECURITY S4: what the standard library accepts, repairs or dies of; the reason stays short."""
    with pytest.raises(NotCanonical) as caught:
        parse_json(content, max_bytes=1_000_000)
    shown = str(caught.value)
    # Python 3.13 words one of these in another way.
    assert shown == reason or (shown.startswith("not JSON: Illegal trailing comma") and content == b'{"a":1,}')


def test_a_depth_below_the_usual_is_held_and_named() -> None:
    """A caller may allow less; the error names what it allowed."""
    with pytest.raises(NotCanonical, match=r"^nested deeper than 2$"):
        parse_json("[[[1]]]", max_bytes=100, max_depth=2)


def test_a_digest_is_sha_256_in_lower_case_hex() -> None:
    """The test vector of FIPS 180-4 for `abc`."""
    assert digest(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


DRAWN_FORMATS = {
    *range(0x600, 0x606),
    0x6DD,
    0x70F,
    *range(0x890, 0x892),
    0x8E2,
    0x110BD,
    0x110CD,
    *range(0x13430, 0x13440),
}
"""Characters of category Cf that are drawn: Arabic, Syriac, Kaithi and Egyptian signs."""

IGNORED = {
    0xAD,
    0x34F,
    0x61C,
    *range(0x115F, 0x1161),
    *range(0x17B4, 0x17B6),
    *range(0x180B, 0x1810),
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    0x3164,
    *range(0xFE00, 0xFE10),
    0xFEFF,
    0xFFA0,
    *range(0xFFF0, 0xFFF9),
    *range(0x1BCA0, 0x1BCA4),
    *range(0x1D173, 0x1D17B),
    *range(0xE0000, 0xE1000),
}
"""Default_Ignorable_Code_Point of Unicode 16."""


def test_every_character_that_is_not_drawn_is_hidden() -> None:
    """Control, format, separator, surrogate and ignorable characters, by Unicode's classes (SECURITY B.1, R19)."""
    expected = {
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in {"Cc", "Cf", "Zl", "Zp", "Cs"}
        and code not in {0x9, 0xA, *DRAWN_FORMATS}
    } | IGNORED
    assert {code for code in range(sys.maxunicode + 1) if HIDDEN.match(chr(code))} == expected


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é \U0001f600\ttab\nline", "plain é \U0001f600\ttab\nline"),
        ("a\u202eb", "a\\u{202e}b"),
        ("\x00\x1b[31m", "\\u{0}\\u{1b}[31m"),
        ("a\r\nb\rc\n\r\r\n", "a\nb\\u{d}c\n\\u{d}\n"),
        ("\u2028\u2029\x85\x0b\x0c", "\\u{2028}\\u{2029}\\u{85}\\u{b}\\u{c}"),
        ("\ufeff\U000e0041\udc80", "\\u{feff}\\u{e0041}\\u{dc80}"),
    ],
    ids=["drawn", "bidi", "control", "line ends", "separators", "marks"],
)
def test_hidden_characters_are_written_out(text: str, shown: str) -> None:
    """Written, never dropped; CR LF is a line end (SECURITY B.1)."""
    assert visible(text) == shown
