"""HTTPS as the agents behind an API speak it: a server that nobody vouches for hears no key."""

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from counterpoint.errors import Unreachable
from tests.agents.models import DEADLINE, WORKSPACE, agent, brief
from tests.processes import finish


def own_certificate(folder: Path) -> ssl.SSLContext:
    """Return a server's context with a certificate for 127.0.0.1 that it signed itself."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    begins = datetime.now(UTC) - timedelta(days=1)
    alternative = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(begins + timedelta(days=2))
        .add_extension(alternative, critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


def test_a_server_that_nobody_vouches_for_hears_nothing(tmp_path: Path) -> None:
    """A-49: certificates are checked, and no setting switches that off."""
    heard: list[bytes] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(1))
        writer.close()

    async def ask() -> None:
        server = await asyncio.start_server(hear, "127.0.0.1", 0, ssl=own_certificate(tmp_path))
        async with server:
            port = server.sockets[0].getsockname()[1]
            asked = agent("chat", f"https://localhost:{port}/v1")
            await asked.ask(brief(), workspace=WORKSPACE, deadline=DEADLINE, on_progress=lambda _line: None)

    with pytest.raises(Unreachable, match=r"localhost:\d+ cannot be reached: .*certificate verify failed"):
        finish(ask())
    assert heard == []
