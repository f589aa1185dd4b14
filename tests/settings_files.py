"""Settings as tests write them: a repository's file at the merge base, and what comes of loading it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from counterpoint.drive.config import RepositoryFiles, load
from counterpoint.drive.settings import Settings
from counterpoint.errors import ConfigError

__all__ = ["BASE", "SOURCE", "loaded", "refused", "repository"]

BASE: Final = "4e9f21c0aa31" + "0" * 28
SOURCE: Final = "counterpoint.toml at 4e9f21c0aa31"


def repository(content: str | bytes, *, name: str = "counterpoint.toml", here: str | None = None) -> RepositoryFiles:
    """Return one settings file at the merge base; `here` is the working copy's, the same by default."""
    raw = content.encode() if isinstance(content, str) else content
    return RepositoryFiles(
        commit=BASE, at_base={name: raw}, in_working_copy={name: raw if here is None else here.encode()}
    )


def loaded(
    content: str | bytes = "",
    *,
    flags: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
    settings_file: Path | None = None,
) -> Settings:
    return load(
        flags=flags or {}, environment=environment or {}, settings_file=settings_file, repository=repository(content)
    ).settings


def refused(
    content: str | bytes = "",
    *,
    flags: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
) -> ConfigError:
    """Return the error that loading ends in."""
    with pytest.raises(ConfigError) as raised:
        loaded(content, flags=flags, environment=environment)
    return raised.value
