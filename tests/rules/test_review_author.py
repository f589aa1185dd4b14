"""What an author may answer, and what follows in the record, by rule: one accepted and one refused example each."""

from dataclasses import replace
from typing import Any

import pytest

from counterpoint.core.entries import (
    AnswerRequested,
    CandidateKept,
    CandidateOffered,
    DispositionGiven,
)
from counterpoint.core.findings import Disposition
from counterpoint.core.limits import Limits
from tests.review_case import (
    AUTHOR,
    CANDIDATE,
    CHECKS,
    CRITIC,
    SKEPTIC,
    Play,
    Tree,
    answered,
    finding,
    given,
    refused,
    verdict,
)
from tests.review_rounds import ROUNDS, TIMER, asked, edited, open_reply


def test_an_answer_to_every_finding_is_accepted() -> None:
    """ANSWER-1 (SPEC D-13): one entry for each, by its id in the ledger; a refuted one is answered, too."""
    case = asked(finding(), finding(id="F2", quote="return 7"), seats=(AUTHOR, CRITIC, SKEPTIC))
    words = (answered("rebut", "critic-F1", "it is so"), answered("clarify", "critic-F2", "it is not there"))
    _, entries = case.weigh("author", given(*words))
    assert entries == (
        DispositionGiven(seat="author", round=1, id="critic-F1", disposition=Disposition.REBUT, reasoning="it is so"),
        DispositionGiven(
            seat="author", round=1, id="critic-F2", disposition=Disposition.CLARIFY, reasoning="it is not there"
        ),
        CandidateKept(seat="author", round=1, candidate=CANDIDATE),
    )


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ((), "no answer to F1, F2"),
        ((answered("rebut"),), "no answer to F2"),
        ((answered("rebut"), answered("rebut")), "'F1' is answered twice"),
        ((answered("rebut"), answered("clarify", "F2"), answered("fix")), "'F1' is answered twice"),
        ((answered("rebut", "F3"),), "'F3' is answered, and is no open finding"),
        ((answered("rebut", "f1"),), "'f1' is answered, and is no open finding"),
        ((answered("rebut", "F1\u202e"),), "'F1\\u202e' is answered, and is no open finding"),
        ((answered("rebut", "critic-F1"),), "'critic-F1' is answered, and is no open finding"),
        ((answered("rebut", "F" * 200),), f"{'F' * 200!r} is answered, and is no open finding"),
    ],
    ids=["none", "one", "twice", "two words for one", "settled", "case", "hidden", "long form", "long"],
)
def test_an_answer_that_leaves_out_or_makes_up_a_finding_is_refused(
    answers: tuple[dict[str, Any], ...], reason: str
) -> None:
    """ANSWER-1 (SPEC D-13, FIELD-FAULTS F19): what is settled needs no answer, what is open gets exactly one."""
    case = asked(finding(), finding(id="F2"), finding(id="F3", status="resolved"))
    with refused("ANSWER-1", reason):
        case.weigh("author", given(*answers))


@pytest.mark.parametrize(
    ("words", "changed"),
    [(("fix",), [TIMER]), (("partial",), [TIMER, "new.py"]), (("clarify",), [TIMER]), (("accept_risk",), [])],
)
def test_a_fix_with_what_it_changed_is_accepted(words: tuple[str, ...], changed: list[str]) -> None:
    """ANSWER-2 (SPEC D-13, D-16): a clarification may go into the code as a comment."""
    _, entries = asked().weigh("author", given(*(answered(word) for word in words), changed=changed))
    last = entries[-1]
    assert isinstance(last, CandidateOffered) is bool(changed)
    if isinstance(last, CandidateOffered):
        assert (last.previous, last.changed) == (CANDIDATE, tuple(sorted(changed)))


