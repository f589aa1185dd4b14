"""Scripts: which reply a turn gets, what it holds, and what is said of a file that is no script."""

import asyncio
import json
import re
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from counterpoint.agents.base import Reply, Workspace
from counterpoint.agents.scripted import ScriptedAgent, parse_script, read_script
from counterpoint.core.briefs import Brief
from counterpoint.core.values import Turn, Usage
from counterpoint.errors import ConfigError, TurnTimeout, Unreachable
from tests import need

NOW = datetime(2026, 7, 6, tzinfo=UTC)
BRIEF = Brief(instructions="", payload={}, schema={}, shown_paths=())


def ask(
    agent: ScriptedAgent, *, seat: str = "critic", phase: str = "reviewing", number: int = 1, time: int = 1
) -> Reply:
    turn = Turn(phase=phase, round=number, seat=seat, ask=time)
    workspace = Workspace(tree=Path("/nowhere"), scratch=Path("/nowhere"), turn=turn)
    return asyncio.run(agent.ask(BRIEF, workspace=workspace, deadline=NOW, on_progress=lambda _line: None))


def scripted(*rows: dict[str, object]) -> ScriptedAgent:
    return ScriptedAgent(parse_script({"reply": list(rows)}, source="critic.toml"), source="critic.toml")


def test_the_first_reply_that_fits_the_turn_is_given_every_time() -> None:
    """Ours: the turn alone decides, so a turn asked again after a crash gets the same answer."""
    agent = scripted(
        {"seat": "critic", "round": 1, "ask": 2, "text": "second ask"},
        {"seat": "critic", "round": 1, "text": "first round"},
        {"seat": "critic", "phase": "closing", "text": "closing"},
        {"text": "any"},
    )
    assert ask(agent, time=2).content == b"second ask"
    assert [ask(agent).content, ask(agent).content] == [b"first round"] * 2
    assert ask(agent, number=2, phase="closing").content == b"closing"
    assert ask(agent, seat="other").content == b"any"


def test_an_answer_is_sent_in_one_byte_form() -> None:
    """Ours: a script in TOML and one in JSON seal to the same digest."""
    agent = scripted(
        {"answer": {"b": [1, "ä"], "a": True}, "model": "m-1", "usage": {"input_tokens": 3, "output_tokens": 4}}
    )
    assert ask(agent) == Reply(
        content='{"a":true,"b":[1,"ä"]}'.encode(),
        model_requested="m-1",
        model_reported="m-1",
        usage=Usage(input_tokens=3, output_tokens=4, known=True),
    )


def test_raw_bytes_are_sent_as_they_stand() -> None:
    """SECURITY S3: a hostile answer can be scripted."""
    assert ask(scripted({"base64": "/wD/"})).content == b"\xff\x00\xff"
    assert ask(scripted({"text": ""})).content == b""


def test_a_scripted_failure_is_the_real_error() -> None:
    """Ours: a seat that cannot answer is tried without a broken network."""
    with pytest.raises(Unreachable):
        ask(scripted({"fail": "unreachable"}))
    with pytest.raises(TurnTimeout, match=r"reviewing\.1\.critic\.1"):
        ask(scripted({"fail": "timeout"}))


def test_a_missing_reply_names_the_call() -> None:
    """Issue 2 point 5: whoever wrote the script learns which turn it lacks."""
    lacks = r"critic\.toml has no reply for seat 'critic', phase 'reviewing', round 3, ask 1"
    with pytest.raises(Unreachable, match=lacks) as raised:
        ask(scripted({"round": 1, "text": "x"}), number=3)
    assert raised.value.hint == "add a reply for that turn to the script, which names no phase"
    with pytest.raises(Unreachable, match=lacks) as raised:
        ask(scripted({"phase": "reviewng", "text": "x"}, {"phase": "answering", "text": "x"}), number=3)
    assert raised.value.hint == "add a reply for that turn to the script, which names the phases answering, reviewng"


