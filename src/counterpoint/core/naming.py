"""How seats, parties, cases and threads of case channels are named."""

import re
from typing import Final

__all__ = ["NAME"]

NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
