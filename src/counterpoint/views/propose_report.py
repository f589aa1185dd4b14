"""`report.md` of a case of `propose`. What a seat or a user wrote stands in code: no structure, no link (A-41)."""

from collections.abc import Iterator
from typing import Final, assert_never

from counterpoint.drive.cases import LoadedCase
from counterpoint.views.markdown import code, fenced, inline, items, wrapped
from counterpoint.views.propose_parts import Facts, Heading, Listed, Notice, Part, Quoted, Sentence, Verdict
from counterpoint.views.propose_text import parts_of

__all__ = ["render_report"]

_MAX_LINE: Final = 240
"""Longer texts have a block of their own, where nothing of them is cut."""


def render_report(case: LoadedCase) -> str:
    """Return the text of `report.md`."""
    return "\n\n".join(paragraph for part in parts_of(case) for paragraph in _drawn(part)) + "\n"


def _drawn(part: Part) -> Iterator[str]:
    match part:
        case Verdict(text=text, status=status, why=why):
            yield f"# {text}"
            yield items(inline(why), f"status: {status}" if status else "")
        case Notice(label=label, text=text):
            yield f"**{label}:** {text}" if label else text
        case Heading():
            yield _heading(part)
        case Sentence(text=text):
            yield text
        case Facts(rows=rows):
            yield items(*(f"{label}: {inline(text) if text.strip() else '(empty)'}" for label, text in rows))
        case Listed():
            yield from _list(part)
        case Quoted(label=label, text=text, name=name):
            yield from _labelled(label, name)
            yield fenced(wrapped(text))
        case _:
            assert_never(part)


def _heading(part: Heading) -> str:
    ours = ", ".join(word for word in (part.text, *(badge.text for badge in part.badges)) if word)
    theirs = ", ".join(word for word in (part.ref, part.name) if word)
    return f"{'#' * part.level} {f'{ours}: {code(theirs)}' if theirs else ours}"


def _list(part: Listed) -> Iterator[str]:
    yield from _labelled(part.label)
    if any(len(text) > _MAX_LINE or "\n" in text for text in part.texts):
        marked = zip(_marks(part), part.texts, strict=True)
        yield fenced("\n".join(wrapped(f"{mark} {text}") for mark, text in marked))
    else:
        shown = (inline(text) if text.strip() else "(empty)" for text in part.texts)
        yield "\n".join(f"{mark} {text}" for mark, text in zip(_marks(part), shown, strict=True))


def _marks(part: Listed) -> list[str]:
    return [f"{number}." if part.is_ordered else "-" for number in range(1, len(part.texts) + 1)]


def _labelled(label: str, name: str = "") -> Iterator[str]:
    if label:
        yield f"{label}, {inline(name)}:" if name else f"{label}:"
