"""Posts that carry their author's own signature: a key file, a key with a passphrase, an SSH agent (issue 4, 5)."""

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from counterpoint.record.signing import fingerprint, make_key
from tests import need
from tests.mailbox_commands import Mailbox, call
from tests.records import signer

_BOUND_S: Final = 20
CONTENT: Final = b"## MSG-1"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home of its own, and no agent or key of whoever runs the tests."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("COUNTERPOINT_CHANNEL_FORM", "COUNTERPOINT_CHANNEL_SIGN_KEY", "SSH_AUTH_SOCK"):
        monkeypatch.delenv(name, raising=False)


def key_file(folder: Path, number: int) -> Path:
    """Write one of the keys of the tests, private and public half; return the private one's path."""
    path = folder / f"key{number}"
    path.write_bytes(make_key(bytes([number]) * 32))
    path.chmod(0o600)
    path.with_suffix(".pub").write_text(f"{signer(number).public} somebody@example\n")
    return path


def locked_file(folder: Path) -> Path:
    path = folder / "locked"
    argv = [need.tool("ssh-keygen"), "-q", "-t", "ed25519", "-N", "pass word", "-C", "", "-f", str(path)]
    subprocess.run(argv, check=True, timeout=_BOUND_S)
    return path


@pytest.fixture
def box(tmp_path: Path) -> Mailbox:
    """A channel in which claude signs for itself, with key 2."""
    return Mailbox(tmp_path / "c", "--party-key", f"claude={key_file(tmp_path, 2)}.pub")


def signed_by(box: Mailbox) -> list[tuple[str, str, int]]:
    said = box.call("verify", "--json")
    assert said.code == 0, said
    return [(one["party"], one["fingerprint"], one["entries"]) for one in said.json["signed"]]


def test_post_signed_with_a_key_file_is_named_by_verify(box: Mailbox, tmp_path: Path) -> None:
    """Who signed is in the output and in `--json`; the other party's entries bear this machine's key."""
    said = box.say("claude", "question", "retry", "Why 3?", "--sign-key", str(tmp_path / "key2"))
    assert (said.code, said.out) == (0, "posted MSG-1 (turn -> glm)\n"), said
    assert box.say("glm", "info", "retry").code == 0
    machine, own = signed_by(box)
    assert (machine[0], machine[2]) == ("", 2)
    assert own == ("claude", fingerprint(signer(2).public), 1)
    printed = box.call("verify").out
    assert f"INFO: signed - MSG-1 by claude's own key {fingerprint(signer(2).public)}\n" in printed
    assert printed.endswith("record verifies clean\n")


def test_post_without_the_partys_key_is_refused_and_says_what_to_do(box: Mailbox, tmp_path: Path) -> None:
    """SIGN-1: nothing is written, the next number is still free, and the hint names both ways."""
    before = box.path("channel.md").read_bytes()
    other = key_file(tmp_path, 3)
    for words in ((), ("--sign-key", str(other)), ("--sign-key", f"{other}.pub")):
        said = box.say("claude", "question", "retry", "x", *words, "--json")
        assert (said.code, said.json["error"]["rule"]) == (1, "SIGN-1")
        assert "--sign-agent" in said.json["error"]["hint"]
        assert fingerprint(signer(2).public) in said.json["error"]["message"]
    plain = box.say("claude", "question", "retry")
    assert plain.err.startswith("refused: what claude says in this channel is signed with the key SHA256:")
    assert "\nhint: add `--sign-key FILE`" in plain.err
    assert box.path("channel.md").read_bytes() == before


def test_key_that_the_channel_does_not_name_is_refused(tmp_path: Path) -> None:
    """SIGN-1: in a channel whose entries nobody could check, a signature would be an ornament."""
    path = key_file(tmp_path, 2)
    for form, reason in (("--plain", "the public tool's form"), ("--unsigned", "are not signed")):
        box = Mailbox(tmp_path / form, form)
        said = box.say("claude", "question", "retry", "x", "--sign-key", str(path))
        assert (said.code, reason in said.err) == (1, True), said
        assert "--party-key claude=FILE.pub" in said.err
    box = Mailbox(tmp_path / "signed")
    assert "is signed with the key" in box.say("claude", "question", "retry", "x", "--sign-key", str(path)).err


