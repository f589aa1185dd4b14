"""One request to a model's API, and the events of its answer. The only module that speaks HTTP to a provider.

- One request: no retry, no redirect, no proxy out of the environment, no second address. The answer is a stream.
- An answer has a time limit over all of it and a size limit, for one event and in total. Nothing is decompressed.
- Ending the task hangs up: no connection outlives the call.
- The key is not repeated, neither in an error nor in a line of progress.
"""

import asyncio
import functools
import json
import ssl
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from counterpoint.core.canonical import visible
from counterpoint.errors import AgentError, BadReply, TurnTimeout, Unreachable
from counterpoint.isolation.environment import holds_secret, secrets_in, without_secrets

if TYPE_CHECKING:
    from httpx2 import Response

__all__ = ["MAX_EVENT_BYTES", "MAX_STREAM_BYTES", "Call", "Key", "exchange", "shown"]

MAX_EVENT_BYTES: Final = 8 << 20
"""For one event of a stream."""
MAX_STREAM_BYTES: Final = 64 << 20
"""For all of an answer: a stream sends about a hundred bytes for each one of text."""
_MAX_ERROR_BYTES: Final = 64 << 10
_CONNECT_S: Final = 30.0
_SHOWN: Final = 300
_OK: Final = 200
_REDIRECTS: Final = range(300, 400)
_FAILURES: Final = range(500, 600)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Key:
    """A credential and the name of the variable that it came from."""

    variable: str = ""
    value: str = ""

    def hide(self, text: str) -> tuple[str, bool]:
        """Return `text` with the key replaced by its variable's name, and whether it stood there."""
        clean, found = without_secrets(text, self._named)
        return clean, bool(found)

    def stands_in(self, text: str) -> bool:
        """Say whether a text holds the key, in JSON also where it is written with escapes."""
        return bool(secrets_in(text, self._named))

    @property
    def _named(self) -> Mapping[str, str]:
        return {self.variable if holds_secret(self.variable, self.value) else "API_KEY": self.value}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Call:
    """One request."""

    agent: str
    """The agent's name in the settings, for errors."""
    url: str
    headers: Mapping[str, str]
    body: bytes
    key: Key
    timeout_s: float


def shown(text: str, key: Key) -> str:
    """Return what a provider said, for an error: one line, cut, without the key."""
    line = " ".join(visible(key.hide(text)[0]).split())
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"


async def exchange(call: Call, take: Callable[[str], bool]) -> None:
    """Send the request, and hand over the data of each event until `take` says that the answer is whole.

    Raises:
        TurnTimeout: the answer was not there in time.
        Unreachable: there was no connection, it broke, or the provider answered with a failure.
        BadReply: what came back is no stream of events, or has no end.
    """
    # A tenth of a second of imports, for whoever asks a model.
    import httpx2  # noqa: PLC0415

    limits = httpx2.Timeout(None, connect=min(_CONNECT_S, call.timeout_s))
    try:
        async with (
            asyncio.timeout(call.timeout_s),
            httpx2.AsyncClient(
                trust_env=False, follow_redirects=False, timeout=limits, verify=_trusted(urlsplit(call.url).scheme)
            ) as client,
            client.stream("POST", call.url, headers=_headers(call), content=call.body) as response,
        ):
            await _demand_stream(call, response)
            await _read_events(call, response, take)
    except TimeoutError:
        raise TurnTimeout(
            f"{call.agent!r} did not answer within {call.timeout_s:g} s",
            hint="raise its timeout_s, or lower its effort",
        ) from None
    except httpx2.ConnectError as error:
        raise _unreachable(
            call, "cannot be reached", error, hint="is the address right, and the server up?"
        ) from None
    except httpx2.TransportError as error:
        raise _unreachable(call, "broke off", error, hint="try again; nothing was repeated by itself") from None


def _headers(call: Call) -> dict[str, str]:
    return {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "accept-encoding": "identity",
        "user-agent": "counterpoint",
        **call.headers,
    }


@functools.cache
def _trusted(scheme: str) -> ssl.SSLContext:
    """Return the certificates to trust, read once; none where no TLS is spoken."""
    if scheme == "http":
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    import httpcore2  # noqa: PLC0415 - as in `exchange`

    return httpcore2.default_ssl_context()


