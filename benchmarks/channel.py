"""What the commands of a channel cost beside the public tool's: CPU and peak memory of one process each.

    python benchmarks/channel.py [--sizes 100,1000,10000,100000] [--runs 7]

Entries of 1 kB in threads of five, the last one open. *plain* is a channel of the public tool, measured with both;
*chained* and *signed* are ours. Each command runs in a process of its own, both tools in turns; CPU is user and
system time, and of the runs the better half counts, since a busy neighbour slows runs and speeds up none. The index
is there, as after any post of ours. `watch-once` has nothing to do.

Exits with 1 where a bar of the mailbox is missed; the bars are printed last.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from counterpoint.cli.channel import COMMANDS
from counterpoint.record.block import ZEROS, render
from counterpoint.record.genesis import genesis_draft
from counterpoint.record.signing import Signer, load_key
from counterpoint.record.store import Draft, Genesis

ROOT = Path(__file__).resolve().parent.parent
PUBLIC = ROOT / ".venv" / "oracle" / "bin" / "debate"
OURS = Path(sys.executable).with_name("counterpoint")
NAME = "bench-00001"
STAMP = "2026-07-06T14:07:48+00:00"
LINE = "The backoff in `retry.py` doubles once too often, so that the last wait is longer than the deadline. "
TEXT = (LINE * 11)[:1000].strip()
EACH = 5
PARTIES = ("claude", "glm")


class Cost(NamedTuple):
    cpu_ms: float
    peak_mib: float


class Place(NamedTuple):
    root: Path
    form: str
    size: int


def drafts(size: int) -> Iterator[Draft]:
    """Yield entries in threads of five, of which the last has no close."""
    for n in range(1, size + 1):
        step = (n - 1) % EACH
        kind = "question" if step == 0 else "close" if step == EACH - 1 and n < size else "info"
        yield Draft(stamp=STAMP, sender=PARTIES[step % 2], type=kind, thread=f"thread-{(n - 1) // EACH}", text=TEXT)


def make(folder: Path, form: str, size: int, key: Signer) -> Place:
    root = folder / f"{form}-{size}"
    root.mkdir()
    with (root / f"{NAME}.channel.md").open("wb") as file:
        if form == "plain":
            for n, draft in enumerate(drafts(size), 1):
                head = f"## MSG-{n} | {STAMP} | from: {draft.sender} | type: {draft.type} | thread: {draft.thread}"
                file.write(f"\n{head} | refs: -\n\n{TEXT}\n".encode())
        else:
            keys = (key.public,) if form == "signed" else ()
            channel_id = digest(f"{form} {size}".encode())[:32]
            genesis = Genesis(channel_id=channel_id, mode="shared", roster=(*PARTIES, "owner"), keys=keys)
            prev = ZEROS
            for n, draft in enumerate([genesis_draft(genesis, stamp=STAMP, sender="owner"), *drafts(size)]):
                sign = key.sign if keys else None
                block = render(draft, n=n, channel_id=channel_id, prev=prev, sign=sign, strict=False)
                prev = digest(block)
                file.write(b"\n%b\n" % block)
    last = list(drafts(size))[-1]
    bell = {"seq": size, "turn": PARTIES[last.sender == PARTIES[0]], "thread": last.thread}
    settings = {"parties": list(PARTIES), "supervisor": "owner", "thread_cap": 10**6, "name": NAME, "project": None}
    write(root / f"{NAME}.signal.json", {**bell, "last_entry": f"MSG-{size}", "updated_at": STAMP})
    write(root / f"{NAME}.debate.json", {**settings, "managed_version": 1})
    commands = {party: ["true", "{prompt}"] for party in PARTIES}
    watcher = {"state_path": str(folder / "watch" / f"{form}-{size}.json"), "commands": commands}
    write(folder / f"{form}-{size}.watcher.json", {**watcher, "debounce_seconds": dict.fromkeys(PARTIES, 10**9)})
    return Place(root, form, size)


def digest(block: bytes) -> str:
    import hashlib  # noqa: PLC0415 - one line of use

    return hashlib.sha256(block).hexdigest()


def write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2))


def words(command: str, place: Place) -> list[str]:
    root = ["--root", str(place.root)]
    if command == "post":
        bell = json.loads((place.root / f"{NAME}.signal.json").read_bytes())
        said = ["--from", bell["turn"], "--type", "info", "--thread", bell["thread"], "--body", TEXT]
        return ["post", *root, *said]
    if command == "watch-once":
        config = place.root.with_name(f"{place.root.name}.watcher.json")
        return ["watch-once", *root, "--config", str(config)]
    return [command, *root]


MEASURER = """
import json, os, sys
for line in sys.stdin:
    words = json.loads(line)
    pid = os.fork()
    if not pid:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1):
            os.dup2(nowhere, number)
        os.execv(words[0], words)
    _, status, usage = os.wait4(pid, 0)
    cpu = (usage.ru_utime + usage.ru_stime) * 1000
    print(json.dumps([os.waitstatus_to_exitcode(status), cpu, usage.ru_maxrss / 1024]), flush=True)
