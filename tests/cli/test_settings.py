"""Settings come from the merge base, never from the change under review (DESIGN "Trust"; docs/settings.md)."""

import json

import pytest

from tests.reviewing import CHECKED, Project


@pytest.mark.parametrize(
    "harmless",
    [
        '[review]\nreviewers = ["yes"]\n[agents.yes]\nkind = "scripted"\nfile = "yes.toml"\n',
        '[checks]\ntest = "true"\n',
        "",
        "no settings at all",
    ],
    ids=["another-reviewer", "another-command", "empty", "broken"],
)
def test_a_change_does_not_bring_the_settings_of_its_own_review(project: Project, harmless: str) -> None:
    """The failing test of the merge base's settings decides; one line says that the working copy differs."""
    project.begin(test="exit 1")
    approval = '[[reply]]\nanswer = {summary = "Fine.", findings = [], responseToRebuttal = "", approved = true}\n'
    project.git.commit({"counterpoint.toml": harmless, "yes.toml": approval})
    called = project.review("--trust-commands")
    assert called.code == 3
    assert "failing: sh test.sh" in called.out
    note = next(line for line in called.err.splitlines() if line.startswith("note: "))
    assert note.startswith("note: counterpoint.toml in the working copy ")
    assert note.endswith(" is used")


def test_a_change_that_removes_the_settings_does_not_remove_the_rules(project: Project) -> None:
    """As above, with the file gone."""
    project.begin(test="exit 1")
    project.git.git("rm", "-q", "counterpoint.toml")
    project.git.commit()
    called = project.review("--trust-commands")
    assert called.code == 3
    assert "failing: sh test.sh" in called.out


def test_settings_that_a_change_adds_hold_once_they_are_merged(project: Project) -> None:
    """Before that the project's commands are looked for."""
    project.git.commit({"a.txt": "1\n"})
    project.branch()
    project.git.commit({"counterpoint.toml": CHECKED, "test.sh": "exit 0\n"})
    called = project.review("--trust-commands")
    assert called.code == 3
    assert "only checks answered, and no test command passed" in called.out
    project.git.git("branch", "-f", "main")
    project.git.commit({"a.txt": "2\n"})
    assert project.judge()["exit_code"] == 0


def test_the_repository_may_name_its_base_and_the_person_outvotes_it(project: Project) -> None:
    """The order of docs/settings.md: flag, variable, own file, repository, default."""
    project.begin('[review]\nbase = "trunk"\n' + CHECKED)
    project.git.git("branch", "trunk", "main")
    project.git.git("checkout", "-q", "trunk")
    base = project.git.commit({"b.txt": "1\n"})
    project.git.git("checkout", "-q", "change")
    project.git.git("merge", "-q", "--no-edit", "trunk")
    assert project.judge()["docket"]["base"] == base
    project.configure('[review]\nbase = "main"\n')
    assert project.judge()["docket"]["base"] == project.git.id("rev-parse", "main")
    assert project.judge("--base", "trunk")["docket"]["base"] == base


def test_every_setting_is_printed_with_its_source(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line each; the same as rows under `--json`."""
    project.begin()
    project.configure("[limits]\nmax_calls = 7\n")
    monkeypatch.setenv("COUNTERPOINT_CHECKS_TIMEOUT_S", "60")
    called = project.call("settings", "--base", "main")
    assert called.code == 0
    base = project.git.id("rev-parse", "main")[:12]
    rows = {line.split()[0]: line.split(maxsplit=1)[1] for line in called.out.splitlines()}
    assert rows["review.reviewers"] == '["checks"]  (default)'
    assert rows["review.base"] == '"main"  (--base)'
    assert rows["checks.timeout_s"] == "60  (COUNTERPOINT_CHECKS_TIMEOUT_S)"
    assert rows["limits.max_calls"] == f"7  ({project.config / 'config.toml'})"
    assert rows["checks.test"] == f'[["sh", "test.sh"]]  (counterpoint.toml at {base})'
    as_json = project.call("settings", "--base", "main", "--json").json["settings"]
    assert {row["key"]: f"{json.dumps(row['value'])}  ({row['source']})" for row in as_json} == rows


def test_outside_a_repository_the_repositorys_settings_are_left_out(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And that is said; exit 0."""
    monkeypatch.chdir(project.bin)
    called = project.call("settings")
    assert called.code == 0
    assert "note: the repository's settings are left out: " in called.err
    assert "is in no git repository" in called.err


def test_a_wrong_setting_is_exit_1_here_too(project: Project) -> None:
    """With the key path."""
    project.configure("[limits]\nmax_calls = 'many'\n")
    called = project.call("settings", "--json")
    assert called.code == 1
    assert called.json["error"]["path"] == "limits.max_calls"
