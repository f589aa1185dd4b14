"""The command agent's template, environment, envelope and result file, with the misbehaving peer."""

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from counterpoint.agents.base import NOT_REPORTED, Reply, Workspace
from counterpoint.agents.command import PLACEHOLDERS, CommandAgent, CommandProfile
from counterpoint.core.briefs import Brief
from counterpoint.core.values import Turn, Usage
from counterpoint.errors import BadReply, ConfigError, Unreachable
from tests import need
from tests.agents import peer
from tests.processes import finish

KEY = "0123456789abcdef"
ENVIRON = {"PATH": "/usr/bin:/bin", "HOME": "/home/somebody", "USER": "somebody", "PEER_API_KEY": KEY, "OTHER": "no"}
BRIEF = Brief(instructions="Judge it.", payload={"change": "+a\n"}, schema={"type": "object"}, shown_paths=())
FILES: Mapping[str, Any] = {"prompt_by_file": True, "result_by_file": True}
TEMPLATE = ("--prompt", "{brief}", "--result", "{result}")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    for name in ("tree", "scratch"):
        (tmp_path / name).mkdir()
    turn = Turn(phase="reviewing", round=1, seat="critic", ask=1)
    return Workspace(tree=tmp_path / "tree", scratch=tmp_path / "scratch", turn=turn)


def agent(*words: str, **more: Any) -> CommandAgent:
    argv = (sys.executable, str(Path(peer.__file__)), *words)
    settings: dict[str, Any] = {"name": "critic", "command": argv, "destination": "local", "timeout_s": 50.0} | more
    return CommandAgent(CommandProfile(**settings), environ=ENVIRON)


def put(asked: CommandAgent, workspace: Workspace) -> Reply:
    deadline = datetime(2026, 7, 6, tzinfo=UTC)
    return finish(asked.ask(BRIEF, workspace=workspace, deadline=deadline, on_progress=lambda _line: None))


def summary(reply: Reply) -> Any:
    return json.loads(json.loads(reply.content)["summary"])


def test_placeholders_name_the_files_of_the_call(workspace: Workspace) -> None:
    """Issue 2 point 5: the brief as Markdown and as JSON, the schema, the result, the export, a folder to work in."""
    words = ("{brief}", "{brief_json}", "{schema}", "{tree}", "{scratch}", "x={model}", "{}", '{"a":1}', "${HOME}")
    seen = summary(put(agent("whereabouts", *words, model="m-1"), workspace))
    (call,) = workspace.scratch.iterdir()
    assert seen["argv"] == [
        f"{call}/brief.md", f"{call}/brief.json", f"{call}/schema.json", str(workspace.tree), str(call),
        "x=m-1", "{}", '{"a":1}', "${HOME}",
    ]  # fmt: skip
    assert seen["cwd"] == str(call)
    assert seen["files"] == ["brief.json", "brief.md", "home", "schema.json", "tmp"]
    note = f"Your working folder, where this speaks of one, is {workspace.tree}\n\n"
    assert (call / "brief.md").read_text().startswith(f"{note}# Your turn\n\nJudge it.")
    as_json = json.loads((call / "brief.json").read_text())
    assert (as_json["payload"], as_json["working_folder"]) == ({"change": "+a\n"}, str(workspace.tree))
    assert json.loads((call / "schema.json").read_text()) == {"type": "object"}


def test_the_export_can_be_the_folder_to_start_in(workspace: Workspace) -> None:
    """Issue 2 point 5; then no note says where else it is."""
    assert summary(put(agent("whereabouts", in_tree=True), workspace))["cwd"] == str(workspace.tree)
    (call,) = workspace.scratch.iterdir()
    assert (call / "brief.md").read_text().startswith("# Your turn\n")


