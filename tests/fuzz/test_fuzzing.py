"""Every parser of the record and the mailbox under bytes that nobody thought of (issue 4)."""

import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from counterpoint.record.block import ZEROS, render
from counterpoint.record.scan import scan
from tests import need
from tests.fuzz.targets import TARGETS
from tests.records import CHANNEL_ID, case_drafts, draft, file_of, record, shared_drafts, signer

SAMPLES: Final = need.ROOT / "tests" / "data" / "interop"
TOTAL_S: Final = 600
SHARE: Final = {"block": 0.3, "file": 0.4, "beside": 0.2, "words": 0.1}
"""Of the time, for each target."""
OTHERS: Final[tuple[Any, ...]] = ([], {}, None, True, "", [[]])
"""What a field of the genesis entry may hold instead of what belongs there."""
EXTRA: Final = (
    b'{"seq": "' + b"9" * 5000 + b'", "turn": "", "thread": ""}',
    b'{"parties": ["a", "b"], "supervisor": "c", "thread_cap": "' + b"9" * 5000 + b'"}',
    b'{"commands": {"a": ["x", "{prompt}"]}, "prompts": {"a": "go"}, "state_path": "/s", "retry_seconds": 1}',
    b'{"last_mirrored_seq": 3, "invocations": {"3": {"count": 1, "last_at": "t"}}, "escalated": ["retry:3"]}',
    b'{"attempt":1,"driver":"d","turn":"t","until":"2026-07-06T14:07:48+00:00"}\n',
    b"--root\na\n--from=x\n--type\ninfo\n--thread\nt\n--body\nb\n--json\n--\n-h",
)


def seeds() -> Iterator[bytes]:
    """Yield the samples of the public tool, chained and signed records of ours, the entries of each, and the rest."""
    records = [
        record(case_drafts(), key=signer(), pairs=[3]),
        record(shared_drafts(), mode="shared"),
        record(case_drafts()[:1]),
    ]
    genesis = {"v": 1, "channel": CHANNEL_ID, "mode": "shared", "roster": ["a", "b"], "keys": []}
    for changed in ({}, *({key: other} for key in genesis for other in OTHERS)):
        entry = draft("", {**genesis, **changed}, type="info", thread="genesis")
        yield render(entry, n=0, channel_id=CHANNEL_ID, prev=ZEROS)
    files = [path.read_bytes() for path in sorted(SAMPLES.rglob("*")) if path.is_file()]
    for content in (*files, *(file_of(blocks) for blocks in records)):
        yield content
        yield from (content[at : at + length] for at, length in scan(content))
    yield from EXTRA


def seconds() -> int:
    """Return how long to fuzz: `SOAK_S` is the time of all long tests, of which this is two thirds at most."""
    soak_s = int(os.environ.get("SOAK_S") or 0)
    return min(TOTAL_S, soak_s * 2 // 3) if soak_s else TOTAL_S


def fuzz(target: str, folder: Path, *options: str, run_s: int) -> subprocess.CompletedProcess[str]:
    """Run the fuzzer over the samples; its own findings go to `folder`."""
    python = need.fuzzer()
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, content in enumerate(dict.fromkeys(seeds())):
        (corpus / str(number)).write_bytes(content)
    own = ("-max_len=4096", "-timeout=10", "-rss_limit_mb=2048", f"-max_total_time={run_s}", "-print_final_stats=1")
    program = need.ROOT / "tests" / "fuzz" / "run.py"
    return subprocess.run(
        [python, program, target, *options, *own, f"-artifact_prefix={folder}/", str(corpus)],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=run_s + 120,
    )


@pytest.mark.parametrize("target", TARGETS)
def test_every_sample_keeps_what_its_parser_promises(target: str) -> None:
    """The corpus of the fuzzer, and each of it cut off and with a few bytes changed by a fixed seed."""
    chance = random.Random(4)
    for content in dict.fromkeys(seeds()):
        TARGETS[target](content)
        for _ in range(2):
            at = chance.randrange(len(content) + 1)
            TARGETS[target](content[:at])
            TARGETS[target](content[:at] + chance.choice([b"\n", b"\xff", b" ", b"\0", b"0"]) + content[at + 1 :])


@pytest.mark.soak
@pytest.mark.timeout(2 * TOTAL_S)
@pytest.mark.parametrize("target", TARGETS)
def test_no_bytes_crash_or_hang_a_parser(target: str, tmp_path: Path) -> None:
    """What is accepted is written as the same bytes again; whatever else it is, the error has a name."""
    run_s = max(5, int(seconds() * SHARE[target]))
    found = fuzz(target, tmp_path, run_s=run_s)
    assert found.returncode == 0, found.stderr[-4000:]
    assert "stat::number_of_executed_units" in found.stderr


@pytest.mark.soak
@pytest.mark.timeout(TOTAL_S)
@pytest.mark.parametrize(
    ("fault", "sign"), [("crash", "ValueError"), ("change", "AssertionError"), ("hang", "ERROR: libFuzzer: timeout")]
)
def test_a_planted_fault_is_found(fault: str, sign: str, tmp_path: Path) -> None:
    """A sender's name that crashes, a number that comes back as another, a header that never ends."""
    found = fuzz("file" if fault == "hang" else "block", tmp_path, "--planted", fault, "-seed=4", run_s=300)
    assert found.returncode != 0
    assert sign in found.stdout + found.stderr
