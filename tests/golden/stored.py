"""Stored texts that tests compare with. `make golden` rewrites them all; read the difference before you keep it."""

import os
from pathlib import Path
from typing import Final

__all__ = ["compare", "is_writing"]

FOLDER: Final = Path(__file__).parent


def is_writing() -> bool:
    """Say whether this run rewrites what is stored (`GOLDEN=write`)."""
    return os.environ.get("GOLDEN") == "write"


def compare(path: Path, text: str) -> None:
    """Hold `text` to what is stored at `path`, or store it."""
    if is_writing():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert path.read_text("utf-8") == text, f"{path} differs; run `make golden` if it should"