def _unreachable(call: Call, what: str, error: Exception, *, hint: str) -> Unreachable:
    said = shown(str(error) or type(error).__name__, call.key)
    return Unreachable(f"{_host(call.url)} {what}: {said}", hint=hint)


def _host(url: str) -> str:
    return urlsplit(url).netloc


async def _demand_stream(call: Call, response: "Response") -> None:
    """Go on where the answer is a stream of events.

    Raises:
        AgentError: it is a failure, a redirect or something else; the error says what the provider said of it.
    """
    status = response.status_code
    if status in _REDIRECTS:
        to = shown(response.headers.get("location", "nowhere"), call.key)
        raise Unreachable(
            f"{_host(call.url)} answered {status}, a redirect to {to}; redirects are not followed",
            hint="set `base_url` to the address itself",
        )
    if status != _OK:
        raise await _failure(call, response)
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "text/event-stream":
        raise BadReply(
            f"{_host(call.url)} answered with {shown(kind, call.key) or 'no content type'}; text/event-stream was "
            "asked for",
            hint="use a server that streams",
        )
    if response.headers.get("content-encoding", "identity") != "identity":
        raise BadReply(f"{_host(call.url)} compressed its answer; identity was asked for")


async def _failure(call: Call, response: "Response") -> AgentError:
    status, content = response.status_code, b""
    async with aclosing(response.aiter_raw()) as pieces:
        async for piece in pieces:
            content += piece
            if len(content) > _MAX_ERROR_BYTES:
                break
    said = shown(_message(content), call.key)
    request = response.headers.get("x-request-id") or response.headers.get("request-id")
    about = f"; request {shown(request, call.key)}" if request else ""
    wait = response.headers.get("retry-after")
    later = f" after {shown(wait, call.key)} s" if wait else ""
    match status:
        case 401 | 403:
            hint = f"look at the key in {call.key.variable}" if call.key.variable else "set `key_variable`"
        case 404:
            hint = "look at `model` and `base_url`"
        case 408 | 429 | 529:
            hint = f"try again{later}; nothing was repeated by itself"
        case _ if status in _FAILURES:
            hint = f"try again{later}; nothing was repeated by itself"
        case _:
            hint = "look at the agent's settings; the provider refuses the request as it is"
    return Unreachable(f"{_host(call.url)} answered {status}: {said or 'nothing'}{about}", hint=hint)


def _message(content: bytes) -> str:
    """Return the message in an error's body, in whichever of the usual places it stands."""
    text = content.decode("utf-8", "replace")
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(found, list) and found:
        found = found[0]
    match found:
        case {"error": {"message": str() as message}} | {"error": str() as message} | {"message": str() as message}:
            return message
        case _:
            return text


async def _read_events(call: Call, response: "Response", take: Callable[[str], bool]) -> None:
    events = _Events()
    received = 0
    # Closed here, not by the garbage collector: an answer may be whole before its stream is.
    async with aclosing(response.aiter_raw()) as pieces:
        async for piece in pieces:
            received += len(piece)
            if received > MAX_STREAM_BYTES:
                raise _too_long(call, MAX_STREAM_BYTES)
            if any(map(take, events.feed(piece))):
                return
            if events.held > MAX_EVENT_BYTES:
                raise _too_long(call, MAX_EVENT_BYTES)


def _too_long(call: Call, limit: int) -> BadReply:
    return BadReply(f"{_host(call.url)} sent more than {limit} bytes; no more are read")


class _Events:
    """Server-sent events out of the bytes of a stream: the data of each, and no more.

    Names, ids and comments are passed over: the formats that name their events say the name in the data too.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._kept = 0

    @property
    def held(self) -> int:
        """How many bytes are kept of an event that is not whole."""
        return len(self._rest) + self._kept

    def feed(self, piece: bytes) -> list[str]:
        """Return the data of the events that end in this piece.

        Raises:
            BadReply: it is not UTF-8.
        """
        self._rest += piece
        if b"\n" not in piece:
            return []
        *lines, self._rest = self._rest.split(b"\n")
        found = []
        for line in lines:
            text = bytes(line).removesuffix(b"\r")
            if text.startswith(b"data:"):
                self._data.append(text[5:].removeprefix(b" "))
                self._kept += len(text)
            elif not text and self._data:
                found.append(_decoded(b"\n".join(self._data)))
                self._data, self._kept = [], 0
        return found


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadReply(f"an event of the answer is not UTF-8 at byte {error.start}") from None
