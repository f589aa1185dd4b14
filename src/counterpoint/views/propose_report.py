"""`report.md` of a case of `propose`. What a seat or a user wrote stands in code: no structure, no link (A-41)."""

from collections.abc import Iterator
from typing import Final, assert_never

from counterpoint.drive.cases import LoadedCase
from counterpoint.views.markdown import code, fenced, inline, items, wrapped
from counterpoint.views.propose_text import Facts, Heading, Listed, Part, Quoted, Sentence, parts_of

__all__ = ["render_report"]

_MAX_LINE: Final = 240
"""Longer texts have a block of their own, where nothing of them is cut."""


def render_report(case: LoadedCase) -> str:
    """Return the text of `report.md`."""
    return "\n\n".join(paragraph for part in parts_of(case) for paragraph in _drawn(part)) + "\n"


def _drawn(part: Part) -> Iterator[str]:
    match part:
        case Heading(text=text, name=name, level=level):
            yield f"{'#' * level} {text}" + (f" {code(name)}" if name else "")
        case Sentence(text=text):
            yield text
        case Facts(rows=rows):
            yield items(*(f"{label}: {inline(text) if text.strip() else '(empty)'}" for label, text in rows))
        case Listed(label=label, texts=texts):
            yield from _labelled(label)
            if any(len(text) > _MAX_LINE or "\n" in text for text in texts):
                yield fenced("\n".join(wrapped(f"- {text}") for text in texts))
            else:
                yield items(*(inline(text) if text.strip() else "(empty)" for text in texts))
        case Quoted(label=label, text=text):
            yield from _labelled(label)
            yield fenced(wrapped(text))
        case _:
            assert_never(part)


def _labelled(label: str) -> Iterator[str]:
    if label:
        yield f"{label}:"
