"""What the payload has decided already is written into the schema that a person's form goes by."""

from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator

from counterpoint.core.forms import listed, schema_of, text, whole
from counterpoint.core.narrowing import Shown, Use, narrowed

POINTS = Shown(use=Use.CHOOSE, at="points", key="id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    point: str = text(blank=False, shown=POINTS)
    why: str = text(blank=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    path: str = text(shown=Shown(use=Use.CHOOSE, at="paths"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    version: int = whole(about="which", shown=Shown(use=Use.REPEAT, at="version"))
    rulings: tuple[Ruling, ...] = listed(most=9, shown=Shown(use=Use.EACH, at="points", key="id", only="is_due"))
    doubts: tuple[Ruling, ...] = listed(most=9)
    with_whom: tuple[str, ...] = listed(most=9, shown=Shown(use=Use.CHOOSE, at="others", key="name"))
    old_doubts: tuple[Ruling, ...] = listed(most=9, shown=Shown(use=Use.BEGIN, at="yours.doubts"))
    city: str = text(blank=False, shown=Shown(use=Use.BEGIN, at="yours.city"))
    place: Place
    sure: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Free:
    why: str = text()
    places: tuple[str, ...] = listed(most=2)


PAYLOAD: dict[str, Any] = {
    "version": 3,
    "points": [
        {"id": "P1", "says": "too long", "is_due": True, "empty": "", "more": []},
        {"id": "P2", "says": "too short", "is_due": False},
    ],
    "others": [{"name": "peer-1"}, {"name": "peer-2"}],
    "yours": {"city": "Rome", "doubts": [{"point": "P1", "why": "so"}]},
    "paths": ["a", "b"],
}
SCHEMA = schema_of(Verdict)


def test_what_is_shown_is_repeated_chosen_or_kept() -> None:
    """Newcomer 24 and 26: nobody types what stands there already, and nobody can mistype it."""
    found = narrowed(Verdict, SCHEMA, PAYLOAD)
    Draft202012Validator.check_schema(dict(found))
    fields = found["properties"]
    assert fields["version"] == {"type": "integer", "description": "which", "const": 3}
    assert fields["city"]["default"] == "Rome"
    assert fields["old_doubts"]["default"] == [{"point": "P1", "why": "so"}]
    assert fields["with_whom"]["items"]["enum"] == ["peer-1", "peer-2"]
    assert fields["doubts"]["items"]["properties"]["point"]["enum"] == ["P1", "P2"]
    assert fields["place"]["properties"]["path"]["enum"] == ["a", "b"]
    assert fields["sure"] == {"type": "boolean"}


def test_a_list_with_one_item_for_each_has_them_by_name() -> None:
    """Newcomer 24: how long such a list is, the payload says; what is not due is left out."""
    rulings = narrowed(Verdict, SCHEMA, PAYLOAD)["properties"]["rulings"]
    assert (rulings["minItems"], rulings["maxItems"]) == (1, 1)
    (item,) = rulings["prefixItems"]
    assert (item["title"], item["description"]) == ("P1", "says: too long")
    assert item["properties"]["point"] == {"const": "P1"}
    assert item["properties"]["why"] == SCHEMA["properties"]["rulings"]["items"]["properties"]["why"]


def test_what_the_payload_does_not_show_stays_open_and_a_list_of_nothing_is_empty() -> None:
    """A first text answers nothing, and where no options are listed the answer is free."""
    fields = narrowed(Verdict, SCHEMA, {"yours": "none"})["properties"]
    assert fields["rulings"]["maxItems"] == 0
    assert {name: fields[name] for name in ("version", "city", "with_whom", "doubts", "place")} == {
        name: SCHEMA["properties"][name] for name in ("version", "city", "with_whom", "doubts", "place")
    }


def test_a_form_that_looks_nothing_up_is_not_narrowed() -> None:
    """Then its schema is all that there is to say."""
    assert narrowed(Free, schema_of(Free), PAYLOAD) == {}
