"""What `result.json` promises to programs. Its whole text stands in the golden files."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from counterpoint.core.canonical import HIDDEN
from counterpoint.core.outcome import exit_code
from counterpoint.drive.cases import LoadedCase, load_case
from counterpoint.record.memory import MemoryStore
from counterpoint.views.result import result_of
from counterpoint.views.schema import RESULT_SCHEMA
from counterpoint.views.writing import render_result
from tests.example_cases import EXAMPLES, HOSTILE, play
from tests.example_play import CANDIDATE
from tests.example_rounds import COMMITS

VALIDATOR = Draft202012Validator(dict(RESULT_SCHEMA))


def _loaded(example: str) -> LoadedCase:
    store = MemoryStore()
    return load_case(store, Path("/somewhere"), play(example, store))


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_result_is_sorted_ascii_and_the_same_twice(example: str) -> None:
    """One byte form for one record, with nothing in it that could act on a terminal (SECURITY T1; DESIGN 8)."""
    text = render_result(_loaded(example))
    assert text == render_result(_loaded(example))
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True) + "\n"
    assert text.isascii()
    assert not HIDDEN.search(text)
    assert "/somewhere" not in text


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_result_is_valid_and_its_exit_code_is_the_outcomes(example: str) -> None:
    """The schema fits, and what is printed is what the process returns."""
    case = _loaded(example)
    result = result_of(case)
    VALIDATOR.validate(result)
    assert result["exit_code"] == exit_code(case.outcome)


def _objects(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(schema, dict):
        if "properties" in schema:
            yield path, schema
        for key, value in schema.items():
            yield from _objects(value, f"{path}/{key}")


def test_the_schema_is_closed_at_every_level() -> None:
    """No object takes an unknown key, and every known key has to be there."""
    found = list(_objects(dict(RESULT_SCHEMA)))
    assert len(found) > 15
    for path, schema in found:
        assert schema["additionalProperties"] is False, path
        assert schema["required"] == sorted(schema["properties"]), path


def test_every_top_level_key_of_the_schema_is_described() -> None:
    """A reader of the schema needs no other page."""
    assert [key for key, value in RESULT_SCHEMA["properties"].items() if "description" not in value] == []


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_extra_or_a_missing_key_is_refused(example: str) -> None:
    """Proves that the schema holds what it says: at the top, and inside a seat."""
    result = result_of(_loaded(example))
    with pytest.raises(ValidationError):
        VALIDATOR.validate({**result, "more": 1})
    with pytest.raises(ValidationError):
        VALIDATOR.validate({key: value for key, value in result.items() if key != "coverage"})
    result["seats"][0]["more"] = 1
    with pytest.raises(ValidationError):
        VALIDATOR.validate(result)


def test_text_of_a_seat_comes_through_whole() -> None:
    """A program reads exactly what the record has: nothing cut, nothing cleaned."""
    result = result_of(_loaded("hostile"))
    assert result["docket"]["instructions"] == HOSTILE
    assert result["commands"][0]["output"] == HOSTILE


def test_every_finding_and_every_claim_is_in_the_result() -> None:
    """Settled and refuted ones too: an omitted finding would be a lost one (F19)."""
    result = result_of(_loaded("rejected"))
    ids = [finding["id"] for finding in result["findings"]]
    assert ids == ["checks-F1", "checks-F2", "critic-F1", "critic-F2", "critic-F3", "critic-F4", "critic-F5"]
    assert {finding["id"] for finding in result["findings"] if not finding["blocks"]} == {"critic-F2", "critic-F5"}
    assert [claim["status"] for claim in result["claims"]] == ["refuted", "not_checked"]


def test_a_result_of_rounds_has_both_positions_of_every_finding() -> None:
    """What the author answered and what the raiser ruled, each with its round (issue 3; SPEC D-13, D-14)."""
    findings = {finding["id"]: finding for finding in result_of(_loaded("to-agreement"))["findings"]}
    disputed = findings["critic-F2"]
    assert [(a["round"], a["disposition"]) for a in disputed["answers"]] == [(1, "rebut"), (2, "partial")]
    assert [(r["round"], r["ruling"]) for r in disputed["rulings"]] == [(2, "stands"), (3, "settled")]
    assert [own for own, finding in findings.items() if finding["unevidenced"]] == ["critic-F3"]
    assert [own for own, finding in findings.items() if finding["disputed"]] == []


def test_a_result_of_rounds_has_the_commits_of_the_case_and_what_debate_changed() -> None:
    """From the candidate that the case opened with to the newest (SPEC D-20; DESIGN 7.1)."""
    result = result_of(_loaded("to-agreement"))
    assert [offer["candidate"] for offer in result["offers"]] == list(COMMITS)
    assert [offer["previous"] for offer in result["offers"]] == [CANDIDATE, COMMITS[0]]
    assert (result["docket"]["candidate"], result["candidate"]) == (CANDIDATE, COMMITS[1])
    assert [found["offered"] for found in result["rounds"]] == [*COMMITS, None]
    assert result["deferred"] == ["critic-F4"]
    assert result["debate"] == {
        "opening": {"approvals": 0, "verdicts": 2},
        "final": {"approvals": 2, "verdicts": 2},
        "gain": 2,
    }


def test_a_reviewer_that_was_not_asked_again_is_named() -> None:
    """It had approved exactly this candidate (docs/decisions, "An approval stands while nothing changes")."""
    first, second = result_of(_loaded("unresolved"))["rounds"]
    assert (first["stood"], second["stood"]) == ([], ["checks"])
    assert [verdict["seat"] for verdict in second["verdicts"]] == ["critic"]


def test_a_result_of_an_open_case_says_so() -> None:
    """No closing time, no stop reason, and an exit code that is no pass (F3, F41)."""
    result = result_of(_loaded("open-and-waiting"))
    assert (result["closed_at"], result["stop_reason"], result["exit_code"]) == (None, None, 3)
    assert result["usage"]["known"] is False
    assert [attempt["turn"] for attempt in result["failed_attempts"]] == ["reviewing.1.critic.1"]


def test_the_result_names_the_record_it_stands_on() -> None:
    """The newest entry's number and digest, which `verify` prints too."""
    case = _loaded("approved")
    record = result_of(case)["record"]
    assert record == {"n": case.blocks[-1].n, "digest": case.blocks[-1].digest}
    assert re.fullmatch("[0-9a-f]{64}", record["digest"])
