"""The document that a ballot is begun on: read, held to the rules by its file's lines, and what is said of it."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from counterpoint.cli.inquiring import read_text
from counterpoint.cli.output import tell
from counterpoint.cli.where import Where
from counterpoint.core.canonical import HIDDEN
from counterpoint.core.checks import Evidence, EvidenceStatus
from counterpoint.core.values import Decision
from counterpoint.drive.cases import LoadedCase
from counterpoint.drive.document import COPY, MAX_DOCUMENT, cases_on, is_read_only
from counterpoint.drive.lease import current_holder
from counterpoint.drive.paths import path_text
from counterpoint.drive.whole import put_whole
from counterpoint.errors import CounterpointError, Refused, SourceError
from counterpoint.protocols.ballot import as_text
from counterpoint.protocols.ballot.guards import claim_of, text_fault, title_fault
from counterpoint.protocols.ballot.layout import Document, read_debate, read_document
from counterpoint.protocols.ballot.text import citations_in, markers_in
from counterpoint.views.ballot_check import debate_of, document_of
from counterpoint.views.ballot_result import ballot_state
from counterpoint.views.markdown import counted

__all__ = ["BallotDocument"]

_BOM: Final = "\ufeff"
_ONLY_REJECTED: Final = "only Rejected counts"
_ENDED: Final = {
    Decision.APPROVED: "approved",
    Decision.REJECTED: "rejected",
    Decision.NEEDS_INPUT: "left to a person",
}


@dataclass(frozen=True)
class BallotDocument:
    """A document, as it was read."""

    path: Path
    content: str
    """As it stands in the file."""
    found: Document

    @classmethod
    def read(cls, path: Path) -> "BallotDocument":
        """Read a document.

        Raises:
            SourceError: it cannot be read, is a link, or is not laid out as a document is.
        """
        if path.is_symlink():
            hint = "name the file itself: the document is put in its place whole, and a link would be replaced"
            raise SourceError(f"{path_text(path)} is a link", hint=hint)
        content = read_text(path, most=MAX_DOCUMENT)
        return cls(path, content, read_document(content.removeprefix(_BOM), name=path.name))

    @cached_property
    def text(self) -> str:
        """What is voted on."""
        return as_text(self.found.text)

    @cached_property
    def first(self) -> int:
        """The number of the file's line above the first that says something: the text's line 1."""
        lines = self.found.text.split("\n")
        return self.found.line + next((number for number, line in enumerate(lines) if line.strip()), 0) - 1

    def hold_to_rules(self, *, has_sources: bool) -> None:
        """Refuse what the rules would refuse to open, by the lines of the file.

        Raises:
            Refused: the title or the text is against a rule.
        """
        title, name = self.found.title, self.path.name
        if not title.strip():
            hint = "put a line `# Title` with words above the text"
            said = "the title '' is not one line that says something, hidden characters written out"
            raise Refused("DOCUMENT-1", said, hint=hint)
        if not self.text.strip():
            raise Refused("DOCUMENT-1", "the text says nothing", hint="write the text below its title")
        if fault := title_fault(title) or text_fault(self.text, first=self.first, of=name):
            raise Refused("DOCUMENT-2", fault.reason, hint=fault.hint)
        if not has_sources and (cited := citations_in(self.text)):
            line = self.first + cited[0].line - 1
            raise Refused(
                "QUOTE-1",
                f"line {line} of {name} cites {cited[0].path!r}, and no folder of sources is named",
                hint="name the folder with --sources, or take the citations out",
            )

    def check_free(self, where: Where) -> None:
        """Refuse a document that must not be written: the ballot that is open on it would be orphaned.

        Raises:
            SourceError: a ballot is open on it, whatever stands in it now, or it is read-only.
        """
        shown = path_text(self.path)
        mode = stat.S_IMODE(self.path.stat().st_mode)
        if is_read_only(self.path, mode):
            raise SourceError(
                f"{shown} is read-only (mode {mode:04o}); a ballot writes its debate into it; nothing was begun",
                hint=f"`chmod u+w {shown}`, or begin the ballot on a copy",
            )
        found = cases_on(self.path, protocol="ballot", folder=where.repo, store=where.store, cases=where.cases)
        held = next((case for case in found if case.state.closed is None), None)
        if held is None:
            return
        holder = current_holder(held.folder)
        driven = f", which is driven by {holder.name} since {holder.since}" if holder else ""
        go_on = "wait for it" if holder else f"`{where.command_line('resume', held.name)}`"
        withdraw = f"{where.command_line('withdraw', held.name)} --reason 'begun anew'"
        raise SourceError(
            f"{shown} belongs to the open case {held.name}{driven}; nothing was begun",
            hint=f"{go_on}, or `{withdraw}` first",
        )

    def remarks(self, where: Where) -> Iterator[str]:
        """Say what became of the file when it was read.

        Raises:
            SourceError: it holds a debate that would be lost.
        """
        name, content = self.path.name, self.content
        if not self.found.has_title:
            yield f"{name} has no heading: its name is the title, and all of it is version 1"
        elif not self.found.version:
            yield f"{name} has no version heading: its first heading is the title, and the rest is version 1"
        if hidden := len(HIDDEN.findall(content.removeprefix(_BOM).replace("\r\n", "\n"))):
            yield f"{hidden} invisible or control characters are written out in the text, as \\u{{...}}"
        if "\r\n" in content:
            yield "line ends are LF in the text; the file has CR LF"
        if self.found.debate:
            yield self._replaced(where, self._case(where))

    def unborne(self, sources: str, evidence: tuple[Evidence, ...]) -> Iterator[str]:
        """Say what the text claims and code has not found: no approval of it counts."""
        for marker in markers_in(self.text, first=self.first):
            yield f"{marker} of {self.path.name} says that nothing bears it out; {_ONLY_REJECTED}"
        known = {each.request: each for each in evidence}
        for cited in citations_in(self.text):
            found = known[claim_of(cited, sources)]
            if found.status is not EvidenceStatus.VERIFIED:
                at = f"line {self.first + cited.line - 1} of {self.path.name}"
                yield f"{at}: {cited.words} does not hold: {found.detail}; {_ONLY_REJECTED}"

    def _case(self, where: Where) -> LoadedCase:
        """Return the case that the debate in the document is of, and that has it still."""
        try:
            case = where.load(read_debate(self.found.debate)[-1].case)
            if debate_of(case) == self.found.debate:
                return case
        except CounterpointError as error:
            tell(f"note: {error}", colour="yellow")
        name = path_text(self.path)
        raise SourceError(
            f"{name} holds a debate that no case here has as it stands there; a new ballot would lose it",
            hint="take the debate out, from its first heading on, and keep it elsewhere",
        )

    def _replaced(self, where: Where, case: LoadedCase) -> str:
        """Say which debate the new one replaces, and see that it is kept."""
        state, copy = ballot_state(case), case.folder / COPY
        document = document_of(case)
        if not copy.is_file() or copy.read_bytes() != document.encode():
            put_whole(copy, document.encode())
        which = "this text" if self.text == state.text else "another text"
        ended = _ENDED.get(case.outcome.decision, "left undecided")
        rounds = counted(state.version, "round")
        return (
            f"{which} was {ended} as v{state.version} in {case.name}; that debate of {rounds} is replaced by a new"
            f" one, which counts from v1 again, and is kept in {os.path.relpath(copy, where.repo)}"
        )
