"""A case about a question or a text: planned, opened, driven and resumed in any folder (drive/inquiry.py)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from counterpoint.core.docket import Effort, SeatKind
from counterpoint.core.values import Decision, StopReason
from counterpoint.drive.cases import LoadedCase, load_case, make_home
from counterpoint.drive.consent import Scope
from counterpoint.drive.ground import ground_of
from counterpoint.drive.inquiry import Inquiry, plan_inquiry
from counterpoint.drive.lent import SOURCES
from counterpoint.drive.paths import find_folders
from counterpoint.drive.permission import Sending
from counterpoint.drive.plans import CasePlan, leave_of, open_planned
from counterpoint.drive.running import check_agents, drive_case_on_disk
from counterpoint.drive.seating import agents_of, check_seats
from counterpoint.drive.session import Session
from counterpoint.drive.settings import ModelAgent, Origin
from counterpoint.drive.store import open_store
from counterpoint.errors import ConfigError, SourceError
from tests.processes import finish
from tests.repositories import Scratch

CASE = "answer-20260706t140748z-00000001"
SCRIPT = """\
[[reply]]
phase = "answering"
[reply.answer]
reasoning = "as any atlas has it"
keyPoints = []
answer = "Paris"

[[reply]]
phase = "confirming"
[reply.answer]
reasoning = "so it is"
objections = []
candidate = "Paris"
approved = true
"""
SETTINGS = """\
[agents.ana]
kind = "scripted"
file = "script.toml"

[agents.ben]
kind = "scripted"
file = "script.toml"

[agents.far]
kind = "command"
command = "far"
destination = "acme"
cwd = "tree"

[answer]
peers = ["ana", "ben"]
max_rounds = 2
"""
GIVEN = {"kind": "openai", "model": "gpt-5.5", "effort": "low", "base_url": "http://127.0.0.1:9"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder outside every repository."""
    made = tmp_path / "notes"
    made.mkdir()
    return made


def session_in(folder: Path, tmp_path: Path) -> Session:
    config = tmp_path / "config"
    config.mkdir(exist_ok=True)
    (config / "config.toml").write_text(SETTINGS)
    (config / "script.toml").write_text(SCRIPT)
    environment = {
        "COUNTERPOINT_STATE": str(tmp_path / "state"),
        "COUNTERPOINT_CONFIG": str(config),
        "PATH": "/usr/bin:/bin",
    }
    return Session.of(
        repo=folder, cases=make_home(folder), folders=find_folders(environment), environment=environment
    )


def planned(session: Session, protocol: str = "answer", **asked: Any) -> CasePlan:
    inquiry = Inquiry(**{"protocol": protocol, "folder": session.repo, "question": "Which city?", **asked})

    def case_folder() -> Path:
        made = session.cases / CASE
        made.mkdir()
        return made

    return plan_inquiry(inquiry, session=session, case_folder=case_folder)


def loaded(session: Session) -> LoadedCase:
    return load_case(open_store(session.cases, session.folders), session.cases, CASE)


def test_a_question_is_answered_outside_git(folder: Path, tmp_path: Path) -> None:
    """Issue 6: there is nothing to compare, to trust or to read, and the same case is there to be read again."""
    session = session_in(folder, tmp_path)
    plan = planned(session, context="of France")
    check_agents(session, plan)
    assert plan.leave().wanted.is_settled
    assert (plan.docket.tree, plan.docket.remarks, plan.notices) == ("", (), ())
    open_planned(session, plan, case=CASE, grants=())
    ended = finish(drive_case_on_disk(session, CASE, may_run=False))
    assert (ended.outcome.decision, ended.outcome.stop_reason) == (Decision.APPROVED, StopReason.AGREED)
    opened = ended.state.case
    assert (opened.docket.context, opened.limits.max_rounds, opened.quorum) == ("of France", 2, 2)
    assert [(seat.name, seat.kind, seat.given) for seat in opened.roster] == [
        ("ana", SeatKind.OPINION, ""),
        ("ben", SeatKind.OPINION, ""),
    ]
    assert leave_of(ground_of(session, opened), opened).wanted.is_settled
    assert sorted(path.name for path in folder.iterdir()) == [".counterpoint"]


def test_in_a_repository_the_seats_read_a_commit(tmp_path: Path) -> None:
    """SPEC D-31: HEAD or what is named; what lies uncommitted is told of, and nothing in the work tree changes."""
    shop = Scratch(tmp_path / "shop")
    first = shop.commit({"price.py": "x = 1\n", "counterpoint.toml": "[answer]\nmax_rounds = 1\n"})
    second = shop.commit({"price.py": "x = 2\n"})
    session = session_in(shop.top, tmp_path)
    assert planned(session, reads_tree=True).docket.remarks == ()
    shop.write("price.py", "x = 3\n")
    plan = planned(session, reads_tree=True)
    assert plan.docket.tree == second
    assert plan.docket.remarks == (
        f"the work tree differs from HEAD in 1 path; what can be read is HEAD, {second[:12]}",
    )
    named = planned(session, reads_tree=True, revision=first)
    assert (named.docket.tree, named.docket.remarks) == (first, ())
    assert planned(session).docket.tree == ""
    open_planned(session, plan, case=CASE, grants=())
    assert finish(drive_case_on_disk(session, CASE, may_run=False)).outcome.decision is Decision.APPROVED
    assert shop.id("status", "--porcelain") == "M price.py"


