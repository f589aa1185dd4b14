"""Counterpoint: AI agents and people check each other's work under rules that a program enforces.

Importing this package does nothing and costs next to nothing; a public name is imported when it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from counterpoint.agents.base import Agent as Agent
    from counterpoint.agents.base import Reply as Reply
    from counterpoint.agents.base import Workspace as Workspace
    from counterpoint.core.briefs import Brief as Brief
    from counterpoint.core.docket import Docket as Docket
    from counterpoint.core.limits import Limits as Limits
    from counterpoint.core.outcome import Outcome as Outcome
    from counterpoint.drive.api import CaseResult as CaseResult
    from counterpoint.drive.api import drive_case as drive_case
    from counterpoint.drive.api import run as run
    from counterpoint.errors import CounterpointError as CounterpointError

_HOMES: Final = {
    "Agent": "agents.base",
    "Brief": "core.briefs",
    "CaseResult": "drive.api",
    "CounterpointError": "errors",
    "Docket": "core.docket",
    "Limits": "core.limits",
    "Outcome": "core.outcome",
    "Reply": "agents.base",
    "Workspace": "agents.base",
    "drive_case": "drive.api",
    "run": "drive.api",
}

__all__ = [
    "Agent",
    "Brief",
    "CaseResult",
    "CounterpointError",
    "Docket",
    "Limits",
    "Outcome",
    "Reply",
    "Workspace",
    "drive_case",
    "run",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
