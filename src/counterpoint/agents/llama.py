"""The program that serves one model file on 127.0.0.1, with llama.cpp's HTTP server. `local` starts it by its path.

It prints its address once the server says that it is ready, and then nothing more. It ends when nobody is left who
reads what it prints: a driver that is killed takes its server with it. Whoever asks it a question needs the key.
"""

import argparse
import importlib
import os
import select
import sys
from collections.abc import Sequence
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

__all__ = ["KEY_VARIABLE", "main"]

KEY_VARIABLE: Final = "LOCAL_SERVER_KEY"
"""Holds the key that every request has to show: other users of the machine can reach the port, too."""
_READY_S: Final = 60.0
_OK: Final = 200


def main(arguments: Sequence[str]) -> int:
    """Serve until nobody reads any more, and return 0."""
    options = _options(arguments)
    # Installed where somebody wants it.
    xllamacpp: Any = importlib.import_module("xllamacpp")
    settings = xllamacpp.CommonParams()
    settings.model.path = str(options.model)
    settings.model_alias = {options.name}
    settings.n_ctx = options.context
    settings.n_parallel = 1
    settings.cpuparams.n_threads = options.threads
    settings.cpuparams_batch.n_threads = options.threads
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.api_keys = [os.environ[KEY_VARIABLE]]
    settings.use_jinja = True
    settings.offline = True
    settings.ui = False
    settings.endpoint_slots = False
    settings.verbosity = 1
    try:
        server = xllamacpp.Server(settings)
    except RuntimeError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    address: str = server.listening_address
    if (status := _health(address)) != _OK:
        sys.stderr.write(f"the server answers {status} when it is asked whether it is ready\n")
        return 1
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    _until_nobody_reads()
    return 0


def _health(address: str) -> int:
    """Ask the server through its port; its constructor returns when the model is loaded."""
    with closing(HTTPConnection(urlsplit(address).netloc, timeout=_READY_S)) as connection:
        connection.request("GET", "/health")
        return connection.getresponse().status


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("model", type=Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--context", type=int, required=True)
    return parser.parse_args(arguments)


def _until_nobody_reads() -> None:
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)  # errors and hang-ups are told in any case
    poll.poll()


if __name__ == "__main__":
    code = main(sys.argv[1:])
    # The server's threads are not waited for: there is nothing that they could lose.
    os._exit(code)
