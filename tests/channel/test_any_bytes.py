"""No command ends in a traceback, whatever lies in a channel's files (issue 4, fuzzing; SPEC C-144)."""

import json
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from counterpoint.cli.channel.parsing import Usage, parse
from counterpoint.cli.channel.post import SHAPE
from tests.mailbox_commands import call

NAME: Final = "fuzz-00001"
HEADER: Final = "\n## MSG-{} | 2026-07-06T14:07:48+00:00 | from: {} | type: {} | thread: {} | refs: -\n\ntext\n"
PIECES: Final = st.one_of(
    st.builds(
        HEADER.format,
        st.integers(0, 6),
        st.sampled_from(["a", "b", "owner", "eve"]),
        st.sampled_from(["question", "info", "close", "verdict", "zz"]),
        st.sampled_from(["t", "u", "T x"]),
    ).map(str.encode),
    st.sampled_from(
        [b"## MSG-", b"\r\n", b"\xff", b"\0\0", b"\xe2\x80\xa8", b"<!-- cp1 ch=", b"```json counterpoint\n"]
    ),
    st.sampled_from(["## MSG-٣ | z | from: a | type: info | thread: t | refs: x\n".encode(), b"\xc2\x85", b" \n \n"]),
    st.binary(max_size=20),
)
BELL_KEYS: Final = st.sampled_from(["seq", "turn", "thread", "updated_at"])
BELLS: Final = st.one_of(
    st.none(),
    st.binary(max_size=30),
    st.recursive(
        st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["seq", "turn", "thread"]), inner)
        ),
        max_leaves=4,
    ).map(lambda value: json.dumps(value).encode()),
)
SETTINGS: Final = st.one_of(
    st.just({"parties": ["a", "b"], "supervisor": "owner", "name": NAME, "managed_version": 1}),
    st.fixed_dictionaries(
        {"parties": st.sampled_from([["a", "b"], ["a"], "ab", None, [1, 2]]), "name": st.sampled_from([NAME, 1])},
        optional={
            "supervisor": st.sampled_from(["owner", "a", 5]),
            "thread_cap": st.sampled_from([2, "3", 1, None, 1.5, True]),
            "managed_version": st.sampled_from([1, 2, 3, True, "1", None]),
        },
    ),
).map(lambda value: json.dumps(value).encode())
COMMANDS: Final = (
    ("status",),
    ("read",),
    ("read", "--since", "0", "--json"),
    ("read", "--thread", "t"),
    ("verify",),
    ("verify", "--json"),
    ("compact", "--keep-days", "0", "--dry-run"),
    ("post", "--from", "a", "--type", "info", "--thread", "t", "--body", "x"),
    ("compact", "--keep-days", "0"),
    ("migrate", "--label", "fuzz"),
    ("verify",),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pieces=st.lists(PIECES, max_size=7), archived=st.lists(PIECES, max_size=3), bell=BELLS, config=SETTINGS)
def test_whatever_lies_in_the_files_no_command_ends_in_a_bug(
    pieces: list[bytes], archived: list[bytes], bell: bytes | None, config: bytes
) -> None:
    """Each says a sentence and ends with one of its own codes; what `compact` moved is still there (C-045)."""
    scratch = Path(tempfile.mkdtemp(prefix="fuzz-"))
    before = os.environ.get("HOME", "")
    os.environ["HOME"] = str(scratch / "home")
    try:
        root = scratch / "c"
        (root / "archive").mkdir(parents=True)
        (root / f"{NAME}.channel.md").write_bytes(b"".join(pieces))
        (root / "archive" / f"{NAME}-2026-07.md").write_bytes(b"".join(archived))
        (root / f"{NAME}.debate.json").write_bytes(config)
        if bell is not None:
            (root / f"{NAME}.signal.json").write_bytes(bell)
        for command, *words in COMMANDS:
            said = call(command, "--root", root, *words)
            assert said.code in {0, 1, 4}, said
            assert "bug in Counterpoint" not in said.err, said
            assert "Traceback" not in said.err, said
            assert said.code == 0 or said.out or said.err
    finally:
        os.environ["HOME"] = before
        shutil.rmtree(scratch)


WORDS: Final = st.one_of(
    st.sampled_from([option.flag for option in SHAPE.options]),
    st.sampled_from(
        ["--", "-", "-h", "--he", "--fro", "--body=x", "--from=a", "--type=info", "--thread=t", "-1", "- x"]
    ),
    st.text(max_size=6),
)


@given(st.lists(WORDS, max_size=10))
def test_any_words_are_read_or_are_a_usage_error(words: list[str]) -> None:
    """SPEC C-053."""
    with suppress(Usage):
        read = parse(SHAPE, words)
        assert read is None or set(read) == {option.name for option in SHAPE.options}


@pytest.mark.parametrize("form", ["--plain", "--unsigned"])
@given(text=st.text(min_size=1, max_size=200))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_posted_is_read_again(tmp_path_factory: pytest.TempPathFactory, form: str, text: str) -> None:
    """Whatever a text holds, it is refused or comes back as it was, but for blanks around it (C-010, C-013)."""
    root = tmp_path_factory.mktemp("said") / "c"
    before = os.environ.get("HOME", "")
    os.environ["HOME"] = str(root.parent)
    try:
        assert call("init", "--root", root, "--parties", "a,b", "--label", "l", form).code == 0
        said = call("post", "--root", root, "--from", "a", "--type", "info", "--thread", "t", f"--body={text}")
        assert said.code in {0, 1}
        if said.code == 0:
            (entry,) = call("read", "--root", root, "--json").json["entries"]
            assert entry["text"] == text.strip()
            assert call("verify", "--root", root).code == 0
        else:
            assert said.err.startswith("refused: ")
    finally:
        os.environ["HOME"] = before
