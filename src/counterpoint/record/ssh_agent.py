"""A key that an SSH agent holds: which ones it has, and a signature by one of them.

Two requests of the agent's protocol (draft-ietf-sshm-ssh-agent) over the socket that `SSH_AUTH_SOCK` names, spoken
here: `ssh-keygen -Y sign -U` does the same for a process and a file more each time, and cannot be held to a deadline
while the channel's lock is held. An agent is not believed: what it answers is bounded in length and time, and a
signature is checked before it is used.
"""

import socket
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Final

from counterpoint.errors import NoKey
from counterpoint.record.signing import Signer, check_raw, fingerprint, public_line, raw_public

__all__ = ["agent_keys", "agent_signer"]

_TIMEOUT_S: Final = 4.0
"""For one answer. An agent may ask a person first, but a signature is made under the channel's lock."""
_MAX_ANSWER: Final = 256 * 1024
_FAILURE: Final = 5
_LIST, _LISTED = 11, 12
_SIGN, _SIGNED = 13, 14
_KIND: Final = b"\0\0\0\x0bssh-ed25519"
_KEY_BYTES: Final = 32
_LENGTH: Final = 4
"""Bytes of a length, and of a count."""


def agent_keys(path: str, *, timeout_s: float = _TIMEOUT_S) -> tuple[str, ...]:
    """Return the Ed25519 keys that the agent at a socket holds, as public key lines.

    Raises:
        NoKey: there is no agent, or its answer is none.
    """
    kind, answer = _ask(path, bytes([_LIST]), timeout_s)
    if kind != _LISTED:
        raise _odd(path, f"type {kind} where its keys should come")
    strings = list(_strings(path, answer[4:]))
    keys, comments = strings[::2], strings[1::2]
    if not len(keys) == len(comments) == int.from_bytes(answer[:4]) or len(answer) < _LENGTH:
        raise _odd(path, "a list of keys that does not end where it says")
    start = _KIND + struct.pack(">I", _KEY_BYTES)
    return tuple(
        public_line(blob[len(start) :])
        for blob in keys
        if blob.startswith(start) and len(blob) == len(start) + _KEY_BYTES
    )


def agent_signer(path: str, keys: Sequence[str], *, timeout_s: float = _TIMEOUT_S) -> Signer:
    """Return a signer with the first of `keys` that the agent at a socket holds.

    Raises:
        NoKey: there is no agent, or it holds none of them.
    """
    held = agent_keys(path, timeout_s=timeout_s)
    found = next((key for key in keys if key in held), None)
    if found is None:
        wanted = " or ".join(map(fingerprint, keys))
        has = ", ".join(map(fingerprint, held)) or "no Ed25519 key"
        raise NoKey(
            f"the SSH agent does not hold {wanted}; it holds {has}", hint="add it with `ssh-add FILE`, then try again"
        )
    raw = raw_public(found)
    return Signer(raw, lambda content: _sign(path, raw, content, timeout_s))


def _sign(path: str, raw: bytes, content: bytes, timeout_s: float) -> bytes:
    public = _KIND + _string(raw)
    kind, answer = _ask(path, bytes([_SIGN]) + _string(public) + _string(content) + bytes(4), timeout_s)
    if kind == _FAILURE:
        raise NoKey(
            f"the SSH agent refused to sign with {fingerprint(public_line(raw))}",
            hint="confirm what it asks, or unlock it; nothing was written",
        )
    parts = list(_strings(path, answer)) if kind == _SIGNED else []
    start = _KIND + struct.pack(">I", 64)
    signature = parts[0].removeprefix(start) if len(parts) == 1 else b""
    if not check_raw(raw, content, signature):
        raise _odd(path, "a signature that is none of this key")
    return signature


def _ask(path: str, request: bytes, timeout_s: float) -> tuple[int, bytes]:
    until = time.monotonic() + timeout_s
    try:
        with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as agent:
            agent.settimeout(timeout_s)
            agent.connect(path)
            agent.sendall(_string(request))
            length = int.from_bytes(_read(agent, 4, until))
            if not 1 <= length <= _MAX_ANSWER:
                raise _odd(path, f"{length} bytes; 1 to {_MAX_ANSWER} are an answer")
            answer = _read(agent, length, until)
    except TimeoutError:
        raise NoKey(
            f"the SSH agent at {path} did not answer within {timeout_s:g} s; nothing was written",
            hint="answer what it asks in time, or use a key file with `--sign-key FILE`",
        ) from None
    except (OSError, ValueError) as error:
        raise NoKey(
            f"the SSH agent at {path} cannot be asked: {error}",
            hint="start one, and let SSH_AUTH_SOCK name its socket",
        ) from None
    return answer[0], answer[1:]


def _read(agent: socket.socket, length: int, until: float) -> bytes:
    content = b""
    while len(content) < length:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        agent.settimeout(left)
        more = agent.recv(length - len(content))
        if not more:
            raise OSError(f"it closed the connection after {len(content)} of {length} bytes")
        content += more
    return content


def _string(content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + content


def _strings(path: str, content: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(content):
        end = at + 4 + int.from_bytes(content[at : at + 4])
        if end > len(content) or at + 4 > len(content):
            raise _odd(path, "a string that does not end where it says")
        yield content[at + 4 : end]
        at = end


def _odd(path: str, what: str) -> NoKey:
    return NoKey(f"the SSH agent at {path} answers {what}", hint="look at what SSH_AUTH_SOCK names")