@pytest.mark.parametrize(
    ("words", "changed", "reason"),
    [
        (("fix", "rebut"), [], "F1 is answered with a fix, and no changed path is listed"),
        (("fix", "partial"), [], "F1, F2 are answered with a fix, and no changed path is listed"),
        (
            ("rebut", "accept_risk"),
            [TIMER, "a"],
            "2 changed paths are listed, and no answer is a fix or a clarification",
        ),
    ],
)
def test_a_fix_of_nothing_and_an_edit_for_nothing_are_refused(
    words: tuple[str, str], changed: list[str], reason: str
) -> None:
    """ANSWER-2 (SPEC D-16): a fix is a change, and a change is for a finding."""
    case = asked(finding(), finding(id="F2"))
    with refused("ANSWER-2", reason):
        case.weigh("author", given(answered(words[0]), answered(words[1], "F2"), changed=changed))


@pytest.mark.parametrize(
    "path", [TIMER, "new.py", ".github/x", "a b/ż.py", "src/.gitignore", "x/.counterpoint/y", "…"]
)
def test_a_listed_path_of_the_repository_is_accepted(path: str) -> None:
    """EDIT-1 (SPEC D-16)."""
    _, entries = asked().weigh("author", given(answered("fix"), changed=[path]))
    assert isinstance(entries[-1], CandidateOffered)
    assert entries[-1].changed == (path,)


@pytest.mark.parametrize(
    "path",
    [
        *("/etc/passwd", "../outside", "src/../../outside", "src/..", ".", "./x", "src//x", "src/", "/"),
        *(".git/hooks/pre-commit", ".git", ".GIT/config", "sub/.git/config", ".Git/x"),
        ".counterpoint/cases/x",
    ],
)
def test_a_listed_path_outside_the_repository_is_refused(path: str) -> None:
    """EDIT-1 (SPEC D-16, SECURITY B.5): nor is git's own folder, or the one with the records, part of a change."""
    with refused("EDIT-1", f"changed path {path!r} is none of this repository"):
        asked().weigh("author", given(answered("fix"), changed=["new.py", path]))


def test_a_path_that_is_listed_twice_is_refused() -> None:
    """EDIT-1 (SPEC D-16): exactly what changed, each once."""
    with refused("EDIT-1", f"changed path {TIMER!r} is listed twice"):
        asked().weigh("author", given(answered("fix"), changed=[TIMER, TIMER]))


def test_an_edit_of_exactly_the_listed_paths_is_accepted() -> None:
    """EDIT-2 (SPEC D-16): code has looked, and has made of it what is read next."""
    case = asked()
    last = case.reply(answered("fix"), changed=["b.py", TIMER])
    assert isinstance(last, CandidateOffered)
    assert (case.candidate, last.changed) == (last.candidate, ("b.py", TIMER))
    assert {changed.path for changed in case.state.docket.paths} == {"old.py", TIMER, "b.py"}


@pytest.mark.parametrize("changed", [[TIMER], []], ids=["edit", "dispute"])
def test_an_edit_that_code_finds_fault_with_is_refused(changed: list[str]) -> None:
    """EDIT-2 (SPEC D-16): the round is incomplete, whatever the author says; each fault is named."""
    case = asked(tree=Tree(faults=("'x.py' changed and is not listed", "HEAD moved")))
    with refused("EDIT-2", "'x.py' changed and is not listed; HEAD moved"):
        case.weigh("author", given(answered("fix" if changed else "rebut"), changed=changed))


def revealed_reading() -> Play:
    """Return a case in the middle of its first reveal: the one finding and its verdict are in the record."""
    case = Play(AUTHOR, CRITIC, limits=ROUNDS)
    case.answer("critic", verdict(finding()))
    open_reply(case, "critic")
    return case


ASKED = AnswerRequested(seat="author", round=1, findings=("F1",))


