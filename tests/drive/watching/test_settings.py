"""What a watcher is told and what it remembers, read strictly (SPEC C-060 to C-063)."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoint.drive.watching.config import WatcherConfig, bind, parse_config, read_config
from counterpoint.drive.watching.state import (
    KEPT_INVOCATIONS,
    Invocation,
    Unreadable,
    WatchState,
    make_folder_of,
    parse_state,
    read_state,
    write_beside,
)
from counterpoint.errors import ConfigError, RecordError
from counterpoint.protocols.mailbox import Parties
from counterpoint.record.fs import RealFiles

PARTIES: Final = Parties(parties=("claude", "glm"), supervisor="owner")
GOOD: Final[dict[str, Any]] = {"state_path": "/state/w.json", "commands": {"glm": ["agent", "{prompt}"]}}


def parse(**changes: Any) -> Any:
    return parse_config(json.dumps({**GOOD, **changes}).encode(), source="w.json")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\xff{}", "refused: watcher config w.json is not valid UTF-8: "),
        (b"{", "refused: watcher config w.json is not valid JSON: "),
        (b'{"a": NaN}', "refused: watcher config w.json is not valid JSON: NaN is no JSON"),
        (b'{"a": 1, "a": 2}', "refused: watcher config w.json is not valid JSON: "),
        (b"[" * 100_000, "refused: watcher config w.json is not valid JSON: "),
        (b"[]", "refused: watcher config w.json must be a JSON object, got list"),
        (b"{}", "refused: watcher config w.json has no 'state_path'"),
    ],
)
def test_a_file_that_is_no_object_with_a_state_path_is_refused_by_name(content: bytes, sentence: str) -> None:
    """Whatever a slip of the hand makes of it (C-060)."""
    with pytest.raises(ConfigError) as caught:
        parse_config(content, source="w.json")
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"state_path": 3}, "refused: w.json: 'state_path' must be the path of a file, got 3"),
        ({"state_path": ""}, "refused: w.json: 'state_path' must be the path of a file, got ''"),
        ({"commands": ["a"]}, "refused: w.json: 'commands' must be an object mapping party -> value, got list"),
        ({"prompts": None}, "refused: w.json: 'prompts' must be an object mapping party -> value, got NoneType"),
        ({"commands": {"glm": "agent"}}, "refused: w.json: command for 'glm' must be a list of arguments (e.g. "),
        ({"commands": {"glm": []}}, "refused: w.json: command for 'glm' is empty; omit the party instead of "),
        ({"commands": {"glm": ["a", 1]}}, "refused: command for 'glm' has non-string elements: ['a', 1]"),
        ({"prompts": {"glm": 1}}, "refused: w.json: prompt for 'glm' must be text, got 1"),
        ({"retry_seconds": True}, "refused: w.json: 'retry_seconds' must be a number, got True"),
        ({"retry_seconds": "soon"}, "refused: w.json: 'retry_seconds' must be a whole number of seconds, got 'soon'"),
        ({"retry_seconds": -1}, "refused: w.json: 'retry_seconds' must be a whole number of seconds, got -1"),
        ({"retry_seconds": 1.5}, "refused: w.json: 'retry_seconds' must be a whole number of seconds, got 1.5"),
        (
            {"timeout_seconds": 0},
            "refused: w.json: 'timeout_seconds' must be a whole number of seconds, at least 1, ",
        ),
        ({"debounce_seconds": {"glm": []}}, "refused: w.json: 'glm' must be a number, got []"),
    ],
)
def test_a_setting_that_is_not_what_it_should_be_is_refused_by_name(changes: dict[str, Any], sentence: str) -> None:
    """In the sentence of the public tool where it has one (C-060)."""
    with pytest.raises(ConfigError) as caught:
        parse(**changes)
    assert str(caught.value).startswith(sentence)


def test_settings_are_read_as_the_public_tool_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers may be text, a home folder is filled in, unknown keys are left alone (C-060)."""
    monkeypatch.setenv("HOME", "/home/ana")
    file = parse(
        state_path="~/w.json", retry_seconds="5", timeout_seconds=7.0, debounce_seconds={"glm": 3}, comment="mine"
    )
    assert (file.state_path, file.retry_s, file.timeout_s, file.debounce_s) == ("/home/ana/w.json", 5, 7, {"glm": 3})
    file = parse()
    assert (file.retry_s, file.timeout_s, file.commands) == (1800, 1800, {"glm": ("agent", "{prompt}")})


