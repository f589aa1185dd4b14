"""Environments for programs, built from nothing: what is passed on, and what in it has to stay unseen."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

__all__ = ["holds_secret", "passed", "secrets_in", "without_secrets"]

_SECRET_NAME: Final = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH", re.IGNORECASE)
_SECRET_URL: Final = re.compile(r"://[^/\s]*:[^/\s]*@")
_MIN_SECRET: Final = 8
"""A shorter value would be found in any text."""


def passed(environ: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return the named variables with their values; one that is not set is left out."""
    return {name: environ[name] for name in names if name in environ}


def holds_secret(name: str, value: str) -> bool:
    """Say whether a variable's name, or a login in its value, says that it is secret."""
    return bool(_SECRET_NAME.search(name) or _SECRET_URL.search(value))


def without_secrets(text: str, env: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """Return `text` with every secret value of `env` replaced by its name, and the names that stood in it."""
    found = []
    for name, value in env.items():
        if len(value) >= _MIN_SECRET and value in text and holds_secret(name, value):
            text = text.replace(value, f"[${name}]")
            found.append(name)
    return text, tuple(found)


def secrets_in(text: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names whose secret values stand in a text; in JSON also where they are written with escapes."""
    try:
        whole = "\0".join((text, *_texts(json.loads(text))))
    except (ValueError, RecursionError):
        whole = text
    return without_secrets(whole, env)[1]


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for inner in value:
                yield from _texts(inner)
        case dict():
            for key, inner in value.items():
                yield key
                yield from _texts(inner)
        case _:
            pass
