"""What holds in every protocol made of stages: one accepted and one refused example of each rule, and the machine.

`tests.staged` is the protocol. Rules that `review` has too have their examples there; here is what only a machine
that reads its replies out of the record can promise.
"""

from dataclasses import replace

import pytest

from counterpoint.core.checks import Evidence, EvidenceStatus, QuoteCheck
from counterpoint.core.entries import (
    AttemptFailed,
    CaseClosed,
    CaseOpened,
    Entry,
    EvidenceGathered,
    FailureReason,
    NoteAdded,
    RevisionOffered,
    RoundOpened,
    SubmissionRevealed,
)
from counterpoint.core.limits import Limits
from counterpoint.core.rules import AddNote, Materials, Withdraw
from counterpoint.core.values import Decision, StopReason, Turn, Usage
from counterpoint.errors import Refused, UnknownEntry
from tests.staged import ADA, BOB, CHAIR, NOW, SALT, WORDS, Say, WordState, opened_with, reply, sealed, start

FOUND = Evidence(
    request=QuoteCheck(path="notes.md", text="so it is", candidate="t" * 40),
    status=EvidenceStatus.VERIFIED,
    detail="line 3",
)


def both(first: str, second: str) -> tuple[WordState, dict[str, str]]:
    """Return a case in which both speakers' answers are sealed, and the answers."""
    contents = {"ada": first, "bob": second}
    return sealed(sealed(start(), "ada", first), "bob", second), contents


def refused(rule: str, state: WordState, entry: Entry) -> Refused:
    with pytest.raises(Refused) as caught:
        WORDS.apply(state, entry)
    assert caught.value.rule == rule
    return caught.value


def revealed(state: WordState, contents: dict[str, str]) -> WordState:
    """Return the state after the reveals, before anything follows."""
    *reveals, _ = WORDS.settle(state, NOW, opened_with(state, contents))
    return WORDS.fold(tuple(reveals), state)


def test_a_stage_that_the_rules_compute_follows() -> None:
    """FOLLOW-1: the words differ, so the chair is asked; a case goes on through both stages and ends."""
    state, contents = both(reply("yes"), reply("no"))
    entries = WORDS.settle(state, NOW, opened_with(state, contents))
    assert [type(entry) for entry in entries] == [SubmissionRevealed, SubmissionRevealed, RoundOpened]
    state = WORDS.fold(entries, state)
    assert [(turn.id, turn.blind) for turn in WORDS.due(state, NOW)] == [("joining.1.chair.1", False)]
    state = sealed(state, "chair", reply("maybe"))
    state = WORDS.fold(WORDS.settle(state, NOW, opened_with(state, {"chair": reply("maybe")})), state)
    assert (state.phase, state.round, state.docket.candidate) == ("saying", 2, state.offered[0].candidate)
    for seat in ("ada", "bob"):
        state = sealed(state, seat, reply("maybe"))
    entries = WORDS.settle(state, NOW, opened_with(state, dict.fromkeys(("ada", "bob"), reply("maybe"))))
    state = WORDS.fold(entries, state)
    assert (state.closed, WORDS.due(state, NOW)) == (
        CaseClosed(stop_reason=StopReason.AGREED, decision=Decision.APPROVED, detail="one word"),
        (),
    )
    assert WORDS.settle(state, NOW, {}) == ()


def test_a_stage_that_the_rules_do_not_compute_is_refused() -> None:
    """FOLLOW-1: another reason, a stage while somebody is still asked, and one while an answer is sealed."""
    state, contents = both(reply("yes"), reply("no"))
    opens = RoundOpened(round=1, reason="the words differ")
    assert "is still sealed" in refused("FOLLOW-1", state, opens).reason
    assert "bob is still asked" in refused("FOLLOW-1", sealed(start(), "ada", reply("yes")), opens).reason
    after = revealed(state, contents)
    assert "the rules compute" in refused("FOLLOW-1", after, replace(opens, reason="for fun")).reason
    refused("PHASE-1", after, RevisionOffered(seat="chair", round=2, revision=1, candidate="a" * 64))
    same, alike = both(reply("yes"), reply("yes"))
    assert "the rules compute" in refused("FOLLOW-1", revealed(same, alike), opens).reason