def bound(tmp_path: Path, **changes: Any) -> WatcherConfig:
    return bind(parse(**changes), root=str(tmp_path / "c"), channel="shop-04711", parties=PARTIES, managed=True)


def test_the_memory_lies_outside_the_channel_whatever_link_leads_there(tmp_path: Path) -> None:
    """Also through a link (C-061)."""
    (tmp_path / "c").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "c")
    for inside in ("c/w.json", "c", "link/deep/w.json"):
        with pytest.raises(ConfigError, match="resolves inside the channel root"):
            bound(tmp_path, state_path=str(tmp_path / inside))
    assert bound(tmp_path, state_path=str(tmp_path / "c2" / "w.json")).name == "w"
    assert bound(tmp_path, state_path=str(tmp_path / "memory")).name == "memory"


def test_seats_of_the_controller_are_left_to_it(tmp_path: Path) -> None:
    """A brokered channel is driven by the public tool alone."""
    with pytest.raises(ConfigError, match="names seats of the public tool's controller"):
        bound(tmp_path, adapters={"glm": {}})


def test_a_missing_settings_file_is_refused(tmp_path: Path) -> None:
    """With the system's reason (C-060)."""
    with pytest.raises(ConfigError, match=r"refused: cannot read watcher config .*No such file"):
        read_config(str(tmp_path / "w.json"))


@given(
    st.builds(
        WatchState,
        channel_root=st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
        mirrored=st.integers(0, 10**9),
        invocations=st.dictionaries(
            st.integers(0, 10**9),
            st.builds(Invocation, count=st.integers(0, 9), last_at=st.just("2026-07-06T14:07:48+00:00")),
        ),
        escalated=st.frozensets(st.just("retry:3")),
        anomaly=st.sampled_from(["", "1|2|torn"]),
        other=st.just({"z": [1]}),
    )
)
def test_what_is_remembered_is_read_back_as_it_was(state: WatchState) -> None:
    """Also the keys of another version."""
    assert parse_state(bytes(state), path="w") == state


def test_the_memory_of_calls_is_bounded() -> None:
    """Only the newest number is decided on; a state does not grow with the channel (C-151's kind)."""
    state = WatchState()
    for n in range(KEPT_INVOCATIONS + 5):
        state = state.with_invoked(n, "2026-07-06T14:07:48+00:00")
    assert list(state.invocations) == list(range(5, KEPT_INVOCATIONS + 5))
    assert state.with_invoked(5, "x").invocations[5].count == 2


@pytest.mark.parametrize(
    "content",
    [b'{"last_mirrored_seq": true}', b'{"channel_root": 1}', b'{"invocations": []}', b'{"invocations": {"01": {}}}'],
)
def test_a_memory_that_no_watcher_writes_is_unreadable(content: bytes) -> None:
    """A number that is guessed would call a seat again (C-063)."""
    with pytest.raises(Unreadable):
        parse_state(content, path="w")


def test_the_memory_is_a_plain_file_in_a_folder_that_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing folders are made, links are refused, other failures are sentences."""
    fs, path = RealFiles(), str(tmp_path / "a" / "b" / "w.json")
    assert read_state(fs, path) is None
    make_folder_of(fs, path)
    make_folder_of(fs, path)
    write_beside(fs, path, b"{}")
    assert read_state(fs, path) == WatchState()
    link = tmp_path / "link.json"
    link.symlink_to(path)
    with pytest.raises(RecordError):
        read_state(fs, str(link))
    with pytest.raises(ConfigError, match="state_path: expected a file in a folder that can be made"):
        make_folder_of(fs, f"{path}/deeper/w.json")
    with pytest.raises(RecordError, match="cannot be read"):
        read_state(fs, f"{path}/w.json")
    with pytest.raises(RecordError, match="cannot be written"):
        write_beside(fs, str(tmp_path / "nowhere" / "w.json"), b"")
    monkeypatch.chdir(tmp_path)
    make_folder_of(fs, "here/w.json")
    make_folder_of(fs, "w.json")
    assert (tmp_path / "here").is_dir()
