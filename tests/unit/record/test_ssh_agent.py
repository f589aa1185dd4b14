"""A peer at the agent's socket that is not what it should be: typed, bounded, and never believed."""

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from counterpoint.errors import NoKey
from counterpoint.record.signing import Signer, public_line
from counterpoint.record.ssh_agent import agent_keys, agent_signer
from tests.records import signer

_BOUND_S: Final = 20
CONTENT: Final = b"## MSG-1"


def _answering(tmp_path: Path, answer: Callable[[bytes], bytes], times: int) -> tuple[str, threading.Thread]:
    """Serve a peer that answers requests of the agent protocol as it is told, so many times."""
    path = os.path.relpath(tmp_path / "b.sock")
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(path)
    server.listen()
    server.settimeout(1)

    def serve() -> None:
        with closing(server):
            try:
                for _ in range(times):
                    connection = server.accept()[0]
                    with closing(connection):
                        connection.settimeout(1)
                        connection.sendall(answer(connection.recv(1 << 16)))
                        connection.recv(1)
            except OSError:
                return

    thread = threading.Thread(target=serve)
    thread.start()
    return path, thread


def _framed(content: bytes) -> bytes:
    return len(content).to_bytes(4) + content


def _listing(key: Signer) -> bytes:
    blob = _framed(b"ssh-ed25519") + _framed(key.raw_public)
    return _framed(b"\x0c" + (1).to_bytes(4) + _framed(blob) + _framed(b"a comment"))


def _signature(content: bytes) -> bytes:
    return _framed(b"\x0e" + _framed(_framed(b"ssh-ed25519") + _framed(content)))


_ODD: Final[dict[str, tuple[Callable[[bytes], bytes], str]]] = {
    "nothing": (lambda _: b"", "closed the connection|did not answer"),
    "half": (lambda _: _listing(signer(2))[:-3], "closed the connection|did not answer"),
    "too long": (lambda _: (1 << 30).to_bytes(4), "bytes; 1 to"),
    "empty": (lambda _: _framed(b""), "0 bytes"),
    "failure": (lambda _: _framed(b"\x05"), "type 5"),
    "more keys than it says": (lambda _: _framed(b"\x0c" + bytes(4) + _framed(b"x") * 2), "does not end where"),
    "a string beyond its end": (lambda _: _framed(b"\x0c" + b"\0\0\0\1" + b"\xff" * 6), "does not end where"),
    "no number": (lambda _: _framed(b"\x0c\0"), "does not end where"),
}


@pytest.mark.parametrize("case", _ODD)
def test_agent_that_answers_nonsense_is_named(tmp_path: Path, case: str) -> None:
    """An agent is not believed: typed, bounded in length and time."""
    answer, reason = _ODD[case]
    path, thread = _answering(tmp_path, answer, 1)
    began = time.monotonic()
    with pytest.raises(NoKey, match=reason):
        agent_keys(path, timeout_s=0.3)
    assert time.monotonic() - began < _BOUND_S
    thread.join(_BOUND_S)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (_framed(b"\x05"), "refused to sign"),
        (_signature(bytes(64)), "none of this key"),
        (_signature(signer(3).sign_raw(CONTENT)), "none of this key"),
        (_signature(signer(2).sign_raw(b"other")), "none of this key"),
        (_signature(b"short"), "none of this key"),
        (_framed(b"\x0e"), "none of this key"),
    ],
)
def test_agents_signature_is_checked_before_it_is_written(tmp_path: Path, answer: bytes, reason: str) -> None:
    """One wrong signature in the record, and nothing behind it could be relied on."""
    path, thread = _answering(tmp_path, lambda asked: _listing(signer(2)) if asked[4] == 11 else answer, 2)
    agents = agent_signer(path, [signer(4).public, signer(2).public], timeout_s=2)
    assert agents.public == public_line(signer(2).raw_public)
    with pytest.raises(NoKey, match=reason):
        agents.sign_raw(CONTENT)
    thread.join(_BOUND_S)
