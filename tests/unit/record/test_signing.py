"""Signatures: what stock OpenSSH makes and takes, and what is refused."""

import base64
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoint.errors import RecordError
from counterpoint.record.signing import NAMESPACE, NotSigned, check, load_key, make_key, raw_public
from tests import need
from tests.records import signer

CONTENT = "## MSG-1 | żółć\n\ntext\n".encode()


def _run(*argv: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([need.tool("ssh-keygen"), *argv], input=given, capture_output=True, timeout=30, check=False)


def _armoured(sig: str) -> str:
    lines = [sig[at : at + 70] for at in range(0, len(sig), 70)]
    return "\n".join(["-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----", ""])


def test_signature_is_what_ssh_keygen_makes(tmp_path: Path) -> None:
    """SECURITY B.2: Ed25519 is deterministic, so our bytes and OpenSSH's are the same, from our own key file."""
    key = tmp_path / "key"
    key.write_bytes(make_key(b"\1" * 32))
    key.chmod(0o600)
    made = _run("-Y", "sign", "-f", str(key), "-n", NAMESPACE, given=CONTENT)
    assert made.returncode == 0, made.stderr
    assert made.stdout.decode() == _armoured(signer().sign(CONTENT))
    assert _run("-y", "-f", str(key)).stdout.decode().split()[:2] == signer().public.split()


def test_ssh_keygen_verifies_ours_and_refuses_others(tmp_path: Path) -> None:
    """SECURITY B.2: other bytes, another key and another namespace are refused by the stock tool too."""
    (tmp_path / "sig").write_text(_armoured(signer().sign(CONTENT)))
    (tmp_path / "allowed").write_text(f'counterpoint namespaces="{NAMESPACE}" {signer().public}\n')
    (tmp_path / "others").write_text(f"counterpoint {signer(2).public}\n")

    def verify(allowed: str, namespace: str, content: bytes) -> bool:
        argv = ("-Y", "verify", "-f", str(tmp_path / allowed), "-I", "counterpoint", "-n", namespace)
        return _run(*argv, "-s", str(tmp_path / "sig"), given=content).returncode == 0

    assert verify("allowed", NAMESPACE, CONTENT)
    assert not verify("allowed", NAMESPACE, CONTENT + b" ")
    assert not verify("allowed", "git", CONTENT)
    assert not verify("others", NAMESPACE, CONTENT)


def test_ours_verifies_a_signature_of_ssh_keygen(tmp_path: Path) -> None:
    """SECURITY B.2: a user's own key, made and used by OpenSSH."""
    key = tmp_path / "key"
    assert _run("-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(key)).returncode == 0
    public = (tmp_path / "key.pub").read_text().strip()
    made = _run("-Y", "sign", "-f", str(key), "-n", NAMESPACE, given=CONTENT).stdout.decode()
    sig = "".join(made.splitlines()[1:-1])
    assert check([signer().public, public], CONTENT, sig) == public
    assert load_key(key.read_bytes(), source="key").public == public


@given(content=st.binary(max_size=200), seed=st.binary(min_size=32, max_size=32))
def test_what_is_signed_is_checked(content: bytes, seed: bytes) -> None:
    """Every key and every content; the same key signs the same bytes alike."""
    one = load_key(make_key(seed), source="key")
    sig = one.sign(content)
    assert check([one.public], content, sig) == one.public
    assert one.sign(content) == sig
    assert len(raw_public(one.public)) == 32


def test_signature_by_another_key_is_refused() -> None:
    """SECURITY R3, R11: the key inside the signature is never trusted by itself."""
    with pytest.raises(NotSigned, match="key"):
        check([signer(2).public], CONTENT, signer().sign(CONTENT))
    with pytest.raises(NotSigned, match="key"):
        check([], CONTENT, signer().sign(CONTENT))


def test_signature_for_another_purpose_is_refused(tmp_path: Path) -> None:
    """SECURITY R13: a signature of the same bytes and key for git is none for us."""
    key = tmp_path / "key"
    key.write_bytes(make_key(b"\1" * 32))
    key.chmod(0o600)
    made = _run("-Y", "sign", "-f", str(key), "-n", "git", given=CONTENT).stdout.decode()
    with pytest.raises(NotSigned, match="is not for"):
        check([signer().public], CONTENT, "".join(made.splitlines()[1:-1]))


def test_every_flipped_bit_of_a_signature_is_refused() -> None:
    """SECURITY R1: no byte of the blob is without meaning."""
    blob = base64.b64decode(signer().sign(CONTENT))
    for at in range(len(blob)):
        damaged = bytearray(blob)
        damaged[at] ^= 1
        with pytest.raises(NotSigned):
            check([signer().public], CONTENT, base64.b64encode(damaged).decode())


@pytest.mark.parametrize("sig", ["", "A", "====", "ż", "AAAA\n", "AAB=", "AA==AA==", "A" * 4096])
def test_text_that_is_no_canonical_base64_is_refused(sig: str) -> None:
    """One spelling for one signature: `sig` is part of the block whose digest the next entry names."""
    with pytest.raises(NotSigned):
        check([signer().public], CONTENT, sig)
    spelt_otherwise = signer().sign(CONTENT).rstrip("=") + "\n"
    with pytest.raises(NotSigned):
        check([signer().public], CONTENT, spelt_otherwise)


@given(text=st.text(max_size=120))
def test_check_raises_nothing_else(text: str) -> None:
    """Fuzz: whatever stands for a signature or a key, the answer is `NotSigned`."""
    for keys, sig in (([signer().public], text), ([text], signer().sign(b"x")), ([f"ssh-ed25519 {text}"], text)):
        with pytest.raises(NotSigned):
            check(keys, CONTENT, sig)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        make_key(b"\1" * 32)[:36],
        make_key(b"\1" * 32)[:-60],
        make_key(b"\1" * 32).replace(b"A", b"B", 3),
        b"\0" * 400,
    ],
)
def test_damaged_key_file_is_a_typed_error(content: bytes) -> None:
    """A torn or foreign key file names itself and says what to do."""
    with pytest.raises(RecordError) as caught:
        load_key(content, source="~/.local/state/counterpoint/key")
    assert "~/.local/state/counterpoint/key" in str(caught.value)
    assert caught.value.hint


def test_key_of_another_kind_is_a_typed_error(tmp_path: Path) -> None:
    """Ed25519 alone: other kinds sign, and their signatures we would not take."""
    key = tmp_path / "key"
    assert _run("-q", "-t", "ecdsa", "-N", "", "-f", str(key)).returncode == 0
    with pytest.raises(RecordError, match="Ed25519"):
        load_key(key.read_bytes(), source="key")
    assert _run("-q", "-t", "ed25519", "-N", "secret", "-f", str(tmp_path / "locked")).returncode == 0
    with pytest.raises(RecordError):
        load_key((tmp_path / "locked").read_bytes(), source="locked")
