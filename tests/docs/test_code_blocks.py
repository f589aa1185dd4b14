"""Every code block in README.md and below docs/ runs, and what it shows is what comes of it."""

import contextlib
import io
import json
import os
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any, Final

import pytest

from counterpoint.agents.base import schema_fault
from counterpoint.agents.scripted import parse_script_file
from counterpoint.core.docket import SeatKind
from counterpoint.drive.config import RepositoryFiles, load
from counterpoint.protocols.review.codec import schema_for
from tests import need
from tests.docs.pages import GENERATED, Block, blocks_of, pages, written
from tests.docs.scratch import Scratch, commands_of
from tests.golden_files import WRITE
from tests.need import ROOT

_ANY: Final = "…"
_BASE: Final = "4e9f21c0" + "0" * 32


class _Page:
    """One page while its blocks run, from top to bottom."""

    def __init__(self, path: Path, top: Path) -> None:
        self.path = path
        self.name = path.relative_to(ROOT).as_posix()
        self.text = path.read_text("utf-8")
        self.place = Scratch(top)
        self.names: dict[str, Any] = {"__name__": "page"}
        self.printed: str | None = None
        self.shown: list[tuple[Block, str]] = []
        """Blocks with what they should show, while golden files are written."""

    def run(self) -> Iterator[str]:
        """Run every block and return its complaints."""
        for block in blocks_of(self.text):
            at = f"{self.name}:{block.line}"
            printed, self.printed = self.printed, None
            try:
                self._run(block, printed)
            except AssertionError as error:
                yield f"{at}: {error}"
            except Exception as error:  # noqa: BLE001 - whatever a page's code raises is the page's fault
                yield f"{at}: {type(error).__name__}: {error}"
        for block, real in reversed(self.shown):
            self.text = written(self.text, block, real)
        if self.shown:
            self.path.write_text(self.text, "utf-8")

    def _run(self, block: Block, printed: str | None) -> None:
        if "not run" in block.notes:
            assert block.notes["not run"], "a block that is not run says why"
        elif "held by" in block.notes:
            test = (ROOT / block.notes["held by"]).read_text("utf-8")
            assert Path(self.name).name in test, f"{block.notes['held by']} does not read this page"
        elif "output" in block.notes:
            assert printed is not None, "there is no Python block before this output"
            self._compare(block, block.text, self.place.normalise(printed))
        else:
            self._run_by_kind(block)

    def _run_by_kind(self, block: Block) -> None:
        match block.info:
            case "console":
                self._console(block)
            case "sh":
                output, code = self.place.run(block.text)
                assert code == 0, f"it ends with exit {code}: {output}"
            case "python":
                stream = io.StringIO()
                code_object = compile(block.text, self.name, "exec", dont_inherit=True)
                with contextlib.redirect_stdout(stream):
                    exec(code_object, self.names)
                self.printed = stream.getvalue()
            case "toml":
                self._toml(block.text)
            case "json":
                _answer(json.loads(block.text))
            case info:
                raise AssertionError(f"nothing is known of a block of kind {info!r}; say why it is not run")

    def _console(self, block: Block) -> None:
        before, commands = commands_of(block.text)
        assert commands, "it has no line that begins with `$ `"
        assert not before, f"{before!r} stands before the first command"
        shown, untold = [], []
        for number, each in enumerate(commands):
            output, code = self.place.run(each.typed)
            follows = commands[number + 1].typed if number + 1 < len(commands) else ""
            if code and not follows.startswith("echo $?"):
                untold.append(f"{each.typed!r} ends with exit {code}, and no `echo $?` tells so")
            real = output.removesuffix("\n")
            shown.append((each, each.output if _fits(each.output.split("\n"), real.split("\n")) else real))
        lines = [
            line
            for each, output in shown
            for line in (f"$ {each.typed.replace(chr(10), chr(10) + '> ')}", *(output.split("\n") if output else ()))
        ]
        self._compare(block, block.text, "\n".join(lines) + "\n")
        assert not untold, "; ".join(untold)

    def _compare(self, block: Block, stands: str, real: str) -> None:
        if os.environ.get("GOLDEN") == WRITE:
            self.shown.append((block, real))
            return
        lines = unified_diff(stands.split("\n"), real.split("\n"), "the page", "what is so", lineterm="", n=1)
        if stands != real:
            raise AssertionError("\n".join([*lines, "run `make golden` and read the diff"]))

    def _toml(self, text: str) -> None:
        name = text.partition("\n")[0].removeprefix("# ")
        if name.startswith("~/"):
            self.place.write(name, text)
        if "[[reply]]" in text:
            assert parse_script_file(text.encode(), source="script.toml")
        elif name == "counterpoint.toml":
            files = RepositoryFiles(commit=_BASE, at_base={name: text.encode()})
            load(flags={}, environment={}, settings_file=None, repository=files)
        else:
            self.place.write("settings.toml", text)
            load(flags={}, environment={}, settings_file=self.place.home / "settings.toml", repository=None)


def _fits(shown: list[str], real: list[str]) -> bool:
    """Say whether lines are shown as they are; a shown line of `…` alone stands for any number of lines."""
    if not shown:
        return not real
    if shown[0].strip() == _ANY:
        return any(_fits(shown[1:], real[skipped:]) for skipped in range(len(real) + 1))
    return bool(real) and shown[0] == real[0] and _fits(shown[1:], real[1:])


def _answer(value: Any) -> None:
    """Hold an object to be an answer in a review, under the schema of one of its kinds of seat."""
    faults = [schema_fault(value, schema_for(kind)) for kind in SeatKind]
    assert "" in faults, f"it is no answer: {' · '.join(faults)}"


@pytest.mark.parametrize(
    "page", [p for p in pages() if p not in GENERATED], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_every_block_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command, a program or a setting on a page does what the page says (STYLE 7)."""
    monkeypatch.chdir(tmp_path)
    if "$ ssh-keygen" in page.read_text("utf-8"):
        need.tool("ssh-keygen")
    complaints = list(_Page(page, tmp_path).run())
    assert not complaints, "\n\n".join(complaints)
