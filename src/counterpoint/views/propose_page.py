"""`report.html` of a case of `propose`: one file, no script, nothing fetched (SPEC A-41).

Every text is escaped, hidden characters are written out, and the policy in the page allows its own style alone: so
even a mistake in here runs nothing and calls nobody.
"""

import base64
import hashlib
import html
from collections.abc import Iterator
from typing import Final, assert_never

from counterpoint.core.canonical import visible
from counterpoint.drive.cases import LoadedCase
from counterpoint.views.propose_text import Facts, Heading, Listed, Part, Quoted, Sentence, parts_of, title_of

__all__ = ["POLICY", "render_page"]

_STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; } h3 { font-size: 1rem; }
p, li, dd, blockquote { white-space: pre-wrap; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: .2rem 1rem; }
dt { font-weight: 600; } dd { margin: 0; }
blockquote { margin: .5rem 0; padding-left: 1rem; border-left: 3px solid #8888; }
"""
_DIGEST: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
POLICY: Final = f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'none'"


def render_page(case: LoadedCase) -> str:
    """Return the text of `report.html`."""
    body = "\n".join(line for part in parts_of(case) for line in _drawn(part))
    return (
        "<!doctype html>\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_text(POLICY)}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title_of(case))}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _text(text: str) -> str:
    return html.escape(visible(text), quote=True)


def _drawn(part: Part) -> Iterator[str]:
    match part:
        case Heading(text=text, name=name, level=level):
            yield f"<h{level}>{_text(f'{text} {name}'.strip())}</h{level}>"
        case Sentence(text=text):
            yield f"<p>{_text(text)}</p>"
        case Facts(rows=rows):
            yield "<dl>"
            yield from (f"<dt>{_text(label)}</dt><dd>{_text(text)}</dd>" for label, text in rows)
            yield "</dl>"
        case Listed(label=label, texts=texts):
            yield from _labelled(label)
            yield "<ul>"
            yield from (f"<li>{_text(text)}</li>" for text in texts)
            yield "</ul>"
        case Quoted(label=label, text=text):
            yield from _labelled(label)
            yield f"<blockquote>{_text(text)}</blockquote>"
        case _:
            assert_never(part)


def _labelled(label: str) -> Iterator[str]:
    if label:
        yield f"<p>{_text(label)}:</p>"
