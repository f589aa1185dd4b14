"""What a ballot does not begin on, and what it says of what it does begin on (SPEC section 2)."""

from typing import Final

import pytest

from tests.ballots import TEXT, WHO, document
from tests.planned_seats import plan, shown
from tests.reviewing import Project

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