def test_an_answer_whose_evidence_is_in_the_record_is_taken() -> None:
    """EVIDENCE-1: what code found goes into the record before the answer that rests on it, and once."""
    content = reply("yes", "so it is")
    state = sealed(sealed(start(), "ada", content, FOUND), "bob", content, FOUND)
    entries = WORDS.settle(
        state, NOW, opened_with(state, {"ada": content, "bob": content}, ada=(FOUND,), bob=(FOUND,))
    )
    assert [type(entry) for entry in entries] == [
        EvidenceGathered,
        SubmissionRevealed,
        SubmissionRevealed,
        CaseClosed,
    ]
    assert WORDS.fold(entries, state).evidence == (FOUND,)


def test_an_answer_whose_evidence_is_not_in_the_record_is_refused() -> None:
    """EVIDENCE-1: a reveal alone; and one whose evidence speaks against it is refused by the guard that reads it."""
    content = reply("yes", "so it is")
    state = sealed(start(), "ada", content, FOUND)
    turn = state.sealed["ada"].turn
    reveal = SubmissionRevealed(turn=turn, salt=SALT, reply=content)
    assert "what code found" in refused("EVIDENCE-1", state, reveal).reason
    against = replace(FOUND, status=EvidenceStatus.REFUTED)
    refused("QUORUM-1", WORDS.apply(state, EvidenceGathered(evidence=against)), reveal)


@pytest.mark.parametrize(
    "content", ["", "yes", "[]", '{"word":"yes"}', '{"quote":"","word":" "}', '{"quote":"","quote":"","word":"a"}']
)
def test_a_record_holds_no_answer_that_would_not_have_been_taken(content: str) -> None:
    """TURN-2: sealed by a driver that read nothing; whoever folds the record reads it."""
    state = sealed(start(), "ada", content)
    refused("TURN-2", state, SubmissionRevealed(turn=state.sealed["ada"].turn, salt=SALT, reply=content))


def test_an_answer_of_another_form_is_refused() -> None:
    """TURN-2, through `admit`: what the driver hands over is of the stage's form."""
    (turn, _) = WORDS.due(start(), NOW)
    with pytest.raises(Refused, match=r"'ada' owes a Say, not a str \[TURN-2\]"):
        WORDS.admit(start(), "ada", turn, "yes", evidence=(), now=NOW)
    assert WORDS.admit(start(), "ada", turn, Say(quote="", word="yes"), evidence=(), now=NOW) == ()


def test_a_seat_that_answers_for_another_or_twice_is_refused() -> None:
    """TURN-1 and SEAL-1 hold in every protocol made of stages."""
    state = sealed(start(), "ada", reply("yes"))
    (turn,) = WORDS.due(state, NOW)
    for speaker, answered in (("ada", turn), ("ada", replace(turn, seat="ada"))):
        with pytest.raises(Refused, match=r"\[TURN-1\]"):
            WORDS.admit(state, speaker, answered, Say(quote="", word="no"), evidence=(), now=NOW)
    failed = AttemptFailed(
        turn=replace(turn, seat="ada"), attempt=1, reason=FailureReason.TIMEOUT, detail="late", usage=Usage()
    )
    refused("SEAL-1", state, failed)


def test_the_supervisor_notes_and_withdraws() -> None:
    """NOTE-1; and nobody else speaks unasked."""
    state = start()
    assert WORDS.admit(state, "owner", None, AddNote(text="hm"), evidence=(), now=NOW) == (
        NoteAdded(by="owner", text="hm"),
    )
    (closed,) = WORDS.admit(state, "owner", None, Withdraw(reason="enough"), evidence=(), now=NOW)
    assert WORDS.apply(state, closed).closed is not None
    with pytest.raises(Refused, match=r"\[NOTE-1\]"):
        WORDS.admit(state, "ada", None, Say(quote="", word="no"), evidence=(), now=NOW)


def test_a_seat_that_gives_no_valid_answer_is_missing_from_what_follows() -> None:
    """A seat is asked `max_asks` times in a stage, and its failures count in that stage alone."""
    state = sealed(start(), "ada", reply("yes"))
    for ask in (1, 2):
        (turn,) = WORDS.due(state, NOW)
        assert turn.ask == ask
        failed = AttemptFailed(turn=turn, attempt=1, reason=FailureReason.REFUSED, detail="no word", usage=Usage())
        state = WORDS.apply(state, failed)
        if ask == 1:
            again = WORDS.brief(state, WORDS.due(state, NOW)[0], Materials(change="", shown_paths=()))
            assert again.payload["your_last_answer_was_not_accepted"] == "no word"
    entries = WORDS.settle(state, NOW, opened_with(state, {"ada": reply("yes")}))
    assert entries[-1] == CaseClosed(
        stop_reason=StopReason.FAILED, decision=Decision.UNDETERMINED, detail="bob gave no valid answer"
    )
    assert WORDS.fold(entries, state).closed is not None


