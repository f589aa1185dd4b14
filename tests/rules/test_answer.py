"""What `answer` takes, by rule: one accepted and one refused example each. And what its answers become."""

from dataclasses import replace
from typing import Any

import pytest

from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.docket import Docket, SeatKind, Terms
from counterpoint.core.entries import CaseClosed, RevisionOffered, RoundOpened, SubmissionRevealed
from counterpoint.core.limits import Limits
from counterpoint.core.outcome import SeatEnd, SeatStatus
from counterpoint.core.rules import Withdraw
from counterpoint.core.values import Decision, StopReason
from counterpoint.errors import BadReply, Refused
from counterpoint.protocols.answer import ANSWER, Concession, digest_of
from tests.answer_case import ADA, BOB, CYD, NOW, QUESTION, TREE, Play, opening, refused

WITH_FILES = Docket(question=QUESTION, tree=TREE)


def comparing(*roster: Any, **plan: Any) -> Play:
    """Return a case in its second round: the first two differ, and a third is with the first."""
    case = Play(*roster, **plan)
    case.all_say(
        **dict(zip((seat.name for seat in case.state.case.roster), ("Paris", "Lyon", "Paris"), strict=False))
    )
    return case


def confirming(text: str = "Paris") -> Play:
    """Return a case in which one text is to be confirmed."""
    case = Play()
    case.all_say(ada=text, bob=text)
    return case


def test_two_peers_and_more_are_accepted() -> None:
    """PEER-1, POSITION-1: the roster is theirs alone."""
    assert opening(ADA, BOB).author is None
    assert len(opening(ADA, BOB, CYD).judges) == 3


def test_a_peer_alone_and_seats_of_another_kind_are_refused() -> None:
    """PEER-1: nobody checks an answer against itself, and no seat stands above the others."""
    with refused("PEER-1", "1 peers; 2 to 99 can answer each other"):
        opening(ADA)
    with refused("PEER-1", "100 peers; 2 to 99 can answer each other"):
        opening(*(replace(ADA, name=f"p{number}") for number in range(100)), limits=Limits(max_calls=0))
    for kind in (SeatKind.AUTHOR, SeatKind.CHECKS):
        with refused("PEER-1", f"'bob' is {kind.value}; every seat of an answer is a peer"):
            opening(ADA, replace(BOB, kind=kind))


def test_a_quorum_of_all_peers_is_accepted() -> None:
    """PEER-2."""
    assert opening(ADA, BOB, CYD, quorum=3).quorum == 3


def test_a_quorum_of_fewer_than_all_peers_is_refused() -> None:
    """PEER-2 (SPEC D-32): there is no agreement without one of them."""
    with refused("PEER-2", "the quorum is 2; all 3 peers confirm or none"):
        opening(ADA, BOB, CYD, quorum=2)


@pytest.mark.parametrize("question", ["", " \n\t"])
def test_an_empty_question_is_refused(question: str) -> None:
    """POSITION-1 (SPEC D-02): nothing is asked of anybody."""
    with refused("POSITION-1", "the question is empty"):
        opening(ADA, BOB, docket=Docket(question=question))


def test_options_that_can_be_told_apart_are_accepted() -> None:
    """POSITION-2: and the brief lists them."""
    case = Play(terms=Terms(vote_only=True, options=("yes", "no", "it depends")))
    assert case.payload("ada")["options"] == ["yes", "no", "it depends"]
    assert "options" not in Play().payload("ada")


@pytest.mark.parametrize(
    ("terms", "reason"),
    [
        (Terms(vote_only=True, options=("yes", "no", "Yes.")), "the option 'yes' is named twice"),
        (Terms(vote_only=True, options=("yes", " ")), "the option ' ' says nothing"),
        (Terms(vote_only=True, options=("yes",)), "'yes' is the only option; a vote is between two at least"),
        (Terms(options=("yes", "no")), "2 options are named, and the case is no vote"),
    ],
)
def test_options_that_cannot_be_told_apart_or_decide_nothing_are_refused(terms: Terms, reason: str) -> None:
    """POSITION-2."""
    with refused("POSITION-2", reason):
        opening(ADA, BOB, terms=terms)


def test_the_labels_that_a_peer_was_shown_are_accepted() -> None:
    """PEER-3, PEER-4: a label is resolved to the seat that its reader knows by it; another knows it by another."""
    case = comparing(ADA, BOB, CYD)
    case.answer("ada", case.said("ada", "Paris", agrees=["cyd"], objects={"bob": "Lyon is not it"}))
    case.answer("bob", case.said("bob", "Lyon", objects={"ada": "no", "cyd": "no"}))
    case.answer("cyd", case.said("cyd", "Paris", agrees=["ada"]))
    case.settle()
    held = {position.seat: position for position in case.state.held_in(2)}
    assert (held["ada"].agrees_with, held["ada"].objections[0].target) == (("cyd",), "bob")
    assert [each.target for each in held["bob"].objections] == ["ada", "cyd"]
    assert {case.label(reader, "bob") for reader in ("ada", "cyd")} == {"peer-1", "peer-2"}


