"""Several answer one question, through the whole command line (SPEC D-25 to D-32, issue 6)."""

import json
import re
from pathlib import Path
from typing import Final

import pytest

from tests import planned_seats
from tests.agents.fake_api import Answerer, FakeApi
from tests.agents.fake_script import Answer, Question
from tests.answering import phase_of, reply_to
from tests.planned_seats import add_model, asked, plan, shown
from tests.reviewing import Project, everything_in

OWES: Final = """\
from tests.answering import phase_of, reply_to

phase = phase_of(brief["schema"]["properties"])
turn, usual = f"{phase}.{payload['round']}", "" if phase == "confirming" else "Paris"
"""
SAYS: Final = 'print("nothing" if told == "prose" else json.dumps(reply_to(phase, payload, told)))\n'
ASK: Final = ("answer", "--peers", "ada,bob")
WHICH: Final = ("--", "Which city is the capital of France?")


@pytest.fixture
def peers(project: Project) -> Project:
    """Lend a project with three peers that do as `plan` says: `Paris`, and no objection, where it says nothing."""
    return planned_seats.begin(project, ("ada", "bob", "cyd"), owes=OWES, says=SAYS)


def test_one_gives_way_and_both_confirm(peers: Project) -> None:
    """SPEC D-27, D-28: the result, the report and the last lines say what the openings were, and who gave way."""
    place = {"where": "price.py:1", "quote": "x = 2"}
    plan(peers, bob={"answering.1": "Lyon", "comparing.2": {"answer": "Paris", "why": "Lyon never was", **place}})
    called = peers.call(*ASK, *WHICH)
    assert called.code == 0, called
    assert called.out.splitlines()[:5] == [
        "Agreed: ada, bob confirmed exactly this text.",
        "  Paris",
        "opening:  a tie: 2 answers, 1 of 2 votes each",
        "debate:   gain 1 peer more",
        "  bob gave way in round 2, evidenced: Lyon never was",
    ]
    report = (peers.cases[0] / "report.md").read_text()
    assert "## The answer\n\nConfirmed word for word by `ada`, `bob`, SHA-256" in report
    assert "`bob` gave way in round 2, evidenced, shown at `price.py:1`: code found it there;" in report
    assert re.search(r"`bob`, sealed as `[0-9a-f]{64}`:\n\n```text\nLyon\n```", report)
    assert "`ada` objects to the answer of `bob`:\n\n```text\nLyon\n\nit is not so\n```" in report
    result = json.loads((peers.cases[0] / "result.json").read_text())
    assert (result["answer"], result["debate"]["gain"]) == ("Paris", 1)
    assert result["debate"]["differs_from_opening_majority"] is None
    assert [(change["seat"], change["is_evidenced"]) for change in result["changes"]] == [("bob", True)]
    before = {path.name: path.read_bytes() for path in peers.cases[0].glob("*.[mj][ds]*")}
    assert peers.call("report", "last").code == 0
    assert {path.name: path.read_bytes() for path in peers.cases[0].glob("*.[mj][ds]*")} == before


def test_debate_that_leaves_the_opening_majority_is_named(peers: Project) -> None:
    """DESIGN 7.1: the report says that the final text is not what the majority opened with."""
    gave_way = {"answering.1": "Paris", "comparing.2": {"answer": "Lyon", "why": ""}}
    plan(peers, ada=gave_way, bob=gave_way, cyd={"answering.1": "Lyon", "comparing.2": "Lyon"})
    called = peers.call("answer", "--peer", "ada", "--peer", "bob", "--peer", "cyd", *WHICH)
    assert called.code == 0, called
    assert "debate:   gain 1 peer more, and the final text is not what the majority opened with" in called.out
    assert "  ada gave way in round 2, unevidenced: no reason given" in called.out
    result = json.loads((peers.cases[0] / "result.json").read_text())
    assert (result["debate"]["opening"]["majority"], result["answer"]) == ("Paris", "Lyon")
    assert result["debate"]["differs_from_opening_majority"] is True
    assert "It named no flaw in what it had answered before." in (peers.cases[0] / "report.md").read_text()


