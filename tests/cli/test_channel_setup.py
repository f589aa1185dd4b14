"""`counterpoint channel setup`: what is asked, refused, written, tried and printed (SPEC C-110 to C-113)."""

import io
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from counterpoint.cli.channel import run
from counterpoint.drive.beginning import Form
from counterpoint.drive.watching.config import bind, read_config
from counterpoint.drive.watching.scheduling import units
from counterpoint.drive.watching.wiring import Wiring
from counterpoint.protocols.mailbox import Parties
from tests import need
from tests.drive.watching.examples import Place

SEAT: Final = """\
#!{python}
import json, os, re, subprocess, sys
prompt = sys.argv[1]
root = re.search(r'read --root "([^"]+)"', prompt)[1]
name, party = re.search(r"--channel (\\S+) --from (\\S+)", prompt).groups()
with open(f"{{root}}/{{name}}.signal.json") as file:
    bell = json.load(file)
assert bell["turn"] == party and bell["thread"], bell
assert os.path.exists(f"{{root}}/PROTOCOL.md")
subprocess.run(["{tool}", *sys.argv[2:], "post", "--root", root, "--channel", name, "--from", party, "--type", "info",
                "--thread", bell["thread"], "--body", "It works."], check=True)
"""

Setup = Callable[..., tuple[int, str, str]]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Return a channel in a project of its own, and a folder `bin` on PATH."""
    top = tmp_path / "project"
    place = Place(top, environment=os.environ)
    top.mkdir()
    git = need.tool("git")
    subprocess.run([git, "init", "-q", top], check=True)
    place.begin()
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(top)
    return place


def program(place: Place, name: str, text: str = "#!/bin/sh\n") -> None:
    path = place.top.parent / "bin" / name
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def setup(place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Setup:
    def call(*words: str, answers: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(answers))
        capsys.readouterr()
        code = run(["setup", "--root", "c", *words])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    program(place, "agent")
    return call


BOTH: Final = ("--command", "claude=agent -p {prompt}", "--command", "glm=agent 'two words' {prompt}")


def test_flags_are_answers_and_the_watcher_can_read_what_is_written(
    place: Place, setup: Setup, own_home: Path
) -> None:
    """Settings at the top of the project, memory in the public tool's own place, the contract (C-110, C-112)."""
    code, out, err = setup(*BOTH)
    config = place.top / f"{place.channel}.watcher.json"
    defaults = own_home / ".config/debate/setup-defaults.json"
    contract = place.root / "PROTOCOL.md"
    assert (code, err) == (0, "")
    assert out.splitlines()[:3] == [f"wrote {config}", f"wrote {contract}", f"wrote {defaults}"]
    assert f"hint: add to the repo .gitignore (not edited for you): {config.name}\n" in out
    parties = Parties(parties=("claude", "glm"), supervisor="owner")
    bound = bind(read_config(str(config)), root="c", channel=place.channel, parties=parties, managed=True)
    assert bound.state_path == str(own_home / f".local/state/debate/{place.channel}.json")
    assert bound.problem == ""
    program_name, words, prompt = bound.command("glm")
    assert (program_name, words) == ("agent", "two words")
    assert f'counterpoint channel read --root "{place.root}" --channel {place.channel}' in prompt
    assert "{" not in prompt
    assert "[12] entries" in contract.read_text()
    assert list(json.loads(config.read_text())) == [
        "state_path",
        "commands",
        "prompts",
        "debounce_seconds",
        "retry_seconds",
        "timeout_seconds",
    ]


