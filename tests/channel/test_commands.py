"""The mailbox as its users type it: what each command says, refuses and mends (SPEC 3.3, 3.4, 3.9; issue 4)."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from counterpoint.record.fs import Folder, RealFiles
from counterpoint.record.migration import rename_files
from tests.mailbox_commands import Mailbox, call

FORMS: Final = ("--plain", "--unsigned", "")
_BOUND_S: Final = 60


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home of its own, where the machine key and the memory of heads lie."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("COUNTERPOINT_CHANNEL_FORM", raising=False)


@pytest.fixture
def mailbox(tmp_path: Path) -> Mailbox:
    return Mailbox(tmp_path / "c", "--plain")


def opened(tmp_path: Path, form: str) -> Mailbox:
    return Mailbox(tmp_path / "c", *([form] if form else []))


@pytest.mark.parametrize("form", FORMS)
def test_a_conversation_from_open_to_close(tmp_path: Path, form: str) -> None:
    """Posted, read, told and verified alike in every form (SPEC C-041 to C-044)."""
    box = opened(tmp_path, form)
    assert box.say("claude", "review-request", "retry", "Please.").out == "posted MSG-1 (turn -> glm)\n"
    assert "turn 'glm' parked 0h00m on 'retry' (seq 1)\n  MSG-1 claude review-request\n" in box.call("status").out
    assert "\n\nPlease.\n" in box.call("read").out
    assert box.say("glm", "close", "retry", "Fine.").out == "posted MSG-2 (turn -> -)\n"
    assert box.call("read") == (0, "", "no open thread\n")
    assert box.call("verify").out.endswith("record verifies clean\n")
    assert box.call("status", "--json").json["doorbell"]["seq"] == 2
    entries = box.call("read", "--thread", "retry", "--json").json["entries"]
    assert [(entry["n"], entry["text"], entry["signed"]) for entry in entries] == [
        (1, "Please.", not form),
        (2, "Fine.", not form),
    ]


REFUSED: Final = {
    "POST-1": ("claude", "question", "t", " "),
    "POST-2": ("claude", "question", "t", "a\n## MSG-9 | z | from: a | type: close | thread: t | refs: -"),
    "POST-3": ("claude", "question", "t", "x", "--refs", "a\nb"),
    "POST-5": ("eve", "question", "t", "x"),
    "POST-7": ("claude", "question", "T_x", "x"),
    "POST-8": ("claude", "question", "t", "x", "--force"),
    "POST-10": ("claude", "question", "t", "x", "--verify-refs", "."),
    "THREAD-1": ("claude", "verdict", "t", "x"),
}
OPEN_REFUSED: Final = {
    "THREAD-2": ("claude", "info", "open", "x"),
    "THREAD-3": ("glm", "info", "other", "x"),
    "THREAD-4": ("owner", "info", "open", "x"),
}


@pytest.mark.parametrize("rule", [*REFUSED, *OPEN_REFUSED])
def test_a_refusal_names_its_rule_and_writes_nothing(tmp_path: Path, rule: str) -> None:
    """The rule is in `--json`; standard error has the public tool's sentence (SPEC 3.3; DESIGN 4)."""
    box = Mailbox(tmp_path / "c", "--plain", cap=2)
    if rule in OPEN_REFUSED:
        box.say("claude", "question", "open")
    if rule == "THREAD-4":
        box.say("glm", "info", "open")
    before = written(box)
    words = {**REFUSED, **OPEN_REFUSED}[rule]
    said = box.say(*words, "--json")
    assert (said.code, said.json["error"]["rule"], said.json["error"]["exit_code"]) == (1, rule, 1)
    plain = box.say(*words)
    assert (plain.code, plain.out) == (1, "")
    assert plain.err.startswith("refused: ")
    assert (f"[{rule}]" in plain.err) == (rule in {"POST-2", "THREAD-4"})
    assert written(box) == before


def written(box: Mailbox) -> dict[str, bytes]:
    """Return the channel's files, without the two of ours that can be deleted at any time."""
    paths = [path for path in box.root.iterdir() if path.suffix not in {".flock", ".index"}]
    return {path.name: path.read_bytes() for path in paths}


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["zz"],
        ["post"],
        ["post", "--from"],
        ["post", "--f", "a"],
        ["status", "--stale-after", "x"],
        ["status", "--stale-after", "-1"],
        ["status", "extra"],
        ["status", "--nothing"],
        ["status", "-x"],
        ["compact", "--dry-run=yes"],
        ["compact", "--dr", "--", "x"],
        ["post", "--from", "a", "--type", "zz", "--thread", "t", "--body", "x"],
        ["post", "--from", "a", "--type", "info", "--thread", "t"],
        ["post", "--from", "a", "--type", "info", "--thread", "t", "--body", "x", "--body-file", "y"],
        ["post", "--from", "a", "--type", "info", "--thread", "t", "--body", "-x"],
    ],
)
def test_a_wrong_command_line_is_said_and_ends_with_two(words: list[str]) -> None:
    """SPEC C-053; with `--json` as an object."""
    said = call(*words)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("usage: counterpoint channel")
    if words:
        assert call(*words, "--json").code == 2


