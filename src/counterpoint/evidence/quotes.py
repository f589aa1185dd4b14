r"""Does a quoted text stand in a file of the candidate?

White space counts; CR LF and LF count alike. A quote is a part of one line, or a run of whole lines. A reviewer sees
control and invisible characters written out (`\u{202e}`), so a quote in that form is found too. In prose only the
words and their order count: where a line is broken is no part of what it says.
"""

import re
from pathlib import Path

from counterpoint.core.canonical import visible
from counterpoint.core.checks import Evidence, EvidenceStatus, QuoteCheck
from counterpoint.evidence.lookup import Answer, find, read_text
from counterpoint.isolation.export import ExportReport

__all__ = ["check_quote"]


def check_quote(request: QuoteCheck, tree: Path, report: ExportReport, *, is_prose: bool = False) -> Evidence:
    """Look a quote up in the export at `tree`."""
    answer = _answer(request, tree, report, is_prose=is_prose)
    return Evidence(request=request, status=answer.status, detail=answer.detail)


def _answer(request: QuoteCheck, tree: Path, report: ExportReport, *, is_prose: bool) -> Answer:
    file = find(request.path, request.candidate, report)
    if isinstance(file, Answer):
        return file
    quote = request.text.replace("\r\n", "\n").strip("\n")
    if not quote.strip():
        return Answer(status=EvidenceStatus.NOT_CHECKED, detail="the quote is empty")
    text = read_text(tree, file)
    if isinstance(text, Answer):
        return text
    found = _words(text, quote) if is_prose else _lines(text, quote)
    if found is None:
        return Answer(status=EvidenceStatus.REFUTED, detail="it is not in the file")
    first, last = found
    where = f"line {first}" if first == last else f"lines {first} to {last}"
    return Answer(status=EvidenceStatus.VERIFIED, detail=f"it stands at {where}")


def _lines(text: str, quote: str) -> tuple[int, int] | None:
    """Return the first and the last line where the quote first stands, white space and all."""
    forms = ((text, quote), (visible(text), quote), (_bare(text), _bare(quote)))
    first = next((line for form in forms if (line := _first_line(*form)) is not None), None)
    return None if first is None else (first, first + quote.count("\n"))


def _words(text: str, quote: str) -> tuple[int, int] | None:
    """Return the first and the last line where the quote's words first stand, with any white space between them."""
    words = re.compile(r"\s+".join(map(re.escape, quote.split())))
    for form in (text, visible(text)):
        if found := words.search(form):
            first = form.count("\n", 0, found.start()) + 1
            return first, first + found[0].count("\n")
    return None


def _bare(text: str) -> str:
    """Return `text` without blanks at the end of its lines: nobody who copies a line sees them."""
    return "\n".join(line.rstrip(" \t") for line in text.split("\n"))


def _first_line(text: str, quote: str) -> int | None:
    """Return the number of the line where the quote first stands."""
    found = f"\n{text}\n".find(f"\n{quote}\n") if "\n" in quote else text.find(quote)
    return None if found < 0 else text.count("\n", 0, found) + 1