@pytest.mark.parametrize("label", ["peer-2", "peer-99"])
def test_a_label_of_nobody_and_a_seats_own_name_are_refused(label: str) -> None:
    """PEER-3: whether it agrees or objects; a name that reads like no label does not fit the form."""
    case = comparing()
    agrees = case.said("ada", "Paris") | {"agreesWith": [label]}
    with refused("PEER-3", f"{label!r} is nobody here; the others are peer-1"):
        case.weigh("ada", agrees)
    objects = case.said("ada", "Paris", objects={"bob": "no"})
    objects["objections"][0]["peer"] = label
    with refused("PEER-3", f"{label!r} is nobody here; the others are peer-1"):
        case.weigh("ada", objects)
    with pytest.raises((BadReply, Refused), match="bob"):
        case.weigh("ada", case.said("ada", "Paris") | {"agreesWith": ["bob"]})


def test_the_same_agreement_twice_is_refused() -> None:
    """PEER-4: one peer is one voice."""
    case = comparing()
    with refused("PEER-4", "agreesWith names 'peer-1' twice"):
        case.weigh("ada", case.said("ada", "Paris", agrees=["bob", "bob"]))


@pytest.mark.parametrize("echoed", [digest_of("Paris"), "Paris"])
def test_the_digest_and_the_text_itself_are_accepted(echoed: str) -> None:
    """CONFIRM-1 (SPEC D-29): letter by letter."""
    case = confirming()
    case.all_say(ada={"candidate": echoed}, bob={})
    assert case.outcome.decision is Decision.APPROVED


@pytest.mark.parametrize(
    "echoed", ["paris", "Paris ", "Paris\u200b", "PARIS", digest_of("Lyon"), digest_of("Paris")[:12], "it"]
)
@pytest.mark.parametrize("objects", [[], ["it is not"]])
def test_anything_but_the_digest_or_the_text_is_refused(echoed: str, objects: list[str]) -> None:
    """CONFIRM-1 (SPEC D-28): an approval of another text is none, and neither is an objection to one."""
    case = confirming()
    with pytest.raises(Refused, match=r"\[CONFIRM-1\]"):
        case.weigh("ada", case.said("ada", candidate=echoed, objects=objects))


def test_an_approval_without_and_a_disapproval_with_an_objection_are_accepted() -> None:
    """CONFIRM-2: an objection drops the text, and everybody goes on with it (SPEC D-28)."""
    case = confirming()
    followed = case.all_say(ada={}, bob={"objects": ["no country is named"]})
    assert followed == RoundOpened(round=2, reason="bob objected to the text that all stood by")
    dropped = {"text": "Paris", "objections": [_objection(case.label("ada", "bob"))]}
    assert case.payload("ada")["dropped"] == dropped
    assert case.payload("bob")["dropped"] == {**dropped, "objections": [_objection("you")]}


def _objection(label: str) -> dict[str, str]:
    return {
        "peer": label,
        "point": "no country is named",
        "reason": "it is not so",
        "where": "",
        "quote": "",
        "evidence": "not_checked",
    }


def test_an_approval_with_and_a_disapproval_without_an_objection_are_refused() -> None:
    """CONFIRM-2: the last word is unambiguous."""
    case = confirming()
    with refused("CONFIRM-2", "approved is true, and 1 objections are named"):
        case.weigh("ada", case.said("ada", objects=["no country is named"], approved=True))
    with refused("CONFIRM-2", "approved is false, and no objection is named"):
        case.weigh("ada", case.said("ada", approved=False))


# --- what is shown, and what an answer becomes


def test_round_one_is_independent() -> None:
    """SPEC D-25: each sees the question and what belongs to it, and nothing of anybody else, sealed or not."""
    case = Play(docket=Docket(question=QUESTION, context="the answer is for a quiz"))
    before = case.payload("bob")
    case.answer("ada", case.said("ada", "only-ada-says-this"))
    assert case.payload("bob") == before
    assert before == {
        "question": QUESTION,
        "context": "the answer is for a quiz",
        "files": False,
        "round": 1,
        "effort": "high",
    }


