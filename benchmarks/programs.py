"""What an agent that is a program costs above its floor: our CPU time of a turn, beside one bare spawn.

    python benchmarks/programs.py [--turns 40]

The program is a shell that reads its input and prints a kept answer, in the shape of each coding agent's events. The
floor is `subprocess.run` of the same program with the same input. Only the asking side is counted, turn about in one
run; the least of the turns is shown. A prompt of 50 kB, an answer of 4 kB. The aim is at most 15 ms above the floor.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from counterpoint.agents.base import Agent, Workspace, render_prompt
from counterpoint.agents.command import CommandAgent, CommandProfile
from counterpoint.agents.headless import HeadlessAgent, HeadlessProfile
from counterpoint.agents.profiles import CLIENTS
from counterpoint.core.briefs import Brief
from counterpoint.core.values import Turn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.agents.client_peer import SPEECH

AIM_MS = 15.0
DEADLINE = datetime(2030, 1, 1, tzinfo=UTC)
ANSWER = json.dumps({"summary": "fine " * 800, "approved": True})
BRIEF = Brief(instructions="Judge it.", payload={"change": "x" * 50_000 + "\n"}, schema={}, shown_paths=())


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


def agent(folder: Path, kind: str, path: Path) -> Agent:
    if kind == "command":
        command = CommandProfile(name=kind, command=(str(path),), destination="local", timeout_s=60)
        return CommandAgent(command, environ={"PATH": "/usr/bin:/bin"})
    profile = HeadlessProfile(name=kind, destination="local", timeout_s=60, homes=folder / "homes", program=str(path))
    return HeadlessAgent(CLIENTS[kind], profile, environ={"PATH": "/usr/bin:/bin"})


def measure(kind: str, turns: int) -> tuple[float, float]:
    """Return the least CPU time of a bare spawn and of a turn, in milliseconds."""
    bare, asked = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = program(folder, kind)
        asking = agent(folder, kind, path)
        turn = Turn(phase="reviewing", round=1, seat="critic", ask=1)
        workspace = Workspace(tree=folder, scratch=folder, turn=turn)
        prompt = render_prompt(BRIEF).encode()
        for _ in range(turns):
            began = time.process_time()
            subprocess.run([str(path)], input=prompt, capture_output=True, check=True)
            middle = time.process_time()
            asyncio.run(asking.ask(BRIEF, workspace=workspace, deadline=DEADLINE, on_progress=lambda _line: None))
            bare.append(middle - began)
            asked.append(time.process_time() - middle)
    return 1000 * min(bare), 1000 * min(asked)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=40)
    turns = parser.parse_args().turns
    worst = 0.0
    print(f"{'agent':12} {'bare spawn':>11} {'turn':>9} {'above':>9}")
    for kind in ("command", *CLIENTS):
        bare, asked = measure(kind, turns)
        worst = max(worst, asked - bare)
        print(f"{kind:12} {bare:8.2f} ms {asked:6.2f} ms {asked - bare:6.2f} ms")
    print(f"at most {AIM_MS:g} ms above: {'yes' if worst <= AIM_MS else 'NO'}")
    return worst > AIM_MS


if __name__ == "__main__":
    sys.exit(main())
