"""Text of others inside our Markdown, held against a CommonMark reader."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoint.core.canonical import HIDDEN
from counterpoint.views.markdown import code, fenced, inline, wrapped
from tests import need
from tests.example_cases import HOSTILE

PIECES = st.lists(
    st.sampled_from(
        ["`", "``", "~~~", "\n", " ", "\t", "a", "# ", "> ", "- ", "|", "<b>", "\\", "[x](y)", "&lt;", "\r"]
    )
)
TEXTS = PIECES.map("".join) | st.text()


def _tokens(markdown: str) -> list[Any]:
    reader = need.python_module("markdown_it").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens: list[Any] = reader.parse(markdown)
    return tokens


def _inner(markdown: str) -> list[tuple[str, str]]:
    return [(token.type, token.content) for each in _tokens(markdown) for token in each.children or ()]


@given(TEXTS)
def test_no_text_gets_out_of_a_fence(text: str) -> None:
    """One block of code and nothing beside it, whatever stands in it (SECURITY B.4, T2, T3)."""
    (token,) = _tokens(fenced(text))
    assert (token.type, token.info) == ("fence", "text")
    assert not HIDDEN.search(token.content)


@given(TEXTS)
def test_no_text_gets_out_of_a_span(text: str) -> None:
    """A span of code keeps to its line and closes where we close it."""
    span = code(text)
    assert "\n" not in span
    inner = _inner(f"- before {span} after")
    if inner != [("text", "before (empty) after")]:
        assert [kind for kind, _ in inner] == ["text", "code_inline", "text"]
        assert (inner[0][1], inner[2][1]) == ("before ", " after")


@given(TEXTS)
def test_what_stands_plain_in_a_line_is_plain_text(text: str) -> None:
    """`inline` leaves only such text as it is that means nothing in Markdown."""
    kinds = [kind for kind, _ in _inner(f"- before {inline(text)} after")]
    assert kinds in (["text"], ["text", "code_inline", "text"])


@pytest.mark.parametrize(
    "text",
    [
        "exit 1",
        "checks, critic approved, and nothing is open",
        "stopped: budget_spent",
        "the deadline was 2026-11-30T11:15:00+00:00",
        "in the file at line 12 (of 40)",
    ],
)
def test_ordinary_words_stay_plain(text: str) -> None:
    """A sentence by code reads as a sentence."""
    assert inline(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "see www.example.org",
        "http://example.org",
        "mailto:a",
        ":100:",
        "_so_",
        "*so*",
        "@you",
        "#12",
        "a|b",
        "<b>",
        "$x$",
    ],
)
def test_what_some_readers_make_more_of_is_put_in_code(text: str) -> None:
    """Links without brackets, names, numbers, pictures by word, formulas (SECURITY T2, T3)."""
    assert inline(text) == f"`{text}`"


def test_a_long_span_is_cut_and_says_so() -> None:
    """A heading stays a heading's length; `result.json` has the text whole."""
    assert code("x" * 301) == f"`{'x' * 300}…`"
    assert inline("x" * 301) == code("x" * 301)


@given(st.text(alphabet="ab \n\t-", max_size=400))
def test_wrapping_changes_blanks_alone(text: str) -> None:
    """Not one word is lost, joined or split."""
    assert wrapped(text, 40).split() == text.split()


def test_wrapping_keeps_width_lines_and_indentation() -> None:
    """Lists and indented code of a seat stay readable."""
    shown = wrapped("one\n\n  - " + "word " * 20, 40)
    assert shown.startswith("one\n\n  - word")
    assert all(len(line) <= 40 for line in shown.split("\n"))
    assert all(line.startswith("  ") for line in shown.split("\n")[2:])


def test_the_hostile_example_is_one_fence_and_one_span() -> None:
    """The text that the other tests throw at every field."""
    assert [token.type for token in _tokens(fenced(HOSTILE))] == ["fence"]
    assert [kind for kind, _ in _inner(code(HOSTILE))] == ["code_inline"]
