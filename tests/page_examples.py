"""The replies that the page of a protocol shows."""

import json
import re
from pathlib import Path
from typing import Any

__all__ = ["examples_in"]


def examples_in(page: Path) -> list[dict[str, Any]]:
    """Return them in their order."""
    return [json.loads(body) for body in re.findall(r"```json\n(.*?)```", page.read_text("utf-8"), re.DOTALL)]
