"""A model API of our own on 127.0.0.1: four wire formats, whole or streamed, misbehaving on request.

    python -m tests.agents.fake_api [--port 8931] [--log requests.jsonl]

prints its address once it listens, and serves until it is ended. In a test:

    with FakeApi() as api:
        api.url         # http://127.0.0.1:PORT, without a path
        api.requests    # what came in, in order
        api.idle()      # waits until no connection is being served

It serves our own agents and real coding agents alike; no key and no network are needed. What it answers stands in the
prompt (`fake_script`); a test may answer by a function of its own instead: `FakeApi(answer)`.

| path | wire format |
| --- | --- |
| `/v1/messages` | Anthropic Messages; `/v1/messages/count_tokens` too |
| `/v1/responses` | OpenAI Responses |
| `/v1/chat/completions` | OpenAI Chat Completions |
| `/v1beta/models/NAME:generateContent`, `:streamGenerateContent`, `:countTokens` | Gemini |
| `/v1/models`, `/v1beta/models` | a list of one model |
"""

import argparse
import gzip
import itertools
import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, Self

from tests.agents.fake_script import Answer, Question, play, read_question
from tests.agents.fake_wires import Event, events, text_events, whole

__all__ = ["Answerer", "FakeApi", "Request"]

Answerer = Callable[[Question], Answer]
BOUND_S: Final = 20.0
_KEYS: Final = ("authorization", "x-api-key", "x-goog-api-key")
_PATHS: Final = {"/messages": "messages", "/responses": "responses", "/chat/completions": "chat"}
_BLOCK: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What came in. The log file leaves out the keys that this holds."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


