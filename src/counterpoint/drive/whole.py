"""Putting a file in its place whole or not at all."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from counterpoint.drive.paths import path_text
from counterpoint.record.safe import typed

__all__ = ["READABLE", "put_whole"]

READABLE: Final = 0o644


def put_whole(path: Path, content: bytes, *, mode: int = READABLE) -> None:
    """Put `content` under `path`, whole or not at all, for everybody to read. A link there is replaced, not followed.

    Raises:
        RecordError: it cannot be written.
    """
    with typed(f"{path_text(path)} cannot be written"):
        descriptor, half = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fchmod(descriptor, mode)
                os.fsync(descriptor)
            Path(half).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(half).unlink()
            raise
