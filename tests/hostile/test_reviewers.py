"""Reviewers of an edited change that do not play by the rules: no approval, and nothing of the person's is lost.

Sources: issue 3, "hostile author and reviewer"; SPEC D-12, D-14; FIELD-FAULTS F11, F13, F15, F19, F30.
"""

import pytest

from tests.hostile.stage import Stage

_LATER = 'if "your_findings" in p: '
READINGS = {
    'print("LGTM, approved."); sys.exit()': "bad_reply",
    "verdict()": "approved is true, but F1 is open [VERDICT-1]",
    'verdict(finding(status="resolved", severity="nit"))': "F1 is major, and the verdict makes it nit [FINDING-3]",
    'verdict(finding("F2", status="resolved"))': "approved is true, but F1 is open [VERDICT-1]",
    'verdict(finding(status="resolved"), finding("F2", severity="nit"))': "F2 is a new nit in round 2",
    'verdict(finding(status="resolved"), finding("F2", location="lib.py:1"))': "was not edited since 'critic' judged",
    'verdict(finding(status="resolved"), candidate=p["judged_before"])': "[BINDING-1]",
    'verdict(finding(status="resolved"), approved=False)': "approved is false, but no finding is open",
    'verdict(finding(status="deferred", reason=""))': "F1 is deferred without a reason",
}


def test_a_later_reading_rules_on_what_was_raised_and_on_nothing_else(stage: Stage) -> None:
    """SPEC D-12, D-14, F11, F19: none vanishes, is renumbered or re-weighed; an approval is of the newest commit."""
    stage.begin(**{"lib.py": "y = 1\n"})
    asked = stage.project.bin / "read"
    counting = f'n = int(open({str(asked)!r}).read() or 0)\nopen({str(asked)!r}, "w").write(str(n + 1))\n'
    bodies = "\n".join(f"    if n == {n}: {body}" for n, body in enumerate(READINGS))
    asked.write_text("0")
    stage.author_tries()
    stage.critic(f'if "your_findings" in p:\n    {counting.replace(chr(10), chr(10) + "    ")}\n{bodies}\n')
    called = stage.review()
    failures = [f"{failure.reason}: {failure.detail}" for failure in stage.case.state.failures]
    for failure, said in zip(failures, READINGS.values(), strict=True):
        assert said in failure
    assert called.code == 0, called


def test_a_quorum_is_of_one_candidate(stage: Stage) -> None:
    """F13: `early` approved the candidate before; without its word on this one there is no quorum of two."""
    stage.begin()
    stage.critic(
        'if "your_findings" in p or "judged_before" in p: print("Still fine."), sys.exit()\nverdict()\n', "early"
    )
    called = stage.review("--quorum", "2")
    assert called.code == 1, called
    found = stage.result()
    assert (found["decision"], found["stop_reason"]) == ("undetermined", "failed")
    assert stage.failures == [("early", "bad_reply")] * 2


def test_what_was_never_shown_is_not_approved(stage: Stage) -> None:
    """F15: the author's edit is larger than what a brief shows; an approval that covers it all is no pass."""
    stage.begin()
    stage.author('write("long.txt", "a line of text\\n" * (3 << 16))\nwrite("price.py", "x = 3\\n")\n')
    stage.author(
        'write("long.txt", "a line of text\\n" * (3 << 16))\nwrite("price.py", "x = 3\\n")\n'
        'answer("price.py", "long.txt")\n'
    )
    called = stage.review()
    assert called.code == 3, called
    assert stage.result()["decision"] == "undetermined"
    assert "long.txt" in called.out


@pytest.mark.parametrize(
    ("departs", "back"),
    [
        pytest.param('git("reset", "-q", "--hard", "HEAD~1")', ("reset", "--keep", "ORIG_HEAD"), id="reset"),
        pytest.param('git("checkout", "-q", "main")', ("checkout", "-q", "change"), id="checkout"),
        pytest.param('write("stray.py", "y\\n")', ("clean", "-fdq"), id="stray file"),
    ],
)
def test_a_reader_that_changes_the_persons_tree_is_stopped_and_the_work_is_there(
    stage: Stage, departs: str, back: tuple[str, ...]
) -> None:
    """F30: by its absolute path. Its answer does not count, a person is told, and the case goes on after that."""
    start = stage.begin()
    once = stage.project.bin / "once"
    stage.critic(
        f'once = pathlib.Path({str(once)!r})\nif "your_findings" in p and not once.exists():\n'
        f"    once.touch()\n    {departs}\n"
    )
    called = stage.review()
    assert called.code == 4, called
    assert stage.failures == [("critic", "tree_touched")]
    ours = stage.case.state.docket.candidate
    assert stage.at(ours, "price.py") == "x = 3\n"
    stage.git.git(*back)
    assert stage.resume().code == 0
    assert (stage.head, stage.git.id("rev-parse", "HEAD~1"), stage.status) == (ours, start, "")


def test_an_uncommitted_edit_outlives_a_reader_that_resets_the_tree(stage: Stage) -> None:
    """F30, as it was seen: the author's work is in no commit, and a reviewer throws it away."""
    stage.begin()
    stage.critic('if "your_findings" in p: git("checkout", "-q", "--", "."); git("clean", "-fdq")\n')
    stage.author('write("more.py", "y\\n")\nwrite("price.py", "x = 3\\n")\nanswer("price.py", "more.py")\n')
    called = stage.review("--no-commit")
    assert called.code == 4, called
    assert (stage.top / "price.py").read_text() == "x = 2\n"
    assert stage.kept_text("price.py") == ["x = 3\n"]
    assert next(iter(stage.kept)) in called.err


def test_a_person_who_edits_while_a_reviewer_reads_keeps_the_edit(stage: Stage) -> None:
    """F30: nothing is put away that no author made; once the person has moved it, the case ends as it would have."""
    stage.begin()
    gate = stage.project.gate()
    stage.critic(f'if "your_findings" in p: subprocess.run(["sh", "-c", {gate.wait!r}])\n')
    driver = stage.project.start("review", "--author", "ana", "--reviewer", "critic")
    gate.arrived()
    (stage.top / "price.py").write_text("x = 3\n# mine\n")
    gate.open()
    assert driver.wait(30) == 4
    driver.communicate()
    assert (stage.top / "price.py").read_text() == "x = 3\n# mine\n"
    stage.git.git("stash")
    stage.critic()
    assert stage.resume().code == 0
    stage.git.git("stash", "pop")
    assert (stage.top / "price.py").read_text() == "x = 3\n# mine\n"


def test_what_a_reader_throws_away_of_uncommitted_files_is_kept(stage: Stage) -> None:
    """F30 without an author: its answer does not count, and what was judged is kept under a ref, which is said."""
    stage.begin()
    (stage.top / "price.py").write_text("x = 3\n")
    stage.critic('git("reset", "-q", "--hard")\n')
    called = stage.project.call("review", "--worktree", "--reviewer", "critic")
    assert stage.failures == [("critic", "tree_touched")]
    assert "refs/counterpoint/" in called.err
    assert stage.kept_text("price.py") == ["x = 3\n"]
