"""`counterpoint review`, as its user starts it. Sources: SPEC D-03 to D-06, D-10 to D-15; issue 2, "done when"."""

import json

import pytest

from tests.reviewing import FINDING, Project, answer, everything_in

PRICE = "def total(prices):\n    return sum(prices)\n"
TESTS = """\
import unittest
from price import total


class TotalTest(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(total([1, 2]), 3)
"""


def test_a_failing_test_is_found_and_its_repair_approved_without_any_settings(project: Project) -> None:
    """Issue 2, point 6: the default reviewer finds the project's own tests. Nothing of the repository changes."""
    project.git.commit({"price.py": PRICE, "test_price.py": TESTS})
    project.branch()
    project.git.commit({"price.py": PRICE.replace("sum(prices)", "sum(prices) + 1")})
    before = everything_in(project.top)
    found = project.judge()
    assert (found["decision"], found["exit_code"], found["evidence"]) == ("rejected", 3, "refuted")
    (finding,) = found["findings"]
    where = (finding["severity"], finding["id"], finding["location"])
    assert where == ("blocking", "F1", "python -m unittest discover")
    assert "passes at the merge base" in finding["issue"]
    assert everything_in(project.top) == before
    project.git.commit({"price.py": PRICE + "\n"})
    before = everything_in(project.top)
    found = project.judge()
    assert (found["decision"], found["exit_code"], found["evidence"]) == ("approved", 0, "verified")
    assert found["findings"] == []
    assert everything_in(project.top) == before


def test_what_happened_is_said_in_a_few_lines(project: Project) -> None:
    """What a person reads: the case, what is judged by whom, progress; then decision, findings, report, next step."""
    project.begin(test="exit 1")
    called = project.review("--trust-commands")
    assert called.code == 3
    (case,) = project.cases
    told = called.err.splitlines()
    assert told[0] == f"case {case.name}"
    assert told[1].endswith(": 1 changed path")
    assert told[2] == "reviewers: checks"
    assert [line.partition(" s] ")[2] for line in told[3:]] == [
        "checks: asked",
        "checks: 1 project command to run",
        "checks: running sh test.sh",
        "checks: sh test.sh: failed, exit 1",
        "checks: answered; sealed until all have",
    ]
    said, finding, *rest = called.out.splitlines()
    assert said == "Rejected: 1 open: F1; failing: sh test.sh."
    assert finding == (
        "  blocking F1: `sh test.sh` fails: exit 1."
        " It fails at the merge base too: it was failing before this change."
    )
    assert rest[0].startswith("judged:   ")
    assert rest[1:] == [
        "evidence: refuted: a command of the project ran on this candidate and failed",
        f"report:   {case / 'report.md'}",
        f"check it: counterpoint verify {case.name}",
    ]
    assert project.call(*rest[-1].split()[3:]).code == 0


def test_a_mixed_bench_is_asked_at_once_and_named_by_seat(project: Project) -> None:
    """Width before depth (DESIGN 7.4): `checks`, a program, a script, and the same program once more."""
    project.begin()
    script = "[[reply]]\nanswer = {summary = 'Read.', findings = [], responseToRebuttal = '', approved = true}\n"
    (project.config / "script.toml").write_text(script)
    project.configure(
        project.critic(says=answer(FINDING)) + '[agents.script]\nkind = "scripted"\nfile = "script.toml"\n'
    )
    reviewers = ("checks", "critic", "script", "critic")
    found = project.judge(*(part for name in reviewers for part in ("--reviewer", name)))
    assert [(seat["name"], seat["party"], seat["approved"]) for seat in found["seats"]] == [
        ("checks", "checks", True),
        ("critic", "critic", False),
        ("script", "script", True),
        ("critic-2", "critic", False),
    ]
    assert [finding["id"] for finding in found["findings"]] == ["critic-F1", "critic-2-F1"]
    assert (found["exit_code"], found["decision"], found["evidence"]) == (3, "rejected", "verified")