def test_what_stays_open_is_shown_with_all_positions(peers: Project) -> None:
    """SPEC D-32: exit 3, and never as agreement; the opening majority is named, which often is the better answer."""
    plan(peers, cyd={f"{phase}": "Lyon" for phase in ("answering.1", "comparing.2", "comparing.3")})
    called = peers.call("answer", "--peers", "ada,bob,cyd", "--max-rounds", "2", *WHICH)
    assert called.code == 3, called
    assert called.out.startswith(
        "Unresolved: no answer has every peer behind it, and 2 of 2 rounds are spent.\n"
        "  ada: Paris\n  bob: Paris\n  cyd: Lyon\n"
    )
    report = (peers.cases[0] / "report.md").read_text()
    assert "There is none that they agreed on.\n\n`ada` held in round 2:\n\n```text\nParis\n```" in report
    assert "`cyd` held in round 2:\n\n```text\nLyon\n```" in report
    assert "The opening vote had a majority" in report


def test_an_objection_drops_the_text_and_everybody_sees_it(peers: Project) -> None:
    """SPEC D-28: the next round begins with it, under a neutral name."""
    better = {"answer": "Paris, France", "why": "the country was missing"}
    plan(peers, ada={"comparing.2": better}, bob={"confirming.1": "no country", "comparing.2": better})
    called = peers.call(*ASK, "--json", *WHICH)
    assert (called.code, called.json["answer"]) == (0, "Paris, France"), called
    dropped = shown(peers, "ada.comparing.2")["dropped"]
    assert (dropped["text"], dropped["objections"][0]["peer"], dropped["objections"][0]["point"]) == (
        "Paris",
        "peer-1",
        "no country",
    )
    assert [len(each["confirmations"]) for each in called.json["candidates"]] == [2, 2]
    report = (peers.cases[0] / "report.md").read_text()
    assert "`bob` does not confirm it:" in report
    assert "So it was dropped." in report


def test_the_transcript_is_named_by_the_question(peers: Project) -> None:
    """SPEC D-30: header, answers in the order of the rounds, the candidate; and of a question without a letter."""
    plan(peers, bob={"answering.1": "Lyon"})
    assert peers.call(*ASK, "--context-file", "price.py", *WHICH).code == 0
    (found,) = peers.cases[0].glob("answer-[!0-9]*.md")
    assert found.name == "answer-which-city-is-the-capital-of-france.md"
    headings = re.findall(r"^#+ .*", found.read_text(), re.MULTILINE)
    assert headings == [
        "# Answers of `ada`, `bob`",
        "## Round 1: `ada`",
        "## Round 1: `bob`",
        "## Round 2: `ada`",
        "## Round 2: `bob`",
        "## Candidate 1",
    ]
    assert "What belongs to it:\n\n```text\nx = 2\n```" in found.read_text()
    assert peers.call(*ASK, "--", "?!").code == 0
    assert (peers.cases[1] / "answer-answer.md").is_file()


def test_nothing_of_a_repository_is_written(peers: Project) -> None:
    """SPEC D-31: no file, no commit, no ref; they may read what is committed, and nothing else."""
    (peers.top / "price.py").write_text("x = 3\n")
    before = everything_in(peers.top)
    called = peers.call(*ASK, *WHICH)
    assert called.code == 0, called
    assert everything_in(peers.top) == before
    assert "they can read the files of" in called.err
    assert "note: the work tree differs from HEAD in 1 path; what can be read is HEAD" in called.err
    assert shown(peers, "ada.answering.1")["files"] is True
    older = peers.call(*ASK, "--base", "main", *WHICH)
    assert f"they can read the files of {peers.git.id('rev-parse', 'main')[:12]}" in older.err


