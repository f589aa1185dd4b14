"""A review is recorded, and played again where no agent, no login and no settings are (issue 5, point 6)."""

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from counterpoint.core.codec import encode
from counterpoint.drive.cases import load_case
from counterpoint.drive.paths import find_folders
from counterpoint.drive.store import open_store
from tests.command_line import Called
from tests.reviewing import FINDING, Project

AUTHOR: Final = """
import json, os, pathlib, sys
payload = json.loads(pathlib.Path(sys.argv[1]).read_text())["payload"]
number = payload["round"]
pathlib.Path("price.py").write_bytes(f"x = {number + 1}\\n".encode() + (b"\\xff\\x00" if number == 1 else b""))
changed = ["price.py"]
if number == 1:
    pathlib.Path("tools").mkdir()
    pathlib.Path("tools/run me.sh").write_text("#!/bin/sh\\n")
    os.chmod("tools/run me.sh", 0o755)
    os.symlink("run me.sh", "tools/link")
    changed += ["tools/run me.sh", "tools/link"]
else:
    os.unlink("tools/link")
    changed += ["tools/link"]
answers = [
    {"finding": f["id"], "reasoning": f"Round {number}.", "disposition": "fix"} for f in payload["findings"]
]
print(json.dumps({"summary": f"Edit {number}", "dispositions": answers, "changed": sorted(changed)}))
"""
CRITIC: Final = """
import json, pathlib, sys
payload = json.loads(pathlib.Path(sys.argv[1]).read_text())["payload"]
is_right = pathlib.Path(sys.argv[2], "price.py").read_bytes() == b"x = 3\\n"
if payload["round"] == 1 and "your_last_answer_was_not_accepted" not in payload:
    print("It looks good to me.")
    raise SystemExit
finding = dict(FINDING) | {"status": "resolved" if is_right else "open", "reason": "read it"}
print(json.dumps({"summary": "Read.", "findings": [finding], "responseToRebuttal": "", "approved": is_right}))
"""
SEATS: Final = ("--no-comment", "--author", "ana", "--reviewer", "critic", "--consent", "acme")
_HEX: Final = re.compile(r"\b[0-9a-f]{12,64}\b")
_MADE: Final = {
    re.compile(r"\d{4}-\d\d-\d\d[T ][0-9:.]+(Z|\+00:00)?"): "TIME",
    re.compile(r"\bsig=[A-Za-z0-9+/=]+"): "SIGNATURE",
    re.compile(r"ssh-ed25519 [A-Za-z0-9+/=]+"): "KEY",
}
SECRET: Final = "sk-planted-4f2a9c7e11"


class Studio:
    """A project with an author and a critic, and the same commits on another machine."""

    def __init__(self, project: Project, top: Path) -> None:
        self.project = project
        self.tape = top / "tape"
        self.other = top / "other"
        self.git = project.git
        project.begin()
        self.git.git("config", "user.name", "Ana")
        self.git.git("config", "user.email", "ana@example.org")
        shutil.copytree(project.top, self.other / "shop", symlinks=True)
        self.settings = ""
        self.write("ana", AUTHOR, '"{brief_json}"')
        self.write("critic", CRITIC.replace("FINDING", repr(dict(FINDING))), '"{brief_json}", "{tree}"')

    def write(self, name: str, script: str, arguments: str) -> None:
        path = self.project.bin / f"{name}.py"
        path.write_text(script)
        self.settings += (
            f'[agents.{name}]\nkind = "command"\ncommand = ["python3", "{path}", {arguments}]\n'
            f'destination = "acme"\nenvironment = ["ACME_API_KEY"]\n'
        )
        self.project.configure("[review]\neffort = 'low'\n" + self.settings)

    def record(self, *more: str, seats: tuple[str, ...] = SEATS, key: str = "") -> dict[str, Any]:
        record: tuple[str | Path, ...] = (
            "review",
            *seats,
            "--record",
            self.tape,
            "--trust-commands",
            "--json",
            *more,
        )
        ran = self.project.run(*record, ACME_API_KEY=key)
        found: dict[str, Any] = ran.json
        assert "decision" in found, ran
        return found

    def replay(self, *more: str, command: Sequence[str] = ("review", *SEATS)) -> Called:
        """Play the cassette on the other machine: another home, and nothing on PATH but git and a shell."""
        programs = self.other / "bin"
        if not programs.exists():
            programs.mkdir()
            for name in ("git", "sh"):
                (programs / name).symlink_to(str(shutil.which(name)))
        flags: tuple[str | Path, ...] = (
            "--repo",
            self.other / "shop",
            "--replay",
            self.tape,
            "--trust-commands",
            "--json",
        )
        return self.project.run(
            *command,
            *flags,
            *more,
            HOME=str(self.other),
            PATH=str(programs),
            COUNTERPOINT_STATE=str(self.other / "state"),
            COUNTERPOINT_CONFIG=str(self.other / "config"),
        )

    def turn(self, name: str) -> Path:
        return self.tape / "turns" / f"{name}.json"

    def record_of(self, repo: Path, case: int = 0) -> list[str]:
        """Return the record of a case there, but for times, signatures and names that are drawn or made of times."""
        names: dict[str, str] = {}
        folder = sorted((repo / ".counterpoint" / "cases").iterdir())[case]
        entries = load_case(open_store(folder.parent, find_folders({"HOME": str(repo)})), folder.parent, folder.name)
        texts = [json.dumps([type(entry).__name__, encode(entry)], sort_keys=True) for entry in entries.entries]
        texts = [
            re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+(Z|\+00:00)", "TIME", text.replace(folder.name, "CASE"))
            for text in texts
        ]
        return [_numbered(text, names) for text in texts]

    def texts_of(self, repo: Path) -> dict[str, str]:
        """Return the files of a case there, byte for byte but for times, signatures and what is made of them."""
        (folder,) = (repo / ".counterpoint" / "cases").iterdir()
        found = {}
        for path in (path for path in folder.iterdir() if path.suffix in {".md", ".json"}):
            names: dict[str, str] = {}
            text = path.read_bytes().decode().replace(folder.name, "CASE").replace(str(repo), "REPOSITORY")
            for pattern, word in _MADE.items():
                text = pattern.sub(word, text)
            found[path.name.replace(folder.name, "CASE")] = _numbered(text, names)
        return found


