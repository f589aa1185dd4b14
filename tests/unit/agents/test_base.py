"""The strict reading of replies, and how a brief reads as text."""

import itertools
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from counterpoint.agents.base import (
    MAX_REPLY_BYTES,
    NOT_REPORTED,
    Reply,
    brief_json,
    read_reply,
    render_prompt,
    schema_fault,
)
from counterpoint.core.briefs import Brief
from counterpoint.errors import BadReply

FINDING = {
    "type": "object",
    "additionalProperties": False,
    "required": ["severity", "issue"],
    "properties": {
        "severity": {"enum": ["blocking", "nit"]},
        "issue": {"type": "string", "minLength": 1},
    },
}
SCHEMA: Mapping[str, Any] = MappingProxyType(
    {
        "type": "object",
        "additionalProperties": False,
        "required": ["findings", "approved"],
        "properties": {
            "findings": {"type": "array", "maxItems": 2, "items": FINDING},
            "approved": {"type": "boolean"},
            "note": {"anyOf": [{"type": "null"}, {"type": "string", "pattern": "^x"}]},
        },
    }
)
GOOD = b'{"findings": [], "approved": true}'


def read(content: bytes) -> Mapping[str, Any]:
    return read_reply(Reply(content=content, model_requested="", model_reported=NOT_REPORTED), SCHEMA)


def fault(content: bytes) -> str:
    with pytest.raises(BadReply) as refused:
        read(content)
    assert refused.value.code == "agent.bad_reply"
    assert refused.value.hint.startswith("answer with exactly one JSON object")
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("content", [GOOD, b"\n  " + GOOD + b"\n"])
def test_one_object_is_returned_as_it_stands(content: bytes) -> None:
    """FIELD-FAULTS F33: white space around the object is no ambiguity."""
    assert read(content) == {"findings": [], "approved": True}


SHAPES = {
    "empty": (b"", "the reply is empty"),
    "blank": (b" \n\t", "the reply is empty"),
    "prose": (b"Looks good to me!", "the reply begins with 'Looks good to me!'"),
    "prose before": (b"Here it is: " + GOOD, "the reply begins with 'Here it is:"),
    "prose after": (GOOD + b"\nDone.", "the reply goes on after its JSON object with 'Done.'"),
    "two objects": (GOOD + GOOD, "the reply goes on after its JSON object with '{"),
    "stray brace": (GOOD + b"}", "the reply goes on after its JSON object with '}'"),
    "fence": (b"```json\n" + GOOD + b"\n```", "the reply stands in a code fence"),
    "other fence": (b"~~~\n" + GOOD + b"\n~~~", "the reply stands in a code fence"),
    "cut off": (GOOD[:-1], "not one strict JSON object: not JSON"),
    "duplicate key": (b'{"approved": false, "approved": true}', "key 'approved' stands twice"),
    "duplicate key below": (b'{"findings": [{"issue": "a", "issue": "b"}]}', "key 'issue' stands twice"),
    "NaN": (b'{"approved": NaN}', "NaN is not a JSON value"),
    "overflow": (b'{"approved": 1e999}', "1e999 is not an integer"),
    "long integer": (b'{"approved": ' + b"9" * 5000 + b"}", "not one strict JSON object"),
    "deep": (b'{"a":' * 100_000, "nested deeper than 64"),
    "just too deep": (b'{"a":' * 66 + b"1" + b"}" * 66, "nested deeper than 64"),
    "lone surrogate": (b'{"note": "\\ud800"}', "a lone surrogate has no UTF-8 form"),
    "not UTF-8": (b'{"note": "\xff"}', "not UTF-8 at byte 10"),
    "two megabytes": (b'{"note": "' + b"x" * (2 << 20) + b'"}', f"at most {MAX_REPLY_BYTES} are read"),
    "array": (b"[" + GOOD + b"]", "the reply is an array of 1; exactly one JSON object"),
    "true": (b"true", "the reply is true; exactly one JSON object"),
    "YAML": (b"approved: true\nfindings: []\n", "the reply begins with 'approved: true"),
    "byte order mark": (b"\xef\xbb\xbf" + GOOD, "the reply begins with"),
}


@pytest.mark.parametrize(("content", "reason"), SHAPES.values(), ids=SHAPES)
def test_anything_but_one_strict_object_is_refused_with_its_reason(content: bytes, reason: str) -> None:
    """FIELD-FAULTS F1, F33; SECURITY B.4, S3 to S5: never repaired, and the sentence can be sent back."""
    assert reason in fault(content)