def test_an_answer_that_the_rules_ask_for_is_recorded() -> None:
    """ANSWER-3 (DESIGN 4): of the author, in this round, to exactly what is open."""
    case = Play(AUTHOR, CRITIC, limits=ROUNDS)
    *_, last = case.read(verdict(finding()))
    assert last == ASKED
    case.answer("author", given(answered("rebut")))
    assert [type(entry).__name__ for entry in case.settle()] == [
        "SubmissionRevealed",
        "DispositionGiven",
        "CandidateKept",
    ]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"seat": "critic"}, "AnswerRequested of 'critic' in round 1; 'author' answers in 1"),
        ({"round": 2}, "AnswerRequested of 'author' in round 2; 'author' answers in 1"),
        ({"findings": ()}, "an answer to nothing is asked for; F1 is open"),
        ({"findings": ("F1", "F2")}, "an answer to F1, F2 is asked for; F1 is open"),
    ],
)
def test_an_answer_that_the_rules_do_not_ask_for_is_refused(changes: dict[str, Any], reason: str) -> None:
    """ANSWER-3 (DESIGN 4): nobody else answers, and no finding is kept from the author."""
    case = revealed_reading()
    with refused("ANSWER-3", reason):
        case.append(replace(ASKED, **changes))


def test_no_answer_is_asked_for_where_the_case_has_ended() -> None:
    """ANSWER-3 (FIELD-FAULTS F17): a record has no round more than its limits allow, and none after agreement."""
    case = Play(AUTHOR, CRITIC, limits=Limits(max_rounds=1))
    case.read(verdict(finding()))
    case.reply(answered("rebut"))
    case.answer("critic", verdict(finding()))
    open_reply(case, "critic")
    with refused("ANSWER-3", "an answer is asked for in round 2; the rules end the case (rounds_spent)"):
        case.append(replace(ASKED, round=2))
    agreed = Play(AUTHOR, CRITIC, limits=ROUNDS)
    agreed.answer("critic", verdict())
    open_reply(agreed, "critic")
    with refused("ANSWER-3", "an answer is asked for in round 1; the rules end the case (agreed)"):
        agreed.append(replace(ASKED, findings=()))


def test_no_answer_is_asked_for_where_everybody_left_agrees() -> None:
    """ANSWER-3 (DESIGN 4): what a seat that failed holds is refuted, and open; the case is agreed all the same."""
    case = Play(AUTHOR, CRITIC, SKEPTIC, limits=ROUNDS, quorum=1)
    case.read(verdict(finding()), verdict(finding(quote="return 7")))
    case.reply(answered("fix", "critic-F1"), answered("clarify", "skeptic-F1"), changed=[TIMER])
    case.answer("critic", verdict(finding(status="resolved")), shown=[TIMER])
    for _ in range(2):
        case.fail("skeptic")
    open_reply(case, "critic")
    with refused("ANSWER-3", "an answer is asked for in round 2; the rules end the case (agreed)"):
        case.append(replace(ASKED, round=2, findings=("skeptic-F1",)))


def test_no_answer_is_asked_for_before_every_seat_is_heard() -> None:
    """ANSWER-3 (FIELD-FAULTS F21): neither while one owes its answer nor while one is sealed."""
    case = Play(AUTHOR, CRITIC, SKEPTIC, CHECKS, limits=ROUNDS)
    case.answer("critic", verdict(finding()))
    case.answer("skeptic", verdict())
    open_reply(case, "critic")
    with refused("ANSWER-3", "an answer is asked for, and skeptic, checks has not been heard in round 1"):
        case.append(replace(ASKED, findings=("critic-F1",)))


def test_a_seats_older_verdict_is_no_hearing_in_this_round() -> None:
    """ANSWER-3 (FIELD-FAULTS F21): on the same candidate, which was disputed and is read again."""
    case = Play(AUTHOR, CRITIC, SKEPTIC, limits=ROUNDS)
    case.read(verdict(finding()), verdict(finding()))
    case.reply(answered("rebut", "critic-F1"), answered("rebut", "skeptic-F1"))
    case.answer("critic", verdict(finding()))
    case.answer("skeptic", verdict(finding(status="resolved")))
    open_reply(case, "critic")
    with refused("ANSWER-3", "an answer is asked for, and skeptic has not been heard in round 2"):
        case.append(replace(ASKED, round=2, findings=("critic-F1", "skeptic-F1")))