def _numbered(text: str, names: dict[str, str]) -> str:
    """Return a text with each id and digest numbered by where it first stands."""
    return _HEX.sub(lambda found: names.setdefault(found[0][:12], f"HEX-{len(names)}"), text)


@pytest.fixture
def studio(project: Project, tmp_path: Path, measured: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Studio:
    for name, value in measured.items():
        monkeypatch.setenv(name, value)
    return Studio(project, tmp_path)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_two_rounds_play_again_on_another_machine(studio: Studio) -> None:
    """No settings, no agent program and no key there; the same record, and the same files on the branch."""
    recorded = studio.record()
    assert (recorded["decision"], len(recorded["rounds"])) == ("approved", 3), recorded
    assert [failure["reason"] for failure in recorded["failed_attempts"]] == ["bad_reply"]
    played = studio.replay()
    assert played.json["decision"] == "approved", played
    assert "note: the cassette" not in played.err
    here, there = studio.git.top, studio.other / "shop"
    assert studio.record_of(there) == studio.record_of(here)
    files = studio.texts_of(here)
    assert studio.texts_of(there) == files
    assert {"CASE.channel.md", "report.md", "result.json", "verdict-003.json"} <= files.keys()
    tree = [studio.git.git("-C", str(top), "rev-parse", "HEAD^{tree}", "HEAD~1^{tree}") for top in (here, there)]
    assert tree[0] == tree[1]
    assert (there / "tools" / "run me.sh").stat().st_mode & 0o111
    assert not (there / "tools" / "link").is_symlink()
    assert not (studio.other / "config").exists()


def edit_json(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    plain = json.loads(path.read_text())
    change(plain)
    path.write_text(json.dumps(plain))


def test_what_is_not_as_it_was_recorded_stops_a_replay(studio: Studio) -> None:
    """The two digests, or the name of what is damaged; nothing of it is recorded as an answer, nothing is edited."""
    studio.record()
    assert sorted(path.stem for path in (studio.tape / "turns").iterdir()) == [
        "answering.1.ana.1", "answering.2.ana.1", "reviewing.1.critic.1",
        "reviewing.1.critic.2", "reviewing.2.critic.1", "reviewing.3.critic.1",
    ]  # fmt: skip
    whole = studio.tape.with_name("whole")
    shutil.copytree(studio.tape, whole, symlinks=True)
    first, author = studio.turn("reviewing.1.critic.1"), studio.turn("answering.1.ana.1")
    head = studio.git.id("-C", str(studio.other / "shop"), "rev-parse", "HEAD")

    def refuse(said: str, *more: str) -> None:
        called = studio.replay(*more)
        assert called.code == 1, called
        assert re.search(said, called.json["error"]["message"]), called
        shutil.rmtree(studio.tape)
        shutil.copytree(whole, studio.tape, symlinks=True)

    refuse(
        "the brief of reviewing.1.critic.1 has the digest [0-9a-f]{64}; recorded was [0-9a-f]{64}", "--effort", "high"
    )
    first.unlink()
    refuse("has no turn reviewing.1.critic.1")
    edit_json(first, lambda plain: plain.update(more=1))
    refuse("more: no such field")
    reply = json.loads(first.read_text())["reply"]["content"]
    (studio.tape / "bytes" / reply).write_text("other")
    refuse(f"bytes/{reply} .* its bytes have the digest")
    edit_json(author, lambda plain: plain["edit"]["files"][0].update(path="../price.py"))
    refuse("is never written")
    edit_json(author, lambda plain: plain["edit"].update(files=[]))
    refuse("the files after answering.1.ana.1 are tree [0-9a-f]{40}; recorded was [0-9a-f]{40}")
    (studio.tape / "config.toml").write_text("[checks]\ntest = 'touch owned'\n")
    refuse("config.toml .* others than were recorded")
    assert studio.git.id("-C", str(studio.other / "shop"), "rev-parse", "HEAD") == head
    assert studio.git.git("-C", str(studio.other / "shop"), "status", "--porcelain") == b""
    assert studio.replay().json["decision"] == "approved"


def test_a_replay_that_was_stopped_goes_on_with_resume(studio: Studio) -> None:
    """With the folder named again; the record is the one of the case that ran through."""
    studio.record()
    author = studio.turn("answering.2.ana.1")
    kept = author.read_text()
    author.unlink()
    stopped = studio.replay()
    assert stopped.code == 1, stopped
    assert "resume" in stopped.json["error"]["resume"] + stopped.err
    author.write_text(kept)
    done = studio.replay("last", "--consent", "acme", command=("resume",))
    assert done.json.get("decision") == "approved", done


def test_no_planted_secret_reaches_a_cassette(studio: Studio) -> None:
    """Not out of an answer, an edit or a failure, and the turn says why it cannot be played (SECURITY)."""
    leak = 'if number == 1:\n    pathlib.Path("price.py").write_text(os.environ["ACME_API_KEY"])\n'
    author = AUTHOR.replace("changed = [", f"{leak}changed = [", 1)
    (studio.project.bin / "ana.py").write_text(author)
    studio.record(key=SECRET)
    kept = files_of(studio.tape)
    assert kept
    assert [name for name, content in kept.items() if SECRET.encode() in content] == []
    assert "$ACME_API_KEY" in studio.turn("answering.1.ana.1").read_text()
    stopped = studio.replay()
    assert "cannot be played again" in stopped.json["error"]["message"]
    modes = {path.stat().st_mode & 0o077 for path in (studio.tape, *studio.tape.rglob("*"))}
    assert modes == {0}


def test_edits_that_are_not_committed_play_again(studio: Studio) -> None:
    """With --no-commit the files are as they were left, and HEAD stays where it is."""
    studio.record("--no-commit")
    head = studio.git.id("rev-parse", "HEAD")
    played = studio.replay("--no-commit")
    there = studio.other / "shop"
    assert played.json["decision"] == "approved", played
    assert studio.record_of(there) == studio.record_of(studio.git.top)
    assert (there / "price.py").read_bytes() == b"x = 3\n"
    assert studio.git.id("-C", str(there), "rev-parse", "HEAD") == head


def test_a_failed_call_and_a_timeout_play_again(studio: Studio) -> None:
    """What stands in the record of them is the same; nobody waits for the time again."""
    studio.project.configure("[limits]\ncall_timeout_s = 2\n" + studio.settings)
    (studio.project.bin / "ana.py").write_text("import sys\nsys.exit('out of credit')\n")
    critic = (studio.project.bin / "critic.py").read_text()
    slow = 'print("It looks good to me.")'
    (studio.project.bin / "critic.py").write_text(critic.replace(slow, "import signal\n    signal.pause()"))
    recorded = studio.record()
    assert "timeout" in [failure["reason"] for failure in recorded["failed_attempts"]], recorded
    played = studio.replay()
    assert played.json["decision"] == recorded["decision"], played
    assert studio.record_of(studio.other / "shop") == studio.record_of(studio.git.top)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--record", "{tape}", "--replay", "{tape}"), "give one of them"),
        (("--record", "{shop}/tape"), "outside the work tree"),
        (("--record", "{shop}"), "outside the work tree"),
        (("--record", "{bin}"), "new or empty folder"),
        (("--replay", "{tape}"), "cassette.json"),
    ],
)
def test_a_folder_that_cannot_serve_is_refused_before_anything_is_begun(
    studio: Studio, flags: tuple[str, ...], said: str
) -> None:
    """No case, and no folder."""
    places = {"tape": studio.tape, "shop": studio.git.top, "bin": studio.project.bin}
    called = studio.project.review(*SEATS, "--trust-commands", *(flag.format(**places) for flag in flags))
    assert called.code in {1, 2}
    assert said in called.err
    assert studio.project.cases == []
    assert not studio.tape.exists()