def test_a_later_round_shows_the_others_under_labels_and_what_they_object_to() -> None:
    """SPEC D-27, DESIGN 4: answers and key points of the round before; neither names nor reasoning."""
    case = comparing(ADA, BOB, CYD)
    case.all_say(ada={"answer": "Paris", "objects": {"bob": "Lyon is not it"}}, bob="Lyon", cyd="Nice")
    shown = case.payload("bob")
    assert shown["your_answer"] == {"answer": "Lyon", "keyPoints": ["as is known"]}
    assert {each["peer"]: each["answer"] for each in shown["others"]} == {
        case.label("bob", "ada"): "Paris",
        case.label("bob", "cyd"): "Nice",
    }
    assert [each["peer"] for each in shown["others"]] == ["peer-1", "peer-2"]
    assert [(each["peer"], each["point"]) for each in shown["about_yours"]] == [
        (case.label("bob", "ada"), "Lyon is not it")
    ]
    assert case.payload("cyd")["about_yours"] == []
    assert "dropped" not in shown
    text = repr(shown)
    assert not any(name in text for name in ("ada", "bob", "cyd", "claude", "codex", "I know it."))


def test_the_candidate_is_what_most_hold_and_is_shown_with_its_digest() -> None:
    """SPEC D-28: one text, byte for byte; that two wrote it in their own way does not make two."""
    case = Play(ADA, BOB, CYD)
    case.all_say(ada="Paris", bob="Paris it is", cyd="paris")
    everybody = ["ada", "bob", "cyd"]
    followed = case.all_say(
        **{
            seat: {"answer": text, "agrees": [name for name in everybody if name != seat]}
            for seat, text in zip(everybody, ("Paris", "Paris it is", "paris"), strict=True)
        }
    )
    assert isinstance(followed, RevisionOffered)
    assert followed.candidate in {digest_of("Paris"), digest_of("paris")}
    assert case.payload("bob")["candidate"] == followed.candidate == digest_of(case.payload("bob")["text"])
    assert case.state.docket.candidate == followed.candidate


@pytest.mark.parametrize(
    ("place", "status", "is_evidenced"),
    [
        ({"where": "atlas.md:2", "quote": "The capital is Paris."}, EvidenceStatus.VERIFIED, True),
        ({"where": "atlas.md:1-2"}, EvidenceStatus.VERIFIED, True),
        ({"where": "./atlas.md", "quote": "The capital is Lyon."}, EvidenceStatus.REFUTED, False),
        ({"where": "atlas.md:77"}, EvidenceStatus.REFUTED, False),
        ({"where": "other.md:1"}, EvidenceStatus.REFUTED, False),
        ({"where": "atlas.md"}, EvidenceStatus.NOT_CHECKED, False),
        ({"where": "/etc/passwd:1"}, EvidenceStatus.NOT_CHECKED, False),
        ({"where": "../atlas.md:1"}, EvidenceStatus.NOT_CHECKED, False),
        ({"where": "any good atlas"}, EvidenceStatus.NOT_CHECKED, False),
        ({"quote": "The capital is Paris."}, EvidenceStatus.NOT_CHECKED, False),
        ({}, EvidenceStatus.NOT_CHECKED, False),
    ],
)
def test_a_concession_is_evidenced_where_code_found_what_it_names(
    place: dict[str, str], status: EvidenceStatus, *, is_evidenced: bool
) -> None:
    """DESIGN 7.3, SPEC D-27: the flaw is named, and what shows it stands in the files of the case."""
    case = comparing(docket=WITH_FILES)
    case.all_say(ada="Paris", bob={"answer": "Paris", "why": "Lyon never was", **place})
    found = case.state.held_in(2)[1].concession
    assert found is not None
    assert (found.status, found.is_evidenced) == (status, is_evidenced)
    assert case.refold() == case.state


def test_a_changed_answer_without_a_named_flaw_is_an_unevidenced_concession() -> None:
    """DESIGN 7.3: not refused, and not taken for more than it is, whatever place is named."""
    case = comparing(docket=WITH_FILES)
    case.all_say(ada="PARIS.", bob={"answer": "Paris", "where": "atlas.md:2"})
    kept, gave_way = case.state.held_in(2)
    assert kept.concession is None
    assert gave_way.concession == Concession(
        why="", where="atlas.md:2", quote="", status=EvidenceStatus.VERIFIED, detail="it stands there"
    )
    assert not gave_way.concession.is_evidenced


