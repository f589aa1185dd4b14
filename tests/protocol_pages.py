"""The pages of the protocols, and the examples in them."""

import json
import re
from pathlib import Path
from typing import Any

from tests.need import ROOT

__all__ = ["examples_in", "page_of"]


def page_of(protocol: str) -> Path:
    return ROOT / "docs/protocols" / f"{protocol}.md"


def examples_in(protocol: str) -> list[dict[str, Any]]:
    """Return the replies that a page shows, in their order."""
    page = page_of(protocol).read_text("utf-8")
    return [json.loads(body) for body in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]
