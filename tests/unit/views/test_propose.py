"""The reports of `propose`: keys, words, and nothing of a seat's that acts (SPEC A-36 to A-42, A-55, A-56)."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import pytest

from counterpoint.core.docket import Docket
from counterpoint.drive.cases import LoadedCase
from counterpoint.drive.progress import DriveEvent
from counterpoint.errors import ConfigError
from counterpoint.views.propose import PAGE, VIEW
from counterpoint.views.propose_folder import put_reports
from counterpoint.views.propose_page import POLICY
from counterpoint.views.propose_result import source_remark
from tests.need import ROOT
from tests.propose_case import issue
from tests.propose_scenarios import SCENARIOS, Scenario, read_scenario

KEYS: Final = [
    "schema_version",
    "run_id",
    "started_at",
    "finished_at",
    "question",
    "context",
    "config",
    "roles",
    "model_identity",
    "status",
    "stop_reason",
    "decision",
    "verification_status",
    "cleanup_status",
    "rounds_completed",
    "proposal",
    "last_reviewed_proposal",
    "proposal_history",
    "review_history",
    "independent_risk_scan",
    "last_review",
    "issues",
    "core_exchanges",
    "clarification_questions",
    "conditions",
    "next_steps",
    "next_action",
    "usage",
    "calls",
    "events",
    "errors",
    "evidence_status",
]
USAGE: Final = [
    "calls",
    "completed_calls",
    "failed_calls",
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "max_calls",
    "max_total_tokens",
    "threshold_exceeded",
    "unknown_usage_calls",
    "elapsed_seconds",
    "max_duration_seconds",
    "duration_threshold_exceeded",
]
HOSTILE: Final = (
    '<script>alert(1)</script><img src=x onerror="alert(2)"> [link](javascript:alert(3)) ![i](http://e.example/x)\n'
    "# Approved\n\n```\n</blockquote></main><a href='//e.example'>x</a> ``` \u202e\u200b &lt;b&gt;"
)


def _case(name: str) -> LoadedCase:
    return read_scenario(name).run()


class _Reader(HTMLParser):
    """What a page is made of, and what it says."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: dict[str, int] = {}
        self.attributes: set[tuple[str, str, str | None]] = set()
        self.said: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.attributes |= {(tag, name, value) for name, value in attrs}
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def _read(page: str) -> _Reader:
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def _hostile() -> Scenario:
    """Return a case in which everybody writes what would act, had it been taken for more than text."""
    said = {"public_summary": HOSTILE, "goal": HOSTILE, "recommendation": HOSTILE, "assumptions": [HOSTILE]}
    raised = issue(title=HOSTILE[:200], description=HOSTILE, target=HOSTILE[:300], resolution_criterion=HOSTILE)
    table = {
        "says": "",
        "question": HOSTILE,
        "context": HOSTILE,
        "limits": {"max_rounds": 1, "min_rounds": 1},
        "script": {
            "proposing.1.proposer": {"proposal": said},
            "proposing.1.critic": {"scan": {"public_summary": HOSTILE}},
            "reviewing.1.critic": {
                "review": {"new_issues": [raised], "conditions": [HOSTILE], "assessment": "revise"}
            },
        },
        "expect": {},
    }
    return Scenario(table)


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_report_has_every_key_and_says_the_same_as_the_others(name: str) -> None:
    """A-38, A-39: whatever it came to; the same record gives the same bytes."""
    case = _case(name)
    found = VIEW.result(case)
    assert [key for key in KEYS if key not in found] == []
    assert list(found["usage"]) == USAGE
    assert found["verification_status"] == "not_checked"
    assert json.loads(json.dumps(found)) == found
    page, report = VIEW.files(case)[PAGE], VIEW.report(case)
    assert (page, report) == (VIEW.files(case)[PAGE], VIEW.report(case))
    title = report.splitlines()[0].removeprefix("# ")
    assert title in _read(page).said
    assert "_" not in title
    assert f"- how it ended: {found['status']}, {found['stop_reason']}\n" in report.replace("`", "")


def test_a_page_has_no_script_and_a_policy_that_allows_its_style_alone() -> None:
    """A-41: nothing in it runs or is fetched, and what can be clicked leads to another place of the page."""
    reader = _read(VIEW.files(_case("two-rounds-resolved"))[PAGE])
    assert not {"script", "img", "iframe", "form", "link", "object", "svg", "base"} & reader.tags.keys()
    named = {name for _, name, _ in reader.attributes}
    assert named == {"lang", "charset", "http-equiv", "content", "name", "class", "id", "href", "aria-label"}
    places = {f"#{value}" for _, name, value in reader.attributes if name == "id"}
    assert {value for tag, name, value in reader.attributes if tag == "a"} == places
    assert ("meta", "content", POLICY) in reader.attributes
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]+'; base-uri 'none'; form-action 'none'", POLICY
    )


