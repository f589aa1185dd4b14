"""Who is proposed for seats that nobody named an agent for (issue 5, point 5)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pytest

from counterpoint.agents.probes import PROBES
from counterpoint.agents.profiles import CLIENTS
from counterpoint.drive.permission import AgentLine, Wanted
from counterpoint.drive.probing import SignedIn
from counterpoint.drive.proposing import choose, explain_choice
from counterpoint.drive.questions import compose
from counterpoint.drive.settings import AgentKind
from counterpoint.drive.surveying import KNOWN, Surveyed
from counterpoint.errors import ConfigError
from tests.need import ROOT

_PROVIDERS: Final = {"openai": "openai", "anthropic": "anthropic", "gemini": "google"}


def here(kind: str, name: str = "", *, signed_in: SignedIn = SignedIn.YES) -> Surveyed:
    """Return an agent that was found here, and that nobody has set up."""
    is_program = kind in CLIENTS
    return Surveyed(
        name=name or kind,
        kind=AgentKind(kind),
        is_set_up=False,
        destination=CLIENTS[kind].vendor if is_program else _PROVIDERS[kind],
        may=("review",),
        program=f"/bin/{kind}" if is_program else "",
        version="7.8.9" if is_program else "",
        signed_in=signed_in,
        how="a file" if is_program else "A_KEY",
        table={"kind": kind, "home": "user"} if is_program else {"kind": kind, "model": "m-1"},
    )


def set_up(name: str, kind: str, *, destination: str = "", model: str = "") -> Surveyed:
    """Return an agent that is set up, and ready."""
    to = destination or (CLIENTS[kind].vendor if kind in CLIENTS else _PROVIDERS.get(kind, "local"))
    return Surveyed(
        name=name,
        kind=AgentKind(kind),
        is_set_up=True,
        destination=to,
        may=("review",),
        model=model,
        program="/bin/x",
    )


CODEX, CLAUDE, GEMINI_CLI = here("codex"), here("claude"), here("gemini-cli")
OPENAI, ANTHROPIC = here("openai"), here("anthropic")
COPILOT_UNSEEN: Final = here("copilot", signed_in=SignedIn.UNKNOWN)
TINY: Final = Surveyed(
    name="local",
    kind=AgentKind.LOCAL,
    is_set_up=True,
    destination="local",
    may=("review",),
    model="SmolLM2",
    table={"kind": "local"},
    is_weak=True,
)
TINY_SET_UP: Final = replace(TINY, table={})
OWN_LOCAL: Final = set_up("mine", "local", model="own-70b")
NOBODY: Final = tuple(set_up(kind, kind) for kind in ("checks", "human", "scripted"))


@pytest.mark.parametrize(
    ("found", "needed", "seats"),
    [
        pytest.param([CLAUDE, CODEX], 2, "codex claude", id="in a fixed order, however they were found"),
        pytest.param([OPENAI, CODEX, ANTHROPIC], 2, "codex anthropic", id="different vendors first"),
        pytest.param(
            [CODEX, OPENAI, CLAUDE, ANTHROPIC, GEMINI_CLI], 3, "codex claude gemini-cli", id="three vendors"
        ),
        pytest.param([CODEX, OPENAI, CLAUDE], 3, "codex claude openai", id="then the same vendor again"),
        pytest.param([CODEX, OPENAI], 2, "codex openai", id="one vendor where there is no other"),
        pytest.param([set_up("critic", "claude"), CODEX, CLAUDE], 2, "codex critic", id="one set up, one new"),
        pytest.param(
            [set_up("a", "claude"), set_up("b", "claude"), CODEX], 2, "a b", id="enough set up: nothing to ask"
        ),
        pytest.param(
            [set_up("a", "claude"), set_up("b", "claude"), set_up("z", "openai")], 2, "a z", id="vendors among those"
        ),
        pytest.param([set_up("z", "codex"), CODEX, set_up("b", "command")], 1, "z", id="set up before new"),
        pytest.param([CODEX, OPENAI, COPILOT_UNSEEN], 2, "codex openai", id="a login that is seen comes first"),
        pytest.param([CODEX, COPILOT_UNSEEN], 2, "codex copilot", id="before none at all it is taken"),
        pytest.param([CODEX, TINY], 2, "codex local", id="the small model last"),
        pytest.param([TINY_SET_UP, set_up("a", "claude"), CODEX], 2, "codex a", id="set up it is last, too"),
        pytest.param([OWN_LOCAL, set_up("a", "claude"), CODEX], 2, "a mine", id="a model of one's own is not small"),
        pytest.param([*NOBODY, CODEX, CLAUDE], 2, "codex claude", id="no checks, person or script"),
    ],
)
def test_the_best_that_is_here_is_chosen(found: list[Surveyed], needed: int, seats: str) -> None:
    """Issue 5: different vendors first, then a fixed order."""
    for order in (found, found[::-1]):
        assert [each.name for each in choose(order, needed)] == seats.split()


@pytest.mark.parametrize(
    ("found", "needed", "seats"),
    [
        ([CODEX], 2, "codex codex"),
        ([CODEX, TINY], 2, "codex codex"),
        ([CODEX, CLAUDE], 3, "codex claude codex"),
        ([set_up("a", "codex"), CLAUDE], 2, "a claude"),
        ([TINY], 2, "local local"),
    ],
)
def test_one_agent_takes_two_seats_only_where_the_case_allows_it(
    found: list[Surveyed], needed: int, seats: str
) -> None:
    """Issue 5, point 4: `local,local` runs where there is nobody else, and nobody sits twice before others do."""
    assert [each.name for each in choose(found, needed, may_repeat=True)] == seats.split()


@pytest.mark.parametrize(
    ("found", "beside", "may_repeat", "seats"),
    [
        ([CODEX, OPENAI, CLAUDE], [set_up("author", "codex")], False, "claude"),
        ([CODEX, TINY], [set_up("author", "codex")], False, "codex"),
        ([set_up("author", "codex"), TINY], [set_up("author", "codex")], False, "local"),
        ([set_up("author", "codex"), TINY], [set_up("author", "codex")], True, "author"),
        ([set_up("author", "codex"), CLAUDE], [set_up("author", "codex")], True, "claude"),
    ],
)
def test_who_sits_there_already_counts(
    found: list[Surveyed], beside: list[Surveyed], seats: str, *, may_repeat: bool
) -> None:
    """Ours: beside an author of one vendor another one is looked for, and nobody judges himself before others do."""
    (chosen,) = choose(found, 1, beside=beside, may_repeat=may_repeat)
    assert chosen.name == seats
    (said,) = explain_choice([chosen], beside)
    assert ("not independent" in said.why) == (chosen.vendor == "openai")


@pytest.mark.parametrize(
    "out",
    [
        replace(CODEX, signed_in=SignedIn.NO),
        replace(CODEX, faults=("it did not end",)),
        replace(CODEX, table={}),
        replace(set_up("a", "codex"), signed_in=SignedIn.NO),
        *NOBODY,
    ],
)
def test_who_cannot_take_a_seat_is_not_chosen(out: Surveyed) -> None:
    """Fail closed: two are needed, one can; the error has both numbers, and says where to look."""
    with pytest.raises(ConfigError) as raised:
        choose([out, CLAUDE], 2)
    assert str(raised.value) == "agents: expected 2 agents that can take a seat; got 1"
    assert "`counterpoint agents`" in raised.value.hint
    assert raised.value.hint.endswith("your own seat is named `human`")
    with pytest.raises(ConfigError, match="an agent that can take a seat"):
        choose([out], 1, may_repeat=True)


@pytest.mark.parametrize(
    ("seats", "whys"),
    [
        (
            [CODEX, set_up("critic", "claude")],
            {
                "codex": "version 7.8.9 is here, signed in by a file; vendor openai",
                "critic": "set up already; another vendor, anthropic",
            },
        ),
        (
            [CODEX, OPENAI],
            {
                "codex": "version 7.8.9 is here, signed in by a file; vendor openai",
                "openai": "its key is in A_KEY, model m-1; vendor openai, same vendor: not independent",
            },
        ),
        (
            [COPILOT_UNSEEN, COPILOT_UNSEEN],
            {
                "copilot": "version 7.8.9 is here; whether it is signed in cannot be seen; vendor github; "
                "takes 2 seats, because nobody else is here; same vendor: not independent"
            },
        ),
        (
            [TINY],
            {
                "local": "a small model on this machine: what it says has the right form, and little judgement; "
                "taken because nobody else is here"
            },
        ),
    ],
)
def test_each_is_shown_with_why_it_was_taken(seats: list[Surveyed], whys: Mapping[str, str]) -> None:
    """Issue 5: in one line, and what is not independent or weak is said there."""
    assert {each.name: each.why for each in explain_choice(seats)} == whys


def test_the_line_that_adds_one_is_the_one_that_is_meant() -> None:
    """What is set up has none; a name that is taken says its kind."""
    taken = replace(CODEX, name="codex-2", table={"kind": "codex", "environment": ["CODEX_API_KEY"]})
    chosen = explain_choice([set_up("critic", "claude"), taken, OPENAI])
    assert [each.add for each in chosen] == [
        "",
        "counterpoint agents add codex-2 --kind codex --environment CODEX_API_KEY",
        "counterpoint agents add openai --model m-1",
    ]


def test_two_scripts_on_this_machine_are_not_said_to_be_of_one_vendor() -> None:
    """Ours: whose model answers behind a local command is not known, and nothing is claimed."""
    pair = [set_up("a", "command"), set_up("b", "command")]
    assert [each.why for each in explain_choice(pair)] == [
        "set up already; vendor a",
        "set up already; another vendor, b",
    ]


def test_every_known_make_has_its_place() -> None:
    """Ours: a make that is added to those that are looked for can be chosen."""
    for kind in KNOWN:
        assert choose([set_up("a", kind.value, destination="x")], 1)


def test_the_screen_on_the_page_is_the_one_that_is_shown() -> None:
    """STYLE section 7: documents are run."""
    home = "/home/ana"
    pair = (
        replace(CLAUDE, version=PROBES["claude"].tried, how=f"{home}/.claude/.credentials.json"),
        replace(CODEX, version=PROBES["codex"].tried, how="`codex login status`"),
    )
    lines = [AgentLine(name=each.name, kind=each.kind, destination=each.destination, model="") for each in pair]
    asked = Wanted(agents=tuple(lines), sending=(), running=(), proposed=explain_choice(pair))
    settings_file = f"{home}/.config/counterpoint/config.toml"
    screen = compose(asked, repository=f"{home}/shop", until="", own_branch=True, settings_file=settings_file)
    page = (ROOT / "docs" / "howto" / "pick-your-agents.md").read_text("utf-8")
    assert f"```text\n{screen.text}\n{screen.questions[0].prompt.rstrip()}\n```\n" in page
