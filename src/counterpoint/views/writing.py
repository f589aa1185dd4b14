"""Reports on disk: `report.md`, `result.json` and what else a protocol shows, each written whole or not at all."""

import json
from pathlib import Path
from typing import Final

from counterpoint.drive.cases import LoadedCase
from counterpoint.drive.paths import path_text
from counterpoint.drive.whole import put_whole
from counterpoint.record.safe import typed
from counterpoint.views.kinds import view_of

__all__ = ["REPORT", "RESULT", "put_whole", "render_result", "write_files", "write_reports"]

REPORT: Final = "report.md"
RESULT: Final = "result.json"


def write_reports(case: LoadedCase, out: Path | None = None) -> tuple[Path, ...]:
    """Write the reports into `out`, by default the case's own folder, and return their paths.

    They are `report.md`, `result.json` and, where the protocol has one, its page.

    Raises:
        RecordError: the folder cannot be made or written.
    """
    folder = case.folder if out is None else out
    view = view_of(case)
    texts = {REPORT: view.report(case), RESULT: render_result(case)}
    if view.page:
        texts[view.page] = view.files(case)[view.page]
    with typed(f"{path_text(folder)} cannot take the reports"):
        folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        put_whole(folder / name, text.encode())
    return tuple(folder / name for name in texts)


def render_result(case: LoadedCase) -> str:
    """Return the text of `result.json`."""
    return json.dumps(view_of(case).result(case), indent=2, sort_keys=True, ensure_ascii=True) + "\n"


def write_files(case: LoadedCase) -> tuple[Path, ...]:
    """Write the further files into the case's folder and return their paths; one that is no more of it is removed.

    Raises:
        RecordError: the folder cannot be made or written.
    """
    view, folder = view_of(case), case.folder
    texts = view.files(case)
    with typed(f"{path_text(folder)} cannot take the files of the case"):
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            is_old = view.is_old_file(path.name) and path.name not in texts
            if is_old and (path.is_symlink() or path.is_file()):
                path.unlink()
    for name, text in texts.items():
        put_whole(folder / name, text.encode())
    return tuple(folder / name for name in texts)
