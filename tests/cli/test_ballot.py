"""Votes on a document, through the whole command line (SPEC section 2)."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from counterpoint.drive.clock import SystemClock
from counterpoint.drive.lease import hold_lease
from tests.agents.fake_api import Answerer, FakeApi
from tests.agents.fake_script import Answer, Question
from tests.balloting import reply_to
from tests.ballots import TEXT, WHO, document, text_in
from tests.planned_seats import add_model, asked, plan, shown
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
    killed = _timeless(document(votes))
    (votes.top / "DOC.md").write_bytes(TEXT.encode())
    assert votes.call("ballot", "DOC.md", *WHO).code == 0
    assert _timeless(document(votes)) == killed


def _timeless(content: str) -> str:
    return re.sub(r"ballot-[0-9tz]+-[0-9a-f]{8}|- Date: .*", "", content)


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


ANOTHERS: Final = f"""\
# A

## Current Consolidated Version — v1

x

## Debate — Round 1

- Case: `ballot-1`, round 1 of at most 3
- Reviewed: v1, SHA-256 `{"0" * 64}`
- Roster: `a`
- Deadline: none
"""
REFUSED: Final = {
    "a stray debate": ("# A\n\n## Debate — Round 1\n", "and no version heading above it"),
    "a heading out of place": ("Intro.\n# A\n\n## Current Consolidated Version — v1\n\nx\n", "follows 2 lines"),
    "no title": ("## Current Consolidated Version — v1\n\nx\n", "follows 0 lines"),
    "another's debate": (ANOTHERS, "holds a debate that no case here has"),
    "a debate that is none": (
        "# A\n\n## Current Consolidated Version — v1\n\nx\n\n## Debate — Round 1\n",
        "would lose it",
    ),
    "nothing": ("\n", "the text says nothing [DOCUMENT-1]\nhint: write the text below its title"),
    "a title alone": ("\n# A\n\n", "the text says nothing [DOCUMENT-1]\nhint: write the text below its title"),
    "a blank title": (
        "# \u200b\n\n## Current Consolidated Version — v1\n\nx\n".replace("\u200b", " "),
        "the title '' is not one line that says something, hidden characters written out [DOCUMENT-1]\nhint: put",
    ),
    "a fence": ("# A\n\n\n```\nx\n", "the code fence of line 4 of DOC.md [DOCUMENT-2]\nhint: close it in the text"),
    "a fence below a version": (
        "\n# A\n\n## Current Consolidated Version — v1\n\n\nx\n~~~\n",
        "the code fence of line 8 of DOC.md [DOCUMENT-2]\nhint: close it",
    ),
    "a tag": (
        "x\n<details>\n",
        "a <details> that is not closed as often as it is opened [DOCUMENT-2]\nhint: close it",
    ),
    "a heading of ours": (
        "\nx\n\n### Debate, round 2\n",
        "line 4 of DOC.md reads as a heading of the debate: '### Debate, round 2' [DOCUMENT-2]\nhint: write",
    ),
    "a title of ours": (
        "# Unresolved divergence\n\nx\n",
        "the title reads as a heading of the debate: '# Unresolved divergence' [DOCUMENT-2]\nhint: write that line",
    ),
    "a title that hides": ("# a <div\n\nx\n", "the title leaves open what would hide the debate below it: a <div>"),
    "too much": ("x" * 100_001, "the text has 100004 characters; at most 100000 are voted on [DOCUMENT-2]\nhint: "),
    "a citation": (
        "# A\n\nx\n[source: a.md]\n",
        "line 4 of DOC.md cites 'a.md', and no folder of sources is named [QUOTE-1]\nhint: name the folder",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_document_that_cannot_be_voted_on_is_refused(votes: Project, name: str) -> None:
    """SPEC B-03: nothing is begun, and the file is as it was."""
    content, said = REFUSED[name]
    place = votes.top / "DOC.md"
    place.write_text(content)
    called = votes.call("ballot", "DOC.md", *WHO)
    assert (called.code, said in called.err) == (1, True), called
    assert (place.read_text(), votes.cases) == (content, [])
    assert "hint: " in called.err


def test_what_the_name_of_a_file_or_its_heading_is_for_is_said_as_it_is(votes: Project) -> None:
    """SPEC B-03: a text without a heading has its file's name for a title."""
    (votes.top / "DOC.md").write_text("We ship on [VERIFY] Friday.\n")
    called = votes.call("ballot", "DOC.md", *WHO, "--max-rounds", "1")
    assert "note: DOC.md has no heading: its name is the title, and all of it is version 1\n" in called.err
    assert "note: [VERIFY] at line 1 of DOC.md says that nothing bears it out; only Rejected counts\n" in called.err
    assert called.out.startswith("Failed: nobody gave a valid vote on v1: the text says that it is not borne out"), (
        called
    )
    assert document(votes).startswith("# DOC.md\n\n## Current")


