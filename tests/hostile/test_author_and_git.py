"""An author that works on git itself, although it was told to leave it: found, named, and no way into the branch.

Sources: issue 3, "`.git` and hooks touched", "commit made behind the driver's back"; SPEC D-16; SECURITY B.5.
"""

from tests.hostile.stage import Stage

_HOOK = 'write(".git/hooks/pre-commit", "#!/bin/sh\\nexit 1\\n"); (here / ".git/hooks/pre-commit").chmod(0o755); '
_UNHOOK = '(here / ".git/hooks/pre-commit").unlink(); '
_ATTRIBUTES = 'write(".git/info/attributes", "* filter=evil\\n"); '
_ALTERNATES = 'write(".git/objects/info/alternates", "/\\n"); '
_EDIT = 'write("price.py", "x = 3\\n"); '
TRIES = {
    _HOOK: "'hooks/pre-commit' of the git folder was added",
    # Compared with what was there before the first question of the round, not before this one.
    "": "'hooks/pre-commit' of the git folder was added",
    _UNHOOK + 'git("config", "core.fsmonitor", "evil"); ': "'config' of the git folder was changed",
    'git("config", "--unset", "core.fsmonitor"); ' + _ATTRIBUTES: "'info/attributes' of the git folder was added",
    '(here / ".git/info/attributes").unlink(); '
    + _ALTERNATES: "'objects/info/alternates' of the git folder was added",
    '(here / ".git/objects/info/alternates").unlink(); git("checkout", "-qb", "own"); ': (
        "HEAD left 'refs/heads/change' for 'refs/heads/own'"
    ),
    'git("checkout", "-q", "--detach"); ': "HEAD left 'refs/heads/change' for 'a commit of its own'",
    'git("checkout", "-q", "change"); git("stash"); ': "'price.py' was listed and did not change",
}


def test_each_touch_of_the_git_folder_is_named(stage: Stage) -> None:
    """SPEC D-16: also where the next answer touches nothing. Once all is as it was, the edit is taken."""
    start = stage.begin()
    stage.git.git("config", "core.logAllRefUpdates", "true")
    config = (stage.top / ".git" / "config").read_bytes()
    stage.author_tries(*(f'{_EDIT}{each}answer("price.py")' for each in TRIES))
    called = stage.review()
    failures = [failure.detail for failure in stage.case.state.failures]
    for detail, said in zip(failures, TRIES.values(), strict=True):
        assert said in detail
    assert called.code == 0, called
    assert (stage.offers, stage.changed_in(), stage.status) == ([("price.py",)], ["price.py"], "")
    assert stage.git.id("rev-parse", "HEAD~1") == start
    assert (stage.git_dir("config").read_bytes(), stage.git_dir("HEAD").read_text()) == (
        config,
        "ref: refs/heads/change\n",
    )
    # What it put aside by `git stash` is there still.
    assert stage.at("refs/stash", "price.py") == "x = 3\n"


def test_a_hook_that_was_planted_does_not_run_and_the_edit_is_put_away(stage: Stage) -> None:
    """SECURITY G1 to G8: found at each answer; the case fails, the work tree is put back, the hook is named."""
    start = stage.begin()
    run = stage.project.bin / "hook-ran"
    hooks = "pre-commit post-index-change reference-transaction post-checkout"
    plant = f'for name in "{hooks}".split():\n    write(f".git/hooks/{{name}}", "#!/bin/sh\\ntouch {run}\\n")\n'
    plant += '    (here / f".git/hooks/{name}").chmod(0o755)\n'
    stage.author(plant)
    called = stage.review()
    assert called.code == 1, called
    assert stage.failures == [("ana", "refused")] * 2
    assert "'hooks/post-checkout' of the git folder was added" in called.err
    assert not run.exists()
    assert (stage.head, stage.kept_text("price.py")) == (start, ["x = 3\n"])


def test_a_commit_behind_the_drivers_back_is_not_taken_and_not_undone(stage: Stage) -> None:
    """Issue 3: a person is needed, and nothing is reset. Once the branch is back, the case goes on to its end."""
    start = stage.begin()
    stage.author('write("price.py", "x = 3\\n")\nif not again: git("commit", "-qam", "Mine")\nanswer("price.py")\n')
    called = stage.review()
    assert called.code == 4, called
    assert stage.failures == [("ana", "refused")]
    assert "HEAD moved from" in stage.said
    assert (stage.git.id("rev-parse", "HEAD~1"), stage.at("HEAD", "price.py"), stage.status) == (start, "x = 3\n", "")
    assert f"`git reset --keep {start[:12]}`" in called.err
    stage.git.git("reset", "--keep", start)
    assert stage.resume().code == 0
    assert (stage.git.id("rev-parse", "HEAD~1"), stage.changed_in(), stage.status) == (start, ["price.py"], "")
    assert "Counterpoint-Case: " in stage.git.git("log", "-1", "--format=%B").decode()


def test_a_commit_that_was_taken_back_and_a_stage_make_no_difference(stage: Stage) -> None:
    """SPEC D-16: what counts is the files as they lie; the commit is the driver's, with its message and its paths."""
    start = stage.begin()
    behind = 'write("price.py", "x = 3\\n"); git("commit", "-qam", "Mine"); git("reset", "-q", "--soft", "HEAD~1")\n'
    stage.author(behind)
    assert stage.review().code == 0
    assert stage.failures == []
    assert (stage.git.id("rev-parse", "HEAD~1"), stage.changed_in(), stage.status) == (start, ["price.py"], "")
    assert "Counterpoint-Case: " in stage.git.git("log", "-1", "--format=%B").decode()


def test_what_was_staged_and_lies_nowhere_does_not_reach_the_persons_next_commit(stage: Stage) -> None:
    """SPEC D-16: a blob in the index that no file has is in no listed path and no brief. It is kept, and unstaged."""
    stage.begin()
    hidden = 'write("evil.py", "evil\\n"); git("add", "evil.py"); (here / "evil.py").unlink()\n'
    # A deletion, too: the file is there, and the next commit would take it away.
    stage.author(hidden + 'git("rm", "-q", "--cached", ".gitignore")\n')
    called = stage.review()
    assert called.code == 0, called
    assert (stage.changed_in(), stage.status) == (["price.py"], "")
    assert stage.kept_text("evil.py") == ["evil\n"]


def test_a_stage_goes_with_the_edits_that_come_to_nothing(stage: Stage) -> None:
    """Issue 3: "tree clean"; an index that still held them would bring them into the person's next commit."""
    stage.begin()
    before = stage.everything()
    stage.author(
        'write("price.py", "x = 3\\n")\nwrite("more.py", "y\\n")\ngit("add", "--all")\n'
        'git("rm", "-q", "--cached", ".gitignore")\nwrite("last.py", "z\\n")\ngit("add", "-N", "last.py")\n'
        'answer("price.py")\n'
    )
    called = stage.review()
    assert called.code == 1, called
    assert (stage.kept_text("price.py"), stage.kept_text("more.py")) == (["x = 3\n"], ["y\n"])
    assert stage.status == ""
    assert {path for path, found in stage.everything().items() if before.get(path) != found} <= {".git/index"}