def test_a_limit_reveals_what_is_there_and_ends_the_case() -> None:
    """SPEC A-28: the answer of one seat is kept and shown, and decides nothing."""
    state = sealed(start(limits=Limits(max_calls=3, max_tokens=0)), "ada", reply("yes"))
    assert WORDS.settle(state, NOW, {}) == ()
    turn = WORDS.due(state, NOW)[0]
    for attempt in (1, 2):
        failed = AttemptFailed(
            turn=turn, attempt=attempt, reason=FailureReason.DRIVER_LOST, detail="gone", usage=Usage()
        )
        state = WORDS.apply(state, failed)
        turn = WORDS.due(state, NOW)[0]
    entries = WORDS.settle(state, NOW, opened_with(state, {"ada": reply("yes")}))
    assert [type(entry) for entry in entries] == [SubmissionRevealed, CaseClosed]
    assert WORDS.fold(entries, state).closed == CaseClosed(
        stop_reason=StopReason.BUDGET_SPENT, decision=Decision.UNDETERMINED, detail="3 of 3 calls are spent"
    )


def test_an_answer_that_cannot_be_opened_fails_the_case() -> None:
    """It is lost, or is not the one that was sealed; never guessed."""
    state, contents = both(reply("yes"), reply("yes"))
    for given in ({"ada": contents["ada"]}, contents | {"bob": reply("no")}):
        entries = WORDS.settle(state, NOW, opened_with(state, given))
        assert entries[-1] == CaseClosed(
            stop_reason=StopReason.FAILED,
            decision=Decision.UNDETERMINED,
            detail="the sealed reply of bob cannot be opened",
        )


def test_a_record_cut_in_the_middle_of_a_reveal_fails() -> None:
    """A reveal and what follows it are one batch: half of one is no stage."""
    state, contents = both(reply("yes"), reply("no"))
    (closed,) = WORDS.settle(revealed(state, contents), NOW, {})
    assert isinstance(closed, CaseClosed)
    assert (closed.stop_reason, closed.detail) == (StopReason.FAILED, "the record ends in the middle of a reveal")


def test_a_close_that_the_rules_do_not_compute_is_refused() -> None:
    """CLOSE-1: agreement is computed, whoever writes the entry."""
    state, contents = both(reply("yes"), reply("no"))
    lie = CaseClosed(stop_reason=StopReason.AGREED, decision=Decision.APPROVED, detail="one word")
    refused("CLOSE-1", revealed(state, contents), lie)


def test_a_case_is_opened_and_read_under_its_own_rules_alone() -> None:
    """An opening of another protocol, or against the rules, is refused when it is made and when it is read."""
    with pytest.raises(Refused, match=r"one voice is no chorus \[QUORUM-1\]"):
        start(CHAIR, ADA)
    with pytest.raises(Refused, match=r"min_rounds is 3, and max_rounds is 2 \[LIMIT-1\]"):
        start(CHAIR, ADA, BOB, limits=Limits(min_rounds=3, max_rounds=2))
    opened = start().opened
    assert isinstance(opened, CaseOpened)
    for strange in (replace(opened, protocol="review"), replace(opened, rules_version=2)):
        with pytest.raises(UnknownEntry):
            WORDS.apply(WORDS.initial, strange)
    refused("QUORUM-1", WORDS.initial, replace(opened, roster=(CHAIR, ADA)))


def test_a_brief_has_its_constant_instructions_and_everything_else_as_data() -> None:
    """SPEC A-54; and the words for people of a revealed reply are the protocol's own."""
    state = start()
    turn = WORDS.due(state, NOW)[0]
    brief = WORDS.brief(state, turn, Materials(change="", shown_paths=()))
    assert (brief.instructions, brief.payload) == ("Say a word.", {"question": "Which word?", "effort": "high"})
    assert brief.schema == WORDS.schema(state, turn)
    assert WORDS.parse(state, turn, {"quote": "", "word": "yes"}) == Say(quote="", word="yes")
    assert WORDS.checks(state, turn, Say(quote="", word="yes")) == ()
    assert WORDS.exhibit(state, turn).edits is WORDS.edits(state.case) is False
    said = SubmissionRevealed(turn=Turn(phase="saying", round=1, seat="ada", ask=1), salt=SALT, reply="{}")
    assert WORDS.describe(said) == "ada said something."
    assert WORDS.describe(NoteAdded(by="owner", text="hm")) == "owner notes:\n\n> hm"
