"""An author whose answers are against the rules: refused with the rule, its edits kept out of every branch.

Sources: issue 3, "hostile author and reviewer"; SPEC D-12, D-13, D-16; FIELD-FAULTS F19.
"""

import pytest

from tests.hostile.stage import Stage

_RATED = '{"finding": "F1", "reasoning": "r", "disposition": "fix", "severity": "nit"}'
ANSWERS = {
    'print("All fixed; F1 is resolved."); sys.exit()': "bad_reply: the reply begins with 'All fixed",
    'print("Done:"); answer("price.py")': "bad_reply: the reply begins with 'Done:",
    'answer("price.py", findings=[])': "refused: no answer to F1 [ANSWER-1]",
    'answer("price.py", findings=["F2"])': "refused: 'F2' is answered, and is no open finding [ANSWER-1]",
    'answer("price.py", findings=["F1", "F1"])': "refused: 'F1' is answered twice [ANSWER-1]",
    'answer("price.py", disposition="resolved")': "bad_reply: dispositions[0].disposition",
    'answer("price.py", rulings=[{"id": "F1", "ruling": "settled"}])': "bad_reply: rulings: unknown key",
    'answer("price.py", approved=True)': "bad_reply: approved: unknown key",
    f'answer("price.py", dispositions=[{_RATED}])': "bad_reply: dispositions[0].severity: unknown key",
}
_OUTSIDE = (
    "../outside.py",
    "/etc/hostname",
    ".git/hooks/pre-commit",
    ".GIT/config",
    "lib/.Git/config",
    ".counterpoint/.gitignore",
    "lib//price.py",
    "./price.py",
    "lib/",
)
PATHS = {
    f'answer("price.py", {path!r})': f"refused: changed path {path!r} is none of this repository [EDIT-1]"
    for path in _OUTSIDE
}
EDITS = {
    'write("more.py", "y"); answer("price.py")': "refused: 'more.py' changed and was not listed [EDIT-2]",
    '(here / "lib.py").unlink(); answer("price.py")': "refused: 'lib.py' changed and was not listed [EDIT-2]",
    '(here / "lib.py").chmod(0o755); answer("price.py")': "refused: 'lib.py' changed and was not listed [EDIT-2]",
    'answer("price.py", "lib.py")': "refused: 'lib.py' was listed and did not change [EDIT-2]",
    'answer("price.py", "git~1/config")': "refused: 'git~1/config' was listed and did not change [EDIT-2]",
    'answer("price.py", "gone.py")': "refused: 'gone.py' was listed and did not change [EDIT-2]",
    'answer("price.py", "price.py ")': "refused: 'price.py ' was listed and did not change [EDIT-2]",
    'answer("price.py", "notes.ignored")': "refused: 'notes.ignored' was listed and did not change [EDIT-2]",
}


@pytest.mark.parametrize(
    "tries", [pytest.param(ANSWERS, id="answers"), pytest.param(PATHS, id="paths"), pytest.param(EDITS, id="edits")]
)
def test_an_answer_against_the_rules_is_turned_away_with_its_reason(stage: Stage, tries: dict[str, str]) -> None:
    """SPEC D-12, D-13, D-16: nothing is closed, dropped or renumbered; exactly the changed paths are listed."""
    stage.begin(**{"lib.py": "y = 1\n"})
    stage.author_tries(*(f'write("price.py", "x = 3\\n"); write("notes.ignored", "mine"); {each}' for each in tries))
    called = stage.review()
    assert called.code == 0, called
    failures = stage.case.state.failures
    for failure, said in zip(failures, tries.values(), strict=True):
        assert f"{failure.reason}: {failure.detail}".startswith(said) or said in failure.detail
    assert (stage.offers, stage.changed_in(), stage.kept) == ([("price.py",)], ["price.py"], {})
    # What git ignores is no part of an edit, and nothing that the driver may take away.
    assert stage.status == "!! notes.ignored\n"


def test_an_author_that_never_answers_rightly_leaves_the_repository_as_it_was(stage: Stage) -> None:
    """Issue 3: the round is incomplete. What was edited is kept under a ref of its own, and nothing is lost."""
    stage.begin()
    before = stage.everything()
    stage.author('write("price.py", "x = 3\\n")\nwrite("lib/more.py", "y\\n")\nanswer("price.py")\n')
    called = stage.review()
    assert called.code == 1, called
    assert stage.failures == [("ana", "refused")] * 2
    assert stage.everything() == before
    assert stage.status == ""
    assert [ref.rpartition("/")[2] for ref in stage.kept] == ["answering.1.ana.2"]
    assert (stage.kept_text("price.py"), stage.kept_text("lib/more.py")) == (["x = 3\n"], ["y\n"])
    assert next(iter(stage.kept)) in called.err


def test_an_answer_that_is_put_right_is_taken_with_its_edits(stage: Stage) -> None:
    """SPEC D-10: asked again once with the reason; the second answer goes on with what the first had edited."""
    stage.begin()
    edit = 'if not again: write("price.py", "x = 3\\n"), write("more.py", "y\\n"), answer("price.py")\n'
    stage.author(edit + 'answer("price.py", "more.py")\n')
    assert stage.review().code == 0
    assert stage.failures == [("ana", "refused")]
    assert (stage.offers, stage.changed_in(), stage.status) == (
        [("more.py", "price.py")],
        ["more.py", "price.py"],
        "",
    )