def test_settings_of_a_repository_are_those_of_the_branch_that_others_start_from(tmp_path: Path) -> None:
    """DESIGN "Trust": what is checked out may be anybody's. On a `main` without a remote it is that branch itself."""
    shop = Scratch(tmp_path / "shop")
    shop.commit({"counterpoint.toml": "[answer]\neffort = 'low'\n"})
    session = session_in(shop.top, tmp_path)
    assert planned(session).terms.effort is Effort.LOW
    shop.git("checkout", "-q", "-b", "work")
    shop.commit({"counterpoint.toml": "[answer]\neffort = 'xhigh'\n"})
    plan = planned(session)
    assert plan.terms.effort is Effort.LOW
    assert ["counterpoint.toml in the working copy differs" in notice for notice in plan.notices] == [True]


def test_a_repository_without_a_commit_has_nothing_to_read(tmp_path: Path) -> None:
    """It is asked all the same."""
    session = session_in(Scratch(tmp_path / "new").top, tmp_path)
    plan = planned(session, reads_tree=True)
    assert plan.docket.tree == ""
    assert plan.docket.remarks == ("the repository has no commit yet, so none of its files can be read",)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"flags": {"answer.peers": ("ana", "checks")}}, "answer.peers: expected agents that can answer in words"),
        ({"flags": {"answer.peers": ("ana", "bne")}}, r"answer.peers\[1\]: expected one of the agents ana, ben"),
        ({"flags": {"limits.max_calls": 1}}, "limits.max_calls: expected at least 2, one question for each seat"),
        ({"given": {"model": {"kind": "command", "command": "x", "destination": "local"}}}, "agents.model.kind"),
        ({"given": {"model": {**GIVEN, "api_key": "sk-abc"}}}, "agents.model.api_key: expected no credential"),
    ],
)
def test_what_could_not_be_driven_is_refused_before_anybody_is_asked(
    folder: Path, tmp_path: Path, asked: Mapping[str, Any], said: str
) -> None:
    """With the key, what was expected, and what was found."""
    with pytest.raises(ConfigError, match=said):
        planned(session_in(folder, tmp_path), **asked)


def test_a_commit_outside_git_and_sources_that_are_not_there_are_refused(folder: Path, tmp_path: Path) -> None:
    """A flag that would do nothing is an error."""
    session = session_in(folder, tmp_path)
    with pytest.raises(SourceError, match="HEAD names a commit, and there is no repository around"):
        planned(session, reads_tree=True, revision="HEAD")
    seats = {"ballot.orchestrator": "ana", "ballot.voters": ("ben", "ana")}
    with pytest.raises(SourceError, match="cannot be copied: No such file"):
        planned(session, "ballot", flags={**seats, "ballot.sources": str(tmp_path / "none")})


def test_sources_are_copied_into_the_case_and_held_to_their_digest(folder: Path, tmp_path: Path) -> None:
    """What a text may quote from goes along with the case; what happens to the folder later changes nothing."""
    session, given = session_in(folder, tmp_path), tmp_path / "papers"
    given.mkdir()
    (given / "memo.md").write_text("so it is written\n")
    flags = {"ballot.orchestrator": "ana", "ballot.voters": ("ben",), "ballot.sources": str(given)}
    plan = planned(session, "ballot", flags=flags)
    assert (plan.author, plan.judges, len(plan.terms.sources)) == ("ana", ("ben",), 64)
    assert (session.cases / CASE / SOURCES / "memo.md").read_text() == "so it is written\n"
    assert plan.roster[0].kind is SeatKind.AUTHOR


def test_consent_is_for_the_words_alone_where_no_files_are_lent(tmp_path: Path) -> None:
    """A seat that starts in the files may send any of them; without files there is nothing else to send."""
    shop = Scratch(tmp_path / "shop")
    shop.commit({"a.md": "a\n"})
    session, flags = session_in(shop.top, tmp_path), {"answer.peers": ("ana", "far")}
    words = planned(session, flags=flags).leave().wanted
    assert words.sending == (Sending(destination="acme", scope=Scope.TEXT, agents=("far",)),)
    lent = planned(session, flags=flags, reads_tree=True).leave().wanted
    assert lent.sending == (Sending(destination="acme", scope=Scope.TREE, agents=("far",)),)


def test_defaults_of_a_protocol_hold_where_nothing_sets_them(folder: Path, tmp_path: Path) -> None:
    """Flags, the environment and files come first."""
    session = session_in(folder, tmp_path)
    plan = planned(session, defaults={"answer.max_rounds": 7, "limits.max_output_tokens": 512, "limits.max_calls": 9})
    assert (plan.limits.max_rounds, plan.limits.max_output_tokens, plan.limits.max_calls) == (2, 512, 9)
    assert plan.settings.source("limits.max_calls").origin is Origin.DEFAULT


def test_an_agent_that_was_given_for_one_case_is_rebuilt_from_its_seat(folder: Path, tmp_path: Path) -> None:
    """Issue 6: `resume` asks the same model, whatever the settings say by then, and no key is in the record."""
    session = session_in(folder, tmp_path)
    flags = {"propose.proposer": "model", "propose.critics": ("model",)}
    once = {"limits.asks_per_turn": 1}
    plan = planned(session, "propose", flags=flags, defaults=once, given={"model": GIVEN, "unused": GIVEN})
    assert [json.loads(seat.given) for seat in plan.roster] == [GIVEN, GIVEN]
    open_planned(session, plan, case=CASE, grants=())
    opened = loaded(session).state.case
    ground = ground_of(session, opened)
    check_seats(opened, ground.settings)
    found = ground.settings.agents["model"]
    assert isinstance(found, ModelAgent)
    assert (found.model, found.effort, found.destination) == ("gpt-5.5", "low", "local")
    agents = agents_of(session, opened, ground, resume="", objects=tmp_path / "objects")
    assert [(name, agent.kind) for name, agent in agents.items()] == [("model", "openai"), ("model-2", "openai")]
