from datetime import UTC, datetime

from counterpoint.core.checks import Purpose
from counterpoint.core.docket import ProjectCommand
from counterpoint.drive.config import RepositoryFiles, load
from counterpoint.drive.consent import Grant, Scope, make_grant
from counterpoint.drive.permission import AgentLine, Running, Sending, Wanted, still_open, wanted
from counterpoint.drive.settings import BUILT_IN, CommandAgent, Cwd, Origin, Settings, Source

THEIRS = """
[agents.critic]
kind = "command"
command = "critic --fast"
destination = "acme"
environment = ["ACME_KEY"]
home = "user"
"""


def repository_settings(content: str) -> Settings:
    files = RepositoryFiles(commit="4e9f21c0aa31" + "0" * 28, at_base={"counterpoint.toml": content.encode()})
    return load(flags={}, environment={}, settings_file=None, repository=files).settings


def own_settings(**agents: CommandAgent) -> Settings:
    own = Source(origin=Origin.PERSON, name="config.toml")
    return Settings(agents={**BUILT_IN, **agents}, sources={f"agents.{name}": own for name in agents})


def grant(destination: str, scope: Scope) -> Grant:
    now = datetime(2026, 7, 6, tzinfo=UTC)
    return make_grant(destination=destination, scope=scope, repository="/r", by="ana", now=now, nonce="00000000")


def test_checks_alone_ask_for_trust_and_for_no_consent() -> None:
    """DESIGN section 8: `review --reviewer checks` sends nothing anywhere and asks the trust question once."""
    pytest_command = ProjectCommand(argv=("pytest", "-q"), purpose=Purpose.TEST, why="found: tests/")
    settings = repository_settings('[checks]\nenvironment = ["CI"]')
    assert wanted(settings, ["checks"], [pytest_command]) == Wanted(
        agents=(AgentLine(name="checks", kind="checks", destination="local", model=""),),
        sending=(),
        running=(Running(argv=("pytest", "-q"), why="test, found: tests/", given=("CI",)),),
    )


def test_a_person_and_a_local_agent_of_ones_own_ask_for_nothing() -> None:
    """DESIGN "Consent" and "Trust"."""
    settings = own_settings(mine=CommandAgent(command=("mine",), destination="local"))
    assert wanted(settings, ["human", "mine"], []).is_settled


def test_an_agent_that_the_repository_defines_asks_for_trust_as_its_commands_do() -> None:
    """DESIGN "Trust": it runs a command of the repository's, and is shown with what it is given."""
    assert wanted(repository_settings(THEIRS), ["critic"], []) == Wanted(
        agents=(AgentLine(name="critic", kind="command", destination="acme", model=""),),
        sending=(Sending(destination="acme", scope=Scope.CHANGE, agents=("critic",)),),
        running=(
            Running(
                argv=("critic", "--fast"),
                why="agent critic, counterpoint.toml at 4e9f21c0aa31",
                given=("ACME_KEY", "your home folder"),
            ),
        ),
    )


def test_an_agent_that_takes_no_seat_asks_for_nothing() -> None:
    """Ours: a definition alone runs nothing."""
    assert wanted(repository_settings(THEIRS), ["human"], []).is_settled


def test_one_destination_is_asked_about_once_with_the_widest_scope() -> None:
    """SPEC B-18: what may be sent is what the widest agent of that destination is given."""
    near = CommandAgent(command=("a",), destination="acme", model="m-1")
    far = CommandAgent(command=("b",), destination="acme", cwd=Cwd.TREE)
    for order in (["near", "far"], ["far", "near"]):
        sending = wanted(own_settings(near=near, far=far), order, []).sending
        assert sending == (Sending(destination="acme", scope=Scope.TREE, agents=tuple(order)),)


def test_an_agent_that_is_told_where_the_tree_lies_is_given_the_tree() -> None:
    """SPEC B-18: the placeholder `{tree}`, in the command or in a variable, hands over the export."""
    told = CommandAgent(command=("a", "--dir={tree}"), destination="acme")
    by_variable = CommandAgent(command=("a",), destination="other", set={"DIR": "{tree}"})
    sending = wanted(own_settings(told=told, second=by_variable), ["told", "second"], []).sending
    assert [each.scope for each in sending] == [Scope.TREE, Scope.TREE]


def test_what_a_grant_and_the_answer_cover_is_not_asked_again() -> None:
    """DESIGN "Consent" and "Trust": only what is missing is asked."""
    asked = wanted(repository_settings(THEIRS), ["critic"], [])
    wide, other = grant("acme", Scope.TREE), grant("other", Scope.TREE)
    assert still_open(asked, repository="/r", grants=[other, wide], is_trusted=True).is_settled
    only_trust = still_open(asked, repository="/r", grants=[wide], is_trusted=False)
    assert (only_trust.agents, only_trust.sending, only_trust.running) == (asked.agents, (), asked.running)
    only_consent = still_open(asked, repository="/r", grants=[other], is_trusted=True)
    assert (only_consent.sending, only_consent.running) == (asked.sending, ())
    assert still_open(asked, repository="/elsewhere", grants=[wide], is_trusted=False) == asked


def test_leave_for_the_change_does_not_settle_an_agent_that_reads_the_tree() -> None:
    """SPEC B-18."""
    far = CommandAgent(command=("b",), destination="acme", cwd=Cwd.TREE)
    asked = wanted(own_settings(far=far), ["far"], [])
    assert still_open(asked, repository="/r", grants=[grant("acme", Scope.CHANGE)], is_trusted=False) == asked
