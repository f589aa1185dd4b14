"""Texts that claim of their sources what code would not look up, were it read letter by letter (SPEC B-07)."""

import time
from typing import Final

import pytest

from counterpoint.errors import Refused
from counterpoint.protocols.ballot.text import MAX_TEXT, citations_in, markers_in
from tests.ballot_case import Play, docket_of, vote

SOURCES: Final = {"a.md": "The queue forgets what it has run.\n"}
KEPT: Final = "The queue keeps"
FABRICATED: Final = (
    *(
        '"The queue keeps" ([source: a.md])',
        '"The queue keeps", [source: a.md]',
        '**"The queue keeps".** [source: a.md]',
    ),
    *("„The queue keeps“ [source: a.md]", "„The queue keeps” [source: a.md]", "«The queue keeps» [source: a.md]"),
    *(
        "»The queue keeps« [source: a.md]",
        "« The queue keeps » [source: a.md]",
        "\u2018The queue keeps\u2019 [source: a.md]",
    ),
    *("'The queue keeps' [source: a.md]", '"The queue keeps" [source:\na.md]', '"The queue keeps" [source : a.md]'),
    *('"The queue keeps" [sources: a.md]', '"The queue keeps" [source: a.md', '"The queue keeps"</b> [source: a.md]'),
    *("&quot;The queue keeps&#34; [source: a.md]", '"The queue keeps" &#91;source: a.md&#93;'),
    *(
        '"The queue keeps"\u200b [source: a.md]',
        '"The queue keeps [source: a.md]."',
        "“The queue keeps [source: a.md]”",
    ),
    '> "The queue\n> keeps" [source: a.md]',
)


@pytest.mark.parametrize("body", FABRICATED)
def test_a_quotation_is_looked_up_however_it_is_marked(body: str) -> None:
    """QUOTE-3: what a reader takes for the words of the source has to stand there."""
    case = Play(sources=SOURCES, docket=docket_of(body))
    with pytest.raises(Refused, match=rf"^'{KEPT}' \[source: a\.md\] at line .* \[QUOTE-3\]$"):
        case.answer("ann", vote(case, "yes"))


@pytest.mark.parametrize(
    ("body", "quote"),
    [
        ('"it said "queue" and kept" [source: a.md]', 'it said "queue" and kept'),
        ("“it said “queue” and kept” [source: a.md]", "it said “queue” and kept"),
        ('"It keeps. "The queue" [source: a.md]', 'It keeps. "The queue'),
        ('It keeps. " The queue" [source: a.md]', 'It keeps. " The queue'),
        ('It keeps. The queue" [source: a.md]', "It keeps. The queue"),
        ('One.\n\nIt keeps. The queue" [source: a.md]', "It keeps. The queue"),
        ('"one\n\nThe queue" [source: a.md]', "The queue"),
        ("\u2018what the users\u2019 queue\u2019 [source: a.md]", "what the users\u2019 queue"),
        ("'don't keep' [source: a.md]", "don't keep"),
        ("the users' [source: a.md]", ""),
        ("It's the users\u2019 [source: a.md]", ""),
        ('"queue" says [source: a.md]', ""),
        ('A 5" queue. "queue" [source: a.md]', "queue"),
        ('"a" [source: a.md], "b"; see [source: a.md]', "a"),
        ('"" [source: a.md]', ""),
        ('"a &amp; b" [source: a.md]', "a &amp; b"),
        (f'"{"queue " * 500}" [source: a.md]', f"{'queue ' * 333}q…"),
    ],
)
def test_a_quotation_is_never_read_as_less_than_a_reader_takes_it_for(body: str, quote: str) -> None:
    """QUOTE-3: marks within marks, marks that are not paired, apostrophes, and more words than are looked up."""
    first, *_ = citations_in(body)
    assert (first.path, first.quote) == ("a.md", quote)


@pytest.mark.parametrize(
    ("body", "path"),
    [("[source: ]", ""), ("[source: a.md and\nb.md]", "a.md and b.md"), ("[source: a.md\n\nb]", "a.md")],
)
def test_a_source_that_is_none_is_looked_up_all_the_same(body: str, path: str) -> None:
    """QUOTE-3: a name that no file has is not passed over."""
    (cited,) = citations_in(body)
    assert cited.path == path
    case = Play(sources={}, docket=docket_of(body))
    with pytest.raises(Refused, match=r"does not hold: it is not there.*QUOTE-3"):
        case.answer("ann", vote(case, "yes"))


@pytest.mark.parametrize("body", ["[source](https://example.org)", "[Source code: there]", "source: a.md"])
def test_what_is_no_citation_cites_nothing(body: str) -> None:
    assert citations_in(body) == ()


@pytest.mark.parametrize(
    ("body", "mark"),
    [
        ("A fact [verify].", "[verify]"),
        ("A fact [ Verify: the date ].", "[ Verify: the date ]"),
        ("A fact [**VERIFY**].", "[**VERIFY**]"),
        ("A fact [VERIFY: the\ndate].", "[VERIFY: the date]"),
        (f"A fact [VERIFY: {'x' * 400}].", f"[VERIFY: {'x' * 198}"),
        ("A fact [NO DOCUMENTARY\nEVIDENCE].", "[NO DOCUMENTARY EVIDENCE]"),
        ("> A fact [No  documentary\n> evidence].", "[No documentary > evidence]"),
        ("A fact [VERIFY", "[VERIFY"),
    ],
)
def test_a_mark_counts_however_it_is_written_or_broken_into_lines(body: str, mark: str) -> None:
    """QUOTE-2: an editor that fills paragraphs makes no doubtful text approvable."""
    assert markers_in(body) == (f"{mark} at line 1",)
    case = Play(docket=docket_of(body))
    with pytest.raises(Refused, match="QUOTE-2"):
        case.answer("ann", vote(case, "yes"))


@pytest.mark.parametrize("body", ["[verify your email](x)", "[verify][1]", "[verify]: https://x"])
def test_a_link_is_no_mark(body: str) -> None:
    assert markers_in(body) == ()


@pytest.mark.parametrize(
    "piece",
    [
        '" [source:a]',
        "”",
        "“",
        "[source:",
        "“““” [source: a] \u2019",
        "<",
        '"x" [source: a]\n\n',
        "[",
        "&quot;",
        "'x ",
    ],
)
def test_no_text_takes_long_to_read(piece: str) -> None:
    """SECURITY B.4: every fold reads the citations again."""
    text = f'"{piece * (MAX_TEXT // len(piece))}" [source: a.md]'
    begun = time.process_time()
    assert citations_in(text)
    assert markers_in(text) == ()
    assert time.process_time() - begun < 5
