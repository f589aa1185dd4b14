"""What a ballot's report, result and lines say, and never let through."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

import counterpoint
from counterpoint.core.limits import Limits
from counterpoint.drive.cases import LoadedCase, load_case
from counterpoint.protocols.ballot import Phase
from counterpoint.record.memory import MemoryStore
from counterpoint.views.ballot import VIEW
from counterpoint.views.ballot_check import check_document, document_of
from tests import need
from tests.ballot_case import docket_of
from tests.balloting import ToldAgent, reply_to
from tests.example_play import HOSTILE

OURS: Final = {"Unresolved divergence", "Round 1: v1", "Round 2: v2", "Seats", "Limits and use", "How to check this"}


def hostile(payload: Any) -> dict[str, Any]:
    """Return a vote whose every text is hostile."""
    given = reply_to("voting", payload, "but")
    return given | {"reason": HOSTILE, "reservations": [{"point": HOSTILE, "needs": "nothing"}]}


def challenging(payload: Any) -> dict[str, Any]:
    return {"challenges": [{"reservation": each["id"], "reason": HOSTILE} for each in payload["classified"]]}


def revising(payload: Any) -> dict[str, Any]:
    return {
        "answers": [{"objection": each["id"], "answer": HOSTILE} for each in payload["objections"]],
        "text": "Another text.",
    }


@pytest.fixture(scope="module")
def unresolved() -> LoadedCase:
    """Return a ballot of two rounds in which every seat writes what is hostile, and nothing is agreed."""
    store = MemoryStore()
    seats = {
        "chief": ToldAgent({"revising.2": revising}),
        "ann": ToldAgent({"voting.1": hostile, "challenging.1": challenging, "voting.2.1": "prose"}),
        "ben": ToldAgent({"voting.2": "no"}),
    }
    docket = docket_of(title="[a](javascript:1) `x` ![p](y) *z* 1 < 2", remarks=(HOSTILE,))
    limits = Limits(max_rounds=2, deadline="2999-01-01T00:00:00+00:00")
    result = counterpoint.run("ballot", docket, seats, store=store, limits=limits, author="chief")
    return load_case(store, Path("cases"), result.case)


def test_nothing_that_a_seat_wrote_is_structure(unresolved: LoadedCase) -> None:
    """SECURITY B.4: no heading, link, picture or HTML of theirs, in the report or in the document."""
    reader = need.python_module("markdown_it").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    report, document = VIEW.report(unresolved), document_of(unresolved)
    tokens = reader.parse(report)
    headings = [b.content for a, b in pairwise(tokens) if a.type == "heading_open"]
    assert set(headings[1:]) == OURS
    for drawn in (tokens, reader.parse(document.partition("## Debate")[2])):
        kinds = {inner.type for token in drawn for inner in (token, *(token.children or ()))}
        assert not kinds & {"html_block", "html_inline", "link_open", "image", "table_open", "blockquote_open"}
    assert not any(character in report + document for character in "\x07\x1b\u202e\u200b")


def test_the_report_has_every_position(unresolved: LoadedCase) -> None:
    """SPEC B-02, B-09: who rejected, what was challenged, what was answered, and what is left to a person."""
    report = VIEW.report(unresolved)
    assert "# A person is needed: " in report
    for said in (
        "- `ann`: **Approved with reservations**",
        "- `ben`: **Rejected**",
        "Reservation `v1-R1` of `ann`, needs nothing, classified as cosmetic (so it is):",
        "`ann` challenges `v1-R1`: ",
        "The orchestrator answers `v1-R1`:",
        "`v2-N1`, of `ben`: it was rejected",
        "- `voting.2.ann.1`: `bad_reply`, ",
        "asked for model `m`; `m` reported",
        "- Deadline: `2999-01-01T00:00:00+00:00`",
    ):
        assert said in report, said


def test_the_result_is_one_json_object_with_every_round(unresolved: LoadedCase) -> None:
    """SPEC B-11: the texts of both versions with their digests and votes; nothing acts on a terminal."""
    result = json.loads(json.dumps(dict(VIEW.result(unresolved))))
    assert [(each["version"], len(each["votes"]), each["missing"]) for each in result["rounds"]] == [
        (1, 2, []),
        (2, 2, []),
    ]
    assert [each["challenges"][0]["seat"] for each in result["rounds"][0]["reservations"]] == ["ann"]
    assert (result["exit_code"], result["decision"]) == (4, "needs_input")
    lines = list(VIEW.summary(unresolved, lambda text, _colour: text))
    assert lines[-1].startswith("text:     v2, SHA-256 ")
    assert VIEW.is_old_file("ballot-1.json")
    assert set(VIEW.phases) == set(Phase) - {Phase.OPENING}


def test_a_document_without_its_case_is_checked_by_itself(unresolved: LoadedCase) -> None:
    """SPEC B-20: and a later round over sealed votes does not hold."""
    content = document_of(unresolved)
    found = check_document(content, name="x", snapshots=None, case=None)
    assert (found.faults, found.rounds, found.is_recorded) == ((), 2, False)
    start, end = content.index("### `ann`"), content.index("## Debate — Round 2")
    sealed = content[:start] + "The votes are sealed until all are in.\n\n" + content[end:]
    assert check_document(sealed, name="x", snapshots=None, case=None).faults == (
        "round 1: its votes are sealed, and a later round is there",
    )
