"""Files for people who script, rendered from the record. Their whole text stands in the golden files."""

import json
import stat
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from counterpoint.core.canonical import HIDDEN
from counterpoint.drive.cases import LoadedCase, load_case
from counterpoint.errors import RecordError
from counterpoint.record.memory import MemoryStore
from counterpoint.views.files import files_of
from counterpoint.views.writing import write_files
from tests import need
from tests.example_cases import EXAMPLES, play

ROUNDS = ("to-agreement", "unresolved", "hostile-rounds")
NAMES = {
    "verdict-001-checks.json",
    "verdict-001-critic.json",
    "section-001-2-ana.md",
    "verdict-002-checks.json",
    "verdict-002-critic.json",
    "section-002-2-ana.md",
    "verdict-003-checks.json",
    "verdict-003-critic.json",
}


def _loaded(example: str, cases: Path = Path("/somewhere")) -> LoadedCase:
    store = MemoryStore()
    return load_case(store, cases, play(example, store))


def _verdict(case: LoadedCase, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files_of(case)[name])
    return found


def test_each_reading_has_a_file_for_each_verdict_and_each_answer_one() -> None:
    """In the order of the rounds; with one reviewer no seat is in the name (SPEC D-11, D-13)."""
    assert list(files_of(_loaded("to-agreement"))) == sorted(
        NAMES, key=lambda name: (name.partition("-")[2][:3], name.startswith("section"), name)
    )
    assert list(files_of(_loaded("hostile-rounds"))) == [
        "verdict-001.json",
        "section-001-2-ana.md",
        "verdict-002.json",
    ]


def test_a_reviewer_that_was_not_asked_again_has_no_file_of_that_reading() -> None:
    """A file is a verdict that was given."""
    assert "verdict-002-checks.json" not in files_of(_loaded("unresolved"))


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_verdict_has_the_published_shape_and_no_other_key(example: str) -> None:
    """Every key of SPEC D-11, ids as the ledger has them, nothing that could act on a terminal."""
    for name, text in files_of(_loaded(example)).items():
        if name.startswith("section"):
            continue
        assert text.isascii()
        assert not HIDDEN.search(text)
        shape = json.loads(text)
        assert list(shape) == ["approved", "summary", "findings", "responseToRebuttal"]
        for found in shape["findings"]:
            assert list(found) == ["id", "severity", "location", "issue", "suggestion", "status"]
            assert found["status"] in {"open", "resolved"}


@pytest.mark.parametrize("example", EXAMPLES)
def test_where_everything_must_be_settled_an_approval_has_nothing_open(example: str) -> None:
    """Approved only with every finding resolved (SPEC D-11, D-12)."""
    for name, text in files_of(_loaded(example)).items():
        if name.startswith("verdict") and (shape := json.loads(text))["approved"]:
            assert [found["id"] for found in shape["findings"] if found["status"] == "open"] == []


def test_findings_stand_as_they_did_after_that_reading() -> None:
    """None vanishes, none is there before it was raised, and what was deferred is resolved (SPEC D-12, D-17)."""
    case = _loaded("to-agreement")
    statuses = [
        {found["id"]: found["status"] for found in _verdict(case, f"verdict-00{reading}-critic.json")["findings"]}
        for reading in (1, 2, 3)
    ]
    ids = [f"critic-{own}" for own in ("F1", "F2", "F3", "F4", "F10")]
    assert statuses[0] == dict.fromkeys(ids, "open")
    assert statuses[1] == {**dict.fromkeys(ids, "resolved"), "critic-F2": "open"}
    assert statuses[2] == dict.fromkeys([*ids, "critic-F11"], "resolved")


def test_a_checks_seat_has_its_verdicts_too() -> None:
    """What code found is a finding like any other."""
    case = _loaded("to-agreement")
    first, second = (_verdict(case, f"verdict-00{reading}-checks.json") for reading in (1, 2))
    assert (first["approved"], second["approved"]) == (False, True)
    assert [found["status"] for found in (*first["findings"], *second["findings"])] == ["open", "resolved"]


def test_what_was_answered_to_the_author_comes_out_of_the_reply() -> None:
    """Empty in round one (SPEC D-11)."""
    case = _loaded("unresolved")
    assert _verdict(case, "verdict-001-critic.json")["responseToRebuttal"] == ""
    assert _verdict(case, "verdict-002-critic.json")["responseToRebuttal"] == "A form is no guard."


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ('{"responseToRebuttal": "\\u202eyes"}', "\\u{202e}yes"),
        ("prose", ""),
        ("[1]", ""),
        ('{"responseToRebuttal": ["a"]}', ""),
        ('{"responseToRebuttal": "a", "responseToRebuttal": "b"}', ""),
        ("{}", ""),
        ("[" * 100_000, ""),
    ],
)
def test_a_reply_that_is_not_what_it_should_be_says_nothing(reply: str, said: str) -> None:
    """A reply is a seat's own bytes: read strictly, and never believed (SECURITY B.1)."""
    case = _loaded("unresolved")
    state = case.state
    revealed = {turn: replace(each, reply=reply) for turn, each in state.revealed.items()}
    forged = replace(case, state=replace(state, revealed=revealed))
    assert _verdict(forged, "verdict-002-critic.json")["responseToRebuttal"] == said