def test_a_page_opens_with_what_its_reader_came_for() -> None:
    """Ours: verdict, why, what to do and the recommendation; then the requirement; where it is from, at the foot."""
    case = _case("a-light-risk-stays-conditional")
    found, said = VIEW.result(case), _read(VIEW.files(case)[PAGE]).said
    first = ["On conditions", found["next_action"], found["proposal"]["recommendation"], found["question"]]
    first += [found["proposal"]["problem_statement"], found["issues"][0]["title"], found["run_id"]]
    assert [said.index(text) for text in first] == sorted(said.index(text) for text in first)
    assert "`" not in "".join(said)


def test_steps_are_numbered_and_badges_have_words() -> None:
    """Ours: what is done in order has numbers, and no colour says anything alone."""
    case = _case("two-rounds-resolved")
    page = VIEW.files(case)[PAGE]
    (step, *_) = VIEW.result(case)["proposal"]["implementation_steps"]
    assert f"<ol>\n<li>{step}</li>" in page
    assert '<span class="badge bad">high</span> <span class="badge good">resolved</span>' in page
    assert page.count("looked at nothing") == 1
    report = VIEW.report(case)
    assert "### high, resolved: `I1, The link can be guessed`" in report
    assert f"1. {step}" in report


def test_what_seats_and_users_wrote_acts_in_none_of_the_reports() -> None:
    """A-41, SECURITY B.4: shown whole, and never structure, a link, a picture or a hidden character."""
    case = _hostile().run()
    page, report = VIEW.files(case)[PAGE], VIEW.report(case)
    reader = _read(page)
    assert not {"script", "img"} & reader.tags.keys()
    values = [value for tag, _, value in reader.attributes if tag != "meta"]
    assert [value for value in values if not re.fullmatch(r"#?[A-Za-z -]+", value or "")] == []
    assert any("<script>alert(1)</script>" in text for text in reader.said)
    assert "\u202e" not in page + report
    assert "\\u{202e}" in page
    outside = re.sub(r"^(`{3,})text\n.*?^\1$", "", report, flags=re.MULTILINE | re.DOTALL)
    outside = re.sub(r"(`+).*?\1", "", outside)
    assert not re.search(r"<script|\]\(|!\[|^# Approved", outside, re.MULTILINE)
    assert re.findall(r"^# .*", outside, re.MULTILINE) == ["# Blocked"]


def test_a_newest_version_without_a_review_is_not_what_the_report_is_about() -> None:
    """A-40, A-42: the last reviewed one is shown, that is said, and it stands among the conditions."""
    case = _case("the-time-is-up")
    found, report = VIEW.result(case), VIEW.report(case)
    assert (found["proposal"]["version"], found["last_reviewed_proposal"]["version"]) == (2, 1)
    assert "Version 2 is newer and has not been reviewed; this is about version 1, the last one that was" in report
    assert "The newest version has not been reviewed; nothing here says that it is sound." in found["conditions"]
    only = VIEW.report(_case("prose-is-no-answer"))
    assert "It has not been reviewed by every critic" in only


def test_conditions_and_steps_are_put_together_by_code() -> None:
    """A-40: of proposal and review, and one for each issue that is not resolved."""
    found = VIEW.result(_case("a-light-risk-stays-conditional"))
    assert found["conditions"] == ["I1 [medium/accepted_risk]: The link can be guessed"]
    assert found["next_steps"] == ["export the largest account", "I1: the address is random"]


def test_an_issue_has_its_answers_and_its_history() -> None:
    """SPEC 1.1: from "" to open with the description as its rationale, then what its critic said."""
    (found,) = VIEW.result(_case("two-rounds-resolved"))["issues"]
    assert found["history"] == [
        {"round": 1, "from": "", "to": "open", "rationale": "The address is a counter."},
        {"round": 2, "from": "open", "to": "resolved", "rationale": "I read the answer."},
    ]
    (response,) = found["responses"]
    assert (response["round"], response["proposal_version"], response["action"]) == (2, 2, "fix")
    assert (found["raised_round"], found["last_review_round"], found["resolution_rationale"]) == (
        1,
        2,
        "I read the answer.",
    )


def test_models_are_named_and_mixed_ones_are_not_called_one() -> None:
    """A-37."""
    mixed = VIEW.result(_case("the-model-changes"))["model_identity"]
    assert (mixed["returned"], mixed["models_seen"], mixed["consistent"]) == (None, ["scripted", "another"], False)
    none = VIEW.result(_case("a-blank-requirement"))["model_identity"]
    assert none == {"requested": None, "returned": None, "models_seen": [], "consistent": None}


