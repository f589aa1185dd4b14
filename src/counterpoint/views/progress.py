"""How far a case is, in words: for progress lines while it is driven, and for `counterpoint status`."""

from collections.abc import Sequence
from typing import Final

from counterpoint.core.limits import Spent
from counterpoint.core.values import Severity
from counterpoint.drive.progress import Progress

__all__ = ["say_names", "say_open", "say_round", "say_span", "say_tokens"]

_UNITS: Final = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))
_SHOWN: Final = 3


def say_round(progress: Progress) -> str:
    """Return which round it is, and of how many."""
    if not progress.author and not progress.stage:
        return "a single reading"
    if progress.is_last_reading:
        return f"last reading, after {_count(progress.max_rounds, 'round')}"
    most = f" of at most {progress.max_rounds}" if progress.max_rounds else " (until they agree)"
    return f"round {progress.round}{most}"


def say_open(progress: Progress) -> str:
    """Return how many findings are open, by severity."""
    counts = [
        f"{number} {severity}{'s' if severity is Severity.NIT and number > 1 else ''}"
        for severity, number in progress.open_findings.items()
        if number
    ]
    return f"{', '.join(counts)} open" if counts else "nothing open"


def say_tokens(spent: Spent) -> str:
    """Return the tokens that were reported, and whether all were."""
    usage = spent.usage
    if not usage.known and not usage.tokens:
        return "tokens not reported"
    return f"{usage.tokens:,} tokens" + ("" if usage.known else " or more")


def say_span(seconds: float) -> str:
    """Return a length of time in its two largest units."""
    left = max(0, int(seconds))
    parts: list[str] = []
    for unit, size in _UNITS:
        number, left = divmod(left, size)
        if number or parts or unit == "s":
            parts.append(f"{number} {unit}")
    return " ".join(parts[:2])


def say_names(names: Sequence[str]) -> str:
    """Return names as one would say them: three, and how many more."""
    if len(names) > _SHOWN + 1:
        return f"{', '.join(names[:_SHOWN])} and {len(names) - _SHOWN} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
