"""A file whose flock is a right: to drive one case, to watch one channel.

The kernel gives the right back the moment its holder ends, however that ends. From the measurements in SECURITY C.2:

- the descriptor is closed on exec: an inherited one keeps the lock after the holder died;
- flock, not `fcntl.lockf`, which is lost when the process closes any other descriptor of the file;
- the file is never unlinked, and its inode is compared with the path's after locking: two files are two rights;
- what stands in the file is for people and decides nothing.

On a network file system the right holds on one machine only.
"""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from counterpoint.errors import CounterpointError, RecordError

__all__ = ["LockFile"]

_MAX_NOTE: Final = 8192
_TRIES: Final = 5
_PAUSE_S: Final = 0.01
"""Between two tries. Whoever asks for the holder locks for an instant too, and holds nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockFile:
    """A lock at `path`; `what` it is and where it can be kept are for its errors."""

    path: str
    what: str
    """`a lease`."""
    elsewhere: str
    """What to do where the file system knows no locks."""

    @contextmanager
    def held(
        self, refusal: Callable[[bytes], CounterpointError], *, sleep: Callable[[float], None] = time.sleep
    ) -> Iterator[int]:
        """Hold the right for the length of the block, which gets the file's descriptor.

        Args:
            refusal: makes the error for a right that somebody else holds, of what stands in the file.
            sleep: how to wait for whoever only asks.

        Raises:
            RecordError: the file cannot be made or locked, or is no plain file.
        """
        descriptor = self._take(refusal, sleep)
        try:
            yield descriptor
        finally:
            # Unlocked by name and not only by closing: a fork without exec still has the descriptor.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)

    def note(self) -> bytes | None:
        """Return what the holder of this moment wrote, or None where nobody holds it: the kernel is asked.

        Raises:
            RecordError: the file cannot be read, or is no plain file.
        """
        try:
            descriptor = self._open(os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            return None if self._try(descriptor, fcntl.LOCK_SH) else _read(descriptor)
        finally:
            os.close(descriptor)

    def _take(self, refusal: Callable[[bytes], CounterpointError], sleep: Callable[[float], None]) -> int:
        note = b""
        for attempt in range(_TRIES):
            if attempt:
                sleep(_PAUSE_S)
            try:
                descriptor = self._open(os.O_RDWR | os.O_CREAT)
            except FileNotFoundError:
                raise RecordError(
                    f"{self.path} cannot be made: its folder is not there", hint=self.elsewhere
                ) from None
            try:
                if not self._try(descriptor, fcntl.LOCK_EX):
                    note = _read(descriptor)
                elif self._is_at(descriptor):
                    kept, descriptor = descriptor, -1
                    return kept
            finally:
                if descriptor >= 0:
                    os.close(descriptor)
        raise refusal(note)

    def _open(self, flags: int) -> int:
        try:
            descriptor = os.open(self.path, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        except FileNotFoundError:
            raise
        except OSError as error:
            why = "is a symbolic link" if error.errno == errno.ELOOP else f"cannot be opened: {error.strerror}"
            raise self._unfit(why) from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise self._unfit("is not a plain file")
        return descriptor

    def _unfit(self, why: str) -> RecordError:
        return RecordError(
            f"{self.path} {why}; {self.what} is a plain file", hint=f"look at {self.path} and remove it"
        )

    def _try(self, descriptor: int, kind: int) -> bool:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise RecordError(f"{self.path} cannot be locked: {error.strerror}", hint=self.elsewhere) from None
        return True

    def _is_at(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), os.lstat(self.path))
        except FileNotFoundError:
            return False


def _read(descriptor: int) -> bytes:
    """Return what the file says; it may be read while it is written."""
    try:
        return os.pread(descriptor, _MAX_NOTE, 0)
    except OSError:
        return b""