@pytest.mark.parametrize("word", ["-", "-1", "-.5", "- a list", "", "--", "=", "-x y"])
def test_a_value_may_look_like_an_option_where_argparse_takes_it(mailbox: Mailbox, word: str) -> None:
    """A hyphen alone, a negative number, a blank in it, or `--x=V` (SPEC C-053)."""
    words = ("post", "--root", mailbox.root, "--fr=owner", "--ty", "info", "--th", "t")
    assert call(*words, f"--body=text {word}").code == 0
    refs = ("--refs", "--", word) if word == "--" else ("--refs", word)
    assert call(*words, "--body", "text", *refs).code == 0


def test_every_command_has_a_help_that_stands_alone() -> None:
    """Usage, options, examples and exit codes (DESIGN 8)."""
    overview = call("--help").out
    listed = overview.partition("commands:\n")[2].partition("\n\n")[0]
    names = [line.split()[0] for line in listed.splitlines() if line[2:3].strip()]
    assert {"init", "post", "read", "status", "verify", "compact", "migrate"} <= set(names)
    for name in names:
        said = call(name, "-h")
        assert (said.code, said.err) == (0, "")
        assert said.out.startswith(f"usage: counterpoint channel {name}")
        assert "exit codes:\n  0 " in said.out


@pytest.mark.parametrize("damage", ["lost", "torn", "stale", "list", "bytes"])
@pytest.mark.parametrize("form", FORMS)
def test_a_doorbell_that_cannot_be_believed_is_rebuilt_from_the_record(
    tmp_path: Path, form: str, damage: str
) -> None:
    """Never MSG-1 again; turn and thread come from the record (SPEC C-140)."""
    box = opened(tmp_path, form)
    box.say("claude", "question", "t")
    stale = box.path("signal.json").read_bytes()
    box.say("glm", "info", "t")
    content = {"torn": b'{"seq": 2, "tu', "stale": stale, "list": b"[1, 2]", "bytes": b"\xff{}"}.get(damage)
    box.path("signal.json").unlink()
    if content is not None:
        box.path("signal.json").write_bytes(content)
    told = box.call("status")
    assert (told.code, '"seq": 2' in told.out, "shown as the record has it" in told.err) == (0, True, True)
    assert "MSG-2" in box.call("read").out
    assert box.say("glm", "info", "t").err.startswith("refused: not your turn (turn=claude)")
    assert box.say("claude", "info", "t").out == "posted MSG-3 (turn -> glm)\n"
    assert json.loads(box.path("signal.json").read_bytes())["seq"] == 3
    assert box.call("verify").code == 0


def test_a_forced_close_aside_leaves_the_main_thread_open(mailbox: Mailbox) -> None:
    """SPEC C-142."""
    mailbox.say("claude", "question", "main")
    assert mailbox.say("owner", "close", "side", "x", "--force").out == "posted MSG-2 (turn -> glm)\n"
    assert mailbox.say("glm", "info", "main").out == "posted MSG-3 (turn -> claude)\n"
    assert mailbox.call("verify") == (0, "record verifies clean\n", "")


@pytest.mark.parametrize("form", FORMS)
def test_a_thread_is_read_wherever_it_lies(tmp_path: Path, form: str) -> None:
    """An earlier life in the archive and one in the channel file are one answer (SPEC C-143)."""
    box = opened(tmp_path, form)
    box.talk("t")
    assert "archived t: MSG-1..MSG-3 (3 entries)" in box.call("compact", "--keep-days", "0").out
    box.say("glm", "question", "t", "second life")
    entries = box.call("read", "--thread", "t", "--json").json["entries"]
    assert [entry["n"] for entry in entries] == [1, 2, 3, 4]
    since = box.call("read", "--thread", "t", "--since", "2").out
    assert ("MSG-2 |" in since, "MSG-3 |" in since, "MSG-4 |" in since) == (False, True, True)
    assert box.call("verify").code == 0


def edited(box: Mailbox, old: str, new: str) -> None:
    path = box.path("channel.md")
    content = path.read_text()
    assert old in content
    path.write_text(content.replace(old, new, 1))


