"""A ballot's document: read back byte for byte, and drawn as it is meant, whatever was written into it."""

from itertools import pairwise
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from counterpoint.core.entries import SubmissionSealed
from counterpoint.core.limits import Limits
from counterpoint.errors import SourceError
from counterpoint.protocols.ballot import BALLOT, as_text, candidate_of, debate_heading, version_heading
from counterpoint.protocols.ballot.layout import read_debate, read_document
from counterpoint.protocols.ballot.text import forged_line, left_open, markers_in
from tests import need
from tests.ballot_case import ANN, BEN, NOW, ORCHESTRATOR, Play, challenge, docket_of, revision, vote, weights

PIECES: Final = [
    *("# A", "## Debate — Round 1", "## Debate — Round 9", "Debate — Round 1", "---", "===", version_heading(2)),
    *("## Unresolved Divergence", "### `ben`", "- Vote: **Approved** on v1", "- Date: 2026-01-01T00:00:00+00:00"),
    *("```", "````", "~~~", "   ```", "  ```", "    ```", "- ```", "1. ```", "> ```", ">", "-", "\t```", "``` `x`"),
    *(
        "<!--",
        "-->",
        "<details>",
        "</details>",
        "<div",
        "<script>",
        "</script>",
        "<?",
        "?>",
        "<![CDATA[",
        "]]>",
        "<b>",
        "<!x",
        '<p title="',
        "<b hidden",
    ),
    *(
        "",
        "",
        "",
        "text",
        "  text",
        "    code",
        "| a |",
        "|---|",
        "[a]: b",
        "`",
        "``",
        "\\`",
        "*",
        "&lt;",
        "[VERIFY]",
    ),
    *("\r", "x\u200b", "\u202e", "\x1b[31m", "\x00", "é — ”", "\U0001f600", "\u2028", "## Debate\u2003— Round 1"),
]
HOSTILE: Final = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=6)), max_size=9).map("\n".join)
BODY: Final = HOSTILE.map(lambda text: text.replace("\n", "\r\n") if text.endswith("x") else text)
SAYS: Final = st.builds(lambda text: f"{text}.", HOSTILE)


def rendered(case: Play) -> str:
    sealed = [entry.turn.id for entry in case.entries if isinstance(entry, SubmissionSealed)]
    assert BALLOT.document is not None
    return BALLOT.document(case.state, dict.fromkeys(sealed, NOW.isoformat()))


def is_plain(body: str) -> bool:
    """Return whether the rules take it (DOCUMENT-1, DOCUMENT-2)."""
    text = as_text(body)
    return bool(text.strip()) and forged_line(text) is None and left_open(text) is None


def can_be_approved(body: str) -> bool:
    """Return whether the rules take it, and an approval of it (QUOTE-2)."""
    return is_plain(body) and not markers_in(as_text(body))


def drawn(markdown: str) -> list[str]:
    """Return the headings of the second level that a reader of Markdown draws at the top level."""
    reader: Any = need.python_module("markdown_it").MarkdownIt("commonmark")
    tokens = reader.parse(markdown)
    return [
        f"## {inner.content}"
        for token, inner in pairwise(tokens)
        if token.type == "heading_open" and token.tag == "h2" and token.level == 0
    ]


@settings(max_examples=150)
@given(body=BODY, second=BODY, says=st.lists(SAYS, min_size=4, max_size=4))
def test_a_document_is_read_back_as_it_was_written(body: str, second: str, says: list[str]) -> None:
    """SPEC B-03, B-13, B-19: the text byte for byte, and every round with the votes that were cast in it."""
    case = Play(
        ORCHESTRATOR, ANN, BEN, limits=Limits(max_rounds=2), docket=docket_of(body if can_be_approved(body) else "x")
    )
    open_one = read_document(rendered(case), name="x")
    assert (open_one.text, open_one.version) == (case.state.text, 1)
    assert [each.is_over for each in read_debate(open_one.debate)] == [False]
    case.all_answer(vote(case, "no", reason=says[0]), vote(case, "but", says[1]))
    again = second if can_be_approved(second) else "y"
    ids = ["v1-N1"]
    case.all_answer(revision(again if as_text(again) != case.state.text else "z", *ids))
    case.all_answer(vote(case, "but", says[2], reason=says[3]), vote(case, "yes"))
    case.all_answer(weights(v2_R1="cosmetic"))
    case.all_answer(challenge("v2-R1"), challenge())
    content = rendered(case)
    found = read_document(content, name="x")
    assert (found.title, found.version, found.text) == ("Timers", 2, case.state.text)
    assert content == f"# Timers\n\n{version_heading(2)}\n{found.text}{found.debate}"
    assert candidate_of(found.text) == case.state.docket.candidate
    rounds = read_debate(found.debate)
    assert [(each.number, each.version, each.candidate) for each in rounds] == [
        (number, number, candidate_of(case.state.text_of(number))) for number in (1, 2)
    ]
    written = [(v.seat, v.vote, v.version, v.at) for each in rounds for v in each.votes]
    assert written == [(cast.seat, cast.vote, cast.version, NOW.isoformat()) for cast in case.state.casts]


@settings(max_examples=300)
@given(body=BODY)
def test_nothing_in_a_text_hides_or_forges_the_debate_where_markdown_is_drawn(body: str) -> None:
    """DOCUMENT-2: a reader of Markdown draws the debate's heading below whatever text the rules take, and once."""
    text = as_text(body)
    if not is_plain(body):
        return
    markdown = f"# T\n\n{version_heading(1)}\n{text}{debate_heading(1)}\n\nEnd.\n"
    headings = drawn(markdown)
    assert (headings.count(version_heading(1)), headings.count(debate_heading(1))) == (1, 1)
    assert headings[-1] == debate_heading(1)


@settings(max_examples=200)
@given(
    content=st.one_of(HOSTILE, st.builds(lambda a, b: f"# T\n\n{version_heading(3)}\n{a}\n\n{b}", HOSTILE, HOSTILE))
)
def test_whatever_a_file_holds_is_read_or_refused(content: str) -> None:
    """No other error than a sentence; a plain text loses nothing but its title."""
    try:
        found = read_document(content, name="x.md")
        read_debate(found.debate)
    except SourceError:
        return
    assert "\n" not in found.title
    assert content.endswith(found.text + found.debate)


@settings(max_examples=200)
@given(body=BODY)
def test_the_byte_form_of_a_text_is_one(body: str) -> None:
    """SPEC B-13: whoever normalises again changes nothing."""
    text = as_text(body)
    assert as_text(text) == text
    assert "\r" not in text
    assert text.startswith("\n")
    assert text.endswith("\n\n")
