"""Texts that would pass for the debate, or hide it, where a page is drawn (DOCUMENT-2, SPEC B-03)."""

import time
from typing import Final

import pytest

from counterpoint.protocols.ballot.text import MAX_TEXT, as_text, forged_line, left_open

FORGED: Final = (
    ("## D\u0435bate — Round 1", 1),
    ("## \uff24ebate — R\u03bfund 1", 1),
    ("## &#68;ebate &mdash; Round&nbsp;1", 1),
    ("## Debate — R<b>o</b>und 1", 1),
    ("<h2><b>Debate</b> — Round 1</h2>", 1),
    ("<h2\nclass=x>Debate — Round 1</h2>", 1),
    ("text <h3>\nUnresolved Divergence</h3>", 1),
    ("Debate\n— Round 1\n===", 2),
    ("> Unresolved\n> Divergence\n> ---", 2),
    ("## Cu\u0301rrent Consolidated Version — v2", 1),
)


@pytest.mark.parametrize(("body", "line"), FORGED)
def test_a_heading_that_only_looks_like_the_debates_is_found(body: str, line: int) -> None:
    """SECURITY R19: look-alikes, references, tags within words, and headings of more than one line."""
    found = forged_line(f"Text.\n\n{body}\n")
    assert found is not None
    assert found[0] == line + 2


@pytest.mark.parametrize(
    "body",
    [
        "## Debate about rounds",
        "We debate.\n\nRound 1\n---",
        "<h2>Debates</h2>",
        "x <h7>Debate — Round 1",
        "a &lt;b&gt; c\n---",
        "---\ntitle: x\n---",
    ],
)
def test_other_headings_may_stand(body: str) -> None:
    assert forged_line(f"{body}\n") is None


OPEN: Final = (
    *("<!DOCTYPE html", "<!x\n\ntext", '<p title="', "<hr title='x", '<p>x</p><b title="', "<p\n\n", "- </p\n"),
    *(
        "<b hidden>",
        '<span style="display:none">',
        "<a\nhidden>",
        "x <b\n\ta=1\n\tclass='x'>",
        "<x-y hidden>",
        "<font color=white>",
        '<b class="h"/>',
    ),
    *("<video>", "<audio>", "<canvas>", "<object>", "<datalist>", "<progress>", "<rp>"),
)


@pytest.mark.parametrize("body", OPEN)
def test_what_would_hide_the_debate_counts_as_open(body: str) -> None:
    """What swallows the rest of a page as a tag's own words, what draws nothing, and what styles all that follows."""
    assert left_open(as_text(f"Text\n\n{body}")) is not None


@pytest.mark.parametrize(
    "body",
    [
        "<!DOCTYPE html>",
        "<!x\ny>",
        '<p title="a > b">x</p>',
        "<br/> a <hr class='x'>",
        "<https://example.org> and <a@b.c>",
        "x <y and <b",
        "x <b\n\nhidden>",
        "x <b\nother>",
        "<b hidden>x</b>",
        "<p hidden>",
        "<!-- <b -->\n<br> <!-- a <b -->",
        "<video src=x></video>",
        "Use <name> or List<String>",
        '<svg viewBox="0 0 1 1"><path id="a" d="M0"/></svg>',
        "```\n<b hidden>\n```",
    ],
)
def test_markup_that_is_closed_may_stand(body: str) -> None:
    assert left_open(as_text(body)) is None


@pytest.mark.parametrize(
    "piece",
    [
        "<a ",
        '<a b="',
        "<b hidden",
        "<!x",
        "&#68;",
        "<h1>",
        "a\n---\n",
        "<p>x\n",
        "</p ",
        "> ",
        "\n- <",
        "<!--",
        "--",
        "===\n",
    ],
)
def test_no_text_takes_long_to_look_through(piece: str) -> None:
    """SECURITY B.4."""
    text = piece * (MAX_TEXT // len(piece))
    begun = time.process_time()
    forged_line(text)
    left_open(text)
    assert time.process_time() - begun < 5
