"""What channel commands print: results on standard output byte for byte as they stand in the record, the rest beside.

On a terminal, what could steer it is written visibly. A pipe or a file gets the bytes themselves, as from the public
tool.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any

__all__ = ["print_bytes", "print_json", "print_lines", "tell"]


def print_bytes(content: bytes) -> None:
    """Print a piece of a record, and a line end after it."""
    if sys.stdout.isatty():
        content = _visible(content.decode("utf-8", "replace")).encode()
    sys.stdout.flush()
    sys.stdout.buffer.write(content + b"\n")


def print_lines(*lines: str) -> None:
    """Print lines of a result."""
    for line in lines:
        print_bytes(line.encode("utf-8", "surrogateescape"))


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object as the whole result."""
    print_lines(json.dumps(value, indent=2, sort_keys=True))


def tell(text: str) -> None:
    """Print a line on standard error."""
    shown = _visible(text) if sys.stderr.isatty() else text
    sys.stderr.write(shown.encode("utf-8", "backslashreplace").decode() + "\n")


def _visible(text: str) -> str:
    # Cold start: most calls print into a pipe.
    from counterpoint.core.canonical import visible  # noqa: PLC0415

    return visible(text)