def test_default_key_is_used_for_its_party_alone(
    box: Mailbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable stands in for the flag where the party has a key; elsewhere it changes nothing."""
    monkeypatch.setenv("COUNTERPOINT_CHANNEL_SIGN_KEY", str(tmp_path / "key2"))
    assert box.say("claude", "question", "retry").code == 0
    assert box.say("glm", "info", "retry").code == 0
    for form in ("--plain", "--unsigned"):
        assert Mailbox(tmp_path / form, form).say("claude", "question", "retry").code == 0
    assert [party for party, _, _ in signed_by(box)] == ["", "claude"]


def test_unsigned_channel_may_have_a_party_that_signs(tmp_path: Path) -> None:
    """Where this machine's key says nothing, a party's own still does."""
    path = key_file(tmp_path, 2)
    box = Mailbox(tmp_path / "c", "--unsigned", "--party-key", f"claude={path}.pub")
    assert box.say("claude", "question", "retry", "x", "--sign-key", str(path)).code == 0
    assert box.say("glm", "info", "retry").code == 0
    assert signed_by(box) == [("claude", fingerprint(signer(2).public), 1)]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--party-key", "claude"), "takes PARTY=FILE"),
        (("--party-key", "claude=nowhere.pub"), "cannot be read"),
        (("--party-key", "claude={0}"), "is not a file of ssh-ed25519 public keys"),
        (("--party-key", "claude={0}.txt"), "is not a file of ssh-ed25519 public keys"),
        (("--party-key", "eve={0}.pub"), "'eve', who is none of claude, glm, owner"),
        (("--party-key", "claude={0}.pub", "--party-key", "glm={0}.pub"), "glm and claude share the key SHA256:"),
        (("--party-key", "claude={0}.pub", "--plain"), "a plain channel has no signatures"),
        (("--party-key", "claude={0}.pub", "--brokered"), "a plain channel has no signatures"),
    ],
)
def test_channel_with_party_keys_that_cannot_hold_is_not_begun(
    tmp_path: Path, words: tuple[str, ...], reason: str
) -> None:
    """SECURITY R12; nothing is made."""
    path = key_file(tmp_path, 2)
    (tmp_path / "key2.txt").write_text("ssh-rsa AAAA\n")
    root = tmp_path / "c"
    said = call("init", "--root", root, "--parties", "claude,glm", *(word.format(path) for word in words))
    assert (said.code, reason in said.err) == (1, True), said
    assert not root.exists()


def test_party_may_have_two_keys(tmp_path: Path) -> None:
    """A laptop and a desktop: either signs."""
    paths = key_file(tmp_path, 2), key_file(tmp_path, 3)
    flags = [word for path in paths for word in ("--party-key", f"claude={path}.pub")]
    box = Mailbox(tmp_path / "c", *flags)
    assert box.say("claude", "question", "retry", "x", "--sign-key", str(paths[1])).code == 0
    assert [party for party, _, _ in signed_by(box)] == ["", "claude"]


def test_key_file_that_others_can_read_is_refused(box: Mailbox, tmp_path: Path) -> None:
    """As ssh does; and a file that holds no such key."""
    (tmp_path / "key2").chmod(0o644)
    said = box.say("claude", "question", "retry", "x", "--sign-key", str(tmp_path / "key2"))
    assert "is open to others (mode 0644)" in said.err
    for path in (tmp_path / "none", tmp_path, Path(os.devnull)):
        assert box.say("claude", "question", "retry", "x", "--sign-key", str(path)).code == 1


def test_verify_holds_parties_to_an_allowed_signers_file(box: Mailbox, tmp_path: Path) -> None:
    """SECURITY R14: a key that was revoked since stands for nothing said after that."""
    box.say("claude", "question", "retry", "x", "--sign-key", str(tmp_path / "key2"))
    allowed = tmp_path / "allowed"
    allowed.write_text(f"claude {signer(2).public}\n")
    assert box.call("verify", "--signers", allowed).code == 0
    allowed.write_text(f'claude valid-before="20260101Z" {signer(2).public}\n')
    said = box.call("verify", "--signers", allowed)
    assert (said.code, "ANOMALY: not-vouched-for - MSG-1 is from claude: SHA256:" in said.out) == (4, True), said
    allowed.write_text(f"eve {signer(2).public}\n")
    assert "names none of claude, glm, owner" in box.call("verify", "--signers", allowed).err
    allowed.write_text(f"claude {signer(2).public}\n")
    plain = Mailbox(tmp_path / "plain", "--plain")
    plain.say("claude", "question", "retry")
    assert plain.call("verify", "--signers", allowed).code == 4


@contextmanager
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *keys: Path) -> Iterator[str]:
    """Run a real SSH agent that holds these keys."""
    # Not below the test's folder: a socket's path has a hundred characters.
    need.tool("ssh-add")
    path = os.path.relpath(tmp_path / "a.sock")
    running = subprocess.Popen([need.tool("ssh-agent"), "-D", "-a", path], stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + _BOUND_S
        while not Path(path).exists() and time.monotonic() < until:
            select.select([], [], [], 0.01)
        monkeypatch.setenv("SSH_AUTH_SOCK", path)
        for key in keys:
            subprocess.run(["ssh-add", "-q", str(key)], check=True, timeout=_BOUND_S)
        yield path
    finally:
        running.terminate()
        running.wait(_BOUND_S)


def test_post_signed_by_an_ssh_agent(box: Mailbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SECURITY B.2: the private file is gone; the genesis says which of the agent's keys it is."""
    with agent(tmp_path, monkeypatch, key_file(tmp_path, 4), tmp_path / "key2"):
        (tmp_path / "key2").unlink()
        assert box.say("claude", "question", "retry", "x", "--sign-agent").code == 0
        assert box.say("glm", "info", "retry").code == 0
        public = str(tmp_path / "key2.pub")
        assert box.say("claude", "info", "retry", "x", "--sign-key", public).code == 0
        assert box.say("glm", "info", "retry").code == 0
        monkeypatch.setenv("COUNTERPOINT_CHANNEL_SIGN_KEY", "agent")
        assert box.say("claude", "info", "retry").code == 0
        assert signed_by(box)[1] == ("claude", fingerprint(signer(2).public), 3)
        subprocess.run(["ssh-add", "-q", "-D"], check=True, timeout=_BOUND_S, stderr=subprocess.DEVNULL)
        box.say("glm", "info", "retry")
        said = box.say("claude", "info", "retry", "x", "--sign-agent")
        assert (said.code, "does not hold SHA256:" in said.err) == (1, True), said
    said = box.say("claude", "info", "retry", "x", "--sign-agent")
    assert (said.code, "cannot be asked" in said.err) == (1, True), said


def test_agent_that_is_not_there_is_said(box: Mailbox) -> None:
    """No traceback: the variable is named."""
    assert "SSH_AUTH_SOCK is not set" in box.say("claude", "question", "retry", "x", "--sign-agent").err


def test_key_with_a_passphrase_is_asked_for_at_a_terminal(box: Mailbox, tmp_path: Path) -> None:
    """At `/dev/tty`, before the channel is held; it is not shown, and a wrong one writes nothing."""
    path = locked_file(tmp_path)
    box = Mailbox(tmp_path / "locked-channel", "--party-key", f"claude={path}.pub")
    wrong = _at_a_terminal(box, path, b"wrong\n")
    assert wrong[0] == 1
    assert b"does not open: incorrect passphrase" in wrong[1]
    code, shown = _at_a_terminal(box, path, b"pass word\n")
    assert (code, b"posted MSG-1" in shown, b"pass word" in shown) == (0, True, False), shown
    assert signed_by(box)[1][0] == "claude"


def _at_a_terminal(box: Mailbox, path: Path, typed: bytes) -> tuple[int, bytes]:
    words = ["--root", str(box.root), "--from", "claude", "--type", "question", "--thread", "t", "--body", "x"]
    argv = [sys.executable, "-m", "counterpoint", "channel", "post", *words, "--sign-key", str(path)]
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover - another process
        os.execv(argv[0], argv)
    shown = b""
    until = time.monotonic() + _BOUND_S
    sent = False
    while time.monotonic() < until and select.select([terminal], [], [], _BOUND_S)[0]:
        try:
            more = os.read(terminal, 4096)
        except OSError:  # its end
            break
        if not more:
            break
        shown += more
        if not sent and b"Passphrase of" in shown:
            os.write(terminal, typed)
            sent = True
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown


def test_key_with_a_passphrase_is_refused_where_there_is_no_terminal(tmp_path: Path) -> None:
    """It does not hang on standard input, and it says what to do."""
    path = locked_file(tmp_path)
    box = Mailbox(tmp_path / "c", "--party-key", f"claude={path}.pub")
    words = ["--root", str(box.root), "--from", "claude", "--type", "question", "--thread", "t", "--body", "x"]
    done = subprocess.run(
        [sys.executable, "-m", "counterpoint", "channel", "post", *words, "--sign-key", str(path)],
        input="pass word\n",
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=_BOUND_S,
        check=False,
    )
    assert (done.returncode, "no terminal to ask at" in done.stderr, "ssh-add" in done.stderr) == (1, True, True)