FORGERIES: Final = {
    "a body": ("question in one", "another question"),
    "a sender": ("from: glm", "from: claude"),
    "a type": ("type: info", "type: verdict"),
    "a thread": ("thread: one", "thread: two"),
    "a number": ("MSG-2", "MSG-9"),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_what_was_changed_in_a_signed_record_is_found(tmp_path: Path, what: str) -> None:
    """An edited body, a swapped sender, another type, thread or number (SPEC C-141; SECURITY R3, R4)."""
    box = Mailbox(tmp_path / "c")
    box.talk("one")
    edited(box, *FORGERIES[what])
    said = box.call("verify")
    assert (said.code, "ANOMALY: chain - " in said.out, "verifies clean" in said.out) == (4, True, False)


@pytest.mark.parametrize("what", ["a sender", "a thread", "a number"])
def test_what_breaks_a_rule_in_a_plain_record_is_found(mailbox: Mailbox, what: str) -> None:
    """Without a chain the rules and the numbers still show it (SPEC C-141)."""
    mailbox.talk("one")
    edited(mailbox, *FORGERIES[what])
    said = mailbox.call("verify", "--json")
    assert (said.code, said.json["is_clean"]) == (4, False)


def test_a_first_and_a_last_entry_that_are_gone_are_missed(mailbox: Mailbox) -> None:
    """SPEC C-141: the public tool sees neither."""
    mailbox.talk("one")
    path = mailbox.path("channel.md")
    content = path.read_bytes()
    path.write_bytes(content[content.index(b"\n## MSG-2") :])
    assert "ANOMALY: missing-entry - MSG-1:" in mailbox.call("verify").out
    path.write_bytes(content[: content.index(b"\n## MSG-3")])
    assert (
        "ANOMALY: doorbell-ahead - the doorbell is at seq 3; the record ends at MSG-2" in mailbox.call("verify").out
    )


def test_an_archive_is_held_against_the_channel_file(mailbox: Mailbox) -> None:
    """Copies of a compaction that was cut short are told; another entry of that number is an anomaly (SPEC C-141)."""
    mailbox.talk("one")
    whole = mailbox.path("channel.md").read_bytes()
    mailbox.call("compact", "--keep-days", "0")
    compacted = mailbox.path("channel.md").read_bytes()
    mailbox.path("channel.md").write_bytes(whole)
    said = mailbox.call("verify")
    assert (said.code, said.out.count("WARNING: copied-entry")) == (0, 3)
    assert mailbox.call("compact", "--keep-days", "0").code == 0
    assert mailbox.path("channel.md").read_bytes() == compacted
    assert mailbox.call("verify") == (0, "record verifies clean\n", "")
    mailbox.path("channel.md").write_bytes(whole.replace(b"question in one", b"another"))
    assert "ANOMALY: duplicate-seq - MSG-1 in " in mailbox.call("verify").out


@pytest.mark.parametrize("cut", range(6))
def test_a_migration_that_is_cut_short_anywhere_is_finished(tmp_path: Path, cut: int) -> None:
    """It keeps the name that it had begun with, and every byte of the conversation (SPEC C-046, C-152)."""
    root = legacy(tmp_path / "c")
    before = (root / "CHANNEL.md").read_bytes()
    if cut:  # the steps of an interrupted one, by hand
        settings = json.loads((root / "debate.json").read_bytes())
        settings.update(name="mig-12345", project=str(tmp_path))
        (root / "debate.json").write_text(json.dumps(settings, indent=2))
    steps = (
        ("CHANNEL.md", "mig-12345.channel.md"),
        ("signal.json", "mig-12345.signal.json"),
        ("archive/CHANNEL-2026-11.md", "archive/mig-12345-2026-11.md"),
        ("archive/INDEX.md", "archive/mig-12345-INDEX.md"),
    )
    for old, new in steps[: max(0, cut - 1)]:
        (root / old).rename(root / new)
    said = call("migrate", "--root", root, "--label", "mig", "--json")
    assert (said.code, said.json["resumed"]) == (0, cut > 0)
    name = said.json["channel"]
    assert sorted(path.relative_to(root).as_posix() for path in root.rglob("*.*") if path.is_file()) == [
        f"archive/{name}-2026-11.md",
        f"archive/{name}-INDEX.md",
        f"{name}.channel.md",
        f"{name}.debate.json",
        f"{name}.signal.json",
    ]
    assert (root / f"{name}.channel.md").read_bytes() == before
    assert f"-> {name}-2026-11.md\n" in (root / f"archive/{name}-INDEX.md").read_text()
    assert call("verify", "--root", root).code == 0
    assert call("post", "--root", root, *_ANSWER).out == "posted MSG-5 (turn -> glm)\n"


class Stopping(RealFiles):
    """Stops, as a crash would, before the change that follows `allowed` others."""

    def __init__(self, allowed: int) -> None:
        super().__init__()
        self.allowed = allowed

    def rename(self, folder: Folder, name: str, to: str) -> None:
        self._count()
        super().rename(folder, name, to)

    def unlink(self, folder: Folder, name: str) -> None:
        self._count()
        super().unlink(folder, name)

    def _count(self) -> None:
        self.allowed -= 1
        if self.allowed < 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("allowed", range(0, 20, 2))
def test_a_migration_that_dies_between_two_changes_is_one_channel_again(tmp_path: Path, allowed: int) -> None:
    """Whichever change was the last, the next run finishes, and nothing is left under a second name (SPEC C-046)."""
    root = legacy(tmp_path / "c")
    settings = {**json.loads((root / "debate.json").read_bytes()), "name": "mig-12345", "project": str(tmp_path)}
    fs = Stopping(allowed)
    folder = fs.folder(str(root))
    with suppress(KeyboardInterrupt):
        rename_files(fs, folder, "mig-12345", settings, is_resumed=False)
    fs.close(folder)
    if (root / "debate.json").exists():
        assert call("migrate", "--root", root, "--label", "mig").code == 0
    (path,) = root.glob("*.debate.json")
    name = path.name.removesuffix(".debate.json")
    rest = [file.name for file in root.rglob("*") if file.is_file() and not file.name.startswith(name)]
    assert [file for file in rest if not file.endswith(".new")] == []
    assert call("verify", "--root", root) == (0, "record verifies clean\n", "")


_ANSWER: Final = ("--from", "claude", "--type", "info", "--thread", "b", "--body", "five")


def legacy(root: Path) -> Path:
    """Return a channel of the first layout with three archived entries and one in an open thread."""
    entry = "\n## MSG-{} | 2026-11-30T16:46:20+00:00 | from: {} | type: {} | thread: {} | refs: -\n\ntext\n"
    archived = ((1, "claude", "question", "a"), (2, "glm", "info", "a"), (3, "claude", "close", "a"))
    (root / "archive").mkdir(parents=True)
    (root / "CHANNEL.md").write_text(entry.format(4, "glm", "question", "b"))
    (root / "archive" / "CHANNEL-2026-11.md").write_text("".join(entry.format(*said) for said in archived))
    index = "- a: MSG-1..MSG-3 (3 entries, closed 2026-11-30T16:46:20+00:00) -> CHANNEL-2026-11.md\n"
    (root / "archive" / "INDEX.md").write_text(index)
    settings = {"parties": ["claude", "glm"], "supervisor": "owner", "thread_cap": 8}
    (root / "debate.json").write_text(json.dumps(settings, indent=2))
    bell = {
        "seq": 4,
        "turn": "claude",
        "thread": "b",
        "last_entry": "MSG-4",
        "updated_at": "2026-11-30T16:46:20+00:00",
    }
    (root / "signal.json").write_text(json.dumps(bell, indent=2))
    return root


def test_a_channel_of_the_first_layout_is_read_and_posted_to(tmp_path: Path) -> None:
    """SPEC C-002; the poster is told of the way to a named one (issue 4)."""
    root = legacy(tmp_path / "c")
    said = call("post", "--root", root, *_ANSWER)
    assert said.out == "posted MSG-5 (turn -> glm)\n"
    assert said.err.startswith("note: this channel has no name")
    assert "MSG-5 |" in call("read", "--root", root).out
    assert "MSG-2 |" in call("read", "--root", root, "--thread", "a").out
    assert call("verify", "--root", root) == (0, "record verifies clean\n", "")
    assert sorted(path.name for path in root.glob("*.md")) == ["CHANNEL.md"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["post", "--from", "owner", "--type", "info", "--thread", "t", "--body-file", "gone.md"], "gone.md"),
        (["post", "--from", "owner", "--type", "info", "--thread", "t", "--body-file", "bytes.md"], "UTF-8"),
        (["post", "--from", "owner", "--type", "info", "--thread", "t", "--body-file", "."], "directory"),
        (["verify", "--root", "nowhere"], "No such file"),
        (["read", "--root", "bytes.md"], "Not a directory"),
    ],
)
def test_what_is_not_there_is_said_in_one_sentence(
    mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch, words: list[str], told: str
) -> None:
    """SPEC C-144."""
    monkeypatch.chdir(mailbox.root)
    Path("bytes.md").write_bytes(b"\xff")
    said = call(*words)
    assert (said.code, said.out, told in said.err) == (1, "", True)
    assert "Traceback" not in said.err
    assert "bug" not in said.err


def test_a_closed_pipe_is_no_traceback(mailbox: Mailbox) -> None:
    """Whoever reads the first line alone is not shown a traceback (SPEC C-144)."""
    mailbox.say("claude", "question", "t", "x" * 900_000)
    reading, writing = os.pipe()
    os.close(reading)
    program = [sys.executable, "-m", "counterpoint", "channel", "read", "--root", str(mailbox.root)]
    ran = subprocess.run(program, stdout=writing, stderr=subprocess.PIPE, timeout=_BOUND_S, check=False)
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (1, b"")
