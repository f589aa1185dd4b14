"""The format page `docs/record.md`: its example, its three lines and its tables say what the code does."""

import re
import subprocess
from pathlib import Path
from typing import Final

from counterpoint.record.checkpoint import parse_checkpoint
from counterpoint.record.findings import Checkpoint
from counterpoint.record.header import MAX_REFS
from counterpoint.record.signing import NAMESPACE
from counterpoint.record.text import MAX_TEXT
from counterpoint.record.typed import MAX_FIELDS
from counterpoint.record.verify import verify
from tests import need

PAGE: Final = (need.ROOT / "docs/record.md").read_text("utf-8")
RULES: Final = (need.ROOT / "docs/protocols/entries.md").read_text("utf-8")
SOURCES: Final = need.ROOT / "src/counterpoint/record"


def _block(begin: str, end: str) -> str:
    return PAGE.partition(begin)[2].partition(end)[0]


EXAMPLE: Final = _block("~~~~markdown\n", "~~~~\n").encode()
LINES: Final = _block("```sh\n", "```\n")
NOTE: Final = _block("```text\n", "```\n").encode()


def test_example_is_a_record() -> None:
    """C2SP's manner: a page begins with a real example. This one verifies, signatures and all."""
    found = verify("example", EXAMPLE, mode="strict")
    assert (found.entries, found.is_clean) == (2, True)
    assert found.genesis is not None
    assert len(found.genesis.keys) == 1


def test_checkpoint_is_of_the_example() -> None:
    """The note on the page is signed by the example's key and names its head."""
    found = verify("example", EXAMPLE, mode="strict")
    assert found.genesis is not None
    note = parse_checkpoint(NOTE, keys=found.genesis.keys, source="page")
    assert note == Checkpoint(
        channel_id=found.genesis.channel_id, genesis=found.genesis_digest, n=found.n, head=found.head
    )


def _verify_one_entry(folder: Path, content: bytes) -> subprocess.CompletedProcess[str]:
    need.tool("ssh-keygen")
    (folder / "channel.md").write_bytes(content)
    found = verify("example", EXAMPLE, mode="strict")
    assert found.genesis is not None
    (folder / "allowed").write_text(f"counterpoint {found.genesis.keys[0]}\n")
    argv = [need.tool("sh"), "-e", "-c", LINES]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=30, check=False)


def test_three_lines_verify_one_entry_with_stock_ssh_keygen(tmp_path: Path) -> None:
    """SECURITY B.2: a person needs nothing of ours to check an entry; a changed one is refused there too."""
    assert len(LINES.splitlines()) == 3
    good = _verify_one_entry(tmp_path, EXAMPLE)
    assert good.returncode == 0, good.stderr
    assert good.stdout.startswith(f'Good "{NAMESPACE}" signature for counterpoint')
    for damaged in (EXAMPLE.replace(b"64 s", b"65 s"), EXAMPLE.replace(b"thread: retry", b"thread: retrz")):
        assert _verify_one_entry(tmp_path, damaged).returncode != 0


def test_every_code_and_cap_is_on_the_page() -> None:
    """What `verify` can say stands in the tables, and so do the limits."""
    source = "".join(path.read_text() for path in SOURCES.glob("*.py"))
    codes = set(re.findall(r'code="([a-z-]+)"|Level\.\w+, "([a-z-]+)"|, "([a-z-]+)"\n', source))
    said = {code for found in codes for code in found if code}
    assert {"first-seen", "clock-back", "mailbox-ahead-of-doorbell", "no-chain"} <= said
    assert [code for code in sorted(said) if f"`{code}`" not in PAGE] == []
    assert f"at most {MAX_REFS} characters" in PAGE
    assert (MAX_TEXT, MAX_FIELDS) == (2**20, 8 * 2**20)
    assert "1 MiB" in RULES
    assert "8 MiB" in RULES
