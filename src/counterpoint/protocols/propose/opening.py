"""What a case of `propose` may be opened with, beside what holds for every case: the rules by their ids."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from counterpoint.core.docket import Docket, SeatKind
from counterpoint.core.entries import CaseOpened

__all__ = [
    "MAX_INPUT_CHARS",
    "MOST_ROUNDS",
    "OPENING_GUARDS",
    "call_ceiling",
    "input_fault",
    "is_anybody_asked",
    "is_blank",
]

MOST_ROUNDS: Final = 12
MAX_INPUT_CHARS: Final = 64_000
"""Of requirement and context together (SPEC A-02)."""


def _one_proposes_and_others_judge(case: CaseOpened) -> str | None:
    proposers = [seat.name for seat in case.roster if seat.kind is SeatKind.AUTHOR]
    if len(proposers) != 1:
        return f"{' and '.join(proposers) or 'nobody'} proposes; exactly one seat does"
    if not case.judges:
        return f"{proposers[0]!r} proposes, and nobody criticises"
    other = next((seat.name for seat in case.judges if seat.kind is not SeatKind.OPINION), None)
    return f"{other!r} runs commands; a proposal has none to run" if other is not None else None


def _every_critic_counts(case: CaseOpened) -> str | None:
    critics = len(case.judges)
    return None if case.quorum == critics else f"a quorum of {case.quorum} with {critics} critics; all of them count"


def _rounds_are_few(case: CaseOpened) -> str | None:
    limits = case.limits
    named = {"max_rounds": limits.max_rounds, "min_rounds": limits.min_rounds}
    low = next((name for name, value in named.items() if not 1 <= value <= MOST_ROUNDS), None)
    if low is not None:
        return f"{low} is {named[low]}; 1 to {MOST_ROUNDS} are possible"
    return None if limits.stall_rounds <= MOST_ROUNDS else f"stall_rounds is {limits.stall_rounds}; at most 12"


def _nobody_is_asked_twice(case: CaseOpened) -> str | None:
    asks = case.limits.max_asks
    return None if asks == 1 else f"max_asks is {asks}; an answer that is not taken is not asked for again here"


def _a_requirement_is_words(case: CaseOpened) -> str | None:
    docket = case.docket
    named = {"base": docket.base, "text": docket.text, "paths": docket.paths, "commands": docket.commands}
    found = next((name for name, value in named.items() if value), None)
    return f"the docket has {found}; a requirement is a question and its context" if found else None


OPENING_GUARDS: Final[Mapping[str, Callable[[CaseOpened], str | None]]] = MappingProxyType(
    {
        "CRITIC-1": _one_proposes_and_others_judge,
        "CRITIC-2": _every_critic_counts,
        "ROUNDS-1": _rounds_are_few,
        "ASKS-1": _nobody_is_asked_twice,
        "REQUIREMENT-1": _a_requirement_is_words,
    }
)


def call_ceiling(*, critics: int, rounds: int) -> int:
    """Return how many calls so many rounds allow: 2 * rounds + 1 with one critic (SPEC A-09)."""
    return (critics + 1) * rounds + critics


# --- what opens a case and ends it before anything is asked (SPEC A-22)


def is_blank(docket: Docket) -> bool:
    return not docket.question.strip()


def input_fault(docket: Docket) -> str:
    """Return what no seat can be given of the input, or ""."""
    question, context = docket.question, docket.context
    if "\0" in question or "\0" in context:
        return "the input holds a NUL; it is no text"
    size = len(question) + len(context)
    if size > MAX_INPUT_CHARS:
        return f"requirement and context have {size} characters; at most {MAX_INPUT_CHARS} are taken"
    return ""


def is_anybody_asked(docket: Docket) -> bool:
    """Whether the input is one that seats can be asked about."""
    return not (is_blank(docket) or input_fault(docket))