def test_an_objection_carries_what_code_found_of_it() -> None:
    """SPEC D-27, DESIGN 7.5: with its place; without files there is nothing to look in."""
    case = comparing(docket=WITH_FILES)
    case.all_say(
        ada={"answer": "Paris", "objects": {"bob": "no"}, "where": "atlas.md:2", "quote": "Paris"}, bob="Lyon"
    )
    assert case.state.held_in(2)[0].objections[0].status is EvidenceStatus.VERIFIED
    assert case.payload("bob")["about_yours"][0]["evidence"] == "verified"
    alone = comparing()
    alone.all_say(ada={"answer": "Paris", "objects": {"bob": "no"}, "where": "atlas.md:2"}, bob="Lyon")
    assert alone.state.held_in(2)[0].objections[0].detail == "this case has no files to look in"
    candidate = Play(docket=WITH_FILES)
    candidate.all_say(ada="Paris", bob="Paris")
    candidate.all_say(ada={}, bob={"objects": ["no"], "where": "atlas.md:2", "quote": "Nice"})
    assert candidate.state.confirmations[1].objections[0].status is EvidenceStatus.REFUTED


# --- how it ends


def test_the_outcome_names_how_each_peer_ended() -> None:
    """FIELD-FAULTS F3: every seat has an end before an outcome counts."""
    assert Play().outcome.reasons == ("the case is open",)
    case = Play()
    case.answer("ada", case.said("ada", "Paris"))
    case.fail("bob")
    case.fail("bob")
    case.settle()
    outcome = case.outcome
    assert outcome.seats == (
        SeatStatus(seat="ada", end=SeatEnd.ANSWERED, approved=False, attempts=1),
        SeatStatus(seat="bob", end=SeatEnd.FAILED, approved=False, attempts=2),
    )
    assert outcome.reasons == (
        "the case stopped before it was decided: failed",
        "no valid answer of bob in round 1",
    )


def test_a_vote_is_approved_by_whom_it_was_won() -> None:
    """DESIGN 7.1: the others' votes are as good as theirs, and did not win."""
    case = Play(ADA, BOB, CYD, terms=Terms(vote_only=True))
    followed = case.all_say(ada="Lyon", bob="Paris", cyd="Paris")
    assert followed == CaseClosed(
        stop_reason=StopReason.ROUNDS_SPENT,
        decision=Decision.APPROVED,
        detail="2 of 3 peers gave the same answer",
    )
    assert [seat.approved for seat in case.outcome.seats] == [False, True, True]
    tie = Play(terms=Terms(vote_only=True))
    tie.all_say(ada="Lyon", bob="Paris")
    assert tie.outcome.reasons == ("a tie: 2 answers have 1 of 2 votes each",)
    assert [seat.approved for seat in tie.outcome.seats] == [False, False]


@pytest.mark.parametrize("word", [StopReason.AGREED, StopReason.ROUNDS_SPENT, StopReason.STALLED])
def test_a_case_is_closed_by_what_the_rules_compute_alone(word: StopReason) -> None:
    """CLOSE-1: also in the middle of one that could go on, and before anything was revealed."""
    lies = [
        CaseClosed(stop_reason=word, decision=decision, detail="")
        for decision in (Decision.APPROVED, Decision.UNDETERMINED)
    ]
    sealed = Play()
    sealed.answer("ada", sealed.said("ada", "Paris"))
    sealed.answer("bob", sealed.said("bob", "Paris"))
    *revealed, _ = ANSWER.settle(sealed.state, NOW, sealed.vault)
    could_go_on = ANSWER.fold(tuple(revealed), sealed.state)
    for state in (Play().state, sealed.state, could_go_on, comparing().state, confirming().state):
        for lie in lies:
            with pytest.raises(Refused, match=r"\[CLOSE-1\]"):
                ANSWER.apply(state, lie)


def test_a_reply_in_the_record_is_held_to_the_rules_again() -> None:
    """DESIGN 4: a record whose reply was never admissible does not fold."""
    case = confirming()
    bad = case.said("ada", candidate="Lyon")
    with pytest.raises(Refused, match=r"\[CONFIRM-1\]"):
        case.answer("ada", bad)
    case.answer("ada", case.said("ada"))
    shown = case.revealed("ada")
    with pytest.raises(Refused, match=r"\[SEAL-2\]"):
        ANSWER.apply(case.state, SubmissionRevealed(turn=shown.turn, salt=shown.salt, reply="{}"))


def test_a_case_that_is_withdrawn_came_to_nothing() -> None:
    """DESIGN 4: with what was said, and never as agreement."""
    case = confirming()
    case.answer("ada", case.said("ada"))
    case.speak(Withdraw(reason="not needed"))
    assert (case.outcome.decision, ANSWER.exit_code(case.outcome)) == (Decision.UNDETERMINED, 3)
    assert case.outcome.reasons == ("the case stopped before it was decided: withdrawn", "not needed")