def test_it_works_in_any_folder(peers: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 6: outside of a repository nobody has files, and the cases are below the folder."""
    place = tmp_path / "plain"
    place.mkdir()
    monkeypatch.chdir(place)
    called = peers.call(*ASK, *WHICH)
    assert called.code == 0, called
    assert shown(peers, "ada.answering.1")["files"] is False
    assert [path.name for path in place.iterdir()] == [".counterpoint"]
    for command in ("show", "status", "verify", "cases", "report"):
        other = peers.call(command, *(["last"] if command != "cases" else []))
        assert other.code == 0, other
        assert "reviewer" not in other.out
    assert peers.call("status", "last", "--json").json["candidate"]["are_commits"] is False


def test_a_vote_counts_the_first_answers_and_asks_no_more(peers: Project) -> None:
    """DESIGN 7.1: a majority is a decision, what is no option counts for none, and a tie is called one."""
    plan(peers, bob={"answering.1": "I would say Paris"}, cyd={"answering.1": "paris."})
    vote = ("--vote", "--option", "Paris", "--option", "Lyon")
    called = peers.call("answer", "--peers", "ada,bob,cyd", *vote, *WHICH)
    assert called.code == 0, called
    assert called.out.splitlines()[:3] == [
        "Voted: 2 of 3 peers gave the same answer; bob counted for none.",
        "  Paris",
        "opening:  2 of 3 peers gave the same answer",
    ]
    assert asked(peers) == ["ada answering.1", "bob answering.1", "cyd answering.1"]
    assert shown(peers, "ada.answering.1")["options"] == ["Paris", "Lyon"]
    report = (peers.cases[0] / "report.md").read_text()
    assert "## The count\n\n- 2 votes for `Paris`: `ada`, `cyd`\n- for none: `bob`\n" in report
    plan(peers, bob={"answering.1": "Lyon"})
    tie = peers.call(*ASK, "--vote", "--json", *WHICH)
    assert (tie.code, tie.json["answer"], tie.json["debate"]["opening"]["is_tie"]) == (3, None, True), tie
    nothing = peers.call(*ASK, "--vote", "--option", "no", "--option", "yes", *WHICH)
    assert nothing.code == 3, nothing
    assert "opening:  none of the answers counts" in nothing.out


def test_a_vote_that_cannot_be_read_counts_for_none(peers: Project) -> None:
    """Issue 6: it is no failure of the vote, and weighs in the whole; where nobody can be read, there is no vote."""
    plan(peers, bob={"answering.1": "prose"})
    called = peers.call("answer", "--peers", "ada,bob,cyd", "--vote", "--json", *WHICH)
    assert (called.code, called.json["answer"], called.json["stop_reason"]) == (0, "Paris", "rounds_spent"), called
    assert called.json["reasons"] == ["2 of 3 peers gave the same answer; bob gave no valid one"]
    report = (peers.cases[-1] / "report.md").read_text()
    assert "- for none: `bob`\n" in report
    assert "No opening answer was revealed of `bob`." in report
    one = peers.call(*ASK, "--vote", *WHICH)
    assert one.code == 3, one
    assert one.out.startswith(
        "Unresolved: no majority: the most given answer has 1 of 2 votes; bob gave no valid one"
    )
    plan(peers, ada={"answering.1": "prose"}, bob={"answering.1": "prose"})
    assert peers.call(*ASK, "--vote", *WHICH).code == 1


def test_a_peer_that_gives_no_valid_answer_fails_the_case(peers: Project) -> None:
    """SPEC D-32: exit 1, whatever the other says, and the other's answer is shown."""
    plan(peers, bob={"answering.1": "prose"})
    called = peers.call(*ASK, *WHICH)
    assert called.code == 1, called
    assert called.out.startswith("Failed: no valid answer of bob in round 1.\n  ada: Paris\n")
    assert asked(peers) == ["ada answering.1", "bob answering.1", "bob answering.1"]
    report = (peers.cases[0] / "report.md").read_text()
    assert "No opening answer was revealed of `bob`." in report


def test_a_case_that_is_killed_goes_on_and_asks_nobody_twice(peers: Project) -> None:
    """Issue 6: `kill -9` between two answers of a round."""
    plan(peers, ada={"answering.1": "Lyon"}, bob={"comparing.2": "kill"})
    assert peers.run(*ASK, *WHICH).code == -9
    peers.sweep()
    plan(peers, ada={"answering.1": "Lyon", "comparing.2": "Paris"})
    called = peers.call("resume", "last")
    assert called.code in {0, 3}, called
    turns = asked(peers)
    assert (turns.count("ada answering.1"), turns.count("bob answering.1"), turns.count("bob comparing.2")) == (
        1,
        1,
        2,
    )
    assert peers.call("verify", "last").code == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "a question is missing; nobody was asked"),
        (("--", "", "  "), "a question is missing; nobody was asked"),
        (("--question-file", "blank.txt"), "blank.txt is blank; nobody was asked"),
        (("--question-file", "blank.txt", "--", "Why?"), "blank.txt has a question, and 'Why?' is another"),
        (("--peer", "ada", "--", "Why?"), "--peers names 'ada,bob', and --peer 'ada'; use one of them"),
        (("--option", "a", "--", "Why?"), "nothing is counted without --vote"),
        (("--vote", "--max-rounds", "2", "--", "Why?"), "--max-rounds is for the rounds after them"),
        (("--vote", "--until-agreement", "--", "Why?"), "--until-agreement is for the rounds after them"),
        (("--until-agreement", "--max-rounds", "2", "--", "Why?"), "does not count rounds, and --max-rounds does"),
    ],
)
def test_what_cannot_be_asked_is_said_and_nobody_is_asked(
    peers: Project, arguments: tuple[str, ...], says: str
) -> None:
    """SPEC D-02: an empty question asks and stops; exit 2, and no case is begun."""
    (peers.top / "blank.txt").write_text(" \n")
    called = peers.call(*ASK, *arguments)
    assert (called.code, says in called.err) == (2, True), called
    assert (asked(peers), peers.cases) == ([], [])


