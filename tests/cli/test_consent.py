"""Nothing leaves this machine before a person allowed it (DESIGN "Consent"; SPEC B-08, B-18)."""

import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest

from counterpoint.drive.consent import ConsentBook, Scope, make_grant
from counterpoint.drive.paths import path_text
from tests.reviewing import Project


@pytest.fixture
def abroad(project: Project) -> Project:
    """Return a project whose only reviewer sends to `acme`, and leaves a mark when it is started."""
    project.begin('[review]\nreviewers = ["critic"]\n')
    project.configure(project.critic(f"touch {project.bin}/started; cat $out", destination="acme"))
    return project


def _was_started(project: Project) -> bool:
    return (project.bin / "started").exists()


def test_without_consent_nothing_is_started(abroad: Project) -> None:
    """Exit 4 without a terminal, with the flag and the command that grant it; no case is begun."""
    called = abroad.review()
    assert called.code == 4
    assert called.err == (
        "error: a person is needed: consent to send the change under review to 'acme'\n"
        "hint: pass `--consent acme` for this run, or run `counterpoint consent grant acme`\n"
    )
    assert not _was_started(abroad)
    assert abroad.cases == []
    assert abroad.review("--json").json["error"]["code"] == "needs_person"


def test_the_flag_grants_this_run_and_is_recorded_in_the_case(abroad: Project) -> None:
    """The case holds a copy and its digest; nothing is kept for the next run."""
    before = datetime.now(UTC).replace(microsecond=0)
    found = abroad.judge("--consent", "acme")
    assert found["exit_code"] == 0
    (consent,) = found["consents"]
    assert (consent["destination"], consent["scope"], len(consent["digest"])) == ("acme", "change under review", 64)
    assert before <= datetime.fromisoformat(consent["granted_at"])
    assert datetime.fromisoformat(consent["until"]) - datetime.fromisoformat(consent["granted_at"]) == timedelta(1)
    assert abroad.call("consent", "list").out == "nothing has been granted\n"
    assert abroad.review().code == 4


def test_a_grant_holds_until_it_is_revoked(abroad: Project) -> None:
    """The command of the hint, then a review without any flag; the copy in the case has the grant's digest."""
    granted = abroad.call("consent", "grant", "acme", "--days", "7")
    assert granted.code == 0
    assert granted.out.endswith(f"the change under review of {abroad.top} may go to acme\n")
    (row,) = abroad.call("consent", "list", "--json").json["grants"]
    assert (row["destination"], row["repository"], row["revoked"]) == ("acme", str(abroad.top), False)
    found = abroad.judge()
    assert [consent["digest"] for consent in found["consents"]] == [row["digest"]]
    revoked = abroad.call("consent", "revoke", row["digest"][:8])
    assert revoked.out == f"revoked {row['digest'][:12]}: nothing more goes to acme by it\n"
    assert abroad.review().code == 4
    assert abroad.call("consent", "list").out.split()[1] == "revoked"


def test_programs_grant_list_and_revoke_too(abroad: Project) -> None:
    """`--json`: the same fields each time."""
    given = abroad.call("consent", "grant", "acme", "--json").json
    assert (given["destination"], given["scope"], given["revoked"]) == ("acme", "change under review", False)
    assert abroad.call("consent", "list", "--json").json["grants"] == [given]
    assert abroad.call("consent", "revoke", given["digest"], "--json").json == {**given, "revoked": True}


def test_a_grant_that_has_ended_is_none(abroad: Project) -> None:
    """It stays in the list, as expired."""
    grant = make_grant(
        destination="acme",
        scope=Scope.TREE,
        repository=path_text(abroad.top.resolve()),
        by="ana",
        now=datetime.now(UTC) - timedelta(days=2),
        length=timedelta(days=1),
        nonce="ab" * 16,
    )
    ConsentBook(abroad.state).keep(grant)
    assert abroad.review().code == 4
    assert not _was_started(abroad)
    assert abroad.call("consent", "list").out.split()[1] == "expired"


def test_consent_to_the_change_is_none_to_the_tree(abroad: Project) -> None:
    """An agent that starts in the tree can send any file of it; the hint asks for just that."""
    config = abroad.config / "config.toml"
    config.write_text(config.read_text() + 'cwd = "tree"\n')
    assert abroad.call("consent", "grant", "acme").code == 0
    called = abroad.review()
    assert called.code == 4
    assert "consent to send the whole tree to 'acme'" in called.err
    assert "`counterpoint consent grant acme --scope tree`" in called.err
    assert abroad.call("consent", "grant", "acme", "--scope", "tree").code == 0
    assert abroad.judge()["consents"][0]["scope"] == "whole tree"


def test_consent_is_for_one_repository(abroad: Project) -> None:
    """Another one is asked about anew; from elsewhere the hint names the repository, and works."""
    other = abroad.bin / "other"
    shutil.copytree(abroad.top, other)
    assert abroad.call("consent", "grant", "acme").code == 0
    called = abroad.review("--repo", other)
    assert called.code == 4
    assert f"`counterpoint consent grant acme --repo {other}`" in called.err
    assert abroad.call("consent", "grant", "acme", "--repo", other).code == 0
    assert abroad.judge("--repo", other)["exit_code"] == 0


def test_a_consent_that_covers_nothing_is_pointed_out(abroad: Project) -> None:
    """A misspelt destination is no consent, and one sees why."""
    called = abroad.review("--consent", "acne")
    assert called.code == 4
    assert "note: --consent acne covers nothing: this review sends to acme\n" in called.err
    called = abroad.review("--reviewer", "checks", "--consent", "acme", "--trust-commands")
    assert "note: --consent acme covers nothing: this review sends nothing anywhere\n" in called.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["grant", "local"], "'local' needs no consent"),
        (["grant", "No Such"], "a provider's name in lower-case letters"),
        (["revoke", "ab"], "the first 6 or more digits of one digest"),
        (["revoke", "abcdef01"], "the first 6 or more digits of one digest"),
    ],
)
def test_what_cannot_be_granted_or_revoked_is_exit_1(project: Project, arguments: list[str], said: str) -> None:
    """One sentence with what was expected."""
    called = project.call("consent", *arguments)
    assert called.code == 1
    assert said in called.err


def test_an_answer_that_was_tampered_with_ends_the_command(abroad: Project) -> None:
    """Reading fails closed (docs/howto): neither an answer nor skipped, until it is removed as the hint says."""
    assert abroad.call("consent", "grant", "acme").code == 0
    (kept,) = (abroad.state / "consent").glob("*.json")
    fields = json.loads(kept.read_text())
    kept.write_text(json.dumps({**fields, "destination": "evil"}))
    called = abroad.review()
    assert called.code == 1
    assert "remove it, and answer again" in called.err
    assert not _was_started(abroad)
    kept.unlink()
    assert abroad.review().code == 4