def test_one_voter_is_no_all(votes: Project) -> None:
    """SPEC B-14: a roster of one, in words that fit."""
    called = votes.call("ballot", "DOC.md", "--orchestrator", "chief", "--voters", "ann")
    assert called.out.splitlines()[0] == "Approved: the one voter approved v1.", called
    assert "is approved by the one voter" in (votes.cases[0] / "report.md").read_text()


def test_a_document_that_is_read_only_is_not_written(votes: Project) -> None:
    """Whoever took the right to write away is asked, before the ballot and in the middle of it."""
    place = votes.top / "DOC.md"
    place.chmod(0o444)
    called = votes.call("ballot", "DOC.md", *WHO)
    assert called.code == 1, called
    assert (
        "error: DOC.md is read-only (mode 0444); a ballot writes its debate into it; nothing was begun" in called.err
    )
    assert "hint: `chmod u+w DOC.md`, or begin the ballot on a copy" in called.err
    assert (place.read_bytes(), votes.cases) == (TEXT.encode(), [])
    place.chmod(0o644)
    plan(votes, ben={"voting.1": f"lock:{place}"})
    stopped = votes.call("ballot", "DOC.md", *WHO)
    assert stopped.code == 4, stopped
    assert f"error: {place} is read-only (mode 0444); nothing was written over it" in stopped.err
    assert f"hint: `chmod u+w {place}`, and `counterpoint resume {votes.cases[0].name}`" in stopped.err
    assert votes.call("resume", "last").code == 4
    place.chmod(0o600)
    assert votes.call("resume", "last").code == 0
    assert (place.read_text(), place.stat().st_mode & 0o777) == ((votes.cases[0] / "document.md").read_text(), 0o600)
    place.chmod(0o400)
    assert votes.call("resume", "last").code == 0


def test_a_ballot_on_what_was_voted_on_says_which_debate_it_replaces(votes: Project) -> None:
    """Issue 6: what was agreed stays in its case, with the document as it was, and both are named."""
    plan(votes, ann={"voting.1": "no"})
    assert votes.call("ballot", "DOC.md", *WHO).code == 0
    (first,) = votes.cases
    agreed = document(votes)
    (first / "document.md").unlink()
    plan(votes)
    again = votes.call("ballot", "DOC.md", *WHO)
    assert again.code == 0, again
    kept = f".counterpoint/cases/{first.name}/document.md"
    assert (
        f"note: this text was approved as v2 in {first.name}; that debate of 2 rounds is replaced by a new one, which"
        f" counts from v1 again, and is kept in {kept}\n" in again.err
    )
    assert (first / "document.md").read_text() == agreed
    (votes.top / "DOC.md").write_text(document(votes).replace("of the text", "of what I wrote"))
    edited = votes.call("ballot", "DOC.md", *WHO)
    assert f"note: another text was approved as v1 in {votes.cases[1].name}; that debate of 1 round is" in edited.err


def test_a_link_is_no_document(votes: Project) -> None:
    """It would be replaced by a file."""
    (votes.top / "link.md").symlink_to("DOC.md")
    called = votes.call("ballot", "link.md", *WHO)
    assert (called.code, "link.md is a link" in called.err) == (1, True)


def test_a_debate_of_another_kind_of_case_is_none_of_ours(votes: Project) -> None:
    """Whatever a document says, it is held against ballots alone."""
    assert votes.call("review", "--trust-commands", "--worktree").code == 0
    (case,) = votes.cases
    (votes.top / "DOC.md").write_text(ANOTHERS.replace("ballot-1", case.name))
    called = votes.call("ballot", "DOC.md", *WHO)
    assert (called.code, f"{case.name} is no ballot" in called.err) == (1, True), called


