"""What tests of the watcher share: settings, a channel in either form, and a watcher whose clock is set by hand."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from counterpoint.core.canonical import digest
from counterpoint.drive.beginning import Form, begin
from counterpoint.drive.channels import open_channels
from counterpoint.drive.posting import post
from counterpoint.drive.watching.config import WatcherConfig
from counterpoint.drive.watching.hands import Hands
from counterpoint.drive.watching.opening import open_config, open_watcher
from counterpoint.drive.watching.tick import Tick, Watcher
from counterpoint.record.fs import RealFiles

__all__ = ["NOW", "Place", "answering", "config", "no_hands"]

NOW: Final = datetime(2026, 7, 6, 14, 7, 48, tzinfo=UTC)
STAMP: Final = NOW.isoformat()

ANSWERS: Final = """
import glob, json, os, subprocess, sys
party, last, *tool = sys.argv[1:]
(path,) = glob.glob("c/*.signal.json") + glob.glob("c/signal.json")
with open(path) as file:
    bell = json.load(file)
if bell["turn"] != party or not bell["thread"]:
    sys.exit(0)
n = int(bell["seq"])
kind = "close" if n + 1 >= int(last) else "info"
said = ["--from", party, "--type", kind, "--thread", bell["thread"], "--body", f"entry {n + 1}"]
sys.exit(subprocess.run([*tool, "post", "--root", "c", *said], stdout=subprocess.DEVNULL).returncode)
"""


def answering(party: str, *, last: int, tool: Sequence[str]) -> list[str]:
    """Return the command of a party that answers each turn, and closes the thread with entry `last`."""
    return [sys.executable, "-c", ANSWERS, party, str(last), *tool]


def config(**changes: Any) -> WatcherConfig:
    """Return settings that two commands speak for, with changes."""
    settings: dict[str, Any] = {
        "root": "/c",
        "channel": "shop-04711",
        "parties": ("claude", "glm"),
        "managed": True,
        "brokered": False,
        "state_path": "/state/shop-04711.json",
        "commands": {"claude": ("true",), "glm": ("true",)},
        "prompts": {},
        "debounce_s": {},
        "retry_s": 100,
    }
    return WatcherConfig(**{**settings, **changes})


def no_hands() -> Hands:
    raise AssertionError("something moved, or somebody is to be called")


@dataclass(slots=True)
class Place:
    """A folder with a channel in `c`, its watcher's settings beside it and the memory in `state`."""

    top: Path
    channel: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    now: datetime = NOW
    lines: list[str] = field(default_factory=list)

    @property
    def root(self) -> Path:
        return self.top / "c"

    @property
    def state(self) -> Path:
        return self.top / "state" / "w.json"

    def begin(self, form: Form = Form.PLAIN, *, label: str = "shop") -> str:
        begun = begin(
            str(self.root),
            self.environment,
            parties=("claude", "glm"),
            supervisor="owner",
            thread_cap=12,
            label=label,
            is_brokered=False,
            form=form,
            channel_id=digest(os.fsencode(self.root))[:32],
            draw=lambda _: 4711,
            stamp=STAMP,
        )
        self.channel = begun.name
        return begun.name

    def wire(self, **changes: Any) -> Path:
        """Write the watcher's settings, and return their path."""
        do_nothing = [sys.executable, "-c", "pass"]
        settings = {
            "state_path": str(self.state),
            "commands": {"claude": do_nothing, "glm": do_nothing},
            "retry_seconds": 100,
            **changes,
        }
        path = self.top / "watcher.json"
        path.write_text(json.dumps(settings))
        return path

    def say(self, sender: str, kind: str, text: str = "said", *, thread: str = "retry") -> int:
        store = open_channels(str(self.root), self.environment)
        stamp = self.now.isoformat(timespec="seconds")
        said = post(store, self.channel, sender=sender, type=kind, thread=thread, text=text, stamp=stamp)
        return said.n

    def watcher(self) -> Watcher:
        (self.top / "state").mkdir(exist_ok=True)
        path = str(self.top / "watcher.json")
        return open_watcher(
            str(self.root), self.channel, path, self.environment, now=lambda: self.now, emit=self.lines.append
        )

    def impatient(self) -> Watcher:
        """Return a watcher that does not sleep while another writer is in its way."""
        watcher = self.watcher()
        hands = watcher.hands()
        hands.store._sleep = lambda _: None
        watcher.hands = lambda: hands
        return watcher

    def tick(self) -> tuple[Tick, list[str]]:
        """Do one tick, and return what came of it and the lines of it."""
        self.lines.clear()
        done = self.watcher().tick()
        return done, list(self.lines)

    def rest(self) -> Tick:
        """Do one tick that may look at nothing and call nobody."""
        self.lines.clear()
        path = str(self.top / "watcher.json")
        bound, _ = open_config(str(self.root), self.channel, path, self.environment)
        watcher = Watcher(config=bound, fs=RealFiles(), hands=no_hands, now=lambda: self.now, emit=self.lines.append)
        return watcher.tick()

    def later(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    @property
    def bell(self) -> Path:
        return self.root / f"{self.channel}.signal.json"

    @property
    def file(self) -> Path:
        return self.root / f"{self.channel}.channel.md"

    def memory(self) -> Any:
        return json.loads(self.state.read_text())
