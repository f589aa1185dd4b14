"""`report.html` of a case of `propose`: one file, no script, nothing fetched (SPEC A-41).

Every text is escaped, hidden characters are written out, and the policy in the page allows its own style alone: so
even a mistake in here runs nothing and calls nobody. The links lead to places of the page, whose names are ours.
"""

import base64
import hashlib
import html
import re
from collections.abc import Iterator, Sequence
from typing import Final, assert_never

from counterpoint.core.canonical import visible
from counterpoint.drive.cases import LoadedCase
from counterpoint.views.propose_parts import (
    Badge,
    Facts,
    Heading,
    Listed,
    Notice,
    Part,
    Quoted,
    Sentence,
    Tone,
    Verdict,
)
from counterpoint.views.propose_style import STYLE
from counterpoint.views.propose_text import parts_of, title_of

__all__ = ["POLICY", "render_page"]

_DIGEST: Final = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY: Final = f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'none'"
_PLACE: Final = re.compile(r"[A-Z][a-z]+(?: [a-z]+)*")
_SECTION, _CARD = 2, 3


def render_page(case: LoadedCase) -> str:
    """Return the text of `report.html`."""
    body = "\n".join(_body(list(parts_of(case))))
    return (
        "<!doctype html>\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_text(POLICY)}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title_of(case))}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _text(text: str) -> str:
    return html.escape(visible(text), quote=True)


def _body(parts: Sequence[Part]) -> Iterator[str]:
    """Yield the page: the top, the way around, and each heading's own part in an element of its own."""
    sections = [part for part in parts if isinstance(part, Heading) and part.level == _SECTION]
    feet = [part for part in sections if part.is_foot]
    named = [part for part in sections if part not in feet[1:]]
    opened: list[str] = ["header"]
    yield "<header>"
    for part in parts:
        if isinstance(part, Heading):
            while opened and (part.level == _SECTION or opened[-1] == "article"):
                yield f"</{opened.pop()}>"
            if part is sections[0]:
                yield from _contents(named)
            opened.append("section" if part.level == _SECTION else "article")
            yield _opening(part, is_named=part in named)
        yield from _drawn(part)
    yield from (f"</{name}>" for name in reversed(opened))


def _contents(sections: Sequence[Heading]) -> Iterator[str]:
    yield '<nav aria-label="Contents">'
    yield from (f'<a href="#{_place(part)}">{_words(part)}</a>' for part in sections)
    yield "</nav>"


def _words(part: Heading) -> str:
    """Return the words that a section's heading begins with; they are ours alone."""
    found = _PLACE.match(part.text)
    assert found is not None, "a heading begins with words"
    return found[0]


def _place(part: Heading) -> str:
    return _words(part).replace(" ", "-").lower()


def _opening(part: Heading, *, is_named: bool) -> str:
    if part.level == _CARD:
        return "<article>"
    name = f' id="{_place(part)}"' if is_named else ""
    foot = ' class="foot"' if part.is_foot else ""
    return f"<section{name}{foot}>"


def _drawn(part: Part) -> Iterator[str]:
    match part:
        case Verdict(text=text, tone=tone, status=status, why=why):
            beside = f" {_badge(Badge(text=status, tone=Tone.PLAIN))}" if status else ""
            yield f'<h1><span class="verdict {tone}">{_text(text)}</span>{beside}</h1>'
            yield f'<p class="why">{_text(why)}</p>'
        case Notice(label=label, text=text, tone=tone):
            named = f"<strong>{_text(label)}</strong>\n" if label else ""
            yield f'<div class="notice {tone}">{named}<p>{_ours(text)}</p></div>'
        case Heading():
            yield _heading(part)
        case Sentence(text=text):
            yield f"<p>{_ours(text)}</p>"
        case Facts(rows=rows):
            yield "<dl>"
            yield from (f"<div><dt>{_text(label)}</dt><dd>{_text(text)}</dd></div>" for label, text in rows)
            yield "</dl>"
        case Listed(label=label, texts=texts, is_ordered=is_ordered):
            yield from _labelled(label)
            yield "<ol>" if is_ordered else "<ul>"
            yield from (f"<li>{_text(text)}</li>" for text in texts)
            yield "</ol>" if is_ordered else "</ul>"
        case Quoted(label=label, text=text, name=name, is_lead=is_lead):
            yield from _labelled(label, name)
            yield ('<blockquote class="lead">' if is_lead else "<blockquote>") + f"{_text(text)}</blockquote>"
        case _:
            assert_never(part)


def _ours(text: str) -> str:
    """Return a sentence of ours, with what stands between backticks as code."""
    pieces = _text(text).split("`")
    return "".join(f"<code>{piece}</code>" if number % 2 else piece for number, piece in enumerate(pieces))


def _badge(badge: Badge) -> str:
    return f'<span class="badge {badge.tone}">{_text(badge.text)}</span>'


def _heading(part: Heading) -> str:
    ours = [_text(part.text)] if part.text and not part.name else []
    badges = [_badge(badge) for badge in part.badges]
    ref = [f"<code>{_text(part.ref)}</code>"] if part.ref else []
    name = [f"<span>{_text(part.name)}</span>"] if part.name else []
    words = [_badge(Badge(text=part.text.lower(), tone=Tone.PLAIN))] if part.text and part.name else []
    return f"<h{part.level}>{' '.join([*ours, *words, *badges, *ref, *name])}</h{part.level}>"


def _labelled(label: str, name: str = "") -> Iterator[str]:
    if label:
        by = f" <span>{_text(name)}</span>" if name else ""
        yield f'<p class="label">{_text(label)}{by}</p>'
