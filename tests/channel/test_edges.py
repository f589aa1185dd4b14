"""The edges of the channel commands: what ends one early, what a name is made of, what is only looked at."""

from pathlib import Path
from typing import Final

import pytest

from counterpoint.cli.channel.ending import fail
from counterpoint.drive.beginning import label_of
from counterpoint.drive.channels import find_channel, free_name
from counterpoint.errors import ConfigError, RecordError
from tests.mailbox_commands import Mailbox, call

DEBUG: Final = "COUNTERPOINT_DEBUG"


def test_a_rehearsed_compaction_names_what_would_move_and_writes_nothing(tmp_path: Path) -> None:
    """SPEC C-045: by words and as JSON, the same as then is done; what is open stays."""
    mailbox = Mailbox(tmp_path)
    assert mailbox.call("compact", "--keep-days", "0").out == "nothing to compact\n"
    for sender, kind, thread in (
        ("claude", "question", "done"),
        ("glm", "close", "done"),
        ("claude", "info", "open"),
    ):
        mailbox.say(sender, kind, thread)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    said = mailbox.call("compact", "--keep-days", "0", "--dry-run")
    as_json = mailbox.call("compact", "--keep-days", "0", "--dry-run", "--json").json
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    first, moved = said.out.splitlines()
    assert first == "dry-run, nothing written"
    assert moved.startswith("archived done: MSG-1..MSG-2 (2 entries) -> ")
    (only,) = as_json["archived"]
    assert (only["thread"], only["first"], only["last"], only["entries"]) == ("done", 1, 2, 2)
    assert mailbox.call("compact", "--keep-days", "0").out.splitlines() == [moved]
    assert mailbox.call("verify").code == 0


@pytest.mark.parametrize(
    ("error", "code", "exit_code"),
    [
        (KeyboardInterrupt(), "interrupted", 130),
        (OSError(28, "No space left on device", "/a/b"), "disk", 1),
        (ZeroDivisionError("division by zero"), "bug", 1),
    ],
)
def test_whatever_ends_a_command_is_said_in_one_sentence(
    *,
    error: BaseException,
    code: str,
    exit_code: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """No traceback reaches a user; that of a bug goes where the user asks for it (STYLE 5)."""
    monkeypatch.delenv(DEBUG, raising=False)
    assert fail(error, as_json=False) == exit_code
    said = capsys.readouterr().err
    assert said.strip()
    assert "Traceback" not in said
    monkeypatch.setenv(DEBUG, str(tmp_path / "trace"))
    assert fail(error, as_json=True) == exit_code
    assert f'"code": "{code}"' in capsys.readouterr().out
    assert (tmp_path / "trace").exists() == (code == "bug")


def test_a_label_is_made_of_the_folder_s_name_or_has_to_be_given(tmp_path: Path) -> None:
    """SPEC C-003: without letters or digits there is nothing to make one of."""
    nameless = tmp_path / "___" / "collab"
    named = tmp_path / "My  Project!" / "collab"
    for folder in (nameless, named):
        folder.mkdir(parents=True)
    assert label_of(str(named), None) == "my-project"
    with pytest.raises(ConfigError, match="cannot derive a channel label from '___'; pass --label explicitly"):
        label_of(str(nameless), None)
    with pytest.raises(ConfigError, match="invalid label 'A b'"):
        label_of(str(named), "A b")


def test_a_name_that_is_never_free_is_given_up(tmp_path: Path) -> None:
    """SPEC C-002: a hundred draws, each of a name that something in the folder begins with."""
    (tmp_path / "lab-00007.channel.md").touch()
    with pytest.raises(ConfigError, match="after 100 tries"):
        free_name(str(tmp_path), "lab", lambda _: 7)
    draws = iter([7, 8])
    assert free_name(str(tmp_path), "lab", lambda _: next(draws)) == "lab-00008"


def test_one_of_several_channels_has_to_be_named(tmp_path: Path) -> None:
    """SPEC C-001: and a root that is no folder is said to be none."""
    names = sorted(Mailbox(tmp_path).name for _ in range(2))
    with pytest.raises(RecordError, match=f"holds more than one channel \\({', '.join(names)}\\); pass --channel"):
        find_channel(str(tmp_path), None)
    with pytest.raises(RecordError, match="no channel named 'other'"):
        find_channel(str(tmp_path), "other")
    assert find_channel(str(tmp_path), names[1]) == names[1]
    said = call("read", "--root", tmp_path / f"{names[0]}.channel.md")
    assert (said.code, said.out) == (1, "")
    assert "Not a directory" in said.err
