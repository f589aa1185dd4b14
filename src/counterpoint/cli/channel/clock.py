"""The machine's time, as channel commands ask for it."""

from datetime import UTC, datetime

__all__ = ["now", "stamp_now"]


def now() -> datetime:
    return datetime.now(UTC)


def stamp_now() -> str:
    """Return the stamp of this moment (SPEC C-012)."""
    return now().isoformat(timespec="seconds")