def test_quotations_are_looked_up_in_the_folder_of_sources(votes: Project) -> None:
    """SPEC B-07: an approval of words that no source has is refused with its rule, and counts as missing."""
    (votes.top / "notes").mkdir()
    (votes.top / "notes" / "timer.md").write_text("A timer fires once.\n")
    (votes.top / "DOC.md").write_text('# T\n\nIt "fires once" [source: timer.md].\n')
    called = votes.call("ballot", "DOC.md", *WHO, "--sources", "notes", "--json")
    assert (called.code, called.json["evidence"]) == (0, "verified"), called
    report = (votes.cases[-1] / "report.md").read_text()
    assert "- `fires once`, source `timer.md`: stands in its source (it stands at line 1)" in report
    plan(votes, ann={"voting.1": "no"})
    (votes.top / "DOC.md").write_text('# T\n\nIt "fires twice" [source: timer.md].\n')
    again = votes.call("ballot", "DOC.md", *WHO, "--sources", "notes", "--max-rounds", "1", "--json")
    assert again.code == 4, again
    failed = {failure["turn"]: failure["detail"] for failure in again.json["failed_attempts"]}
    assert list(failed) == ["voting.1.ben.1", "voting.1.ben.2"]
    assert failed["voting.1.ben.1"].endswith("it can only be Rejected [QUOTE-3]")


def test_a_quotation_that_does_not_hold_is_said_before_anybody_votes(votes: Project) -> None:
    """SPEC B-07: voters are told what code found, and every page says why an approval all the same is none."""
    (votes.top / "notes").mkdir()
    (votes.top / "notes" / "ops.md").write_text("Backups run at 02:00 every\n  night, on *both* disks.\n")
    (votes.top / "DOC.md").write_text('# T\n\nThey "run at\n02:00 every night" and "at 03:00" [source: ops.md].\n')
    called = votes.call("ballot", "DOC.md", *WHO, "--sources", "notes")
    (case,) = votes.cases
    assert called.code == 1, called
    found = "[source: ops.md] at line 3: it is not in the file"
    assert (
        'note: line 4 of DOC.md: "at 03:00" [source: ops.md] does not hold: it is not in the file; only' in called.err
    )
    assert shown(votes, "ann.voting.1")["can_only_be_rejected"] == [f'"at 03:00" {found}']
    refused = "'at 03:00' [source: ops.md] at line 3 of the text does not hold: it is not in the file"
    first = called.out.splitlines()[0]
    assert first == f"Failed: nobody gave a valid vote on v1: {refused}; it can only be Rejected [QUOTE-3]."
    assert "in time" not in document(votes).partition("### What it came to")[0]
    said = "- Vote: **Rejected** on v1, since its answer was not accepted\n\n```text\n"
    assert document(votes).count(f"{said}{refused}; it can only be Rejected [QUOTE-3]\n```\n") == 2
    report = (case / "report.md").read_text()
    assert "## Citations\n\n- `at 03:00`, source `ops.md`: **does not stand in its source** (it is not" in report
    plan(
        votes,
        ann={"voting.1": "no"},
        ben={"voting.1": "no"},
        chief={"revising.2": 'They "run at 02:00 every night, on *both*" [source: ops.md].'},
    )
    (votes.top / "DOC.md").write_text('# T\n\nThey run "at 03:00" [source: ops.md].\n')
    again = votes.call("ballot", "DOC.md", *WHO, "--sources", "notes", "--json")
    assert (again.code, again.json["evidence"], again.json["version"]) == (0, "verified", 2), again
    assert votes.call("verify", "last").code == 0


def test_a_person_votes_at_the_terminal(votes: Project) -> None:
    """SPEC B-15, B-16: a person in the roster votes as every voter does; nobody types a digest."""
    steps = (
        ("reason (why you vote so; first think, then vote): ", "Reads well.\n"),
        ("reservations: 0 so far. Add one? [y/N] ", "\n"),
        ("vote (1 Approved, 2 Approved with reservations, 3 Rejected): ", "1\n"),
        ("Send this? [Y/n] ", "\n"),
    )
    with votes.sit("ballot", "DOC.md", "--orchestrator", "chief", "--voters", "ann,me") as terminal:
        for question, keys in steps:
            assert "JSON" not in terminal.wait_for(question)
            terminal.type(keys)
        code, shown = terminal.end()
    assert code == 0, shown
    assert "### `me`\n\n- Agent: `human`, party `me`" in document(votes)
    assert "Reads well." in document(votes)


