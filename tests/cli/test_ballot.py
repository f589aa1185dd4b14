"""Votes on a document, through the whole command line (SPEC section 2)."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from counterpoint.drive.clock import SystemClock
from counterpoint.drive.lease import hold_lease
from tests.ballots import TEXT, WHO, document, text_in, timeless
from tests.planned_seats import asked, plan
from tests.reviewing import Project


def test_a_plain_text_becomes_the_document_of_its_ballot(votes: Project) -> None:
    """SPEC B-03, B-13: title, version heading, text, a block for each round; the digest is of the bytes between."""
    plan(votes, ann={"voting.1": "no"}, ben={"voting.2": "but"})
    called = votes.call("ballot", "DOC.md", *WHO)
    assert called.code == 0, called
    assert "note: DOC.md has no version heading: its first heading is the title" in called.err
    assert "note: line ends are LF in the text; the file has CR LF" in called.err
    found, (case,) = document(votes), votes.cases
    assert found.startswith("# Plan\n\n## Current Consolidated Version — v2\n\nVersion 2 of the text.\n\n## Debate")
    digest = hashlib.sha256(text_in(found).encode()).hexdigest()
    assert f"- Reviewed: v2, SHA-256 `{digest}`" in found
    assert re.findall(r"^#+ .*", found, re.MULTILINE)[2:] == [
        "## Debate — Round 1",
        "### `ann`",
        "### `ben`",
        "### What it came to",
        "### `chief` writes v2",
        "## Debate — Round 2",
        "### `ann`",
        "### `ben`",
        "### `chief` classifies",
        "### `ann` lets it pass",
        "### `ben` lets it pass",
        "### What it came to",
    ]
    assert found == (case / "document.md").read_text()
    assert "Unresolved" not in found
    assert called.out.splitlines()[0] == "Approved: all 2 voters approved v2."
    assert f"text:     v2, SHA-256 {digest}" in called.out
    assert "v2: ann Approved, ben Approved with reservations" in called.out


def test_each_round_has_a_snapshot_with_the_text_that_was_reviewed(votes: Project) -> None:
    """SPEC B-11: beside report and result, which say the same."""
    plan(votes, ann={"voting.1": "no"})
    called = votes.call("ballot", "DOC.md", *WHO, "--json")
    assert called.code == 0, called
    (case,) = votes.cases
    first, second = (json.loads((case / f"ballot-{number}.json").read_text()) for number in (1, 2))
    assert first["text"] == "\nWe ship on Friday.\n\n"
    assert first["candidate"] == hashlib.sha256(first["text"].encode()).hexdigest()
    assert [(vote["seat"], vote["vote"], vote["candidate"]) for vote in first["votes"]] == [
        ("ann", "Rejected", first["candidate"]),
        ("ben", "Approved", first["candidate"]),
    ]
    assert (second["version"], second["missing"], second["roster"]) == (2, [], ["ann", "ben"])
    result = called.json
    assert (result["decision"], result["version"], result["text"]) == ("approved", 2, second["text"])
    assert result["answers"] == [{"version": 2, "objection": "v1-N1", "answer": "I changed it"}]
    report = (case / "report.md").read_text()
    assert report.startswith("# Approved: all 2 voters approved v2.\n")
    assert "- `ann`: **Rejected**" in report
    before = {path.name: path.read_bytes() for path in case.glob("*.json")}
    assert votes.call("report", "last").code == 0
    assert {path.name: path.read_bytes() for path in case.glob("*.json")} == before


def test_a_deadlock_goes_to_a_person_with_both_positions(votes: Project) -> None:
    """SPEC B-02: exit 4; the person edits the text and has it voted on anew, and no debate is lost."""
    plan(votes, ann={f"voting.{number}": "no" for number in (1, 2, 3)})
    called = votes.call("ballot", "DOC.md", *WHO)
    assert called.code == 4, called
    assert called.out.startswith(
        "A person is needed: 3 of 3 rounds are spent, and a person has to decide; ann rejected"
    )
    assert (
        "next:     decide: edit the text in DOC.md, and begin a new ballot on it; this debate stays in its case\n"
        in called.out
    )
    found = document(votes)
    last = found.partition("## Unresolved Divergence\n")[2]
    assert "### The position of `chief`\n\nv3, as it stands above.\n" in last
    assert "`ann`, `v3-N1`:\n\n```text\nI read it\n\n(it was rejected)\n```\n" in last
    (votes.top / "DOC.md").write_text(found.replace("Version 3 of the text.", "What we agreed on by voice."))
    plan(votes)
    edited = document(votes)
    (votes.top / "DOC.md").write_text(edited.replace("**Rejected** on v3", "**Approved** on v3"))
    refused = votes.call("ballot", "DOC.md", *WHO)
    assert (refused.code, "a new ballot would lose it" in refused.err) == (1, True), refused
    (votes.top / "DOC.md").write_text(edited)
    again = votes.call("ballot", "DOC.md", *WHO)
    assert again.code == 0, again
    case = votes.cases[0].name
    assert (
        f"note: another text was left to a person as v3 in {case}; that debate of 3 rounds is replaced" in again.err
    )
    assert "— v1\n\nWhat we agreed on by voice.\n\n## Debate — Round 1\n" in document(votes)


def test_a_killed_ballot_goes_on_and_ends_with_the_same_document(votes: Project) -> None:
    """SPEC B-19: no seat that has voted is asked again, and the file is the one of a run that nobody killed."""
    plan(votes, ann={"voting.1": "no"}, chief={"revising.2": "kill"})
    assert votes.run("ballot", "DOC.md", *WHO).code == -9
    votes.sweep()
    assert document(votes) == (votes.cases[0] / "document.md").read_text()
    called = votes.call("resume", "last")
    assert called.code == 0, called
    assert asked(votes) == sorted(
        ["ann voting.1", "ben voting.1", "chief revising.2", "chief revising.2", "ann voting.2", "ben voting.2"]
    )
    assert votes.call("ballot", "verify", "DOC.md").code == 0
    killed = timeless(document(votes))
    (votes.top / "DOC.md").write_bytes(TEXT.encode())
    assert votes.call("ballot", "DOC.md", *WHO).code == 0
    assert timeless(document(votes)) == killed


def test_an_edit_while_it_runs_is_named_and_left_alone(votes: Project) -> None:
    """Issue 6: exit 4 with what to do; once the document is back, the case goes on."""
    place = votes.top / "DOC.md"
    plan(votes, ben={"voting.1": f"edit:{place}"}, ann={"voting.1": "no"})
    called = votes.call("ballot", "DOC.md", *WHO)
    (case,) = votes.cases
    assert called.code == 4, called
    assert f"error: {place} was edited by somebody else: line 1 is 'My own words.'; nothing was written" in called.err
    assert f"copy {case / 'document.md'} there" in called.err
    assert place.read_text() == "My own words.\n"
    assert votes.call("resume", "last").code == 4
    place.unlink()
    gone = votes.call("resume", "last")
    assert (gone.code, "is not there any more" in gone.err) == (4, True)
    place.symlink_to(case / "document.md")
    assert votes.call("resume", "last").code == 4
    place.unlink()
    place.mkdir()
    assert votes.call("resume", "last").code == 4
    place.rmdir()
    place.write_bytes((case / "document.md").read_bytes())
    plan(votes)
    assert votes.call("resume", "last").code == 0
    assert place.read_text() == (case / "document.md").read_text()


def test_an_edit_at_the_end_is_left_alone_and_the_case_stays_decided(votes: Project) -> None:
    """Issue 6: the result is printed, nothing says that the file is what was decided, and a person has to mend it."""
    place = votes.top / "DOC.md"
    plan(votes, ben={"voting.1": f"edit:{place}"})
    called = votes.call("ballot", "DOC.md", *WHO)
    (case,) = votes.cases
    copy = case / "document.md"
    for again in (called, votes.call("resume", "last")):
        assert (again.code, place.read_text()) == (4, "My own words.\n"), again
        assert again.out.startswith("Approved: all 2 voters approved v1.\n"), again
        assert "document: DOC.md; document.md in the case's folder is what the record says\n" in again.out
        assert f"error: {place} was edited by somebody else: line 1 is 'My own words.'; nothing was" in again.err
        assert f"hint: the case is decided; put your text aside and copy {copy} there" in again.err
        assert "withdraw" not in again.err
        assert "go on with" not in again.err
    assert "is the same" not in (case / "report.md").read_text()
    found = votes.call("resume", "last", "--json")
    assert (found.code, found.json["error"]["code"]) == (4, "needs_person"), found
    place.unlink()
    gone = votes.call("resume", "last")
    assert (gone.code, f"{place} is not there any more" in gone.err) == (4, True), gone
    place.write_bytes(TEXT.encode())
    mended = votes.call("resume", "last")
    assert (mended.code, "error" in mended.err) == (0, False), mended
    assert place.read_text() == copy.read_text()


def test_a_case_whose_document_went_on_to_another_ballot_asks_for_no_mending(votes: Project) -> None:
    """Issue 6: to copy the older document there would lose the newer debate."""
    plan(votes, ann={"voting.1": "no"})
    assert votes.call("ballot", "DOC.md", *WHO).code == 0
    plan(votes)
    assert votes.call("ballot", "DOC.md", *WHO).code == 0
    first, second = votes.cases
    newer = document(votes)
    called = votes.call("resume", first.name)
    assert (called.code, document(votes)) == (0, newer), called
    assert f"note: {votes.top / 'DOC.md'} holds the newer ballot {second.name}" in called.err


def test_a_document_that_a_ballot_is_still_open_on_is_left_to_it(votes: Project) -> None:
    """SPEC B-05: one open case for one file, whatever stands in the file: it is resumed or withdrawn first."""
    plan(votes, ben={"voting.1": "kill"})
    assert votes.run("ballot", "DOC.md", *WHO).code == -9
    votes.sweep()
    (case,) = votes.cases
    held = document(votes)
    for content in (held.encode(), TEXT.encode(), b"# Other\n\nwords\n"):
        (votes.top / "DOC.md").write_bytes(content)
        called = votes.call("ballot", "DOC.md", "--orchestrator", "chief", "--voters", "ann")
        assert called.code == 1, called
        assert f"error: DOC.md belongs to the open case {case.name}; nothing was begun" in called.err
        assert f"`counterpoint resume {case.name}`" in called.err
        assert f"`counterpoint withdraw {case.name} --reason" in called.err
        assert ((votes.top / "DOC.md").read_bytes(), votes.cases) == (content, [case])
    with hold_lease(case, case=case.name, now=SystemClock().now()):
        called = votes.call("ballot", "DOC.md", *WHO)
    assert f"open case {case.name}, which is driven by pid " in called.err, called
    assert "hint: wait for it, or `counterpoint withdraw" in called.err
    (votes.top / "other.md").write_bytes(TEXT.encode())
    assert votes.call("ballot", "other.md", *WHO).code == 0
    (votes.top / "DOC.md").write_text(held)
    assert votes.call("withdraw", case.name, "--reason", "begun twice").code == 0
    assert votes.call("ballot", "DOC.md", *WHO).code == 0


def test_a_record_that_cannot_be_read_does_not_hold_a_document(votes: Project) -> None:
    """A folder that only looks like a case keeps nobody from voting."""
    (votes.top / ".counterpoint" / "cases" / "ballot-20260706t140748z-6b86b273").mkdir(parents=True)
    called = votes.call("ballot", "DOC.md", *WHO)
    assert called.code == 0, called


def test_the_document_keeps_its_mode_and_may_lie_in_another_folder(votes: Project, tmp_path: Path) -> None:
    """It is put in place whole, as what it was."""
    place = tmp_path / "elsewhere" / "DOC.md"
    place.parent.mkdir()
    place.write_bytes(b"\xef\xbb\xbfNo heading.\nTwo\xe2\x80\x8b.\n")
    place.chmod(0o600)
    called = votes.call("ballot", place, *WHO)
    assert called.code == 0, called
    assert "1 invisible or control characters are written out in the text" in called.err
    assert place.read_text().startswith(
        "# DOC.md\n\n## Current Consolidated Version — v1\n\nNo heading.\nTwo\\u{200b}.\n\n## Debate"
    )
    assert place.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in place.parent.iterdir()] == ["DOC.md"]


def test_a_ballot_stands_in_any_folder(votes: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of a repository, too: its cases are below the folder."""
    place = tmp_path / "plain"
    place.mkdir()
    (place / "DOC.md").write_text("# A\n\nb\n")
    monkeypatch.chdir(place)
    called = votes.call("ballot", "DOC.md", *WHO)
    assert called.code == 0, called
    assert votes.call("ballot", "verify", "DOC.md").code == 0
    assert sorted(path.name for path in place.iterdir()) == [".counterpoint", "DOC.md"]


@pytest.mark.parametrize("command", ["show", "status", "verify"])
def test_other_commands_know_a_ballot(votes: Project, command: str) -> None:
    """Issue 6: what serves one protocol serves all."""
    assert votes.call("ballot", "DOC.md", *WHO).code == 0
    called: Any = votes.call(command, "last")
    assert called.code == 0, called
    assert "reviewer" not in called.out


def test_a_ballot_that_is_withdrawn_says_so_in_its_document(votes: Project) -> None:
    """The file is brought up to date whenever somebody looks after the case."""
    plan(votes, ben={"voting.1": "kill"})
    assert votes.run("ballot", "DOC.md", *WHO).code == -9
    votes.sweep()
    assert votes.call("withdraw", "last", "--reason", "superseded").code == 0
    assert votes.call("resume", "last").code == 3
    assert "- Vote: none on v1\n" in document(votes)
    assert "- Decision: **undetermined** (withdrawn)" in document(votes)
    assert votes.call("ballot", "verify", "DOC.md").code == 0
