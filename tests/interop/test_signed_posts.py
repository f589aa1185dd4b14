"""Channels whose parties sign for themselves, beside the public tool and stock OpenSSH (issue 4, 5; SECURITY B.2)."""

import subprocess
from pathlib import Path
from typing import Final

import pytest

from counterpoint.record.signing import NAMESPACE, make_key
from tests import need
from tests.interop.public_tool import Ran, debate
from tests.mailbox_commands import Mailbox
from tests.records import signer

PAGE: Final = (need.ROOT / "docs/record.md").read_text("utf-8")
LINES: Final = PAGE.partition("```sh\n")[2].partition("```\n")[0]
_BOUND_S: Final = 30


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mailbox:
    """A channel in which claude signs for itself and has said MSG-1."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("COUNTERPOINT_CHANNEL_FORM", raising=False)
    path = tmp_path / "key"
    path.write_bytes(make_key(b"\2" * 32))
    path.chmod(0o600)
    (tmp_path / "key.pub").write_text(f"{signer(2).public} claude@example\n")
    monkeypatch.setenv("COUNTERPOINT_CHANNEL_SIGN_KEY", str(path))
    box = Mailbox(tmp_path / "c", "--party-key", f"claude={path}.pub")
    assert box.say("claude", "question", "retry", "Why 3?").code == 0
    return box


def _theirs(box: Mailbox, sender: str, kind: str, text: str) -> Ran:
    return debate(box.root, "post", "--from", sender, "--type", kind, "--thread", "retry", "--body", text)


def test_public_tool_reads_posts_verifies_and_compacts(box: Mailbox) -> None:
    """It minds neither keys nor signatures, and what it moves to the archive still verifies here."""
    assert "Why 3?" in debate(box.root, "read").output
    assert _theirs(box, "glm", "info", "One in ten is dropped.").output == "posted MSG-2 (turn -> claude)\n"
    assert box.say("claude", "close", "retry", "Then 3 it is.").code == 0
    assert debate(box.root, "verify") == (0, "record verifies clean\n", "")
    assert debate(box.root, "compact", "--keep-days", "0").code == 0
    found = box.call("verify", "--json").json
    assert (found["is_clean"], found["tamper_evident_from"]) == (True, 3)
    assert [(one["party"], one["entries"], one["first"], one["last"]) for one in found["signed"]] == [
        ("", 1, 0, 0),
        ("claude", 2, 1, 3),
    ]
    assert _verified_with_ssh_keygen(box, next((box.root / "archive").glob("*-20*.md")), 3) == 0


def test_public_tool_speaking_for_a_party_with_a_key_is_named(box: Mailbox) -> None:
    """It may be a forger as well: the entry stands, `verify` names it, and the chain goes on behind it."""
    assert box.say("glm", "info", "retry").code == 0
    assert _theirs(box, "claude", "info", "Approved.").code == 0
    assert box.say("glm", "close", "retry").code == 0
    said = box.call("verify", "--json")
    assert said.code == 4
    anomalies = [(one["code"], one["entry"]) for one in said.json["findings"] if one["level"] == "anomaly"]
    assert anomalies == [("not-its-key", 3)]
    assert said.json["chain"]["n"] == 4


def test_three_lines_verify_a_partys_entry_with_stock_ssh_keygen(box: Mailbox) -> None:
    """The lines of docs/record.md, with the party in place of the channel; one changed byte is refused."""
    assert len(LINES.splitlines()) == 3
    path = box.path("channel.md")
    assert _verified_with_ssh_keygen(box, path, 1) == 0
    path.write_bytes(path.read_bytes().replace(b"Why 3?", b"Why 4?"))
    assert _verified_with_ssh_keygen(box, path, 1) != 0


def _verified_with_ssh_keygen(box: Mailbox, path: Path, n: int) -> int:
    folder = box.root.parent
    (folder / "channel.md").write_bytes(path.read_bytes())
    (folder / "allowed").write_text(f'claude namespaces="{NAMESPACE}" {signer(2).public}\n')
    need.tool("ssh-keygen")
    lines = LINES.replace("-I counterpoint", "-I claude").replace("MSG-1", f"MSG-{n}").replace("n=1 ", f"n={n} ")
    argv = [need.tool("sh"), "-e", "-c", lines]
    return subprocess.run(argv, cwd=folder, capture_output=True, timeout=_BOUND_S, check=False).returncode
