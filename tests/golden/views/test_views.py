"""What people and programs are given of each example case, byte for byte."""

import json
from pathlib import Path
from typing import Final

import pytest
from jsonschema import Draft202012Validator

from counterpoint.drive.cases import LoadedCase, load_case
from counterpoint.record.memory import MemoryStore
from counterpoint.views.comment import render_comment
from counterpoint.views.files import files_of
from counterpoint.views.report import render_report
from counterpoint.views.transcript import render_transcript
from counterpoint.views.writing import render_result
from tests import need
from tests.example_cases import EXAMPLES, play
from tests.golden_files import check_golden

HERE: Final = Path(__file__).parent
ROUNDS: Final = ("to-agreement", "unresolved", "hostile-rounds")


def _played(example: str) -> LoadedCase:
    store = MemoryStore()
    return load_case(store, Path(), play(example, store))


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_report_is_the_golden_one(example: str) -> None:
    """report.md of every way for a case to stand or end (DESIGN 8, ours)."""
    check_golden(HERE / f"{example}.report.md", render_report(_played(example)))


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_result_is_the_golden_one(example: str) -> None:
    """result.json of every way for a case to stand or end (DESIGN 8, ours)."""
    check_golden(HERE / f"{example}.result.json", render_result(_played(example)))


@pytest.mark.parametrize("example", ["rejected", "hostile", *ROUNDS])
def test_the_transcript_is_the_golden_one(example: str) -> None:
    """The record in words, without colour (DESIGN 8, ours)."""
    store = MemoryStore()
    blocks = store.read(play(example, store))
    check_golden(HERE / f"{example}.transcript.txt", render_transcript(blocks, width=100))


@pytest.mark.parametrize("example", ["rejected", *ROUNDS])
def test_the_comment_is_the_golden_one(example: str) -> None:
    """What is posted on a pull request (SPEC D-19)."""
    check_golden(HERE / f"{example}.comment.md", render_comment(_played(example), by="Ada @owner"))


@pytest.mark.parametrize("example", ROUNDS)
def test_the_files_for_scripts_are_the_golden_ones(example: str) -> None:
    """Verdicts and answers of each round, each under its name (SPEC D-11, D-13)."""
    shown = [f"== {name}\n{text}" for name, text in files_of(_played(example)).items()]
    check_golden(HERE / f"{example}.files.txt", "\n".join(shown))


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_golden_result_is_valid_under_the_published_schema(example: str) -> None:
    """The schema that programs are given fits what they are given."""
    schema = json.loads((need.ROOT / "docs/result.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(json.loads((HERE / f"{example}.result.json").read_text("utf-8")))
