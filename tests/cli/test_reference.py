"""What is written from the program: it is what the program says, and every command's help stands alone."""

from pathlib import Path

import click
import pytest

from counterpoint.cli.main import COMMANDS, counterpoint
from counterpoint.cli.manual import Manual, ManualGroup, ManualWithMore
from counterpoint.cli.reference import PAGES, commands, main
from tests import need
from tests.command_line import call

ALL = dict(commands(counterpoint, "counterpoint"))
OURS = [name for name in ALL if name != "counterpoint"]


def examples_of(name: str) -> tuple[tuple[str, str], ...]:
    command = ALL[name]
    return command.examples if isinstance(command, Manual | ManualGroup) else ()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_what_the_program_says(page: str) -> None:
    """docs/cli.md and the schema are written anew with `make docs`; nobody edits them (STYLE 1.8)."""
    written = (need.ROOT / "docs" / page).read_text("utf-8")
    assert written == PAGES[page](), f"docs/{page} differs from the program: run `make docs`"


def test_pages_are_written_where_asked(tmp_path: Path) -> None:
    """`python -m counterpoint.cli.reference DIR`."""
    main(tmp_path)
    assert {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()} == {
        name: render() for name, render in PAGES.items()
    }


@pytest.mark.parametrize("name", OURS)
def test_every_command_has_examples_and_exit_codes(name: str) -> None:
    """What it does, how it is called (a group may say it for its commands), what its code means (DESIGN 8)."""
    command = ALL[name]
    assert isinstance(command, Manual | ManualGroup)
    assert command.help
    assert command.examples or examples_of(name.rpartition(" ")[0])
    assert command.exits[0]
    assert 2 in command.exits


@pytest.mark.parametrize("name", OURS)
def test_every_option_says_what_it_does(name: str) -> None:
    """No option without a sentence."""
    silent = [p.name for p in ALL[name].params if isinstance(p, click.Option) and not p.help]
    assert silent == []


@pytest.mark.parametrize("name", COMMANDS)
def test_help_prints_and_ends_with_zero(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each example is printed whole, so that it can be copied."""
    done = call(capsys, name, "--help")
    assert done.code == 0
    assert all(f"  {line}\n" in done.out for line, _ in examples_of(f"counterpoint {name}"))


@pytest.mark.parametrize("name", OURS)
def test_every_example_is_a_command_line_that_is_understood(name: str) -> None:
    """The words and options of each example exist: it is parsed up to the point where it would run."""
    for line, _ in examples_of(name):
        words = line.removeprefix('eval "$(').removesuffix(')"').split(" > ")[0].split()
        _parse(words[1:])


def _parse(words: list[str]) -> None:
    found: click.Command = counterpoint
    context = click.Context(found, info_name="counterpoint")
    while isinstance(found, click.Group) and not (found.invoke_without_command and words[:1] in ([], ["--json"])):
        word = words.pop(0)
        below = found.get_command(context, word)
        assert below is not None, word
        found, context = below, click.Context(below, info_name=word, parent=context)
    if isinstance(found, ManualWithMore) and words and words[0] in found.below:
        found = found.below[words.pop(0)]
    found.make_parser(context).parse_args(args=words)