def test_nobody_answers_in_a_case_without_an_author() -> None:
    """ANSWER-3 (DESIGN 2)."""
    case = Play(CRITIC)
    case.answer("critic", verdict(finding()))
    open_reply(case, "critic")
    with refused("ANSWER-3", "AnswerRequested of 'author' in round 1; 'nobody' answers in 1"):
        case.append(ASKED)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (
            DispositionGiven(seat="author", round=2, id="F1", disposition=Disposition.FIX, reasoning="x"),
            "DispositionGiven of 'author' in round 2; 'author' answers in 1",
        ),
        (
            CandidateKept(seat="critic", round=1, candidate=CANDIDATE),
            "CandidateKept of 'critic' in round 1; 'author' answers in 1",
        ),
    ],
)
def test_a_forged_answer_is_refused(entry: DispositionGiven | CandidateKept, reason: str) -> None:
    """ANSWER-3 (SECURITY R23): no reviewer answers for the author, and no answer is of another round."""
    case = asked()
    case.answer("author", given(answered("rebut")))
    case.append(case.revealed("author"))
    with refused("ANSWER-3", reason):
        case.append(entry)


OFFERED = CandidateOffered(
    seat="author", round=1, previous=CANDIDATE, candidate="a" * 40, changed=(TIMER,), paths=(), change="d" * 64
)


def answered_case() -> Play:
    """Return a case in the middle of the reveal of its author's answer."""
    case = asked()
    case.answer("author", given(answered("fix"), changed=[TIMER]))
    case.append(case.revealed("author"))
    return case


def test_a_candidate_in_place_of_the_one_on_the_table_is_recorded() -> None:
    """OFFER-1 (DESIGN "Binding")."""
    case = answered_case()
    case.append(OFFERED)
    assert (case.candidate, case.state.round, dict(case.state.sealed)) == ("a" * 40, 2, {})
    kept = answered_case()
    kept.append(CandidateKept(seat="author", round=1, candidate=CANDIDATE))
    assert (kept.candidate, kept.state.round) == (CANDIDATE, 2)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (
            replace(OFFERED, previous="e" * 40),
            f"{'a' * 40} is offered in place of {'e' * 40}; {CANDIDATE} is on the table",
        ),
        (replace(OFFERED, candidate=CANDIDATE), f"{CANDIDATE} is offered in place of itself"),
        (replace(OFFERED, changed=()), f"{'a' * 40} is offered, and no path changed"),
        (
            CandidateKept(seat="author", round=1, candidate="e" * 40),
            f"{'e' * 40} is kept; {CANDIDATE} is on the table",
        ),
    ],
    ids=["another's place", "itself", "nothing", "another is kept"],
)
def test_a_candidate_that_does_not_follow_is_refused(entry: CandidateOffered | CandidateKept, reason: str) -> None:
    """OFFER-1 (FIELD-FAULTS F13): the text is not swapped under an open review."""
    case = answered_case()
    with refused("OFFER-1", reason):
        case.append(entry)


def test_a_tree_that_is_restored_is_a_candidate_like_another() -> None:
    """OFFER-1 (SPEC D-16): without commits an edit can be taken back, and it is read like any other."""
    case = edited(finding(), finding(id="F2"))
    second = case.candidate
    case.read(verdict(finding(), finding(id="F2", reason="worse than before")))
    case.answer("author", given(answered("fix"), answered("fix", "F2"), changed=[TIMER]))
    case.append(case.revealed("author"))
    case.append(replace(OFFERED, round=2, previous=second, candidate=CANDIDATE, paths=case.state.docket.paths))
    assert case.state.changed_since(second) == {TIMER}
    assert case.owed("critic").round == 3
    assert not case.outcome.seats[1].approved
