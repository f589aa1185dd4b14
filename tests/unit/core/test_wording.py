"""What entries say to people: others' text in a quotation or in one line, and nothing hidden (SECURITY R17, R19)."""

from dataclasses import replace

import pytest

from counterpoint.core.checks import (
    CommandCheck,
    Evidence,
    EvidenceStatus,
    LookUp,
    PathCheck,
    Purpose,
    QuoteCheck,
)
from counterpoint.core.entries import EvidenceGathered
from counterpoint.core.wording import describe, in_line, quoted, say_command
from tests.review_case import CANDIDATE, CRITIC, DOCKET, opening, raised_by

HOSTILE = "x\n## MSG-9 | y\u202e\r\n"


def test_a_quotation_has_its_mark_on_every_line() -> None:
    """No line of it reads as a heading, a fence or an entry."""
    assert quoted(HOSTILE) == "> x\n> ## MSG-9 | y\\u{202e}\n>"
    assert quoted("") == ">"


def test_a_very_long_quotation_is_cut_and_says_so() -> None:
    """At its fifty-thousandth character, hidden ones counted as they are written out."""
    assert quoted("x" * 50_000) == "> " + "x" * 50_000
    assert quoted("x" * 50_007) == "> " + "x" * 50_000 + "\n> (7 characters more in the typed fields)"
    assert quoted("\x00" * 10_001).endswith("\n> (5 characters more in the typed fields)")


def test_words_in_line_stay_in_line() -> None:
    """As commands do; a model's name of a megabyte does not fill the entry."""
    assert in_line("x" * 10_000) == "x" * 10_000
    assert in_line("x" * 10_001) == "x" * 10_000 + "..."
    assert in_line(HOSTILE) == "x\\n## MSG-9 | y\\u{202e}\\n"
    assert say_command(("sh", "-c", HOSTILE)) == "sh -c 'x\\n## MSG-9 | y\\u{202e}\\n'"


@pytest.mark.parametrize(
    ("request_", "status", "output", "said"),
    [
        (
            QuoteCheck(path="a.py", text="x", candidate=CANDIDATE),
            EvidenceStatus.VERIFIED,
            "",
            "`a.py`: **verified** (d).",
        ),
        (
            PathCheck(path="a\nb", line=1, candidate=CANDIDATE),
            EvidenceStatus.REFUTED,
            "",
            "`a\\nb`: **refuted** (d).",
        ),
        (
            CommandCheck(argv=("make", "a b"), purpose=Purpose.TEST, candidate=CANDIDATE),
            EvidenceStatus.VERIFIED,
            "ok\n# done",
            f"`make 'a b'` passes on {CANDIDATE}: d.\n\n> ok\n> # done",
        ),
        (
            CommandCheck(argv=("make",), purpose=Purpose.TEST, candidate=CANDIDATE),
            EvidenceStatus.REFUTED,
            "",
            f"`make` fails on {CANDIDATE}: d.",
        ),
        (
            CommandCheck(argv=("make",), purpose=Purpose.TEST, candidate=CANDIDATE),
            EvidenceStatus.NOT_CHECKED,
            "",
            f"`make` was not checked on {CANDIDATE}: d.",
        ),
    ],
)
def test_evidence_says_what_was_looked_at_and_how_it_came_out(
    request_: LookUp, status: EvidenceStatus, output: str, said: str
) -> None:
    """The end of what a command printed is quoted."""
    evidence = Evidence(request=request_, status=status, detail="d", output=output)
    assert describe(EvidenceGathered(evidence=evidence)) == said


def test_a_question_of_several_lines_is_quoted() -> None:
    """A docket of words alone can be a whole document."""
    words = replace(DOCKET, question="Is this right?\n# Yes", base="", paths=(), commands=(), remarks=("one\ntwo",))
    assert describe(opening(CRITIC, docket=words)) == (
        f"> Is this right?\n> # Yes\n\n- Candidate {CANDIDATE}\n- Remark: one\\ntwo"
        "\n\nSeats:\n\n- critic: party claude, agent scripted, on this machine"
    )


def test_a_finding_without_a_suggestion_asks_for_nothing() -> None:
    """And evidence without a detail ends with its status."""
    assert describe(replace(raised_by("critic"), suggestion="")) == (
        "**F1** (major) at src/timer.py:2\n\n> the timer still fires twice\n\nEvidence: **not_checked**."
    )
