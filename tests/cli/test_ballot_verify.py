"""Checking a document that holds a debate: `counterpoint ballot verify` (SPEC B-20)."""

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.ballots import WHO, document, text_in
from tests.planned_seats import plan
from tests.reviewing import Project

Faults = Callable[..., list[str]]


@pytest.fixture
def faults(votes: Project) -> Faults:
    """Lend what checks a document of this text, away from its case, and returns what does not hold."""
    copy = votes.top / "copy"
    copy.mkdir()

    def check(content: str, *more: str | Path) -> list[str]:
        (copy / "DOC.md").write_text(content)
        called = votes.call("ballot", "verify", copy / "DOC.md", "--json", "--root", copy, *more)
        assert called.code == (1 if called.json["faults"] else 0)
        found: list[str] = called.json["faults"]
        return found

    return check


def voted(votes: Project) -> str:
    """Return the document of a ballot of two rounds."""
    plan(votes, ann={"voting.1": "no"})
    assert votes.call("ballot", "DOC.md", *WHO, "--deadline", "1h").code == 0
    return document(votes)


def test_what_does_not_hold_in_a_document_is_named(votes: Project, faults: Faults) -> None:
    """SPEC B-20: digest, version, roster, deadline stamps, number of rounds, from the file alone."""
    good = voted(votes)
    assert faults(good) == []
    digest = hashlib.sha256(text_in(good).encode()).hexdigest()
    (said,) = faults(good.replace("Version 2 of the text.", "Version two of the text."))
    assert said.endswith(f"; round 2 reviewed {digest}")
    assert faults(good.replace("— v2", "— v3")) == ["the text is v3, and the last debate is on v2"]
    block = good[good.index("### `ben`") : good.index("### What it came to")]
    assert faults(good.replace(block, "", 1)) == ["round 1: votes of ann; the roster is ann, ben"]
    assert faults(good.replace("**Approved** on v2", "**Approved** on v1", 1)) == [
        "round 2, ann: the vote is on v1; v2 was reviewed"
    ]
    late = re.sub(r"- Date: .*", "- Date: 2999-01-01T00:00:00+00:00", good, count=1)
    assert [said.partition("; the deadline was")[0] for said in faults(late)] == [
        "round 1, ann: the vote is of 2999-01-01T00:00:00+00:00"
    ]
    assert faults(re.sub(r"- Date: .*\n", "", good, count=2))[-1] == "round 1, ben: Approved without a date"
    assert faults(good.replace("— Round 2", "— Round 3"))[0] == "the rounds are 1, 3; they count from 1"
    assert faults(good.replace("of at most 3", "of at most 1"))[0] == "there are 2 rounds; at most 1 were allowed"
    assert faults(good.replace("- Roster: `ann`, `ben`", "- Roster: `ann`", 1))[1].startswith("round 2: case, orch")
    assert faults(good.replace("\n\n## Debate", "\n## Debate", 1))[1].startswith("the text is not in its byte form")
    for word, ill in (("rejected", "everybody approved"), ("approved", "ann did not approve")):
        other = good.replace("**approved**", f"**{word}**")
        other = other.replace("**Approved** on v2", "**Rejected** on v2", 1) if word == "approved" else other
        assert faults(other) == [f"round 2: it was decided as {word}, and {ill}"]
    early = good.replace("### What it came to\n\n", "### What it came to\n\n- Decision: **rejected** (agreed)\n", 1)
    assert faults(early) == ["round 1: it was decided, and a later round is there"]
    assert faults(good.replace("round 2 of at", "round 1 of at"))[0].startswith("round 2: no debate has the line")
    assert faults(good.replace("`chief`, which", "`ann`, which", 1))[0].startswith("round 2: case, orchestrator")
    assert faults(re.sub(r"- Orch.*\n", "", good)) == [
        f"round {n}: nobody is named as its orchestrator" for n in (1, 2)
    ]


def test_a_document_is_checked_against_itself_its_snapshots_and_its_record(votes: Project, faults: Faults) -> None:
    """SPEC B-20: each thing that does not hold is named, and the exit code is 1."""
    good = voted(votes)
    (case,) = votes.cases
    clean = votes.call("ballot", "verify", "DOC.md", "--json")
    assert (clean.code, clean.json["faults"], clean.json["snapshots"], clean.json["recorded"]) == (
        0,
        [],
        [1, 2],
        True,
    )
    shots = ("--snapshots", case)
    assert faults(good, *shots) == []
    assert faults(good.replace("**Rejected** on v1", "**Approved** on v1", 1), *shots) == [
        "round 1: the votes of the snapshot are not those of the debate"
    ]
    first = case / "ballot-1.json"
    kept = json.loads(first.read_text())
    first.write_text(json.dumps(kept | {"text": "\nOther.\n\n"}))
    (said,) = faults(good, *shots)
    assert said.startswith("round 1: the snapshot's text is ")
    first.write_text(json.dumps(kept | {"candidate": "0" * 64, "deadline": None}))
    assert len(faults(good, *shots)) == 3
    first.write_text(json.dumps(kept | {"votes": ["Approved", 1, None]}))
    assert faults(good, *shots) == ["round 1: the votes of the snapshot are not those of the debate"]
    first.write_text("[]")
    assert len(faults(good, *shots)) > 3
    first.unlink()
    assert faults(good, *shots) == [f"round 1: {case} has no ballot-1.json"]

    (votes.top / "DOC.md").write_text(good.replace("I changed it", "I changed all of it"))
    called = votes.call("ballot", "verify", "DOC.md")
    assert (called.code, called.out.splitlines()[-1]) == (
        1,
        f"does not hold: the file differs from what the record of {case.name} renders",
    )


UNREADABLE: Final = {
    "plain": ("# A\n\ntext\n", "holds no debate"),
    "not a block": (
        "# A\n\n## Current Consolidated Version — v1\n\nx\n\n## Debate — Round 1\n",
        "does not say its Case",
    ),
    "an odd date": ("", "is no instant with its offset"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_debate_is_not_checked(votes: Project, name: str) -> None:
    """SPEC B-20: exit 1, and a sentence."""
    content, said = UNREADABLE[name]
    if not content:
        assert votes.call("ballot", "DOC.md", *WHO, "--deadline", "1h").code == 0
        content = re.sub(r"- Date: .*", "- Date: yesterday", document(votes))
    (votes.top / "other.md").write_text(content)
    called = votes.call("ballot", "verify", "other.md", "--root", votes.top / "nowhere")
    assert (called.code, said in called.err) == (1, True), called