def test_one_peer_alone_is_refused(peers: Project) -> None:
    """PEER-1, before anybody is asked."""
    called = peers.call("answer", "--peers", "ada", *WHICH)
    assert (called.code, "'ada' is one peer; two or more answer each other" in called.err) == (2, True), called


def test_without_counting_rounds_it_ends_when_nothing_moves(peers: Project) -> None:
    """DESIGN 7.2: `--until-agreement` is no promise."""
    plan(peers, bob={"answering.1": "Lyon", **{f"comparing.{number}": "Lyon" for number in range(2, 9)}})
    called = peers.call(*ASK, "--until-agreement", *WHICH)
    assert called.code == 3, called
    assert called.out.startswith("Unresolved: nothing moved any more;"), called
    assert "rounds: until they agree, or nothing moves" in called.err
    assert "- Rounds: 3, not limited" in (peers.cases[0] / "report.md").read_text()


def test_settings_name_the_peers(peers: Project) -> None:
    """Issue 6: then the question is enough."""
    settings = (peers.config / "config.toml").read_text()
    peers.configure(f'{settings}[answer]\npeers = ["ada", "bob"]\nmax_rounds = 2\n')
    called = peers.call("answer", "--effort", "low", "Which", "city?")
    assert called.code == 0, called
    assert "rounds: 2 at most" in called.err
    seen = shown(peers, "ada.answering.1")
    assert (seen["question"], seen["effort"]) == ("Which city?", "low")


def test_a_person_is_a_peer_at_the_terminal(peers: Project) -> None:
    """Issue 6: mixed with a program; the person types no digest, and sees the other under a neutral name."""
    with peers.sit("answer", "--peers", "ada,me", *WHICH) as terminal:
        for question, keys in (
            ("=== me: answering, round 1 ===", ""),
            ("reasoning (", "I was there.\n"),
            ("keyPoints: 0 so far. Add one? [y/N] ", "\n"),
            ("answer (", "Paris\n"),
            ("Send this? [Y/n] ", "\n"),
            ("=== me: confirming, round 1 ===", ""),
            ("reasoning (", "It is right.\n"),
            ("objections: 0 so far. Add one? [y/N] ", "\n"),
            ("approved (", "y\n"),
            ("Send this? [Y/n] ", "\n"),
        ):
            terminal.wait_for(question)
            terminal.type(keys)
        code, seen = terminal.end()
    assert code == 0, seen
    assert "Agreed: ada, me confirmed exactly this text." in seen


def _answers(question: Question) -> Answer:
    """Answer as a model would, from the brief in its prompt."""
    brief = question.brief_with("question")
    phase = phase_of({"approved": 0} if "candidate" in brief else {"agreesWith": 0} if "others" in brief else {})
    return Answer(text=json.dumps(reply_to(phase, brief, "" if phase == "confirming" else "Paris")))


@pytest.fixture
def answers() -> Answerer:
    return _answers


def test_a_model_behind_an_api_answers(peers: Project, api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 6: end to end over the wire, with a program beside it, in every stage."""
    model = add_model(peers, api, monkeypatch)
    plan(peers, ada={"answering.1": "Lyon"})
    called = peers.call("answer", "--peers", f"ada,{model}", "--json", *WHICH)
    assert (called.code, called.json["answer"]) == (0, "Paris"), called
    assert len(api.requests) == 3


def test_a_question_is_recorded_beside_its_cases_and_played_by_whom_it_was_recorded(peers: Project) -> None:
    """Newcomer 12, 13: nobody edits here, so any new folder serves; who is named nowhere sits there as recorded."""
    recorded = peers.call("answer", "--peers", "cyd,ada,bob", "--record", peers.top / "tape", *WHICH)
    assert recorded.code == 0, recorded
    played = peers.call("answer", "--replay", peers.top / "tape", *WHICH)
    assert played.code == 0, played
    assert "peers: cyd (command), ada (command), bob (command)" in played.err
    cases = list(peers.cases)
    listed = peers.call("cases").out.splitlines()[1:]
    assert [line.split(maxsplit=2)[2] for line in listed] == [WHICH[-1]] * 2
    others = peers.call("answer", "--peers", "ada,bob", "--replay", peers.top / "tape", *WHICH)
    assert others.code == 1
    assert "expected the seats of the cassette: cyd, ada, bob; got 'ada, bob'" in others.err
    assert peers.cases == cases
