"""Beside the public tool `debate` 0.8.0: what it reads, we read, and it works on channels with our genesis."""

import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from counterpoint.record.block import parse, scan
from counterpoint.record.findings import Verification
from counterpoint.record.header import reads_as_header
from counterpoint.record.verify import verify
from tests import need
from tests.records import CHANNEL, STAMP, file_of, record, shared_drafts, signer

HEADER = "## MSG-7 | 2026-01-01T00:00:00Z | from: a | type: b | thread: c | refs: -"
FRAGMENTS = [
    *("\n", "\n\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\u2028", "\u2029"),
    *(" ", "\t", "\0", "\xa0", "\u3000", "\ufeff", "żółć", "text", "## MSG-", "| refs: x | y", HEADER),
    *(HEADER[:-9], f" {HEADER}", f"> {HEADER}", HEADER.replace(" | ", "  | ", 1), HEADER.replace(": c", ":  ")),
    *(HEADER.replace("7", "٣٤"), HEADER.replace("7", "²"), HEADER.replace("7", "00012")),
    *(HEADER.replace("a |", "Äb_c |"), HEADER.replace("2026-01-01T00:00:00Z", " ")),
]
READER = """
import json, pathlib, sys, tempfile
from debate import channel
path = pathlib.Path(tempfile.mkdtemp()) / "c.channel.md"
channel.mailbox_path = lambda root, name=None: path
answers = []
for text in json.load(sys.stdin):
    path.write_bytes(text.encode())
    try:
        entries = channel.read_entries(path.parent)
        read = [[e.seq, e.timestamp, e.sender, e.entry_type, e.thread, e.refs, e.body] for e in entries]
        raw = [entry.raw for entry in channel.read_raw(path)[1]]
    except ValueError:
        read = raw = None
    try:
        channel._validate_entry_text(text, "-")
        is_forged = False
    except channel.ChannelError as error:
        is_forged = "empty" not in str(error)
    answers.append([read, raw, is_forged])
json.dump(answers, sys.stdout)
"""


def _texts() -> Iterator[str]:
    chance = random.Random(5)
    for _ in range(400):
        parts = (chance.choice(("", "\n")) + chance.choice(FRAGMENTS) for _ in range(chance.randint(1, 9)))
        yield "".join(parts)


def _lines(text: str) -> str:
    return "\n".join(text.replace("\r\n", "\n").replace("\r", "\n").splitlines()).strip()


def test_headers_texts_and_forgeries_are_read_as_the_public_tool_reads_them() -> None:
    """SPEC C-011 to C-014: 400 files of odd headers and line ends, through both parsers and both guards."""
    python = need.oracle().parent / "python"
    texts = list(_texts())
    argv = [str(python), "-c", READER]
    done = subprocess.run(argv, input=json.dumps(texts), capture_output=True, text=True, timeout=60, check=True)
    seen = 0
    for text, (read, raw, is_forged) in zip(texts, json.loads(done.stdout), strict=True):
        content = text.encode()
        blocks = [content[at : at + length] for at, length in scan(content)]
        ours = [parse(block, channel="c", strict=False) for block in blocks]
        assert read == [[e.n, e.stamp, e.sender, e.type, e.thread, e.refs, _lines(e.text)] for e in ours]
        for block, whole in zip(blocks, raw, strict=True):
            assert not whole.removeprefix(block.decode()).strip()
        assert is_forged == any(reads_as_header(line) for line in text.strip().splitlines())
        seen += len(ours)
    assert seen > 250


class _Channel:
    """A shared channel in a folder, worked on by the public tool."""

    def __init__(self, folder: Path) -> None:
        self._command = str(need.oracle())
        self._folder = folder
        self.file = folder / f"{CHANNEL}.channel.md"
        settings = {"parties": ["claude", "glm"], "supervisor": "owner", "thread_cap": 12, "name": CHANNEL}
        self._write("debate.json", settings | {"project": str(folder), "managed_version": 1})

    def fill(self, blocks: list[bytes]) -> None:
        self.file.write_bytes(file_of(blocks))
        n = len(blocks) - 1
        bell = {"seq": n, "turn": "", "thread": "", "last_entry": f"MSG-{n}" if n else "", "updated_at": STAMP}
        self._write("signal.json", bell)

    def run(self, *argv: str) -> str:
        argv = (self._command, argv[0], "--root", ".", *argv[1:])
        done = subprocess.run(argv, cwd=self._folder, capture_output=True, text=True, timeout=30, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def verify(self) -> Verification:
        bell = json.loads((self._folder / f"{CHANNEL}.signal.json").read_text())
        archives = sorted(self._folder.glob(f"archive/{CHANNEL}-????-??.md"))
        return verify(
            CHANNEL,
            self.file.read_bytes(),
            archives=[(path.name, path.read_bytes()) for path in archives],
            doorbell=bell["seq"],
            mode="shared",
        )

    def _write(self, suffix: str, fields: dict[str, Any]) -> None:
        (self._folder / f"{CHANNEL}.{suffix}").write_text(json.dumps(fields, indent=2))


@pytest.fixture
def channel(tmp_path: Path) -> _Channel:
    return _Channel(tmp_path)


def test_public_tool_works_on_a_channel_with_our_genesis(channel: _Channel) -> None:
    """DESIGN section 5: it reads, verifies, posts and compacts there, and our chain holds through all of it."""
    blocks = record(shared_drafts(), mode="shared", key=signer())
    channel.fill(blocks)
    assert channel.run("read", "--thread", "retry").encode() == b"".join(block + b"\n\n" for block in blocks[1:])
    assert "record verifies clean" in channel.run("verify")
    posted = ("post", "--from", "claude", "--type", "question", "--thread", "next", "--body", " what now?\n")
    assert channel.run(*posted) == "posted MSG-5 (turn -> glm)\n"
    assert channel.verify().plain == (5,)
    assert "archived retry: MSG-1..MSG-4" in channel.run("compact", "--keep-days", "0")
    assert blocks[1] not in channel.file.read_bytes()
    found = channel.verify()
    assert (found.n, found.plain, found.tamper_evident_from) == (5, (5,), 6)
    assert found.is_clean
    assert "record verifies clean" in channel.run("verify")


def test_first_post_of_the_public_tool_behind_our_genesis_is_number_one(channel: _Channel) -> None:
    """DESIGN section 5: the genesis is MSG-0 and the doorbell stays fresh, so numbers begin at 1 for everyone."""
    channel.fill(record([], mode="shared", key=signer()))
    assert channel.run("post", "--from", "glm", "--type", "info", "--thread", "t", "--body", "hi").startswith(
        "posted MSG-1 "
    )
    found = channel.verify()
    assert (found.n, found.plain) == (1, (1,))
