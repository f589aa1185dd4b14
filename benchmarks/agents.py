"""What an agent costs above its floor: our CPU time of a turn of each agent, beside one bare request or bare spawn.

    python benchmarks/agents.py [--turns 40]

- Behind an API the floor is a bare request by the same HTTP library with a new connection, whose whole answer is
  read. The server is the fake API of the tests, in a process of its own. The aim is at most 5 ms above the floor.
- For a program it is `subprocess.run` of the same program with the same input: a shell that reads its input and
  prints a kept answer, in the shape of each coding agent's events. The aim is at most 15 ms above the floor.

Only the asking side is counted. Both are measured turn about in one run; the least of the turns is shown, since a
busy neighbour slows some and speeds up none. A prompt of 50 kB, an answer of 4 kB.
"""

import argparse
import asyncio
import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx2

from counterpoint.agents.base import Agent, render_prompt
from counterpoint.agents.command import CommandAgent, CommandProfile
from counterpoint.agents.headless import HeadlessAgent, HeadlessProfile
from counterpoint.agents.local import TINY, LocalAgent, LocalProfile
from counterpoint.agents.profiles import CLIENTS

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.agents.client_peer import SPEECH
from tests.agents.models import DEADLINE, KINDS, WORKSPACE, agent, brief

ROOT = Path(__file__).resolve().parent.parent
API_AIM_MS = 5.0
PROGRAM_AIM_MS = 15.0
PROMPT = "x" * 50_000
ANSWER = json.dumps({"summary": "fine " * 800, "approved": True})

Act = Callable[[], Awaitable[object]]


@contextmanager
def serving() -> Iterator[str]:
    """Run the fake API in a process of its own and give its address."""
    command = [sys.executable, "-m", "tests.agents.fake_api", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


async def spent_ms(act: Act) -> float:
    start = time.process_time()
    await act()
    return (time.process_time() - start) * 1000


async def least_ms(turn: Act, bare: Act, turns: int) -> tuple[float, float]:
    """Return the CPU milliseconds of a turn and of its floor, the least of each."""
    await turn()
    found = [(await spent_ms(turn), await spent_ms(bare)) for _ in range(turns)]
    return min(each[0] for each in found), min(each[1] for each in found)


async def behind_an_api(kind: str, address: str, turns: int) -> tuple[float, float]:
    model = agent("chat" if kind == "local" else kind, address + ("/v1" if kind == "local" else KINDS[kind].path))
    asked: Agent = model
    question = brief(f"{PROMPT}\n@@json {ANSWER}", effort="high")
    request, trusted = model.request(question), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if kind == "local":
        asked = LocalAgent(
            LocalProfile(
                name="critic",
                model="tiny",
                server=("sh", "-c", f"echo {address}; exec sleep 600"),
                timeout_s=60,
                max_output_tokens=4096,
                bounds=TINY,
            ),
            environ=os.environ,
        )

    async def turn() -> None:
        await asked.ask(question, workspace=WORKSPACE, deadline=DEADLINE, on_progress=lambda _line: None)

    async def bare() -> None:
        async with (
            httpx2.AsyncClient(trust_env=False, verify=trusted, timeout=30) as client,
            client.stream("POST", request.url, content=request.body, headers=request.headers) as response,
        ):
            assert len(await response.aread()) > len(ANSWER)

    return await least_ms(turn, bare, turns)


def program(folder: Path, kind: str) -> Path:
    """Write the program that answers as an agent of this kind does."""
    sys.argv = ["peer", "--usage-output-file", str(folder / "figures")]
    events = SPEECH[kind](ANSWER) if kind in SPEECH else [json.loads(ANSWER)]
    said = folder / f"{kind}.jsonl"
    said.write_text("".join(json.dumps(event) + "\n" for event in events))
    path = folder / kind
    path.write_text(f"#!/bin/sh\ncat >/dev/null\ncat {said}\n")
    path.chmod(0o755)
    return path


async def as_a_program(kind: str, folder: Path, turns: int) -> tuple[float, float]:
    path, environ = program(folder, kind), {"PATH": "/usr/bin:/bin"}
    asked: Agent
    if kind == "command":
        command = CommandProfile(name=kind, command=(str(path),), destination="local", timeout_s=60)
        asked = CommandAgent(command, environ=environ)
    else:
        profile = HeadlessProfile(
            name=kind, destination="local", timeout_s=60, homes=folder / "homes", program=str(path)
        )
        asked = HeadlessAgent(CLIENTS[kind], profile, environ=environ)
    question = brief(PROMPT)
    prompt = render_prompt(question).encode()
    workspace = replace(WORKSPACE, tree=folder, scratch=folder)

    async def turn() -> None:
        await asked.ask(question, workspace=workspace, deadline=DEADLINE, on_progress=lambda _line: None)

    def spawn() -> None:
        subprocess.run([str(path)], input=prompt, capture_output=True, check=True)

    async def bare() -> None:
        spawn()

    return await least_ms(turn, bare, turns)


def show(kind: str, found: tuple[float, float], aim_ms: float) -> bool:
    """Print one line, and say whether the agent is above its aim."""
    turn, bare = found
    above = turn - bare
    print(
        f"{kind:12} {bare:8.2f} ms {turn:8.2f} ms {above:8.2f} ms {turn / bare:7.2f}"
        f"  at most {aim_ms:g} ms: {'yes' if above <= aim_ms else 'NO'}"
    )
    return above > aim_ms


def main() -> int:
    parser = argparse.ArgumentParser(description="What an agent costs above its floor.")
    parser.add_argument("--turns", type=int, default=40)
    turns = parser.parse_args().turns
    over = 0
    print(f"{'agent':12} {'floor':>11} {'turn':>11} {'above':>11} {'ratio':>7}")
    with serving() as address, tempfile.TemporaryDirectory() as folder:
        for kind in (*KINDS, "local"):
            over += show(kind, asyncio.run(behind_an_api(kind, address, turns)), API_AIM_MS)
        for kind in ("command", *CLIENTS):
            over += show(kind, asyncio.run(as_a_program(kind, Path(folder), turns)), PROGRAM_AIM_MS)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
