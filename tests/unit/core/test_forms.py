"""A reply form says its JSON Schema and reads a reply; both agree on what fits."""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from counterpoint.core.forms import listed, read_form, read_text, schema_of, text
from counterpoint.errors import Refused


class Vote(StrEnum):
    FOR = "for"
    AGAINST = "against"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    id: str = text(pattern="[A-Z][0-9]{0,2}")
    says: str = text(most=10, blank=False, about="in ten characters")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    reason: str = text(most=20)
    points: tuple[Point, ...] = listed(least=1, most=2)
    words: tuple[str, ...] = listed(most=2, each=3, pattern="[a-z]+")
    main: Point
    sure: bool
    version: int
    vote: Vote


POINT = {"id": "P1", "says": "so"}
GOOD: dict[str, Any] = {
    "reason": "it holds",
    "points": [POINT],
    "words": ["one"],
    "main": POINT,
    "sure": True,
    "version": 2,
    "vote": "for",
}


def test_a_form_reads_what_its_schema_takes() -> None:
    """One source for both, so that the edge and the fold of a record cannot differ (DESIGN 4)."""
    Draft202012Validator.check_schema(dict(schema_of(Ballot)))
    assert not list(Draft202012Validator(schema_of(Ballot)).iter_errors(GOOD))
    found = read_form(Ballot, GOOD)
    assert found == Ballot(
        reason="it holds",
        points=(Point(id="P1", says="so"),),
        words=("one",),
        main=Point(id="P1", says="so"),
        sure=True,
        version=2,
        vote=Vote.FOR,
    )


def test_the_schema_keeps_the_order_of_the_fields_and_their_words() -> None:
    """A reason stands before the vote that it explains (DESIGN 7.8)."""
    schema = schema_of(Ballot)
    assert list(schema["properties"]) == schema["required"] == list(GOOD)
    assert schema["additionalProperties"] is False
    point = schema["properties"]["points"]["items"]
    assert point["properties"]["says"]["description"] == "in ten characters"
    assert json.dumps(dict(schema))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"vote": "maybe"}, "vote: expected one of for, against"),
        ({"sure": 1}, "sure: expected bool, got int"),
        ({"version": True}, "version: expected int, got bool"),
        ({"version": "2"}, "version: expected int, got str"),
        ({"more": 1}, "more: no such field"),
        ({"reason": "r" * 21}, "reason has 21 characters; at most 20 are possible"),
        ({"points": []}, "points has 0 items; 1 to 2 are possible"),
        ({"points": [POINT] * 3}, "points has 3 items; 1 to 2 are possible"),
        ({"words": ["four"]}, "words[0] has 4 characters; at most 3 are possible"),
        ({"words": ["One"]}, "words[0] is 'One', which is not like ^(?:[a-z]+)$"),
        ({"words": ["one", 2]}, "words[1]: expected str, got int"),
        ({"points": [POINT, {"id": "P1", "says": " \t"}]}, "points[1].says says nothing"),
        ({"points": [{"id": "P1", "says": ""}]}, "points[0].says says nothing"),
        ({"main": {"id": "p1", "says": "so"}}, "main.id is 'p1', which is not like ^(?:[A-Z][0-9]{0,2})$"),
        ({"main": {"id": "P1\n", "says": "so"}}, "main.id is 'P1\\n', which is not like"),
        ({"main": "P1"}, "main: expected an object, got str"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_path(change: dict[str, Any], reason: str) -> None:
    """TURN-2: the value, and what was expected of it."""
    with pytest.raises(Refused) as caught:
        read_form(Ballot, GOOD | change)
    assert caught.value.rule == "TURN-2"
    assert reason in caught.value.reason


def test_hidden_characters_are_written_out_before_anything_is_measured() -> None:
    """SECURITY B.1: what a person reads is what was said."""
    found = read_form(Ballot, GOOD | {"words": [], "reason": "a\u202eb"})
    assert found.reason == "a\\u{202e}b"


def test_a_text_is_read_as_its_object_is_and_only_once() -> None:
    """The fold of a record and what people are told begin with the same text (DESIGN 4)."""
    found = read_text(Ballot, json.dumps(GOOD))
    assert found == read_form(Ballot, GOOD)
    assert read_text(Ballot, json.dumps(GOOD)) is found
    with pytest.raises(Refused, match="the reply is no JSON object"):
        read_text(Ballot, "[]")
    with pytest.raises(Refused, match="the reply is not one strict JSON object"):
        read_text(Ballot, json.dumps(GOOD)[:-1])
    assert read_text(Point, json.dumps(POINT)) == Point(**POINT)
