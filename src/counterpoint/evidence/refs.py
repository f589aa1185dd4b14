"""Does the candidate have this file or folder, and the file that many lines?"""

from dataclasses import replace
from pathlib import Path

from counterpoint.core.checks import Evidence, EvidenceStatus, PathCheck
from counterpoint.evidence.lookup import FOLDER, Answer, find, read_text
from counterpoint.isolation.export import ExportReport

__all__ = ["check_path"]


def check_path(request: PathCheck, tree: Path, report: ExportReport) -> Evidence:
    """Look a path, and a line if one is named, up in the export at `tree`."""
    answer = _answer(request, tree, report)
    return Evidence(request=request, status=answer.status, detail=answer.detail)


def _answer(request: PathCheck, tree: Path, report: ExportReport) -> Answer:
    file = find(request.path, request.candidate, report)
    if file is FOLDER and request.line is None:
        return replace(FOLDER, status=EvidenceStatus.VERIFIED)
    if isinstance(file, Answer):
        return file
    if request.line is None:
        return Answer(status=EvidenceStatus.VERIFIED, detail="the file is there")
    text = read_text(tree, file)
    if isinstance(text, Answer):
        return text
    lines = text.count("\n") + (bool(text) and not text.endswith("\n"))
    if 1 <= request.line <= lines:
        return Answer(status=EvidenceStatus.VERIFIED, detail=f"the file has {lines} lines")
    return Answer(status=EvidenceStatus.REFUTED, detail=f"the file has {lines} lines, and no line {request.line}")
