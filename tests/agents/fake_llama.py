"""The program of the local model's server over a stand-in for the library: it answers whether it is ready, no more.

`python -m tests.agents.fake_llama MODEL --name N --threads 1 --context 512`. The model `broken` cannot be loaded, the
model `sick` is never ready.
"""

import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import ModuleType, SimpleNamespace
from typing import Any

from counterpoint.agents import llama


class _Health(BaseHTTPRequestHandler):
    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class Server:
    def __init__(self, settings: Any) -> None:
        if settings.model.path == "broken":
            raise RuntimeError("no such model")
        health = type("Health", (_Health,), {"status": 503 if settings.model.path == "sick" else 200})
        http = HTTPServer((settings.hostnames[0], settings.port), health)
        threading.Thread(target=http.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{http.server_port}"


def _params() -> SimpleNamespace:
    return SimpleNamespace(model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace())


if __name__ == "__main__":
    library: Any = ModuleType("xllamacpp")
    library.CommonParams, library.Server = _params, Server
    sys.modules["xllamacpp"] = library
    sys.exit(llama.main(sys.argv[1:]))
