"""A request to end, from a closed terminal or a scheduler, ends a command exactly as Ctrl-C does.

Without this SIGTERM and SIGHUP would end the process where it stands: temporary folders would stay, and so would the
programs that it had started.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

__all__ = ["ends_as_interruption"]

_ASKED: Final = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def ends_as_interruption() -> Iterator[None]:
    """Raise SIGINT for each of these signals that would end the process; one that is ignored stays ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    taken = [number for number in _ASKED if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in taken:
            signal.signal(number, _interrupt)
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _interrupt(number: int, frame: FrameType | None) -> None:
    # By the signal, because an event loop that runs has its own answer to it.
    signal.raise_signal(signal.SIGINT)
