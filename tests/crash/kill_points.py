"""Kill a writer before and after every file operation, look at what it left, and report what broke.

Run as a program of its own: it forks one child for each kill, so that a whole sweep costs one start of Python.
"""

import contextlib
import json
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from counterpoint.errors import CounterpointError
from counterpoint.record.files import FileStore, Layout
from counterpoint.record.fs import Files, RealFiles
from counterpoint.record.heads import Heads
from tests.channels import begin, draft, file_store, texts

UNTIL: Final = datetime(2026, 7, 6, 15, tzinfo=UTC)
MEMORY: Final = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""A killed process leaves the page cache as it is, so nothing has to reach a disk here."""
CHANGES: Final = ("open", "write", "truncate", "sync", "rename", "unlink", "make_folder", "lock", "close")

Step = Callable[[FileStore, str], None]


class KillingFiles(RealFiles):
    """The kernel's files, until the operation at which this process kills itself."""

    def __init__(self, at: int, *, after: bool) -> None:
        super().__init__()
        self._left = at
        self._after = after
        for name in CHANGES:
            setattr(self, name, self._killing(getattr(self, name)))

    def _killing(self, operation: Callable[..., object]) -> Callable[..., object]:
        def run(*arguments: object, **named: object) -> object:
            self._left -= 1
            if self._left == 0 and not self._after:
                os.kill(os.getpid(), signal.SIGKILL)
            result = operation(*arguments, **named)
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return run


def store_in(folder: Path, layout: Layout, fs: Files | None = None) -> FileStore:
    heads = Heads(fs or RealFiles(), str(folder / "state" / "heads"))
    return file_store(str(folder / "root"), layout, fs=fs, heads=heads)


def two_entries(store: FileStore, channel: str) -> None:
    typed = store.layout is Layout.CASES
    store.append(channel, [draft("new", typed=typed), draft("second half", typed=typed)], expected=1)


def one_entry(store: FileStore, channel: str) -> None:
    store.append(channel, [draft("new", typed=store.layout is Layout.CASES)], expected=1)


def seal(store: FileStore, channel: str) -> None:
    store.vault(channel).put("reply-a.1", b"yes")


def keep(store: FileStore, channel: str) -> None:
    assert store.vault(channel).put_new("reply-a.1", b"yes")


def claim(store: FileStore, channel: str) -> None:
    store.claim(channel, "reviewing.1.critic.1", driver="a", until=UNTIL)


STEPS: Final[dict[str, Step]] = {"one": one_entry, "two": two_entries, "seal": seal, "keep": keep, "claim": claim}


def sweep(step: str, layout: Layout) -> Iterator[str]:
    """Yield what went wrong, for every operation of `step` and both sides of it."""
    for after in (False, True):
        for at in range(1, 200):
            with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
                killed, faults = _one_kill(Path(folder), step, layout, at, after=after)
                yield from (f"{step} {layout} {'after' if after else 'before'} {at}: {fault}" for fault in faults)
                if not killed:
                    break
        else:
            yield f"{step}: it never came to its end"


def _one_kill(folder: Path, step: str, layout: Layout, at: int, *, after: bool) -> tuple[bool, list[str]]:
    (folder / "root").mkdir()
    (folder / "state").mkdir()
    store = store_in(folder, layout)
    channel = begin(store, layout)
    store.append(channel, [draft("before", typed=layout is Layout.CASES)], expected=0)
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            STEPS[step](store_in(folder, layout, KillingFiles(at, after=after)), channel)
            os._exit(0)
        os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        return True, [f"the writer failed with {os.WEXITSTATUS(status)}"]
    killed = os.WIFSIGNALED(status)
    with contextlib.suppress(FileNotFoundError):  # a dead holder's lock of the public tool, grown old
        os.utime(folder / "root" / f"{channel}.lock", (1, 1))
    try:
        return killed, list(_faults(store_in(folder, layout), channel, step, killed=killed))
    except CounterpointError as error:
        return killed, [f"{type(error).__name__}: {error}"]


def _faults(store: FileStore, channel: str, step: str, *, killed: bool) -> Iterator[str]:
    said = {"one": ["new"], "two": ["new", "second half"]}.get(step, [])
    found = texts(store, channel)
    if found not in (["before"], ["before", *said]) or (not killed and found != ["before", *said]):
        yield f"the record says {found}"
    sealed = store.vault(channel).get("reply-a.1")
    if sealed not in ({None, b"yes"} if killed or step not in {"seal", "keep"} else {b"yes"}):
        yield f"the vault holds {sealed!r}"
    attempts = len(store.claims(channel))
    if attempts > 1 or (step == "claim" and not killed and attempts != 1):
        yield f"{attempts} attempts"
    seal(store, channel)
    if store.claim(channel, "reviewing.1.critic.1", driver="b", until=UNTIL).attempt != attempts + 1:
        yield "the next attempt is counted wrong"
    store.append(channel, [draft("after")], expected=len(found))
    if texts(store, channel) != [*found, "after"]:
        yield f"afterwards the record says {texts(store, channel)}"
    if not store.verify(channel).is_clean:
        yield "it does not verify"


def main() -> None:
    """Print every fault as one JSON list."""
    faults = [fault for step in STEPS for layout in Layout for fault in sweep(step, layout)]
    print(json.dumps(faults))