def test_toml_and_json_files_read_alike(tmp_path: Path) -> None:
    """Ours: both forms hold the same list."""
    (tmp_path / "a.toml").write_text('[[reply]]\nseat = "critic"\nanswer = {approved = true}\n')
    (tmp_path / "a.json").write_text('{"reply": [{"seat": "critic", "answer": {"approved": true}}]}')
    assert read_script(tmp_path / "a.toml") == read_script(tmp_path / "a.json")
    assert ask(ScriptedAgent.from_file(tmp_path / "a.toml")).content == b'{"approved":true}'


FAULTS = {
    "not a table": ([], "reply: expected a list of replies and no other key"),
    "no list": ({"reply": {}}, "reply: expected a list of replies"),
    "other key": ({"reply": [], "replies": []}, "reply: expected a list of replies and no other key"),
    "no row": ({"reply": ["x"]}, "reply[0]: expected a table"),
    "typo": ({"reply": [{"text": "x"}, {"text": "x", "seats": "a"}]}, "reply[1].seats: expected a key of a reply"),
    "no answer": ({"reply": [{"seat": "a"}]}, "expected exactly one of answer, text, base64, fail; got 'none'"),
    "two answers": ({"reply": [{"text": "a", "fail": "timeout"}]}, "got 'text and fail'"),
    "fraction": ({"reply": [{"answer": {"a": 1.5}}]}, "reply[0].answer: expected the JSON object to answer with"),
    "no text": ({"reply": [{"text": 3}]}, "reply[0].text: expected a text, sent as it stands; got 3"),
    "lone surrogate": ({"reply": [{"text": "\ud800"}]}, "reply[0].text: expected a text"),
    "no base64": ({"reply": [{"base64": "%%%"}]}, "reply[0].base64: expected bytes in base64"),
    "no failure": ({"reply": [{"fail": "gone"}]}, "reply[0].fail: expected unreachable or timeout"),
    "round": ({"reply": [{"text": "x", "round": 0}]}, "reply[0].round: expected a whole number from 1; got 0"),
    "ask": ({"reply": [{"text": "x", "ask": True}]}, "reply[0].ask: expected a whole number from 1; got True"),
    "seat": ({"reply": [{"text": "x", "seat": ""}]}, "reply[0].seat: expected a text"),
    "usage": ({"reply": [{"text": "x", "usage": {"input_tokens": 1}}]}, "reply[0].usage: expected input_tokens"),
}  # fmt: skip


@pytest.mark.parametrize(("table", "message"), FAULTS.values(), ids=FAULTS)
def test_a_fault_in_a_script_is_named_by_its_key(table: object, message: str) -> None:
    """DESIGN 4: every error of settings names the key path and what was expected."""
    with pytest.raises(ConfigError, match=re.escape(message)) as refused:
        parse_script(table, source="critic.toml")
    assert "(in critic.toml)" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.toml", b"reply = ["), ("a.toml", b"\xff"), ("a.json", b'{"reply": [], "reply": []}'), ("b.json", None)],
)
def test_a_file_that_cannot_be_read_as_a_script_is_refused(tmp_path: Path, name: str, content: bytes | None) -> None:
    """DESIGN 4: strict reading, also of the user's own files."""
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigError) as refused:
        read_script(tmp_path / name)
    assert refused.value.path == "file"


def test_the_script_in_the_documentation_is_one() -> None:
    """STYLE 7: what the how-to shows runs."""
    text = (need.ROOT / "docs/howto/scripted-reviewer.md").read_text("utf-8")
    (block,) = (found for found in re.findall(r"```toml\n(.*?)```", text, re.DOTALL) if "[[reply]]" in found)
    agent = ScriptedAgent(parse_script(tomllib.loads(block), source="the how-to"))
    assert json.loads(ask(agent).content)["findings"][0]["id"] == "F1"
    with pytest.raises(TurnTimeout):
        ask(agent, seat="second")