def test_the_environment_is_built_from_nothing(workspace: Workspace) -> None:
    """Issue 2 point 5: PATH, locale, a fresh home, and what is listed; nothing else of the user's."""
    given = {"A": "1", "OUT": "{result}"}
    seen = summary(put(agent("environment", set=given), workspace))
    (call,) = workspace.scratch.iterdir()
    assert {name: value for name, value in seen.items() if name not in {"COUNTERPOINT_RUN", "LC_CTYPE"}} == {
        "PATH": "/usr/bin:/bin",
        "HOME": f"{call}/home",
        "TMPDIR": f"{call}/tmp",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "A": "1",
        "OUT": f"{call}/result.json",
    }


def test_listed_variables_and_the_persons_home_are_passed_on(workspace: Workspace) -> None:
    """Issue 2 point 5: for agents that are signed in under the person's home."""
    seen = summary(put(agent("environment", environment=("OTHER", "ABSENT"), user_home=True), workspace))
    assert (seen["OTHER"], seen["HOME"], seen["USER"]) == ("no", "/home/somebody", "somebody")
    assert "ABSENT" not in seen
    assert "PEER_API_KEY" not in seen


def test_a_secret_that_was_passed_is_not_repeated(workspace: Workspace) -> None:
    """SECURITY S8: neither in an answer nor in an error."""
    with pytest.raises(BadReply, match="the answer of 'critic' holds the value of PEER_API_KEY"):
        put(agent("leak", environment=("PEER_API_KEY",)), workspace)
    with pytest.raises(Unreachable) as refused:
        put(agent("fail_leaking", environment=("PEER_API_KEY",)), workspace)
    assert str(refused.value) == "'critic' ended with exit 2: bad key [$PEER_API_KEY]"


@pytest.mark.parametrize("envelope", [{"result": {"summary": KEY}}, {"model": KEY}, {"session": KEY}])
def test_nothing_that_is_kept_of_an_answer_holds_a_secret(workspace: Workspace, envelope: Mapping[str, Any]) -> None:
    """SECURITY S8: model and session go into the record, too; and JSON may write a text with escapes."""
    printed = json.dumps({"result": {}, **envelope}).replace("0123", r"\u0030123")
    asked = agent(
        *("raw", printed),
        environment=("PEER_API_KEY",),
        reply_pointer="/result",
        model_pointer="/model",
        session_pointer="/session",
    )
    with pytest.raises(BadReply, match="the answer of 'critic' holds the value of PEER_API_KEY"):
        put(asked, workspace)


def test_progress_is_told_without_a_secret_even_where_it_is_cut(workspace: Workspace) -> None:
    """SECURITY S8: of a secret that is cut first, a part would stay."""
    lines: list[str] = []
    asked = agent(
        command=("sh", "-c", 'printf "%0190d%s\\n" 0 $PEER_API_KEY >&2; echo {}'), environment=("PEER_API_KEY",)
    )
    deadline = datetime(2026, 7, 6, tzinfo=UTC)
    finish(asked.ask(BRIEF, workspace=workspace, deadline=deadline, on_progress=lines.append))
    assert lines == ["0" * 190 + "[$PEER_API"]


def test_a_long_complaint_is_cut_to_its_end(workspace: Workspace) -> None:
    """SECURITY S7: an error goes into the record."""
    script = "import sys; sys.stderr.write('x' * 5000 + ' the end'); sys.exit(1)"
    with pytest.raises(Unreachable) as refused:
        put(agent(command=(sys.executable, "-c", script)), workspace)
    assert str(refused.value).endswith("xx the end")
    assert len(str(refused.value)) < 500


ATTACKS = {
    "symlink": ("a result file that cannot be read", True),
    "hardlink": ("something else than a plain file", True),
    "fifo": ("something else than a plain file", False),
    "folder": ("something else than a plain file", False),
    "swap": ("wrote no answer to its result file", True),
}


@pytest.mark.parametrize(("how", "reason", "told"), [(how, *rest) for how, rest in ATTACKS.items()])
def test_only_a_plain_file_in_the_calls_own_folder_is_read(
    workspace: Workspace, tmp_path: Path, how: str, reason: str, *, told: bool
) -> None:
    """SECURITY S1, S2: a link, a pipe or a folder is no result, and nobody waits for one."""
    (tmp_path / "elsewhere").mkdir()
    victim = tmp_path / "elsewhere" / "result.json"
    victim.write_text(peer.GOOD)
    target = [str(victim.parent if how == "swap" else victim)] if told else []
    with pytest.raises(BadReply, match=reason):
        put(agent(how, *target, *TEMPLATE, **FILES), workspace)


