"""Golden files: what the product writes, kept beside the tests and read as a diff. `make golden` writes them anew."""

import os
from pathlib import Path
from typing import Final

__all__ = ["check_golden"]

WRITE: Final = "write"


def check_golden(path: Path, text: str) -> None:
    """Hold `text` to be what the file says; under `GOLDEN=write` put it there instead."""
    if os.environ.get("GOLDEN") == WRITE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    assert path.is_file(), f"{path.name} is missing: run `make golden` and read the diff"
    assert text == path.read_bytes().decode(), f"{path.name} differs: run `make golden` and read the diff"
