"""What `counterpoint propose` says of who sits in a case, where that is from, and which limits hold."""

import json

import pytest

from tests.proposing_seats import NEED, program_of, result
from tests.reviewing import Project

NAMED = ("--proposer", "ana", "--critic", "ben")


def seats(project: Project, *names: str, more: str = "") -> None:
    project.configure("\n".join([*(program_of(project.bin, name) for name in names or ("ana", "ben")), more]))


@pytest.mark.parametrize(
    ("args", "settings", "said", "source"),
    [
        (NAMED, "", "the command line", "explicit"),
        ((), 'proposer = "ana"\ncritics = ["ben"]', "your settings", "saved_profile"),
        (
            NAMED[:2],
            'critics = ["ben"]',
            "the command line (who proposes) and your settings (who criticises)",
            "saved_profile",
        ),
        ((), "", "the agents of this machine, since nobody was named", "saved_profile"),
    ],
)
def test_it_is_said_where_the_seats_are_from(
    project: Project, args: tuple[str, ...], settings: str, said: str, source: str
) -> None:
    """A-03, A-05: on the screen and in the reports alike; no profile is named where none was read."""
    seats(project, more=f"[propose]\n{settings}")
    called = project.call("propose", NEED, *args)
    assert called.code == 0, called
    assert f"note: the configuration is from {said}\n" in called.err
    assert result(project)["config"]["config_source"] == source
    report = (project.cases[-1] / "report.md").read_text("utf-8")
    assert f"- configuration: from {said}; nobody has authenticated it\n" in report
    assert "profile" not in called.err + report


