"""Finding what a claim is about in an export: a file that is there and as it was exported, or the reason why not.

A path is looked up in the export's report, never on the disk, so no path leads out of the export.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from counterpoint.core.checks import EvidenceStatus
from counterpoint.isolation.export import ExportedFile, ExportReport
from counterpoint.isolation.exported import read_exported
from counterpoint.isolation.names import visible_path

__all__ = ["FOLDER", "MAX_TEXT", "Answer", "find", "read_text"]

MAX_TEXT: Final = 8 << 20
"""Bytes of the largest file that is read to check a claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How a claim ends before, or instead of, looking into a file."""

    status: EvidenceStatus
    detail: str


FOLDER: Final = Answer(status=EvidenceStatus.REFUTED, detail="it is a folder")


def find(path: str, candidate: str, report: ExportReport) -> ExportedFile | Answer:
    """Return the exported file of that path, or why there is none to look into."""
    path = path.removeprefix("./")
    if candidate != report.source:
        return _not_checked(f"the export is of {report.source}, the claim is about {candidate}")
    if path in report.files:
        return report.files[path]
    for remark in report.withheld:
        if _is_at_or_below(path, remark.path):
            return _not_checked(f"it is withheld from the export: {remark.reason}")
    for remark in report.submodules:
        if _is_at_or_below(path, remark.path):
            return _not_checked("it is in a submodule, which is not fetched")
    if path.removesuffix("/") in map(visible_path, report.folders):
        return FOLDER
    return Answer(status=EvidenceStatus.REFUTED, detail="there is no such file")


def read_text(tree: Path, file: ExportedFile) -> str | Answer:
    """Return the text of an exported file, CR LF read as LF, or why it cannot be had."""
    if file.size > MAX_TEXT:
        return _not_checked(f"the file has {file.size} bytes; at most {MAX_TEXT} are read")
    content = read_exported(tree, file)
    if content is None:
        return _not_checked("the file is no longer as it was exported")
    if b"\0" in content:
        return _not_checked("the file is binary")
    return content.decode("utf-8", "backslashreplace").replace("\r\n", "\n")


def _not_checked(detail: str) -> Answer:
    return Answer(status=EvidenceStatus.NOT_CHECKED, detail=detail)


def _is_at_or_below(path: str, top: str) -> bool:
    return path == top or path.startswith(f"{top}/")