"""
"""Starts programs from a small process: the peak of a new one counts what its parent was when it began."""


class Measurer:
    def __init__(self, home: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", MEASURER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "HOME": str(home)},
        )

    def run(self, program: Sequence[str | Path], command: str, place: Place) -> Cost:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([*map(str, program), *words(command, place)]) + "\n")
        self.process.stdin.flush()
        code, cpu_ms, peak_mib = json.loads(self.process.stdout.readline())
        if code:
            raise SystemExit(f"{program[-1]} {command} on {place.root.name} ended with {code}")
        return Cost(cpu_ms, peak_mib)


def better_half(costs: Sequence[Cost]) -> Cost:
    best = sorted(costs)[: (len(costs) + 1) // 2]
    return Cost(statistics.mean(cost.cpu_ms for cost in best), min(cost.peak_mib for cost in costs))


def measure(measurer: Measurer, places: Sequence[Place], runs: int) -> dict[tuple[str, str, str, int], Cost]:
    """Return by tool, form, command and size what it costs."""
    known = [name for name in ("post", "read", "status", "watch-once", "verify") if name in COMMANDS]
    tools: dict[str, list[str | Path]] = {"debate": [PUBLIC], "counterpoint": [OURS, "channel"]}
    found: dict[tuple[str, str, str, int], Cost] = {}
    for place in places:
        measurer.run(tools["counterpoint"], "post", place)
        for command in known:
            chosen = tools if place.form == "plain" else {"counterpoint": tools["counterpoint"]}
            if command == "verify" and place.form == "signed":
                continue
            costs: dict[str, list[Cost]] = {tool: [] for tool in chosen}
            for _ in range(runs):
                for tool, program in chosen.items():
                    costs[tool].append(measurer.run(program, command, place))
            for tool, listed in costs.items():
                found[tool, place.form, command, place.size] = better_half(listed)
                cost = found[tool, place.form, command, place.size]
                head = f"{tool:13} {place.form:8} {command:11} {place.size:8}"
                print(f"{head} {cost.cpu_ms:8.0f} {cost.peak_mib:8.0f}", flush=True)
    return found


def bars(found: dict[tuple[str, str, str, int], Cost], sizes: Sequence[int]) -> Iterator[tuple[str, float, float]]:
    """Yield what each bar is about, what was measured and what is allowed."""
    short, long = min(sizes), max(sizes)
    reference = found["debate", "plain", "post", short].cpu_ms
    for form, most in (("plain", 0.6), ("chained", 0.6), ("signed", 0.75)):
        yield f"post, {form}, CPU beside debate", found["counterpoint", form, "post", short].cpu_ms / reference, most
    for form in ("plain", "chained", "signed"):
        for command in ("post", "read", "status", "watch-once"):
            if ("counterpoint", form, command, long) not in found:
                continue
            cost = found["counterpoint", form, command, long]
            before = found["counterpoint", form, command, short]
            yield f"{command}, {form}, CPU at {long} beside {short}", cost.cpu_ms / before.cpu_ms, 1.3
            yield f"{command}, {form}, peak MiB at {long}", cost.peak_mib, 40
    for form, most in (("plain", 1.0), ("chained", 1.5)):
        for size in sizes:
            theirs = found["debate", "plain", "verify", size].cpu_ms
            ours = found["counterpoint", form, "verify", size].cpu_ms
            yield f"verify, {form}, CPU beside debate at {size}", ours / theirs, most


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--sizes", default="100,1000,10000,100000")
    given.add_argument("--runs", type=int, default=7)
    options = given.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    if not PUBLIC.exists():
        print("the public tool is not set up; `make test` does that")
        return 0
    with tempfile.TemporaryDirectory(prefix="bench-channel-") as name:
        folder = Path(name)
        (folder / "watch").mkdir()
        key = make_machine_key(folder)
        print(f"{'tool':13} {'form':8} {'command':11} {'messages':>8} {'CPU ms':>8} {'MiB':>8}")
        places = [make(folder, form, size, key) for form in ("plain", "chained", "signed") for size in sizes]
        found = measure(Measurer(folder), places, options.runs)
    missed = 0
    print()
    for what, measured, most in bars(found, sizes):
        is_met = measured <= most
        missed += not is_met
        print(f"{what:52} {measured:8.2f} {'<=' if is_met else '>  MISSED'} {most}")
    return 1 if missed else 0


def make_machine_key(folder: Path) -> Signer:
    """Let the command line make its key in a home of its own, and return it."""
    root = folder / "first"
    command: list[str | Path] = [
        OURS,
        "channel",
        "init",
        "--root",
        root,
        "--parties",
        ",".join(PARTIES),
        "--label",
        "first",
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "HOME": str(folder)})
    path = folder / ".local" / "state" / "counterpoint" / "machine-key"
    return load_key(path.read_bytes(), source=str(path))


if __name__ == "__main__":
    sys.exit(main())
