"""Signing with a key file that has a passphrase: `ssh-keygen` opens it.

`cryptography` alone cannot: the key's derivation is bcrypt's, another package. The passphrase goes to `ssh-keygen` on
its standard input, in a session without a terminal, so that it is in no argument list, no environment and no file.
"""

import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NoReturn

from counterpoint.errors import NoKey
from counterpoint.record.signing import NAMESPACE, NotSigned, Signer, check, raw_public

__all__ = ["locked_signer"]

_TIMEOUT_S: Final = 4.0
"""An entry is signed under the channel's lock. Opening a key takes a tenth of a second by default."""
_HINT: Final = "give the passphrase of that key, or add it to an SSH agent with `ssh-add` and use `--sign-agent`"


class _LockedSigner(Signer):
    def __init__(self, path: str, public: str, passphrase: str, environment: Mapping[str, str]) -> None:
        super().__init__(raw_public(public), _no_raw)
        self._path = path
        self._passphrase = passphrase
        self._environment = {"PATH": environment.get("PATH", ""), "LC_ALL": "C"}

    def sign(self, content: bytes) -> str:
        with tempfile.TemporaryDirectory(prefix="counterpoint-") as folder:
            entry = Path(folder, "entry")
            entry.write_bytes(content)
            self._run("ssh-keygen", "-q", "-Y", "sign", "-n", NAMESPACE, "-f", self._path, str(entry))
            try:
                sig = "".join(entry.with_suffix(".sig").read_text("ascii").split("\n")[1:-2])
                check((self.public,), content, sig)
            except (OSError, ValueError, NotSigned) as error:
                raise NoKey(f"ssh-keygen made no signature of {self._path}: {error}", hint=_HINT) from None
        return sig

    def _run(self, *argv: str) -> None:
        try:
            done = subprocess.run(
                argv,
                input=f"{self._passphrase}\n".encode(),
                capture_output=True,
                start_new_session=True,
                env=self._environment,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except FileNotFoundError:
            raise NoKey("a key with a passphrase takes ssh-keygen, and there is none on PATH", hint=_HINT) from None
        except subprocess.TimeoutExpired:
            reason = f"ssh-keygen did not open {self._path} within {_TIMEOUT_S:g} s"
            raise NoKey(reason, hint="add the key to an SSH agent and use `--sign-agent`") from None
        if done.returncode:
            reason = done.stderr.decode("utf-8", "replace").strip().rpartition(": ")[2] or f"exit {done.returncode}"
            raise NoKey(f"refused: the key {self._path} does not open: {reason}", hint=_HINT)


def _no_raw(_content: bytes) -> NoReturn:
    raise AssertionError("ssh-keygen signs entries alone")


def locked_signer(path: str, public: str, *, passphrase: str, environment: Mapping[str, str]) -> Signer:
    """Return the signer of a key file with a passphrase; one signature is made at once, to see that it opens.

    Raises:
        NoKey: it does not, or there is no `ssh-keygen`.
    """
    signer = _LockedSigner(path, public, passphrase, environment)
    signer.sign(b"")
    return signer