def test_the_environment_may_name_who_sits(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A-03: two variables count as the environment."""
    seats(project)
    monkeypatch.setenv("COUNTERPOINT_PROPOSE_PROPOSER", "ana")
    monkeypatch.setenv("COUNTERPOINT_PROPOSE_CRITICS", "ben")
    called = project.call("propose", NEED)
    assert "note: the configuration is from the environment\n" in called.err, called
    assert result(project)["config"]["config_source"] == "environment"


@pytest.mark.parametrize("question", [" ", "x" * 64_001])
def test_where_nobody_is_asked_no_seat_is_listed(project: Project, question: str) -> None:
    """A-22: nor is a source of seats named; whoever stands in the roster is a placeholder."""
    (project.top / "need.md").write_text(question)
    called = project.call("propose", "--question-file", "need.md")
    found = result(project)
    assert (found["roles"], found["config"]["config_source"], found["config"]["provider"]) == ([], None, None)
    report = (project.cases[-1] / "report.md").read_text("utf-8")
    assert "- seats: nobody was asked\n" in report
    assert "- configuration: none, since nobody was asked\n" in report
    assert "human" not in called.err + called.out + report


def test_critics_may_be_named_in_one_word(project: Project) -> None:
    """Ours: with commas, as --peers and --voters take them, and repeated as well."""
    seats(project, "ana", "ben", "cy", "dee")
    called = project.call("propose", NEED, "--proposer", "ana", "--critic", "ben, cy", "--critic", "dee")
    assert called.code == 0, called
    assert [role["seat"] for role in result(project)["roles"]] == ["ana", "ben", "cy", "dee"]


def test_a_person_has_the_time_that_a_person_needs(project: Project) -> None:
    """Ours: the default of 900 s is for models. It is said; a time that somebody sets holds for a person, too."""
    seats(project)
    with_person = ("--proposer", "ana", "--critic", "human")
    called = project.call("propose", NEED, *with_person)
    assert called.code == 4, called
    assert "at most 9 calls, 150000 tokens, no limit of time since a person sits here, 180 s a call" in called.err
    assert project.call("status", "last", "--json").json["deadline"] is None
    called = project.call("propose", NEED, *with_person, "--max-duration", "600")
    assert "at most 9 calls, 150000 tokens, 600 s, 180 s a call" in called.err
    assert project.call("status", "last", "--json").json["deadline"] is not None


def test_doctor_and_status_name_the_calls_that_the_rounds_allow(project: Project) -> None:
    """A-09: nine with one critic, whatever `limits.max_calls` would allow; fewer where it does not."""
    seats(project)
    looked = project.call("doctor", "propose", NEED, *NAMED)
    assert "ok  limits      9 calls, each 180 s, 150000 tokens, 900 s in all\n" in looked.out, looked
    assert project.call("propose", NEED, *NAMED).code == 0
    assert "spent:     5 of 9 calls" in project.call("status", "last").out
    assert project.call("status", "last", "--json").json["spent"]["max_calls"] == 9
    assert "4 calls, each" in project.call("doctor", "propose", NEED, *NAMED, "--max-calls", "4").out


@pytest.mark.parametrize("where", ["settings", "environment"])
def test_a_setting_that_does_nothing_here_is_said(
    project: Project, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """A-27: each seat is asked once; `limits.asks_per_turn` is not taken in silence."""
    seats(project, more="[limits]\nasks_per_turn = 3\n" if where == "settings" else "")
    if where == "environment":
        monkeypatch.setenv("COUNTERPOINT_LIMITS_ASKS_PER_TURN", "3")
    called = project.call("propose", NEED, *NAMED)
    assert called.code == 0, called
    assert "note: limits.asks_per_turn is 3 in " in called.err
    assert "; here it does nothing, since an answer that is not taken is never asked for again (ASKS-1)" in called.err


def test_a_revision_needs_the_tree_and_a_tree_needs_a_repository(project: Project) -> None:
    """Ours: each is said for what it is."""
    seats(project)
    called = project.call("propose", NEED, *NAMED, "--revision", "HEAD")
    assert called.code == 1
    assert "--revision HEAD says which files the seats may read; it needs --tree" in called.err
    assert not project.cases
    called = project.call("propose", NEED, *NAMED, "--tree", "--repo", project.bin)
    assert "note: --tree lends nothing: there is no repository around " in called.err, called


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        ((), 2, "--provider, --model and --reasoning-effort are missing"),
        (("--provider", "openai"), 2, "--model and --reasoning-effort are missing"),
        (("--provider", "openai", "--model", "gpt-5.5"), 2, "--reasoning-effort is missing"),
        (("--provider", "opnai", "--model", "gpt-5.5", "--reasoning-effort", "low"), 2, "'opnai' is not one of"),
        (
            ("--provider", "openai", "--model", "gpt-5.5", "--reasoning-effort", "turbo"),
            1,
            "--reasoning-effort: expected one of none, low, medium, high, xhigh, which gpt-5.5 takes; got 'turbo'",
        ),
        (
            ("--provider", "openai", "--model", "gpt-4o", "--reasoning-effort", "low"),
            1,
            "--reasoning-effort: expected a model that takes an effort; gpt-4o takes none; got 'low'",
        ),
    ],
)
def test_a_profile_that_could_not_be_used_is_not_saved(
    project: Project, args: tuple[str, ...], code: int, said: str
) -> None:
    """A-48, A-52: what is missing is named, with the code that `setup --help` has for it."""
    called = project.call("propose", "setup", *args)
    assert called.code == code, called
    assert said in called.err
    assert "/dev/null" not in called.err
    assert not (project.config / "propose.json").exists()


def test_a_profile_that_was_saved_otherwise_is_named_where_it_is_wrong(project: Project) -> None:
    """A-48: the file that holds the effort, not a table of the settings that is nowhere."""
    pair = {"provider": "openai", "model": "gpt-5.5", "reasoning_effort": "turbo"}
    project.config.mkdir(parents=True, exist_ok=True)
    (project.config / "propose.json").write_text(json.dumps(pair))
    called = project.call("propose", NEED)
    assert called.code == 1
    assert "propose.json" in called.err
    assert "got 'turbo'" in called.err


def test_the_page_is_named_where_the_reports_are(project: Project) -> None:
    """Ours: at the end of a run, by `report`, and in the object of `report --json`."""
    ended = project.call("propose", "--demo", "--quiet")
    page = project.cases[-1] / "report.html"
    assert f"page:     {page}\n" in ended.out
    page.unlink()
    assert project.call("report", "last").out.splitlines()[-1] == str(page)
    assert page.exists()
    named = project.call("report", "last", "--out", project.tmp.parent / "there", "--json").json["page"]
    assert named == str(project.tmp.parent / "there" / "report.html")
    assert (project.tmp.parent / "there" / "report.html").read_bytes() == page.read_bytes()