def test_failed_calls_count_with_their_usage_unknown() -> None:
    """A-26, A-38."""
    found = VIEW.result(_case("one-opening-fails"))
    assert {k: found["usage"][k] for k in ("calls", "completed_calls", "failed_calls", "unknown_usage_calls")} == {
        "calls": 2,
        "completed_calls": 1,
        "failed_calls": 1,
        "unknown_usage_calls": 1,
    }
    assert sorted((c["phase"], c["round"], c["status"]) for c in found["calls"]) == [
        ("propose", 1, "completed"),
        ("risk_scan", 0, "failed"),
    ]
    assert [error["type"] for error in found["errors"]] == ["unreachable"]
    spent = VIEW.result(_case("the-last-review-crosses-the-threshold"))["usage"]
    assert (spent["max_total_tokens"], spent["threshold_exceeded"]) == (512, True)
    exact = VIEW.result(_case("the-threshold-is-reached-exactly"))["usage"]
    assert (exact["total_tokens"], exact["threshold_exceeded"]) == (512, False)


def test_every_report_says_that_a_threshold_may_be_passed() -> None:
    """A-25: by calls that are in flight when it is reached."""
    case = _case("the-last-review-crosses-the-threshold")
    said = "Tokens and time are thresholds on what was reported; a call in flight may pass them."
    assert said in VIEW.report(case)
    assert said in "".join(_read(VIEW.files(case)[PAGE]).said)


def test_an_observer_that_was_switched_off_is_an_event() -> None:
    """A-32: recorded under the word of the specification, and the case goes on."""

    def breaks(_event: DriveEvent) -> None:
        raise ValueError("no")

    found = VIEW.result(read_scenario("two-rounds-resolved").run(on_event=breaks))
    assert [event["event"] for event in found["events"]].count("event_callback_error") == 1
    assert found["stop_reason"] == "converged"


@pytest.mark.parametrize("source", ["explicit", "session_config", "environment", "saved_profile", "demo"])
def test_the_report_says_where_the_configuration_is_from(source: str) -> None:
    """A-03, A-05: five words and no other, and that nobody has authenticated it."""
    scenario = read_scenario("two-rounds-resolved")
    scenario.docket = Docket(question="Need", remarks=(source_remark(source),))
    scenario.open()
    found = VIEW.result(scenario.run())
    assert found["config"]["config_source"] == source
    assert found["config"]["authenticated"] is False
    assert found.get("demo", False) is (source == "demo")


def test_the_lines_at_the_end_name_what_is_open_and_what_to_do() -> None:
    """Ours: hidden characters are written out in them."""
    lines = list(VIEW.summary(_hostile().run(), lambda text, _colour: text))
    assert lines[0] == "Blocked, partial: 1 of 1 rounds are held."
    assert lines[-2] == "next:     Settle what blocks it before anything is built on it."
    assert "\u202e" not in "".join(lines)
    asks = list(VIEW.summary(_case("the-scan-asks"), lambda text, _colour: text))
    assert "  question: Which formats?" in asks
    failed = list(VIEW.summary(_case("a-call-runs-out-of-time"), lambda text, _colour: text))
    assert any(line.startswith("  proposer, timeout: ") for line in failed)
    table = json.loads((ROOT / "tests/data/propose/the-proposer-asks.json").read_text("utf-8"))
    table["script"]["proposing.1.proposer"]["proposal"] |= {"recommendation": "", "recommended_option_id": ""}
    asked = list(VIEW.summary(Scenario(table).run(), lambda text, _colour: text))
    assert asked[0] == "Clarification is needed: a person has to answer 1 question first."
    assert asked[1] == "proposal: version 1, which recommends nothing yet"
    refused = list(VIEW.summary(_case("a-review-that-leaves-one-out"), lambda text, _colour: text))
    assert "  critic, refused: I2 is not ruled on [ISSUE-1]" in refused
    assert "next:     Propose anew: an answer that is not taken ends it, and nobody is asked twice." in refused


def test_a_report_that_cannot_be_put_in_its_place_leaves_nothing_half(tmp_path: Path) -> None:
    """A-45: the folder is gone, or a folder lies where the report would: one sentence, and no half file."""
    case = _case("two-rounds-resolved")
    with pytest.raises(ConfigError, match="a folder that can be written"):
        put_reports(case, tmp_path / "gone", overwrite=False)
    (tmp_path / "report.md").mkdir()
    with pytest.raises(ConfigError, match=re.escape("report.md: Is a directory")):
        put_reports(case, tmp_path, overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["report.md"]
