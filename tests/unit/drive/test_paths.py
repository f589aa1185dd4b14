from pathlib import Path

import pytest

from counterpoint.drive.paths import Folders, check_private, find_folders, make_private, path_text
from counterpoint.errors import ConfigError
from tests import need


@pytest.mark.parametrize(
    ("environment", "state", "config"),
    [
        ({"HOME": "/home/ana"}, "/home/ana/.local/state/counterpoint", "/home/ana/.config/counterpoint"),
        (
            {"HOME": "/home/ana", "XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "/c"},
            "/s/counterpoint",
            "/c/counterpoint",
        ),
        (
            {"HOME": "/home/ana", "XDG_STATE_HOME": "s", "XDG_CONFIG_HOME": ""},
            "/home/ana/.local/state/counterpoint",
            "/home/ana/.config/counterpoint",
        ),
        ({"XDG_STATE_HOME": "/s", "COUNTERPOINT_STATE": "/own", "COUNTERPOINT_CONFIG": "/mine"}, "/own", "/mine"),
    ],
    ids=["home", "xdg", "relative xdg", "ours"],
)
def test_folders_follow_our_variables_then_xdg_then_home(
    environment: dict[str, str], state: str, config: str
) -> None:
    """DESIGN "Trust"; the XDG specification has a relative value ignored."""
    assert find_folders(environment) == Folders(state=Path(state), config=Path(config))


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({}, "HOME"),
        ({"HOME": ""}, "HOME"),
        ({"HOME": "here"}, "HOME"),
        ({"HOME": "/h", "COUNTERPOINT_STATE": ""}, "COUNTERPOINT_STATE"),
        ({"HOME": "/h", "COUNTERPOINT_CONFIG": "x/y"}, "COUNTERPOINT_CONFIG"),
        ({"HOME": "/h", "COUNTERPOINT_STATE": "/a\0b"}, "COUNTERPOINT_STATE"),
    ],
)
def test_a_missing_home_and_a_relative_folder_are_refused(environment: dict[str, str], named: str) -> None:
    """Ours: a state folder that moves with the working folder would lose grants and remembered heads."""
    with pytest.raises(ConfigError) as raised:
        find_folders(environment)
    assert (raised.value.code, raised.value.path) == ("config", named)


def test_a_private_folder_is_made_with_mode_0700(tmp_path: Path) -> None:
    """Ours: grants and the machine key lie there."""
    folder = make_private(tmp_path / "a" / "state")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert make_private(folder) == folder


def test_a_folder_that_others_can_write_to_is_refused(tmp_path: Path) -> None:
    """SPEC B-18: whoever can write there can forge a grant."""
    folder = make_private(tmp_path / "state")
    folder.chmod(0o770)
    with pytest.raises(ConfigError) as raised:
        make_private(folder)
    assert "mode is 0770" in str(raised.value)
    assert f"chmod 700 {folder}" in raised.value.hint


def test_a_file_or_a_dead_link_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    """Ours: every operating-system failure at the state folder is typed."""
    (tmp_path / "file").touch()
    (tmp_path / "dead").symlink_to(tmp_path / "nothing")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("file", "file/below", "dead", "loop"):
        with pytest.raises(ConfigError):
            make_private(tmp_path / name)
    for name in ("file", "dead", "loop"):
        with pytest.raises(ConfigError):
            check_private(tmp_path / name)
    assert not check_private(tmp_path / "missing")


def test_a_read_only_home_is_a_typed_error(tmp_path: Path) -> None:
    """Issue 2: a read-only folder is bad input with its test."""
    need.not_root()
    (tmp_path / "home").mkdir(mode=0o500)
    with pytest.raises(ConfigError):
        make_private(tmp_path / "home" / "state")
    (tmp_path / "state").mkdir(mode=0o500)
    with pytest.raises(ConfigError, match="read-only"):
        make_private(tmp_path / "state")


def test_a_path_that_is_not_utf8_has_a_text_of_its_own() -> None:
    """Ours: two different folders never share one trust answer."""
    assert path_text(Path("/a/é")) == "/a/é"
    assert path_text(Path("/a/\udcff")) == "bytes:2f612fff"
