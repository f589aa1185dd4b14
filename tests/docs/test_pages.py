"""The pages as a whole: each can be found from the index, each link leads somewhere, and the words are ours."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.docs.pages import DOCS, blocks_of, pages
from tests.need import ROOT

INDEX: Final = DOCS / "README.md"
OTHERS: Final = tuple(ROOT / name for name in ("ARCHITECTURE.md", "AGENTS.md", "CHANGELOG.md"))
_LINK: Final = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_BANNED: Final = re.compile(
    r"\b(easily|simply|just|robust|seamless(ly)?|powerful|leverag\w+|under the hood|best practices|comprehensive)\b",
    re.IGNORECASE,
)


def _prose(page: Path) -> str:
    """Return a page without its code blocks and without code in its lines."""
    text = page.read_text("utf-8")
    for block in blocks_of(text):
        text = text.replace(block.text, "\n" * block.text.count("\n"), 1) if block.text else text
    return re.sub(r"`[^`\n]*`", "``", text)


def _links(page: Path) -> Iterator[tuple[str, Path, str]]:
    """Return each relative link of a page: as written, the file, the heading."""
    for target in _LINK.findall(_prose(page)):
        if "://" not in target:
            path, _, heading = target.partition("#")
            yield target, (page.parent / path).resolve() if path else page, heading


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_relative_link_leads_to_a_file_and_a_heading() -> None:
    """Ours: a reader is never sent nowhere."""
    dead = [
        f"{page.relative_to(ROOT)}: {written}"
        for page in (*pages(), *OTHERS)
        for written, target, heading in _links(page)
        if not target.exists() or (heading and heading not in _anchors(target))
    ]
    assert dead == []


def test_every_page_is_reached_from_the_index() -> None:
    """Ours: what nobody finds, nobody reads."""
    found, waiting = {INDEX}, [INDEX]
    while waiting:
        page = waiting.pop()
        new = {target for _, target, _ in _links(page) if target.suffix == ".md"} - found
        found |= new
        waiting += new
    assert sorted(str(page.relative_to(ROOT)) for page in set(pages()) - found) == []


def test_no_page_uses_a_banned_word() -> None:
    """STYLE section 6; the page that lists the words is none of these."""
    used = [f"{page.relative_to(ROOT)}: {found[0]!r}" for page in pages() for found in _BANNED.finditer(_prose(page))]
    assert used == []


def test_every_page_begins_with_its_title() -> None:
    """One heading of the first level, in the first line."""
    titles = {page: re.findall(r"^# .+$", _prose(page), re.MULTILINE) for page in pages()}
    assert [str(page) for page, found in titles.items() if len(found) != 1] == []
    assert all(page.read_text("utf-8").startswith(found[0]) for page, found in titles.items())