def test_what_was_answered_last_is_offered_and_asked_about_once(place: Place, setup: Setup) -> None:
    """One question per party at first, one Enter afterwards; a file that is there is asked about (C-050, C-110)."""
    code, _, err = setup(answers="agent {prompt}\nagent -x {prompt}\n")
    assert code == 0
    assert err == (
        "Command for seat 'claude' (argv; empty = human-driven): "
        "Command for seat 'glm' (argv; empty = human-driven): "
    )
    config = place.top / f"{place.channel}.watcher.json"
    first = config.read_bytes()
    code, _, err = setup(answers="\ny\n")
    assert code == 0
    assert f"(remembered from channel {place.channel})\n  claude   -> agent '{{prompt}}'\n" in err
    assert err.endswith(f"{config} exists -- overwrite? [y/N] ")
    assert config.read_bytes() == first
    code, _, err = setup(answers="\n\n")
    assert (code, err.splitlines()[-1]) == (1, err.splitlines()[-1])
    assert err.endswith("refused: not overwriting the existing config\n")
    assert setup("--yes")[0] == 0
    assert config.read_bytes() == first


def test_a_question_without_an_answer_is_no_traceback(setup: Setup, place: Place) -> None:
    """The input at its end, by `--yes` and without (C-144)."""
    code, _, err = setup()
    assert (code, err.splitlines()[-1].endswith("the input is at its end")) == (1, True)
    code, _, err = setup("--yes")
    assert code == 1
    assert err == "refused: --yes with no remembered or flag-supplied answer for 'claude', 'glm'\n"
    assert not list(place.top.glob("*.watcher.json"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--command", "eve=agent"), "refused: 'eve' is not a party of channel "),
        (("--command", "glm"), "refused: --command needs PARTY=ARGV, got 'glm'"),
        (("--command", "glm='agent"), "refused: the command for 'glm' cannot be split: "),
        (
            ("--command", "glm=nowhere {prompt}"),
            "refused: 'glm' command 'nowhere' is neither on PATH nor an existing ",
        ),
        (
            ("--command", "glm=agent --api-key=abc"),
            "refused: the command for 'glm' looks like it carries a credential",
        ),
        (
            ("--command", "glm=agent sk-abcdefghijklmnop"),
            "refused: the command for 'glm' looks like it carries a cred",
        ),
        (
            ("--human", "glm"),
            "refused: this configuration would be INVALID to the watcher -- missing adapter command ",
        ),
    ],
)
def test_what_cannot_work_is_refused_and_nothing_is_written(
    place: Place, setup: Setup, own_home: Path, words: tuple[str, ...], sentence: str
) -> None:
    """Before the first byte (C-111)."""
    before = sorted(place.top.rglob("*"))
    code, out, err = setup("--command", "claude=agent --max-tokens 9 {prompt}", *words, answers="agent\n")
    assert (code, out) == (1, "")
    assert sentence in err
    assert sorted(place.top.rglob("*")) == before
    assert not list(own_home.iterdir())