def test_a_reviewer_is_given_the_change_and_the_reasons_for_it(project: Project) -> None:
    """SPEC D-14, D-15: the diff, the paths, the commands, the author's rationale."""
    project.begin(change="x = 1\ny = 3\n")
    brief = project.bin / "brief.json"
    project.configure(project.critic(f"cp $1 {brief}; cat $out", arguments=', "{brief_json}"'))
    found = project.judge("--reviewer", "critic", "--rationale", "The tax was\nmissing.")
    assert found["decision"] == "approved"
    payload = json.loads(brief.read_text())["payload"]
    assert payload["rationale"] == "The tax was\nmissing."
    assert payload["changed"] == [{"path": "price.py", "state": "text"}]
    assert "+y = 3" in payload["change"]
    assert payload["candidate"] == found["docket"]["candidate"] == project.git.id("rev-parse", "HEAD")
    assert found["docket"]["base"] == project.git.id("rev-parse", "main")


def test_a_reviewer_that_nobody_knows_is_answered_with_the_nearest_one(project: Project) -> None:
    """Exit 1, the key, what there is, and the hint."""
    project.begin()
    project.configure(project.critic())
    called = project.review("--reviewer", "critik")
    assert called.code == 1
    assert called.err == (
        "error: review.reviewers[0]: expected one of the agents checks, critic, human, local;"
        " got 'critik' (in --reviewer)\n"
        "hint: did you mean 'critic'?\n"
    )
    assert project.cases == []


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('kind = "command"\ncommand = "no-such-agent"\ndestination = "acme"', "got 'no-such-agent'"),
        ('kind = "command"\ncommand = ["sh", "{nope}"]\ndestination = "acme"', "got '{nope}'"),
        ('kind = "scripted"\nfile = "gone.toml"', "agents.critic.file: expected the path of a script"),
    ],
)
def test_an_agent_that_cannot_work_is_told_before_anything_else(project: Project, settings: str, said: str) -> None:
    """No leave is asked, no case is begun, no other reviewer's answer is paid for."""
    project.begin()
    project.configure(f"[agents.critic]\n{settings}\n")
    called = project.review("--reviewer", "checks", "--reviewer", "critic")
    assert called.code == 1
    assert said in called.err
    assert "hint: " in called.err
    assert project.cases == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--max-calls", "0"], "0 is not in the range x>=1"),
        (["--deadline", "soon"], "'soon' is not a length of time such as 90s, 10m or 2h"),
        (["--deadline", "0"], "'0' is not from one second to 31 days"),
        (["--deadline", "40d"], "'40d' is not from one second to 31 days"),
        (["--repo", "nowhere"], "Directory 'nowhere' does not exist"),
        (["--trust"], "No such option"),
        (["main"], "'main' is not the number of a pull request, and a review takes no prose"),
    ],
)
def test_a_wrong_command_line_is_exit_2(project: Project, arguments: list[str], said: str) -> None:
    """DESIGN 8; under `--json` it is one object too."""
    called = project.review(*arguments)
    assert called.code == 2
    assert said in called.err
    called = project.review("--json", *arguments)
    assert (called.code, called.json["error"]["code"]) == (2, "usage")
    assert said in called.json["error"]["message"]


def test_the_budget_of_calls_ends_the_case_unresolved(project: Project) -> None:
    """`--max-calls`: one bad answer spends it."""
    project.begin()
    project.configure(project.critic(says="LGTM"))
    found = project.judge("--reviewer", "critic", "--max-calls", "1")
    assert (found["stop_reason"], found["decision"], found["exit_code"]) == ("budget_spent", "undetermined", 3)
    assert (found["usage"]["calls"], found["limits"]["max_calls"]) == (1, 1)


def test_the_threshold_of_tokens_ends_the_case_unresolved(project: Project) -> None:
    """`--max-tokens` holds what was reported (SPEC A-25)."""
    project.begin()
    printed = json.dumps({"in": 900, "out": 100, "text": "LGTM"})
    more = 'reply_pointer = "/text"\ninput_tokens_pointer = "/in"\noutput_tokens_pointer = "/out"'
    project.configure(project.critic(says=printed, more=more))
    found = project.judge("--reviewer", "critic", "--max-tokens", "1000")
    assert (found["stop_reason"], found["exit_code"]) == ("budget_spent", 3)
    assert found["usage"] == {"calls": 1, "input_tokens": 900, "output_tokens": 100, "known": True}


