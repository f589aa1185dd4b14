"""What one process drives with."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from counterpoint.drive.cassettes import Taping
from counterpoint.drive.clock import Clock, SystemClock
from counterpoint.drive.ids import Ids, RandomIds
from counterpoint.drive.paths import Folders

__all__ = ["Session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What one process drives with."""

    repo: Path
    cases: Path
    folders: Folders
    environment: Mapping[str, str]
    clock: Clock
    ids: Ids
    taping: Taping | None = None
    """Where answers are recorded, or played again from."""

    @classmethod
    def of(
        cls,
        *,
        repo: Path,
        cases: Path,
        folders: Folders,
        environment: Mapping[str, str],
        taping: Taping | None = None,
    ) -> "Session":
        """Return a session with the machine's clock and randomness."""
        return cls(
            repo=repo,
            cases=cases,
            folders=folders if taping is None else taping.folders(folders),
            environment=environment,
            clock=SystemClock(),
            ids=RandomIds(secrets.token_hex),
            taping=taping,
        )
