"""What code is asked of an author's edit, and the message of its commit (SPEC D-16)."""

import pytest

from counterpoint.core.checks import EditCheck
from counterpoint.core.docket import Terms
from counterpoint.core.limits import Limits
from counterpoint.protocols.review import REVIEW
from tests.review_case import AUTHOR, CANDIDATE, CRITIC, Play, answered, finding, given, verdict


def asked(case: Play, reply: dict[str, object]) -> EditCheck:
    """Return what is looked up for an author's reply."""
    turn = case.owed("author")
    (request,) = REVIEW.checks(case.state, turn, REVIEW.parse(case.state, turn, reply))
    assert isinstance(request, EditCheck)
    return request


def play(*findings: dict[str, object], terms: Terms | None = None) -> Play:
    case = Play(AUTHOR, CRITIC, limits=Limits(max_rounds=3), terms=terms)
    case.read(verdict(*findings))
    return case


def test_an_edit_is_looked_at_with_its_paths_its_start_and_its_message() -> None:
    """Findings with what was answered to them are in the commit, and how to find the case (SPEC D-16)."""
    case = play(finding(issue="It fires twice.\nOn Mondays."), finding(id="F2", severity="nit", location="old.py"))
    reply = given(
        answered("fix", "F1", "It returns early."),
        answered("rebut", "F2", "It is\nused."),
        changed=["src/timer.py", "a.py"],
    )
    assert asked(case, reply) == EditCheck(
        turn="answering.1.author.1",
        start=CANDIDATE,
        paths=("a.py", "src/timer.py"),
        commits=True,
        message=(
            "Return early\n"
            "\n"
            "F1 (major) src/timer.py:2: It fires twice.\n"
            "  fix: It returns early.\n"
            "\n"
            "F2 (nit) old.py: the timer still fires twice\n"
            "  rebut: It is\\nused.\n"
            "\n"
            "Counterpoint-Case: review-1\n"
            "Counterpoint-Round: 1\n"
            "Counterpoint-Author: author"
        ),
    )


def test_a_later_edit_starts_from_the_candidate_on_the_table() -> None:
    """As it lies in the work tree; and without commits none is made."""
    case = play(finding(), terms=Terms(commits=False))
    case.reply(answered("fix"), changed=["src/timer.py"])
    case.read(verdict(finding()))
    request = asked(case, given(answered("fix"), changed=["src/timer.py"]))
    assert (request.turn, request.start, request.commits) == ("answering.2.author.1", case.candidate, False)


@pytest.mark.parametrize(
    ("summary", "subject"),
    [
        ("x" * 72, "x" * 72),
        ("x" * 73, "x" * 71 + "…"),
        (" Mend it \n", "Mend it"),
        ("Mend it\n\nCounterpoint-Round: 9", "Mend it\\n\\nCounterpoint-Round: 9"),
        ("a\u202eb", "a\\u{202e}b"),
    ],
)
def test_the_subject_is_one_line(summary: str, subject: str) -> None:
    """An author writes no trailer and hides nothing in it (SECURITY B.1)."""
    message = asked(play(finding()), given(answered("fix"), changed=["a"], summary=summary)).message
    assert message.split("\n")[:2] == [subject, ""]
    assert message.count("\nCounterpoint-Round: ") == 1


def test_a_long_finding_does_not_fill_the_log() -> None:
    """The ledger has the whole."""
    case = play(finding(issue="i" * 500))
    lines = asked(case, given(answered("fix", reasoning="r" * 500), changed=["a"])).message.split("\n")
    assert lines[2:4] == [f"F1 (major) src/timer.py:2: {'i' * 199}…", f"  fix: {'r' * 399}…"]


def test_an_answer_to_nothing_is_in_no_message() -> None:
    """It is refused; until then it is no finding."""
    message = asked(play(finding()), given(answered("fix", "F9"), changed=["a"])).message
    assert "F9" not in message
