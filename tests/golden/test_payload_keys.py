"""The page of each protocol names every key that a seat is sent."""

import re
from collections.abc import Callable, Iterator, Mapping
from textwrap import wrap
from typing import Any, Final

import pytest

from counterpoint.core.docket import Seat, Terms
from counterpoint.core.limits import Limits
from tests import answer_case, ballot_case, propose_case
from tests.ballot_case import challenge, revision, vote, weights
from tests.case_play import CasePlay
from tests.golden_files import check_golden
from tests.need import ROOT
from tests.propose_case import CRITIC, PROPOSER, answer, issue, proposal, review, ruling, scan

_MARKED: Final = re.compile(r"(<!-- payload: .*? -->\n)(.*?)(<!-- /payload -->)", re.DOTALL)


def _answered() -> Iterator[CasePlay[Any]]:
    peers = [Seat(name=name, party=name) for name in ("ada", "bob")]
    voted = answer_case.Play(*peers, terms=Terms(vote_only=True, options=("Paris", "Lyon")))
    voted.all_say(ada="Paris", bob="Lyon")
    yield voted
    case = answer_case.Play(*peers, limits=Limits(max_rounds=4))
    case.all_say(ada="Paris", bob="Lyon")
    case.all_say(
        ada={"answer": "Paris", "objects": {"bob": "Lyon is not it"}},
        bob={"answer": "Paris", "agrees": ["ada"], "why": "Lyon never was"},
    )
    case.all_say(ada={}, bob={"objects": ["Paris, since when?"]})
    case.all_say(ada="Paris", bob="Paris")
    yield case


def _proposed() -> Iterator[CasePlay[Any]]:
    case = propose_case.Play(PROPOSER, CRITIC)
    case.all_answer(proposal(), scan())
    case.all_answer(review(1, new=(issue(),)))
    case.all_answer(proposal(answer()))
    case.all_answer(review(2, ruling("I1", "open")))
    case.all_answer(proposal(answer()))
    yield case


def _balloted() -> Iterator[CasePlay[Any]]:
    docket = ballot_case.docket_of("A timer fires once, as sure as [VERIFY].", context="The team met twice.")
    case = ballot_case.Play(
        ballot_case.ORCHESTRATOR, ballot_case.ANN, ballot_case.BEN, limits=Limits(max_rounds=3), docket=docket
    )
    case.all_answer(vote(case, "no", reason="It is wrong."), vote(case, "no", reason="So I think."))
    case.all_answer(revision("A timer fires once.", "v1-N1", "v1-N2"))
    case.all_answer(vote(case, "but", "say when"), vote(case, "yes"))
    case.all_answer(weights(v2_R1="cosmetic"))
    case.all_answer(challenge("v2-R1"), challenge())
    case.all_answer(revision("A timer fires once, on time.", "v2-R1"))
    case.all_answer(vote(case, "yes"), vote(case, "yes"))
    yield case


Shape = dict[str, Any]
"""Key to the shape of what stands under it, empty for plain values; of a list under `[]`."""


def _learn(shape: Shape, value: object) -> None:
    """Add to a shape the keys of one more value of its kind."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _learn(shape.setdefault(key, {}), inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _learn(shape.setdefault("[]", {}), inner)


def _said(shape: Shape) -> str:
    if "[]" in shape:
        return f"[{_said(shape['[]'])}]"
    return f"{{{', '.join(_named(key, inner) for key, inner in shape.items())}}}" if shape else ""


def _named(key: str, shape: Shape) -> str:
    said = _said(shape)
    return f"{key}: {said}" if said not in {"", "[]"} else key


def _drawn(cases: Iterator[CasePlay[Any]]) -> str:
    sent: dict[str, Shape] = {}
    for case in cases:
        for turn, payload in case.sent:
            kind = case.state.case.seat(turn.seat).kind.value
            _learn(sent.setdefault(f"{turn.phase}, {kind}", {}), payload)
    lines = ["<!-- held by tests/golden/test_payload_keys.py -->", "```text"]
    for who, shape in sent.items():
        plain = [key for key, inner in shape.items() if _named(key, inner) == key]
        lines += [f"{who}:", f"  {', '.join(plain)}"]
        for key, inner in shape.items():
            if key not in plain:
                line = f"  {_named(key, inner)}"
                lines += wrap(line, 118, subsequent_indent="      ", break_long_words=False, break_on_hyphens=False)
    return "\n".join([*lines, "```"]) + "\n"


CASES: Final[Mapping[str, Callable[[], Iterator[CasePlay[Any]]]]] = {
    "answer.md": _answered,
    "propose.md": _proposed,
    "ballot.md": _balloted,
}


@pytest.mark.parametrize("name", CASES)
def test_a_page_names_every_key_that_a_seat_is_sent(name: str) -> None:
    """Whoever writes a seat of their own learns the keys there, and they cannot drift from the code."""
    path = ROOT / "docs/protocols" / name
    page = path.read_text("utf-8")
    assert len(_MARKED.findall(page)) == 1
    check_golden(path, _MARKED.sub(lambda found: f"{found[1]}{_drawn(CASES[name]())}{found[3]}", page))