def test_an_answer_of_an_earlier_call_is_not_taken_for_this_ones(workspace: Workspace) -> None:
    """SPEC D-08, FIELD-FAULTS F1: every call has a folder of its own."""
    assert put(agent("answer", *TEMPLATE, **FILES), workspace).content == peer.GOOD.encode()
    with pytest.raises(BadReply, match="wrote no answer"):
        put(agent("silent", *TEMPLATE, **FILES), workspace)


POINTERS: Mapping[str, Any] = {
    "reply_pointer": "/result",
    "model_pointer": "/model",
    "input_tokens_pointer": "/usage/input_tokens",
    "output_tokens_pointer": "/usage/output_tokens",
    "session_pointer": "/ids/0",
}
ENVELOPE = {
    "result": peer.GOOD,
    "model": "m-1-2026",
    "usage": {"input_tokens": 900, "output_tokens": 12},
    "cost": 0.25,
    "ids": ["s-1"],
}


def enveloped(content: str, workspace: Workspace, **more: Any) -> Reply:
    return put(agent("raw", content, model="m-1", **{**POINTERS, **more}), workspace)


def test_an_envelope_tells_answer_model_usage_and_session(workspace: Workspace) -> None:
    """Issue 2 point 5: command-line agents that print `{"result": ..., "usage": ...}`, fractions and all."""
    assert enveloped(json.dumps(ENVELOPE), workspace) == Reply(
        content=peer.GOOD.encode(),
        model_requested="m-1",
        model_reported="m-1-2026",
        usage=Usage(input_tokens=900, output_tokens=12, known=True),
        session="s-1",
    )


def test_the_answer_may_be_an_object_in_the_envelope(workspace: Workspace) -> None:
    """Issue 2 point 5: structured output, written in one byte form."""
    reply = enveloped(json.dumps(ENVELOPE | {"result": {"b": 1, "a": [True]}}), workspace)
    assert reply.content == b'{"a":[true],"b":1}'


def test_what_an_envelope_does_not_say_is_not_reported(workspace: Workspace) -> None:
    """DESIGN 7.7: never guessed."""
    odd = {"result": "x", "model": "", "usage": {"input_tokens": True, "output_tokens": -1}, "ids": []}
    assert enveloped(json.dumps(odd), workspace) == Reply(
        content=b"x", model_requested="m-1", model_reported=NOT_REPORTED, usage=Usage(), session=""
    )


def test_usage_is_read_from_lines_of_json_beside_a_result_file(workspace: Workspace) -> None:
    """Issue 2 point 5: agents that print one event a line and write the answer to a file."""
    events = [
        {"type": "started", "thread": "t-9"},
        {"usage": {"in": 1, "out": 2}},
        {"usage": {"in": 7, "out": 8}},
        "done",
    ]
    script = (
        "import json, sys; open(sys.argv[1], 'w').write('{}');"
        "[print(json.dumps(event)) for event in json.loads(sys.argv[2])]; print('not json'); print('{' * 100000)"
    )
    reply = put(
        agent(
            command=(sys.executable, "-c", script, "{result}", json.dumps(events)),
            result_by_file=True,
            input_tokens_pointer="/usage/in",
            output_tokens_pointer="/usage/out",
            session_pointer="/thread",
        ),
        workspace,
    )
    assert (reply.content, reply.session) == (b"{}", "t-9")
    assert reply.usage == Usage(input_tokens=7, output_tokens=8, known=True)


