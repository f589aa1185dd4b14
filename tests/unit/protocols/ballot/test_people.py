"""What a person in a ballot is told and asked: no digest, no id, and the text to revise as it stands."""

from jsonschema import Draft202012Validator

from counterpoint.core.briefs import Brief
from counterpoint.protocols.ballot import BALLOT
from tests.ballot_case import NOW, Play, challenge, revision, vote, weights


def brief_of(case: Play) -> Brief:
    brief = BALLOT.brief(case.state, BALLOT.due(case.state, NOW)[0], case.materials("ann"))
    assert "JSON" in brief.instructions
    assert "JSON" not in brief.words
    assert "`" not in brief.words
    Draft202012Validator.check_schema(dict(brief.narrowed))
    return brief


def fits(brief: Brief, reply: object) -> bool:
    """Say whether a person's form takes a reply; what it takes, the seat's schema takes."""
    if not Draft202012Validator(brief.narrowed).is_valid(reply):
        return False
    assert Draft202012Validator(brief.schema).is_valid(reply)
    return True


def test_a_voter_types_neither_version_nor_digest() -> None:
    """SPEC B-14: a vote is bound to what is on the table, and nothing else can be meant."""
    case = Play()
    brief = brief_of(case)
    assert fits(brief, vote(case, "but", "a comma"))
    assert not fits(brief, vote(case, "yes", version=2))
    assert not fits(brief, vote(case, "yes", candidate="0" * 64))


def test_reservations_are_weighed_and_challenged_by_choice() -> None:
    """SPEC B-09: each once for the orchestrator, those of the round for a voter."""
    case = Play()
    case.all_answer(vote(case, "but", "a comma"), vote(case, "but", "a dash"))
    brief = brief_of(case)
    given = weights(v1_R1="cosmetic", v1_R2="cosmetic")
    assert fits(brief, given)
    assert not fits(brief, weights(v1_R1="cosmetic"))
    assert not fits(brief, weights(v1_R1="cosmetic", v1_R1x="cosmetic"))
    (first, second) = brief.narrowed["properties"]["classifications"]["prefixItems"]
    assert {"point: a comma", "point: a dash"} == {
        item["description"].partition("; ")[2].partition(";")[0] for item in (first, second)
    }
    case.all_answer(given)
    brief = brief_of(case)
    assert fits(brief, challenge("v1-R2"))
    assert not fits(brief, challenge("v1-R3"))


def test_an_orchestrator_answers_each_objection_and_begins_with_the_text() -> None:
    """SPEC B-01: nobody types a document anew to change a word of it."""
    case = Play()
    case.all_answer(vote(case, "no"), vote(case, "no"))
    brief = brief_of(case)
    assert fits(brief, revision("Another.", "v1-N1", "v1-N2"))
    assert not fits(brief, revision("Another.", "v1-N1"))
    assert not fits(brief, revision("Another.", "v1-N1", "v1-N3"))
    assert brief.narrowed["properties"]["text"]["default"] == case.state.text
