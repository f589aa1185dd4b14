"""Output as a page shows it: what differs from run to run is replaced by something of the same shape.

| in the output | on the page |
| --- | --- |
| the scratch folder | `/home/ana` |
| the folder of a demo | `/tmp/counterpoint-demo` |
| the name of a case | its protocol, `-20260706t140748z-` and eight digits, others for another case |
| a SHA-256, the id of a channel | eight digits and `…`, others for another value |
| the name of a mailbox of the example repository | `shop-04711` |
| the number of a grant or an answer | twelve digits, others for another value |
| a public key, its fingerprint, base64 | `ssh-ed25519 AAAA…`, `SHA256:…`, `…=` |
| a stamp | 2026-07-06T14:07:48+00:00, and as many days later as it is |
| a duration in fractions of seconds, the age of a turn, the month of an archive | `…` |

Commits are not replaced: those of the example repository are the same everywhere. Digits that a page shows may be
typed on it, too.
"""

import hashlib
import re
from datetime import datetime, timedelta
from typing import Final

__all__ = ["PERSON", "Normaliser"]

PERSON: Final = "/home/ana"
_BEGIN: Final = datetime.fromisoformat("2026-07-06T14:07:48+00:00")
_PATTERN: Final = re.compile(
    r"(?P<demo>/[\w./-]*/counterpoint-demo-\w+)"
    r"|(?P<case>\b(?:review|answer|propose|ballot)-[0-9]{8}t[0-9]{6}z-[0-9a-f]{8})"
    r"|(?P<digest>\b[0-9a-f]{64}\b)"
    r"|(?P<channel>\b[0-9a-f]{32}\b)"
    r"|(?P<month>\bshop-[0-9]{5}-[0-9]{4}-[0-9]{2}\.md\b)"
    r"|(?P<mailbox>\bshop-[0-9]{5}\b)"
    r"|(?P<age>(?<=\"turn_age_seconds\": )[0-9]+)"
    r"|(?P<number>(?:(?<=\bas )|(?<=\brevoked )|^)[0-9a-f]{12}\b)"
    r"|(?P<key>\bssh-ed25519 AAAA[\w+/=]+)"
    r"|(?P<print>\bSHA256:[\w+/=]+)"
    r"|(?P<base64>^[\w+/]{43}=$|(?<= )[\w+/]{60,}=*$)"
    r"|(?P<stamp>\b[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\+00:00)"
    r"|(?P<long>(?<=\[)[ ]*[0-9]+\.[0-9](?= s\])|(?<= in )[0-9]+\.[0-9]{3}(?=s\b))",
    re.MULTILINE,
)
_FIXED: Final = {
    "demo": "/tmp/counterpoint-demo",
    "month": "shop-04711-…",
    "mailbox": "shop-04711",
    "key": "ssh-ed25519 AAAA…",
    "print": "SHA256:…",
    "base64": "…=",
}
_TYPED: Final = re.compile(r"\b[0-9a-f]{6,12}\b")


class Normaliser:
    """Writes the output of one page; the same value is written the same way throughout the page."""

    def __init__(self, top: str, *, begin: datetime) -> None:
        self._top = top
        self._begin = begin
        self._seen: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        """Return output as the page shows it."""
        written = _PATTERN.sub(self._write, text.replace(self._top, PERSON))
        return "\n".join(line.rstrip() for line in written.split("\n"))

    def real(self, text: str) -> str:
        """Return what a page types with the real folder, and the real digits where it types shown ones."""
        return _TYPED.sub(self._put_back, text.replace(PERSON, self._top))

    def _put_back(self, typed: re.Match[str]) -> str:
        real = (value for value, shown in self._seen.items() if shown.startswith(typed[0]))
        return next(real, typed[0])[: len(typed[0])]

    def _write(self, found: re.Match[str]) -> str:
        value = found[0]
        if found.lastgroup in _FIXED:
            return _FIXED[found.lastgroup]
        match found.lastgroup:
            case "case":
                protocol, _, digits = value.split("-")
                return f"{protocol}-20260706t140748z-{self._another(digits)[:8]}"
            case "digest" | "channel":
                return f"{self._another(value)[:8]}…"
            case "number":
                return self._another(value)[:12]
            case "stamp":
                days = round((datetime.fromisoformat(value) - self._begin) / timedelta(days=1))
                return (_BEGIN + timedelta(days=days)).isoformat()
            case _:
                return "  …" if value.startswith(" ") else "…"

    def _another(self, value: str) -> str:
        return self._seen.setdefault(value, hashlib.sha256(b"%d" % len(self._seen)).hexdigest())
