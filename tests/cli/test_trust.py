"""A checkout's own commands run only after a person said so (DESIGN "Trust"; docs/howto/consent-and-trust.md)."""

import shutil

from tests.reviewing import Project


def test_without_an_answer_nothing_is_run(project: Project) -> None:
    """Exit 4 without a terminal, with the flag and the command that answer; no case is begun."""
    project.begin(test=f"touch {project.bin}/ran")
    called = project.review()
    assert called.code == 4
    assert called.err == (
        "error: a person is needed: the answer whether 1 command may run unboxed in this checkout\n"
        "hint: pass `--trust-commands` for this run, or run `counterpoint trust grant`\n"
    )
    assert project.cases == []
    assert not (project.bin / "ran").exists()


def test_the_flag_answers_for_one_run(project: Project) -> None:
    """Nothing of it is kept, neither here nor in the repository."""
    project.begin()
    assert project.review("--trust-commands").code == 0
    assert not (project.git.git_dir / "counterpoint-checkout").exists()
    assert project.call("trust", "list").out == "no answer has been kept\n"
    assert project.review().code == 4


def test_an_answer_holds_for_this_checkout_until_it_is_revoked(project: Project) -> None:
    """Kept in the state folder with a mark in the git folder; listed; revoked it is none."""
    project.begin()
    granted = project.call("trust", "grant")
    assert granted.code == 0
    assert granted.out.endswith(f": commands of {project.git.git_dir} may run\n")
    (row,) = project.call("trust", "list", "--json").json["answers"]
    assert (row["git_folder"], row["revoked"]) == (str(project.git.git_dir), False)
    assert project.call("trust", "list").out.split()[1] == "valid"
    assert project.review().code == 0
    revoked = project.call("trust", "revoke", row["digest"][:6])
    assert revoked.code == 0
    assert "may not run until you say so again" in revoked.out
    assert project.call("trust", "list").out.split()[1] == "revoked"
    assert project.review().code == 4


def test_programs_answer_list_and_revoke_too(project: Project) -> None:
    """`--json`: the same fields each time."""
    project.begin()
    given = project.call("trust", "grant", "--json").json
    assert (given["git_folder"], given["revoked"]) == (str(project.git.git_dir), False)
    assert project.call("trust", "list", "--json").json["answers"] == [given]
    assert project.call("trust", "revoke", given["digest"], "--json").json == {**given, "revoked": True}
    assert project.call("trust", "list", "--json").json["answers"] == [{**given, "revoked": True}]


def test_a_copy_of_a_trusted_checkout_is_asked_about_anew(project: Project) -> None:
    """The answer names path and mark: neither a copy elsewhere nor a clone at the same path has both."""
    project.begin()
    assert project.call("trust", "grant").code == 0
    copy = project.bin / "copy"
    shutil.copytree(project.top, copy)
    assert project.review("--repo", copy).code == 4
    shutil.rmtree(project.top / ".git")
    shutil.copytree(copy / ".git", project.top / ".git")
    (project.git.git_dir / "counterpoint-checkout").unlink()
    assert project.review().code == 4


def test_an_agent_that_the_repository_defines_needs_trust_and_consent(project: Project) -> None:
    """It is that repository's command, whoever starts it (permission.py); both are said at once."""
    settings = '[review]\nreviewers = ["critic"]\n' + project.critic(destination="acme")
    project.begin(settings)
    called = project.review()
    assert called.code == 4
    assert "consent to send the change under review to 'acme', and the answer whether 1 command may run" in called.err
    assert "hint: pass `--consent acme --trust-commands` for this run" in called.err
    assert project.review("--consent", "acme").code == 4
    assert project.review("--trust-commands").code == 4
    assert project.review("--consent", "acme", "--trust-commands").code == 0


def test_an_agent_of_ones_own_needs_no_trust(project: Project) -> None:
    """It is the person's command; and without checks no project command would run."""
    project.begin()
    project.configure(project.critic())
    assert project.review("--reviewer", "critic").code == 0


def test_outside_a_repository_there_is_nothing_to_trust(project: Project) -> None:
    """Exit 1."""
    called = project.call("trust", "grant", "--repo", project.bin)
    assert called.code == 1
    assert "is in no git repository" in called.err