@pytest.mark.parametrize("example", ROUNDS)
def test_an_answer_has_an_entry_for_each_finding_and_our_structure(example: str) -> None:
    """The finding's id in back-ticks, the word of the answer, the reasoning (SPEC D-13; SECURITY T2, T3)."""
    case = _loaded(example)
    reader = need.python_module("markdown_it").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for name, text in files_of(case).items():
        if name.startswith("verdict"):
            continue
        number = int(name.split("-")[1])
        tokens = reader.parse(text)
        assert {token.type for token in tokens} <= {
            "heading_open",
            "heading_close",
            "paragraph_open",
            "paragraph_close",
            "inline",
            "fence",
        }
        titles = [
            tokens[at + 1].content for at, token in enumerate(tokens) if token.tag == "h2" and token.nesting == 1
        ]
        answered = [f for f in case.state.ledger if any(answer.round == number for answer in f.answers)]
        assert [title.partition(": ")[0] for title in titles] == [f"`{finding.id}`" for finding in answered]


def test_every_word_of_the_published_format_is_used() -> None:
    """fixed, disputed, partial, and what we have beside them (SPEC D-13)."""
    texts = files_of(_loaded("to-agreement"))
    assert "## `critic-F1`: fixed\n" in texts["section-001-2-ana.md"]
    assert "## `critic-F2`: disputed\n" in texts["section-001-2-ana.md"]
    assert "## `critic-F4`: clarified\n" in texts["section-001-2-ana.md"]
    assert "## `critic-F2`: partial\n" in texts["section-002-2-ana.md"]
    assert "Nothing was changed.\n" in files_of(_loaded("unresolved"))["section-001-2-ana.md"]


def _in(folder: Path) -> Mapping[str, str]:
    return {path.name: path.read_text("utf-8") for path in folder.iterdir()}


def test_the_files_lie_in_the_cases_folder_and_are_the_same_twice(tmp_path: Path) -> None:
    """Readable for everybody, and nothing else is left (issue 3 point 4)."""
    case = _loaded("to-agreement", tmp_path)
    written = write_files(case)
    assert [path.name for path in written] == list(files_of(case))
    assert _in(case.folder) == files_of(case)
    assert {stat.S_IMODE(path.stat().st_mode) for path in written} == {0o644}
    assert write_files(_loaded("to-agreement", tmp_path)) == written
    assert _in(case.folder) == files_of(case)


def test_only_files_of_ours_that_are_old_are_removed(tmp_path: Path) -> None:
    """By name alone, and never a folder, a report or what a person put there."""
    case = _loaded("unresolved", tmp_path)
    case.folder.mkdir()
    outside = tmp_path / "precious.json"
    outside.write_text("mine")
    old = ("verdict-002-checks.json", "verdict-007.json", "section-1000-2-somebody.md")
    kept = (
        "report.md",
        "verdict-01.json",
        "verdict-001-critic.json.bak",
        "section-001-1-ana.md",
        "my-verdict-001.json",
    )
    for name in (*old, *kept):
        (case.folder / name).write_text("x")
    (case.folder / "verdict-009.json").symlink_to(outside)
    (case.folder / "verdict-008.json").mkdir()
    write_files(case)
    assert {path.name for path in case.folder.iterdir()} == {*files_of(case), *kept, "verdict-008.json"}
    assert outside.read_text() == "mine"


def test_a_link_in_a_files_place_is_replaced_and_not_followed(tmp_path: Path) -> None:
    """What it points to keeps its bytes (SECURITY R21)."""
    case = _loaded("unresolved", tmp_path)
    outside = tmp_path / "precious.json"
    outside.write_text("mine")
    case.folder.mkdir()
    (case.folder / "verdict-001-critic.json").symlink_to(outside)
    write_files(case)
    assert outside.read_text() == "mine"
    assert _in(case.folder) == files_of(case)


def test_a_folder_that_cannot_be_made_is_a_typed_error(tmp_path: Path) -> None:
    """One sentence that names it."""
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="cannot take the files of the case"):
        write_files(_loaded("unresolved", tmp_path / "file"))
