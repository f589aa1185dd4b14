"""Recognise what looks like a credential, so that settings can refuse it.

Settings are committed, copied and printed; a credential belongs in the environment, where an agent's `environment`
list names its variable. The shapes below are those that vendors print in front of their keys. A miss is possible;
what is found is refused and never shown.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

__all__ = ["argv_holds_credential", "looks_like_credential", "names_credential"]

_SHAPE: Final = re.compile(
    r"\bsk-[\w-]{16,}"
    r"|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bhf_\w{20,}"
    r"|\bxox[abeprs]-[\w-]{10,}"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{30,}"
    r"|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\."
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|\b[Bb]earer\s+[\w.~+/=-]{12,}"
    r"|\w://[^/\s:@]*:[^/\s@]+@"
)
_ENDINGS: Final = ("apikey", "credential", "credentials", "passphrase", "passwd", "password", "secret", "token")
_HARMLESS_KEYS: Final = frozenset({"cache", "foreign", "group", "partition", "primary", "public", "sort"})
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_ASSIGNMENT: Final = re.compile(r"-{0,2}([A-Za-z][\w.-]*)\s*[=:]\s*(\S+)")


def looks_like_credential(value: str) -> bool:
    """Say whether some part of `value` has the shape of a known kind of key, token or password."""
    return _SHAPE.search(value) is not None


def names_credential(name: str) -> bool:
    """Say whether a variable or option of that name holds a credential: `API_KEY`, `--auth-token`, `dbPassword`."""
    words: list[str] = [word.lower() for word in _WORD.findall(name)]
    if not words:
        return False
    if words[-1] == "key":
        return len(words) > 1 and words[-2] not in _HARMLESS_KEYS
    return words[-1].endswith(_ENDINGS)


def argv_holds_credential(argv: Sequence[str]) -> bool:
    """Say whether a command line carries a credential: by shape, as `--token=value`, or as `--token value`."""
    for argument, following in pairwise((*argv, "")):
        if looks_like_credential(argument):
            return True
        assigned = _ASSIGNMENT.fullmatch(argument)
        if assigned and names_credential(assigned[1]) and not assigned[2].isdecimal():
            return True
        is_option = argument.startswith("-") and names_credential(argument)
        if is_option and following and not following.startswith("-") and not following.isdecimal():
            return True
    return False