BROKEN = {
    "prose": ("All fine.", "is not one JSON value"),
    "two": (json.dumps(ENVELOPE) * 2, "is not one JSON value"),
    "duplicate": ('{"result": "a", "result": "b"}', "a key stands twice"),
    "NaN": ('{"result": "a", "cost": NaN}', "NaN is not a JSON value"),
    "deep": ('{"result":' * 9000, "is not one JSON value"),
    "missing": ('{"answer": "a"}', "has nothing at '/result'"),
    "list": ("[1]", "has nothing at '/result'"),
    "fraction": ('{"result": {"a": 1.5}}', "is not strict JSON: float has no canonical form"),
    "surrogate": ('{"result": "\\ud800"}', "is not strict JSON"),
    "null": ('{"result": null}', None),
}


@pytest.mark.parametrize(("content", "reason"), BROKEN.values(), ids=BROKEN)
def test_an_envelope_is_read_strictly_too(workspace: Workspace, content: str, reason: str | None) -> None:
    """FIELD-FAULTS F33: wrapped once, as declared, and never searched for an answer."""
    if reason is None:
        assert enveloped(content, workspace).content == b"null"
    else:
        with pytest.raises(BadReply, match=reason):
            enveloped(content, workspace)


def test_pointers_read_as_the_standard_says(workspace: Workspace) -> None:
    """RFC 6901: `~1` is a slash, `~0` a tilde, a number an index."""
    document = json.dumps({"a/b": {"m~n": [["x"], "y"]}})
    assert put(agent("raw", document, reply_pointer="/a~1b/m~0n/1"), workspace).content == b"y"
    assert put(agent("raw", '{"a": 1}', reply_pointer=""), workspace).content == b'{"a":1}'


TEMPLATES: Sequence[tuple[Mapping[str, Any], str, str]] = [
    ({"command": ("x", "{breif}")}, "agents.critic.command", "{breif}"),
    ({"set": {"A": "{prompt}"}}, "agents.critic.set", "{prompt}"),
    ({"prompt_by_file": True}, "agents.critic.command", "{brief} or {brief_json}"),
    ({"result_by_file": True}, "agents.critic.command", "{result}"),
    ({"destination": ""}, "agents.critic.destination", "'local' or a provider's name"),
]


@pytest.mark.parametrize(("more", "path", "message"), TEMPLATES)
def test_a_template_that_cannot_work_is_refused_by_its_key(more: Mapping[str, Any], path: str, message: str) -> None:
    """DESIGN 4: every error of settings names the key path and what was expected."""
    with pytest.raises(ConfigError, match=re.escape(message)) as refused:
        agent(**{"command": ("x",), **more})
    assert refused.value.path == path


def test_progress_shows_what_the_program_says_on_standard_error(workspace: Workspace) -> None:
    """DESIGN 6: progress in the foreground, without a passed secret and without control characters."""
    lines: list[str] = []
    script = (
        "import os, sys; sys.stderr.write('\\x1b[1mreading with ' + os.environ['PEER_API_KEY'] + '\\n'); print('{}')"
    )
    asked = agent(command=(sys.executable, "-c", script), environment=("PEER_API_KEY",))
    deadline = datetime(2026, 7, 6, tzinfo=UTC)
    finish(asked.ask(BRIEF, workspace=workspace, deadline=deadline, on_progress=lines.append))
    assert lines == ["\\u{1b}[1mreading with [$PEER_API_KEY]"]


def test_the_how_to_names_every_placeholder() -> None:
    """STYLE 7: what is documented is what there is."""
    text = (need.ROOT / "docs/howto/command-line-agent.md").read_text("utf-8")
    assert re.findall(r"^\| `\{([a-z_]+)\}`", text, re.MULTILINE) == list(PLACEHOLDERS)


def test_no_descriptor_is_left_open(workspace: Workspace) -> None:
    """Ours: a driver asks thousands of times."""
    fds = Path("/proc/self/fd" if Path("/proc/self/fd").exists() else "/dev/fd")
    before = len(list(fds.iterdir()))
    for how in ("answer", "silent", "folder", "fifo"):
        try:
            put(agent(how, *TEMPLATE, **FILES), workspace)
        except BadReply:
            assert how != "answer"
    assert len(list(fds.iterdir())) == before
    assert os.environ.get("PEER_API_KEY") is None