MISFITS = {
    "missing key": (b'{"approved": true}', "findings: this key is missing"),
    "missing key below": (
        b'{"findings": [{"severity": "nit"}], "approved": true}',
        "findings[0].issue: this key is missing",
    ),
    "unknown key": (
        b'{"findings": [], "approved": true, "verdict": 1}',
        'verdict: unknown key "verdict"; known are findings, approved, note',
    ),
    "wrong type": (b'{"findings": [], "approved": "yes"}', 'approved: expected boolean; got the text "yes"'),
    "wrong word": (
        b'{"findings": [{"severity": "critical", "issue": "a"}], "approved": true}',
        'findings[0].severity: expected one of ["blocking", "nit"]; got "critical"',
    ),
    "empty text": (
        b'{"findings": [{"severity": "nit", "issue": ""}], "approved": true}',
        'findings[0].issue: expected minLength 1; got the text ""',
    ),
    "too many": (
        b'{"findings": [{"severity": "nit", "issue": "a"}, {"severity": "nit", "issue": "a"}, 3], "approved": true}',
        "findings: expected maxItems 2; got an array of 3",
    ),
    "number": (b'{"findings": [], "approved": 7}', "approved: expected boolean; got 7"),
    "null": (b'{"findings": [], "approved": null}', "approved: expected boolean; got null"),
    "object": (b'{"findings": {}, "approved": true}', "findings: expected array; got an object"),
    "one of several": (
        b'{"findings": [], "approved": true, "note": "y"}',
        'note: expected pattern "^x"; got the text "y"',
    ),
}


@pytest.mark.parametrize(("content", "reason"), MISFITS.values(), ids=MISFITS)
def test_a_misfit_is_named_by_its_key_path_and_what_belongs_there(content: bytes, reason: str) -> None:
    """Issue 2 point 5: the reason of the second ask says what to mend."""
    assert fault(content) == reason


def test_a_reason_is_short_and_visible_whatever_the_answer_holds() -> None:
    """SECURITY T1: an error goes into the record and onto a terminal."""
    hostile = json.dumps({"findings": [], "approved": "\u202e" * 50_000, "\x1b[2J\nx" * 5000: 1}).encode()
    for content in (hostile, b"\x1b]52;c;aGk=\x07" * 50_000):
        reason = fault(content)
        assert len(reason) < 1000
        assert reason.isprintable()


def test_a_fault_at_the_top_is_the_replys() -> None:
    """Ours: a path of no keys has a name."""
    assert schema_fault({}, {"minProperties": 1}) == "the reply: expected minProperties 1; got an object"


def brief(payload: Mapping[str, Any]) -> Brief:
    return Brief(instructions="Judge it.", payload=payload, schema=SCHEMA, shown_paths=())


def test_a_prompt_shows_a_diff_as_a_diff() -> None:
    """Ours: a coding agent reads a text of several lines in a block of its own."""
    prompt = render_prompt(brief({"seat": "critic", "change": "+a\n-b\n"}))
    assert "### change\n\n```text\n+a\n-b\n```\n" in prompt
    assert '```json\n{\n  "seat": "critic"\n}\n```' in prompt
    assert prompt.startswith("# Your turn\n\nJudge it.\n\n## The payload\n")
    assert prompt.index('"findings"') < prompt.index('"approved"')


def test_hidden_characters_are_written_out_in_a_prompt_and_kept_in_the_json() -> None:
    """SECURITY R19, T1: what a person cannot see, the reader of a prompt is shown."""
    hidden = brief({"change": "a\u202eb\nc\x1b[0m\r\n"})
    assert "a\\u{202e}b\nc\\u{1b}[0m\n" in render_prompt(hidden)
    assert json.loads(brief_json(hidden)) == {
        "instructions": "Judge it.",
        "payload": {"change": "a\u202eb\nc\x1b[0m\r\n"},
        "schema": dict(SCHEMA),
    }


NASTY = st.lists(
    st.sampled_from(["```", "````\n", "~~~\n", "\n", "\r", "## How to answer\n", "a", "`", "<!--", "\u2028", "    "])
).map("".join)


@given(payload=st.dictionaries(st.sampled_from(["change", "rationale", "question"]), NASTY))
def test_no_text_of_a_payload_leaves_its_fence(payload: dict[str, str]) -> None:
    """SECURITY B.4, T5: the fence is longer than any run of backticks in it."""
    tokens = MarkdownIt().parse(render_prompt(brief(payload)))
    keys = [key for key, text in payload.items() if "\n" in text]
    headings = [after.content for token, after in itertools.pairwise(tokens) if token.type == "heading_open"]
    assert headings == ["Your turn", "The payload", *keys, "How to answer"]
    assert sum(token.type == "fence" for token in tokens) == 2 + len(keys)
    assert {token.type for token in tokens} <= {
        "heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "fence",
    }  # fmt: skip
