"""What an agent costs above its floor: CPU time of a turn of each agent behind an API, beside one bare request.

    python benchmarks/agents.py [--turns 40]

The floor is a bare request by the same HTTP library with a new connection, whose whole answer is read. The server is
the fake API of the tests, in a process of its own, so that `process_time` counts the asking side alone. Both are
measured turn about in one run; the least of the turns is shown, since a busy neighbour slows some and speeds up none.
A prompt of 50 kB, an answer of 4 kB. The aim is at most 5 ms above the floor.
"""

import argparse
import asyncio
import json
import ssl
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.agents.models import DEADLINE, KINDS, WORKSPACE, agent, brief

AIM_MS = 5.0
PROMPT = "x" * 50_000
ANSWER = json.dumps({"summary": "fine " * 800, "approved": True})


@contextmanager
def serving() -> Iterator[str]:
    """Run the fake API in a process of its own and give its address."""
    command = [sys.executable, "-m", "tests.agents.fake_api", "--port", "0"]
    root = Path(__file__).resolve().parent.parent
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


async def spent_ms(act: Callable[[], Awaitable[object]]) -> float:
    start = time.process_time()
    await act()
    return (time.process_time() - start) * 1000


async def measure(kind: str, address: str, turns: int) -> tuple[float, float]:
    """Return the CPU milliseconds of a turn and of a bare request, the least of each."""
    asked = agent(kind, address + KINDS[kind].path)
    question = brief(f"{PROMPT}\n@@json {ANSWER}", effort="high")
    request, trusted = asked.request(question), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    async def turn() -> None:
        await asked.ask(question, workspace=WORKSPACE, deadline=DEADLINE, on_progress=lambda _line: None)

    async def bare() -> None:
        async with (
            httpx2.AsyncClient(trust_env=False, verify=trusted, timeout=30) as client,
            client.stream("POST", request.url, content=request.body, headers=request.headers) as response,
        ):
            assert len(await response.aread()) > len(ANSWER)

    await turn()
    found = [(await spent_ms(turn), await spent_ms(bare)) for _ in range(turns)]
    return min(each[0] for each in found), min(each[1] for each in found)


def main() -> int:
    parser = argparse.ArgumentParser(description="What an agent costs above its floor.")
    parser.add_argument("--turns", type=int, default=40)
    turns = parser.parse_args().turns
    over = 0
    with serving() as address:
        for kind in KINDS:
            turn, bare = asyncio.run(measure(kind, address, turns))
            over += turn - bare > AIM_MS
            print(
                f"{kind:9} turn {turn:5.2f} ms  bare request {bare:5.2f} ms  above {turn - bare:5.2f} ms"
                f"  ratio {turn / bare:4.2f}"
            )
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
