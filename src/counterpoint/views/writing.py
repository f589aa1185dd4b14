"""Reports on disk: `report.md` and `result.json`, each put in place whole or not at all."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from counterpoint.drive.cases import LoadedCase
from counterpoint.drive.paths import path_text
from counterpoint.record.safe import typed
from counterpoint.views.report import render_report
from counterpoint.views.result import render_result

__all__ = ["REPORT", "RESULT", "put_whole", "write_reports"]

REPORT: Final = "report.md"
RESULT: Final = "result.json"
_READABLE: Final = 0o644


def write_reports(case: LoadedCase, out: Path | None = None) -> tuple[Path, Path]:
    """Write both reports into `out`, by default the case's own folder, and return their paths.

    Raises:
        RecordError: the folder cannot be made or written.
    """
    folder = case.folder if out is None else out
    texts = {REPORT: render_report(case), RESULT: render_result(case)}
    with typed(f"{path_text(folder)} cannot take the reports"):
        folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        put_whole(folder / name, text.encode())
    return folder / REPORT, folder / RESULT


def put_whole(path: Path, content: bytes) -> None:
    """Put `content` under `path`, whole or not at all, for everybody to read. A link there is replaced, not followed.

    Raises:
        RecordError: it cannot be written.
    """
    with typed(f"{path_text(path)} cannot be written"):
        descriptor, half = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fchmod(descriptor, _READABLE)
                os.fsync(descriptor)
            Path(half).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(half).unlink()
            raise
