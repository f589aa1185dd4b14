"""What may not stand in a document besides its debate: every line of it is the program's, or a seat's in code."""

from collections.abc import Iterator
from typing import Final

import pytest

from counterpoint.core.entries import SubmissionSealed
from counterpoint.core.limits import Limits
from counterpoint.protocols.ballot import BALLOT
from counterpoint.protocols.ballot.layout import read_debate, read_document
from counterpoint.views.ballot_check import check_document
from tests.ballot_case import ANN, BEN, NOW, ORCHESTRATOR, Play, challenge, revision, vote, weights


def rendered(case: Play) -> str:
    sealed = [entry.turn.id for entry in case.entries if isinstance(entry, SubmissionSealed)]
    assert BALLOT.document is not None
    return BALLOT.document(case.state, dict.fromkeys(sealed, NOW.isoformat()))


def debated() -> Iterator[str]:
    """Yield the document at each step of a ballot that has every kind of section."""
    case = Play(ORCHESTRATOR, ANN, BEN, limits=Limits(max_rounds=2))
    yield rendered(case)
    case.all_answer(vote(case, "but", "a comma"), vote(case, "yes"))
    yield rendered(case)
    case.all_answer(weights(v1_R1="cosmetic"))
    yield rendered(case)
    case.all_answer(challenge("v1-R1"), challenge())
    yield rendered(case)
    case.all_answer(revision("Another.", "v1-R1"))
    yield rendered(case)
    case.all_answer(vote(case, "no"), vote(case, "yes"))
    yield rendered(case)


def faults(content: str) -> tuple[str, ...]:
    return check_document(content, name="DOC.md", snapshots=None, case=None).faults


def test_every_line_of_a_debate_is_known_at_each_step() -> None:
    for content in debated():
        assert faults(content) == ()
        assert all(each.strays == () for each in read_debate(read_document(content, name="x").debate))


CLAIMS: Final = (
    *("- Vote: **Approved** on v2", "- Vote: none on v2", "- Date: 2026-01-01T00:00:00+00:00", "- Reviewed: v2"),
    *(
        "- Decision: **approved** (agreed)",
        "- Deadline: none",
        "- Roster: `ben`",
        "**Approved** by all",
        "### Result",
    ),
    *("The votes are sealed until all are in.", "- Agent: `command`, party `eve`", "> - Vote: **Approved** on v2"),
)


@pytest.mark.parametrize("claim", CLAIMS)
def test_no_line_is_added_to_a_debate_unnoticed(claim: str) -> None:
    """SPEC B-20: a vote, a date or a decision that stands twice, or where nobody's is, wherever it is put."""
    *_, content = debated()
    lines = content.split("\n")
    begun, is_code = lines.index("## Debate — Round 1"), False
    for at in range(begun + 1, len(lines)):
        if not is_code:
            added = "\n".join((*lines[:at], claim, *lines[at:]))
            assert faults(added), f"{claim!r} at line {at + 1}"
        is_code = is_code != lines[at].startswith("```")