@pytest.mark.parametrize(
    ("says", "arguments", "said"),
    [
        ("LGTM", [], "Failed: critic gave no valid answer: the reply begins with 'LGTM'; "),
        ("LGTM", ["--max-calls", "1"], "Unresolved: the budget was spent; 1 of 1 calls are spent.\n"),
        (
            answer({**FINDING, "severity": "nit"}),
            [],
            "Rejected: 1 open: F1.\n  nit      F1 at price.py:2: It is wrong.\n",
        ),
        (answer(), [], "Approved: critic approved, and nothing is open.\njudged: "),
    ],
    ids=["failed", "stopped", "rejected", "approved"],
)
def test_the_first_line_says_what_it_came_to_and_why(
    project: Project, says: str, arguments: list[str], said: str
) -> None:
    """In plain words, for each way in which a case ends."""
    project.begin()
    project.configure(project.critic(says=says))
    assert project.review("--reviewer", "critic", *arguments).out.startswith(said)


def test_a_budget_that_cannot_bring_every_answer_is_refused_beforehand(project: Project) -> None:
    """LIMIT-1, said before anybody is asked for leave, and with what to do."""
    project.begin()
    called = project.review("--reviewer", "checks", "--reviewer", "human", "--max-calls", "1")
    assert called.code == 1
    assert called.err == (
        "error: limits.max_calls: expected at least 2, one question for each seat; got 1 (in --max-calls)\n"
        "hint: allow more calls, or name fewer reviewers\n"
    )


def test_a_command_never_outlasts_the_deadline_of_its_case(project: Project) -> None:
    """DESIGN 4, limits: `checks.timeout_s` would let it run for a quarter of an hour."""
    project.begin(test="exec sleep 1000")
    found = project.judge("--deadline", "1s")
    (command,) = found["commands"]
    assert command["status"] == "not_checked"
    assert (found["decision"], found["exit_code"]) == ("undetermined", 3)


def test_a_change_in_binary_is_shown_by_its_sizes_alone(project: Project) -> None:
    """Bad input of issue 2: no reviewer is given its bytes, and checks have the file before them."""
    project.begin()
    project.git.commit({"logo.png": bytes(range(256)) * 40})
    assert project.judge()["exit_code"] == 0


def test_a_change_too_large_to_show_is_approved_by_nobody_who_did_not_see_it(project: Project) -> None:
    """Bad input of issue 2, F15: 5 MB of diff. The reviewer approves what it saw; the outcome is unresolved."""
    project.begin()
    project.git.commit({"table.txt": "".join(f"{number:07}\n" for number in range(650_000))})
    project.configure(project.critic())
    called = project.review("--reviewer", "critic")
    assert called.code == 3
    assert "note: table.txt is not shown" in called.err
    assert "nobody was shown table.txt" in called.out


def test_names_that_are_no_text_are_judged_and_shown_written_out(project: Project) -> None:
    """Bad input of issue 2: what no export can hold under its name counts as seen by nobody, and that is said."""
    project.begin()
    project.git.write(b"caf\xe9.txt", "c\n")
    project.git.commit()
    assert project.judge()["exit_code"] == 0
    project.git.commit({"two\nlines.txt": "a\n", "esc\x1b[31m.txt": "b\n"})
    called = project.review("--trust-commands")
    assert called.code == 3
    assert "\x1b" not in called.out + called.err
    assert "note: two\\u{a}lines.txt is not in the export: " in called.err
    assert "nobody was shown esc\\u{1b}[31m.txt, two\\u{a}lines.txt" in called.out
    paths = project.call("resume", "last", "--json").json["docket"]["paths"]
    assert [path["path"] for path in paths] == [
        "caf\\xe9.txt",
        "esc\\u{1b}[31m.txt",
        "price.py",
        "two\\u{a}lines.txt",
    ]