def test_a_person_orchestrates_with_their_own_editor(votes: Project) -> None:
    """SPEC B-01: the text to revise is there, under the person's own hands; nobody types it or an id anew."""
    plan(votes, ann={"voting.1": "no"}, ben={"voting.1": "no", "voting.2": "but"})
    editor = votes.bin / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/Friday/Monday,\\nbecause the fair opens/" "$1"\n')
    editor.chmod(0o755)
    steps = (
        ("q skips -- ", "q\n"),
        ("answer (what you changed for it, or why not): ", "Monday it is.\n"),
        ("answer (what you changed for it, or why not): ", "The same.\n"),
        ("text (the whole new text in Markdown, without title or debate; Enter keeps it as it is): ", "e\n"),
        ("Send this? [Y/n] ", "\n"),
        ("q skips -- ", "q\n"),
        ("reason: ", "A comma.\n"),
        ("weight (1 cosmetic, 2 blocking): ", "1\n"),
        ("Send this? [Y/n] ", "\n"),
    )
    who = ("--orchestrator", "me", "--voters", "ann,ben")
    with votes.sit("ballot", "DOC.md", *who, VISUAL=str(editor)) as terminal:
        for question, keys in steps:
            terminal.wait_for(question)
            terminal.type(keys)
        code, shown = terminal.end()
    assert code == 0, shown
    assert text_in(document(votes)) == "\nWe ship on Monday,\nbecause the fair opens.\n\n"
    assert document(votes).count("Monday it is.") == document(votes).count("The same.") == 1
    assert "`v2-R1` is cosmetic:" in document(votes)


def test_scripted_seats_vote_out_of_a_file(votes: Project) -> None:
    """Issue 6: end to end without any program, from a folder below the top."""
    text = "\nWe ship on Friday.\n\n"
    given = {"reason": "Read.", "reservations": [], "version": 1, "vote": "Approved"}
    answer = given | {"candidate": hashlib.sha256(text.encode()).hexdigest()}
    (votes.config / "seats.json").write_text(json.dumps({"reply": [{"phase": "voting", "answer": answer}]}))
    names = ("first", "second", "third")
    votes.configure("".join(f'[agents.{name}]\nkind = "scripted"\nfile = "seats.json"\n' for name in names))
    below = votes.top / "below"
    below.mkdir()
    (below / "DOC.md").write_text(text)
    called = votes.call("ballot", below / "DOC.md", "--orchestrator", "first", "--voters", "second,third,first")
    assert called.code == 0, called
    assert "- Roster: `second`, `third`, `first-2`\n" in (below / "DOC.md").read_text()
    assert "document: below/DOC.md" in called.out


def test_a_recorded_ballot_is_played_again_without_asking_anybody(votes: Project, tmp_path: Path) -> None:
    """Issue 5: the same votes on the same text; the seats' programs are gone."""
    plan(votes, ann={"voting.1": "no"})
    tape = tmp_path / "tape"
    assert votes.call("ballot", "DOC.md", *WHO, "--record", tape).code == 0
    first = _timeless(document(votes))
    for name in ("chief", "ann", "ben"):
        (votes.bin / name).unlink()
    (votes.top / "DOC.md").write_bytes(TEXT.encode())
    called = votes.call("ballot", "DOC.md", *WHO, "--replay", tape)
    assert called.code == 0, called
    assert _timeless(document(votes)) == first


STAGES: Final = {"objections": "revising", "reservations": "classifying", "classified": "challenging"}
"""By a key of the brief: the stage that it is for."""


def _answers(question: Question) -> Answer:
    """Answer as a model would, from the brief in its prompt."""
    brief = question.brief_with("version")
    stage = next((phase for key, phase in STAGES.items() if key in brief), "voting")
    return Answer(text=json.dumps(reply_to(stage, brief, "yes")))


@pytest.fixture
def answers() -> Answerer:
    return _answers


@pytest.fixture
def model(votes: Project, api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> str:
    """Set up a model behind an API and return its name."""
    return add_model(votes, api, monkeypatch)


def test_a_model_behind_an_api_votes(votes: Project, api: FakeApi, model: str) -> None:
    """Issue 6: end to end over the wire, with a program beside it."""
    called = votes.call("ballot", "DOC.md", "--orchestrator", "chief", "--voters", f"ann,{model}", "--json")
    assert (called.code, called.json["decision"]) == (0, "approved"), called
    assert "party `model`" in document(votes)
    assert len(api.requests) == 1


def test_a_model_behind_an_api_orchestrates(votes: Project, api: FakeApi, model: str) -> None:
    """Issue 6: it writes the second version, classifies a reservation of it, and has no vote."""
    plan(votes, ann={"voting.1": "no"}, ben={"voting.2": "but"})
    called = votes.call("ballot", "DOC.md", "--orchestrator", model, "--voters", "ann,ben", "--json")
    assert (called.code, called.json["decision"], called.json["version"]) == (0, "approved", 2), called
    assert "Version 2 of the text." in document(votes)
    assert len(api.requests) == 2


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
