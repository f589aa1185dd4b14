"""The reports of a case of `propose` in a folder of the user's choice (SPEC A-45).

The folder is made with mode 0700 and the files with 0600. What lies there already, a link too, is replaced only where
the user says so. All of that is looked at before anybody is asked.
"""

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

from counterpoint.drive.cases import LoadedCase
from counterpoint.drive.paths import path_text
from counterpoint.errors import ConfigError
from counterpoint.views.propose import PAGE
from counterpoint.views.propose_page import render_page
from counterpoint.views.propose_report import render_report
from counterpoint.views.writing import REPORT, RESULT, render_result

__all__ = ["prepare_folder", "put_reports"]

_NAMES: Final = (REPORT, RESULT, PAGE)


def prepare_folder(folder: Path, *, overwrite: bool) -> None:
    """Make the folder, and see that the reports can be put there.

    Raises:
        ConfigError: it cannot be made or written, or reports lie there.
    """
    if not overwrite and (there := next((n for n in _NAMES if os.path.lexists(folder / n)), None)):
        hint = "name another folder, or replace what is there with --overwrite"
        raise ConfigError("--out", "a folder without reports", got=path_text(folder / there), hint=hint)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        probe = folder / f".{secrets.token_hex(8)}"
        os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        probe.unlink()
    except OSError as error:
        raise _unfit(folder, error) from None


def put_reports(case: LoadedCase, folder: Path, *, overwrite: bool) -> None:
    """Put the three reports into a folder that was prepared.

    Raises:
        ConfigError: one of them cannot be written.
    """
    texts = {REPORT: render_report(case), RESULT: render_result(case), PAGE: render_page(case)}
    for name, text in texts.items():
        try:
            _put(folder / name, text.encode(), overwrite=overwrite)
        except OSError as error:
            raise _unfit(folder / name, error) from None


def _put(path: Path, content: bytes, *, overwrite: bool) -> None:
    half = path.with_name(f".{path.name}.{secrets.token_hex(4)}") if overwrite else path
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(half, flags, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if overwrite:
        try:
            half.replace(path)
        except OSError:
            with suppress(OSError):
                half.unlink()
            raise


def _unfit(path: Path, error: OSError) -> ConfigError:
    return ConfigError("--out", "a folder that can be written", got=f"{path_text(path)}: {error.strerror}")
