"""`answer` as a value: its stages and what follows from them. Everything else is the machine's (`core.machine`)."""

from types import MappingProxyType
from typing import Final

from counterpoint.core.docket import SeatKind
from counterpoint.core.machine import make_rules
from counterpoint.core.rules import Rules
from counterpoint.core.stages import Course, Part, Stage
from counterpoint.protocols.answer.briefs import (
    ANSWER as ANSWER_WORDS,
)
from counterpoint.protocols.answer.briefs import (
    ANSWER_PLAINLY,
    COMPARE,
    COMPARE_PLAINLY,
    CONFIRM,
    CONFIRM_PLAINLY,
    for_answer,
    for_comparison,
    for_confirmation,
)
from counterpoint.protocols.answer.ending import decide, exit_code, follow, outcome_of
from counterpoint.protocols.answer.forms import CompareAnswers, ConfirmCandidate, GiveAnswer
from counterpoint.protocols.answer.guards import COMPARING_GUARDS, CONFIRMING_GUARDS, OPENING_GUARDS
from counterpoint.protocols.answer.saying import say
from counterpoint.protocols.answer.state import AnswerState
from counterpoint.protocols.answer.table import TABLE, Phase
from counterpoint.protocols.answer.taking import (
    checks_of_comparison,
    checks_of_confirmation,
    take_answer,
    take_comparison,
    take_confirmation,
)

__all__ = ["ANSWER", "STAGES", "VERSION"]

VERSION: Final = 1


def _peers(state: AnswerState) -> tuple[str, ...]:
    return state.peers


def _stage(part: Part[AnswerState]) -> Stage[AnswerState]:
    return Stage(asks=_peers, parts=MappingProxyType({SeatKind.OPINION: part}))


STAGES: Final = MappingProxyType(
    {
        str(Phase.ANSWERING): _stage(
            Part(
                form=GiveAnswer,
                instructions=ANSWER_WORDS,
                payload=for_answer,
                guards=MappingProxyType({}),
                take=take_answer,
                words=ANSWER_PLAINLY,
            )
        ),
        str(Phase.COMPARING): _stage(
            Part(
                form=CompareAnswers,
                instructions=COMPARE,
                payload=for_comparison,
                guards=COMPARING_GUARDS,
                take=take_comparison,
                checks=checks_of_comparison,
                words=COMPARE_PLAINLY,
            )
        ),
        str(Phase.CONFIRMING): _stage(
            Part(
                form=ConfirmCandidate,
                instructions=CONFIRM,
                payload=for_confirmation,
                guards=CONFIRMING_GUARDS,
                take=take_confirmation,
                checks=checks_of_confirmation,
                words=CONFIRM_PLAINLY,
            )
        ),
    }
)

ANSWER: Final[Rules[AnswerState]] = make_rules(
    name="answer",
    version=VERSION,
    initial=AnswerState(phase=Phase.OPENING),
    table=TABLE,
    course=Course(
        stages=STAGES,
        follow=follow,
        decide=decide,
        outcome=outcome_of,
        say=say,
        opening=OPENING_GUARDS,
        exit_code=exit_code,
    ),
)
