"""A command-line agent that behaves or misbehaves as it is told: `peer.py HOW [--prompt FILE] [--result FILE]`.

It reads its prompt from standard input, or from the file, and answers on standard output, or in the file.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

GOOD = '{"summary": "fine", "approved": true}'
FLOOD_BYTES = 100 * 1024 * 1024
FOREVER_S = 3600


class Peer:
    def __init__(self, prompt: Path | None, result: Path | None, told: list[str]) -> None:
        self.prompt = prompt
        self.result = result
        self.told = told

    def read(self) -> bytes:
        return self.prompt.read_bytes() if self.prompt else sys.stdin.buffer.read()

    def say(self, content: bytes | str) -> None:
        content = content.encode() if isinstance(content, str) else content
        if self.result:
            self.result.write_bytes(content)
        else:
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()

    def note_pids(self, *pids: int) -> None:
        Path(self.told[0]).write_text(" ".join(map(str, pids)))

    def answer(self) -> None:
        self.read()
        self.say(GOOD)

    def prose(self) -> None:
        self.say("I looked at it and it is fine. APPROVED.\n")

    def fence(self) -> None:
        self.say(f"```json\n{GOOD}\n```\n")

    def two(self) -> None:
        self.say(GOOD + "\n" + GOOD.replace("true", "false") + "\n")

    def duplicate(self) -> None:
        self.say('{"summary": "x", "approved": false, "approved": true}')

    def bytes(self) -> None:
        self.say(b'{"summary": "\xff\xfe", "approved": true}')

    def blank(self) -> None:
        self.say("\n")

    def half(self) -> None:
        self.say(GOOD[:-10])

    def schema(self) -> None:
        self.say(GOOD.replace("true", '"yes"'))

    def failing(self) -> None:
        self.say(GOOD)
        sys.stderr.write("\x1b[31merror\x1b[0m: not logged in\n")
        sys.exit(1)

    def silent(self) -> None:
        self.read()
        sys.stderr.write("quota exceeded\n")

    def flood(self) -> None:
        block = b"x" * (1 << 20)
        for _ in range(FLOOD_BYTES >> 20):
            sys.stdout.buffer.write(block)
        if self.result:
            self.result.write_bytes(block * 2)

    def noisy(self) -> None:
        """Answer in the file, after a hundred megabytes on both outputs."""
        for _ in range(50):
            sys.stdout.buffer.write(b"x" * (1 << 20))
            sys.stderr.buffer.write(b"y" * (1 << 20))
        self.say(GOOD)

    def hang(self) -> None:
        child = subprocess.Popen(["sleep", str(FOREVER_S)])
        self.note_pids(os.getpid(), child.pid)
        self.say('{"summary": "half')
        signal.pause()

    def drip(self) -> None:
        self.note_pids(os.getpid())
        while True:
            print("x", end="", flush=True)
            threading.Event().wait(0.05)

    def hold(self) -> None:
        """End at once with an answer, and leave a child behind that keeps standard output open."""
        child = subprocess.Popen(["sleep", str(FOREVER_S)])
        self.note_pids(child.pid)
        self.say(GOOD)

    def hold_silent(self) -> None:
        child = subprocess.Popen(["sleep", str(FOREVER_S)])
        self.note_pids(child.pid)

    def killed(self) -> None:
        self.say(GOOD)
        os.kill(os.getpid(), signal.SIGKILL)

    def deaf(self) -> None:
        """Close standard input unread and answer all the same."""
        sys.stdin.close()
        with contextlib.suppress(OSError):
            os.close(0)
        self.say(GOOD)

    def measure(self) -> None:
        """Answer with the size of the prompt."""
        self.say(json.dumps({"summary": str(len(self.read())), "approved": True}))

    def environment(self) -> None:
        self.say(json.dumps({"summary": json.dumps(dict(os.environ)), "approved": True}))

    def whereabouts(self) -> None:
        seen = {"cwd": str(Path.cwd()), "argv": self.told, "files": sorted(path.name for path in Path().iterdir())}
        self.say(json.dumps({"summary": json.dumps(seen), "approved": True}))

    def leak(self) -> None:
        sys.stderr.write(f"using {os.environ['PEER_API_KEY']}\n")
        self.say(json.dumps({"summary": f"key: {os.environ['PEER_API_KEY']}", "approved": True}))

    def fail_leaking(self) -> None:
        sys.stderr.write(f"bad key {os.environ['PEER_API_KEY']}\n")
        sys.exit(2)

    def raw(self) -> None:
        """Say the next argument as it stands."""
        self.say(self.told[0])

    def symlink(self) -> None:
        assert self.result
        self.result.symlink_to(self.told[0])

    def hardlink(self) -> None:
        assert self.result
        self.result.hardlink_to(self.told[0])

    def fifo(self) -> None:
        assert self.result
        os.mkfifo(self.result)

    def folder(self) -> None:
        assert self.result
        self.result.mkdir()

    def swap(self) -> None:
        """Put a link to another folder, which holds an answer, in the place of its own folder."""
        assert self.result
        own = self.result.parent
        own.rename(own.with_name("gone"))
        own.symlink_to(self.told[0])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("how")
    parser.add_argument("told", nargs="*")
    parser.add_argument("--prompt", type=Path)
    parser.add_argument("--result", type=Path)
    given = parser.parse_args()
    getattr(Peer(given.prompt, given.result, given.told), given.how)()


if __name__ == "__main__":
    main()