class FakeApi:
    """The API while the block runs; everything it started has ended when the block has."""

    def __init__(self, answer: Answerer = play, *, port: int = 0, log: Path | None = None) -> None:
        self.requests: list[Request] = []
        self.answer = answer
        self._log = log
        self._changed = threading.Condition()
        self._serving = 0
        self._stopping, self._stopped = socket.socketpair()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.api = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.close()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(BOUND_S)
        self._stopped.close()

    def idle(self) -> None:
        """Wait until every connection has ended: whoever gave up a call has hung up."""
        with self._changed:
            assert self._changed.wait_for(lambda: not self._serving, BOUND_S), "a connection is still being served"

    def busy(self) -> None:
        """Wait until a question has come in and is being served."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._serving and self.requests, BOUND_S), "no question came in"

    def note(self, request: Request) -> None:
        with self._changed:
            self.requests.append(request)
            if self._log:
                headers = {name: "(set)" if name in _KEYS else value for name, value in request.headers.items()}
                line = {"method": request.method, "path": request.path, "headers": headers, "body": request.body}
                with self._log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"time": round(time.time(), 3), **line}) + "\n")
            self._changed.notify_all()

    def count(self, change: int) -> None:
        with self._changed:
            self._serving += change
            self._changed.notify_all()

    def wait(self, connection: socket.socket, seconds: float | None) -> None:
        """Wait so long, at most until the client hangs up or this ends.

        Raises:
            ConnectionError: one of the two has happened.
        """
        if select.select([connection, self._stopped], [], [], seconds)[0]:
            raise ConnectionError


class _Server(ThreadingHTTPServer):
    # Threads are joined when the server is closed.
    daemon_threads = False
    api: FakeApi

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients hang up on purpose here."""

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        self.api.count(1)
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.api.count(-1)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def _api(self) -> FakeApi:
        assert isinstance(self.server, _Server)
        return self.server.api

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._send_json({})

    def do_GET(self) -> None:
        self._note(None)
        path = self.path.partition("?")[0]
        if path.endswith("/v1beta/models"):
            limits = {"inputTokenLimit": 200_000, "outputTokenLimit": 8192}
            self._send_json(
                {"models": [{"name": "models/fake-1", **limits, "supportedGenerationMethods": ["generateContent"]}]}
            )
        elif path.endswith("/models"):
            model = {"id": "fake-1", "type": "model", "object": "model", "display_name": "fake-1", "created": 1}
            self._send_json({"object": "list", "has_more": False, "data": [{**model, "owned_by": "loopback"}]})
        else:
            self._send_error(404, f"nothing at {path}")

    def do_POST(self) -> None:
        body = self._read_body()
        self._note(body)
        path = self.path.partition("?")[0]
        api = next((name for ending, name in _PATHS.items() if path.endswith(ending)), "")
        model = ""
        if path.endswith("/count_tokens"):
            self._send_json({"input_tokens": 100})
        elif path.endswith(":countTokens"):
            self._send_json({"totalTokens": 100})
        elif api or "generatecontent" in path.lower():
            model = "" if api else path.rpartition("/")[2].partition(":")[0]
            question = read_question(api or "gemini", model, body)
            if "stream" in path.lower():
                question = replace(question, is_stream=True)
            self._answer(question)
        else:
            self._send_error(404, f"nothing at {path}")

    def _read_body(self) -> Any:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            content = b""
            while size := int(self.rfile.readline().strip() or b"0", 16):
                content += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            content = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            content = gzip.decompress(content)
        try:
            return json.loads(content or b"{}")
        except ValueError:
            return {"unreadable_bytes": len(content)}

    def _note(self, body: Any) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._api.note(Request(method=self.command, path=self.path, headers=headers, body=body))

    def _answer(self, question: Question) -> None:
        answer = self._api.answer(question)
        if answer.sleep_s:
            self._api.wait(self.connection, answer.sleep_s)
        match answer.fault:
            case "fail":
                self._send_error(int(answer.value), f"scripted failure {answer.value}")
            case "redirect":
                self._send_json({}, status=307, more={"location": answer.value})
            case "hang":
                self._api.wait(self.connection, None)
            case _ if question.is_stream and answer.fault != "plain":
                self._begin_stream()
                self._stream(question, answer)
            case _:
                self._send_json(whole(question, answer))

    def _stream(self, question: Question, answer: Answer) -> None:
        stream = list(events(question, answer))
        middle = next((index for index, event in enumerate(stream) if event.is_end), len(stream))
        match answer.fault:
            case "stall":
                self._send(stream[:middle])
                self._api.wait(self.connection, None)
            case "cut":
                # A size is announced that never comes: the client sees the connection break.
                self._send(stream[:middle])
                self.wfile.write(b"1000\r\n")
            case "short":
                self._send(stream[:middle])
                self.wfile.write(b"0\r\n\r\n")
            case "drip":
                for byte in b"".join(event.bytes() for event in stream):
                    self._chunk(bytes([byte]))
                    self._api.wait(self.connection, float(answer.value))
            case "flood":
                long = replace(answer, text="x" * _BLOCK)
                pieces = (event.bytes() for event in text_events(question, long))
                self._flood(pieces, int(answer.value))
            case "endless":
                self._flood(itertools.chain([b"data: "], itertools.repeat(b"x" * _BLOCK)), int(answer.value))
            case "comments":
                self._flood(itertools.repeat(b": " + b"." * 65_533 + b"\n"), int(answer.value))
            case "garbage":
                self._send([*stream[:middle], Event("", "{not json"), *stream[middle:]])
                self.wfile.write(b"0\r\n\r\n")
            case _:
                self._send(stream)
                self.wfile.write(b"0\r\n\r\n")

    def _flood(self, pieces: Iterable[bytes], size: int) -> None:
        sent = 0
        for piece in pieces:
            self._chunk(piece)
            sent += len(piece)
            if sent >= size:
                break

    def _send(self, stream: Iterable[Event]) -> None:
        for event in stream:
            self._chunk(event.bytes())

    def _chunk(self, content: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(content), content))

    def _begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-cache")
        self.send_header("transfer-encoding", "chunked")
        self._end_headers()

    def _send_json(
        self, value: Mapping[str, Any], *, status: int = 200, more: Mapping[str, str] | None = None
    ) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        for name, text in (more or {}).items():
            self.send_header(name, text)
        self._end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _end_headers(self) -> None:
        self.send_header("x-request-id", "req_fake-0001")
        self.send_header("request-id", "req_fake-0001")
        self.send_header("connection", "close")
        self.close_connection = True
        self.end_headers()

    def _send_error(self, status: int, message: str) -> None:
        key = next((self.headers[name] for name in _KEYS if name in self.headers), "none")
        error = {"type": "api_error", "message": f"{message}; the key was {key}"}
        self._send_json({"type": "error", "error": error}, status=status, more={"retry-after": "7"})


def main() -> None:
    parser = argparse.ArgumentParser(description="A model API of our own on 127.0.0.1.")
    parser.add_argument("--port", type=int, default=8931)
    parser.add_argument("--log", type=Path)
    given = parser.parse_args()
    with FakeApi(port=given.port, log=given.log) as api:
        print(api.url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