def test_a_channel_that_no_command_can_drive_is_refused(
    place: Place, setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of the controller's, one without a name, and a memory that cannot be made (C-111)."""
    settings = place.root / f"{place.channel}.debate.json"
    content = settings.read_text()
    settings.write_text(content.replace('"managed_version": 1', '"managed_version": 2'))
    assert setup(*BOTH)[2].startswith("refused: this channel is fully managed")
    settings.write_text(content)
    blocked = place.top / "blocked"
    blocked.write_text("")
    monkeypatch.setenv("HOME", str(blocked))
    assert setup(*BOTH)[2].startswith("refused: state directory ")
    settings.rename(place.root / "debate.json")
    assert setup(*BOTH)[2].startswith("refused: setup needs a named channel")


def test_a_person_may_speak_for_a_party_of_an_unmanaged_channel(place: Place, setup: Setup) -> None:
    """As channels were before the public tool managed them (C-068, C-111)."""
    settings = place.root / f"{place.channel}.debate.json"
    fields = json.loads(settings.read_text())
    del fields["managed_version"]
    settings.write_text(json.dumps(fields))
    contract = place.root / "PROTOCOL.md"
    contract.write_text("mine")
    assert setup("--human", "claude", "--command", "glm=agent")[0] == 0
    assert contract.read_text() == "mine"
    assert list(json.loads((place.top / f"{place.channel}.watcher.json").read_text())["commands"]) == ["glm"]


@pytest.mark.parametrize("tool", ["counterpoint", "debate"])
def test_a_seat_that_answers_its_smoke_test_may_be_scheduled(place: Place, setup: Setup, tool: str) -> None:
    """A round trip in a channel of its own, by whatever name the prompt calls us; then the units (C-113)."""
    program(place, "seat", SEAT.format(python=sys.executable, tool=tool))
    words = " channel" if tool == "counterpoint" else ""
    commands = [word for party in ("claude", "glm") for word in ("--command", f"{party}=seat {{prompt}}{words}")]
    before = place.file.read_bytes()
    code, out, err = setup(*commands, "--smoke", "--scheduler")
    assert (code, err) == (0, "")
    assert out.count("PASS -- 'info' reply landed in the scratch mailbox") == 2
    assert f"--- ~/.config/systemd/user/debate-watch-{place.channel}.service ---\n" in out
    assert "install (not run for you): systemctl --user daemon-reload && " in out
    assert place.file.read_bytes() == before
    assert not list(place.top.parent.glob("counterpoint-smoke-*"))


def test_a_seat_that_does_not_answer_is_not_scheduled(place: Place, setup: Setup) -> None:
    """Exit 4, with what it printed kept, and no units (C-113)."""
    program(place, "mute", "#!/bin/sh\necho I am lost; exit 3\n")
    gone = place.top.parent / "bin" / "gone"
    program(place, "gone", f"#!/bin/sh\nrm {gone}\n")
    code, out, err = setup("--command", "claude=mute", "--command", "glm=mute", "--smoke", "--scheduler")
    assert code == 4
    assert err.count("no reply landed in the scratch mailbox (exit 3; output tail: 'I am lost')") == 2
    assert err.endswith("scheduler output withheld: fix the failing seat first\n")
    assert "systemd" not in out
    assert "hint: the command for 'claude' has no {prompt}: nothing tells it what to do\n" in out
    kept = list(place.top.parent.glob("counterpoint-smoke-*/seat-output.txt"))
    assert [path.read_text() for path in kept] == ["I am lost\n"] * 2
    shutil.copy(place.top.parent / "bin" / "mute", place.top.parent / "bin" / "text")
    (place.top.parent / "bin" / "text").write_text("#!/nowhere/python\n")
    code, out, err = setup("--command", "claude=text", "--command", "glm=text", "--smoke", "--yes", "--json")
    assert code == 4
    failure = json.loads(out)["smoke_failures"][0]
    assert failure.startswith("claude: seat command failed to run: 'text' cannot be started: ")


def test_units_hold_any_path(tmp_path: Path) -> None:
    """A blank, a quote, a percent sign: each scheduler has its own way to spoil a path (C-113)."""
    top = tmp_path / "it's 100% $HOME"
    wiring = Wiring(
        root=str(top / "c"),
        channel="shop-04711",
        parties=Parties(parties=("claude", "glm"), supervisor="owner"),
        managed=True,
        commands={},
        config_path=str(top / "w.json"),
        state_path="/state/w.json",
    )
    told = units(wiring)
    escaped = str(top).replace("%", "%%").replace("$", "$$")
    assert f'"--root" "{escaped}/c" "--channel" "shop-04711"' in told.service
    line = told.cron.removeprefix("* * * * * ").replace(r"\%", "%")
    top.mkdir()
    ran = subprocess.run(
        ["sh", "-c", line.replace(sys.executable, "echo", 1)], capture_output=True, text=True, check=True
    )
    assert (
        ran.stdout
        == f"-m counterpoint channel watch-once --root {top}/c --channel shop-04711 --config {top}/w.json\n"
    )
    assert "%" not in told.cron.replace(r"\%", "")


def test_a_signed_channel_is_wired_as_any_other(place: Place, setup: Setup) -> None:
    """And its settings are a plain file that others may read."""
    (place.root / f"{place.channel}.debate.json").unlink()
    place.begin(Form.SIGNED, label="signed")
    code, out, _ = setup(*BOTH, "--json")
    wrote = json.loads(out)["wrote"]
    assert (code, wrote[0]) == (0, str(place.top / "signed-04711.watcher.json"))
    assert stat.S_IMODE(Path(wrote[0]).stat().st_mode) & 0o111 == 0
