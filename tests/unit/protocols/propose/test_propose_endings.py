"""How cases of `propose` end where no scenario table shows it, and the words of the record for their answers."""

import json
from dataclasses import replace

import pytest

from counterpoint.agents.base import NOT_REPORTED
from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.docket import Docket
from counterpoint.core.entries import CaseClosed, FailureReason, RoundOpened, SubmissionRevealed
from counterpoint.core.outcome import SeatEnd
from counterpoint.core.rules import Withdraw
from counterpoint.core.values import Decision, Severity, StopReason, Turn
from counterpoint.errors import Refused
from counterpoint.protocols.propose import PROPOSE
from counterpoint.protocols.propose.ending import NOT_SAID, questions
from counterpoint.protocols.propose.lookups import EvidenceScope, scope_of
from counterpoint.protocols.propose.wire import CaseStatus, Ended, ended, status_of
from tests.propose_case import (
    CRITIC,
    DOCKET,
    LIMITS,
    PROPOSER,
    SECOND,
    Play,
    answer,
    asking,
    issue,
    proposal,
    review,
    ruling,
    scan,
)

TREE = "c" * 40


def test_a_withdrawn_case_is_cancelled() -> None:
    """A-24, A-44: partial, undetermined, exit 130."""
    case = Play()
    case.speak(Withdraw(reason="not needed"))
    assert (ended(case.state), case.outcome.decision) == (Ended.CANCELLED, Decision.UNDETERMINED)
    assert status_of(ended(case.state)) is CaseStatus.PARTIAL
    assert PROPOSE.exit_code(case.outcome) == 130


def test_an_open_case_is_partial_and_interrupted_only_while_its_newest_question_is() -> None:
    """A-29: whoever is asked again has not been cancelled."""
    case = Play()
    assert ended(case.state) is None
    assert PROPOSE.exit_code(case.outcome) == 3
    case.fail("critic", FailureReason.INTERRUPTED)
    assert ended(case.state) is Ended.CANCELLED
    case.answer("critic", scan())
    assert ended(case.state) is None
    case.fail("proposer", FailureReason.DRIVER_LOST)
    assert ended(case.state) is None
    case.all_answer(proposal())
    assert case.state.offered


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        (FailureReason.BAD_REPLY, Ended.INVALID_RESPONSE),
        (FailureReason.REFUSED, Ended.INVALID_RESPONSE),
        (FailureReason.TREE_TOUCHED, Ended.INVALID_RESPONSE),
        (FailureReason.WRONG_IDENTITY, Ended.MODEL_DRIFT),
        (FailureReason.UNREACHABLE, Ended.PROVIDER_ERROR),
        (FailureReason.TIMEOUT, Ended.PROVIDER_ERROR),
        (FailureReason.VAULT_TOUCHED, Ended.ENGINE_ERROR),
    ],
)
def test_each_failure_has_its_word(reason: FailureReason, word: Ended) -> None:
    """A-24, A-26: and no seat is asked again."""
    case = Play()
    case.answer("proposer", proposal())
    case.fail("critic", reason)
    case.settle()
    assert (ended(case.state), case.outcome.stop_reason) == (word, StopReason.FAILED)
    assert [(s.seat, s.end) for s in case.outcome.seats] == [
        ("proposer", SeatEnd.ANSWERED),
        ("critic", SeatEnd.FAILED),
    ]
    assert PROPOSE.exit_code(case.outcome) == 3


def test_a_reply_that_cannot_be_opened_is_an_engine_error() -> None:
    """A-24, A-30."""
    case = Play()
    case.answer("proposer", proposal())
    case.answer("critic", scan())
    case.vault.clear()
    case.settle()
    assert ended(case.state) is Ended.ENGINE_ERROR
    assert [s.end for s in case.outcome.seats] == [SeatEnd.ANSWERED] * 2


def test_a_question_lost_with_its_driver_and_never_asked_again_is_an_engine_error() -> None:
    """A-24: the record was cut; nobody's answer is to blame."""
    case = Play()
    case.fail("critic", FailureReason.DRIVER_LOST)
    case.append(CaseClosed(stop_reason=StopReason.FAILED, decision=Decision.UNDETERMINED, detail="cut"))
    assert ended(case.state) is Ended.ENGINE_ERROR
    assert [s.end for s in case.outcome.seats] == [SeatEnd.NEVER_ANSWERED] * 2


@pytest.mark.parametrize(
    "close",
    [
        CaseClosed(stop_reason=StopReason.BUDGET_SPENT, decision=Decision.UNDETERMINED, detail=""),
        CaseClosed(stop_reason=StopReason.DEADLINE_PASSED, decision=Decision.UNDETERMINED, detail=""),
    ],
)
def test_a_limit_that_is_not_there_ends_nothing(close: CaseClosed) -> None:
    """CLOSE-1."""
    with pytest.raises(Refused, match="CLOSE-1"):
        PROPOSE.apply(Play().state, close)


def test_models_are_compared_within_one_configuration() -> None:
    """A-01, A-26: agents that were configured apart may differ; the same pair may not, under two names."""
    case = Play(PROPOSER, SECOND)
    case.answer("proposer", proposal(), model="a")
    case.answer("critic-2", scan(), model="b")
    assert not isinstance(case.settle()[-1], CaseClosed)
    given = '{"kind":"openai"}'
    pair = (replace(PROPOSER, party="one", given=given), replace(CRITIC, party="two", given=given))
    case = Play(*pair)
    case.answer("proposer", proposal(), model="a")
    case.answer("critic", scan(), model="b")
    case.settle()
    assert ended(case.state) is Ended.MODEL_DRIFT
    assert NOT_REPORTED in NOT_SAID


def test_what_is_asked_is_named_once_and_three_times_at_most() -> None:
    """A-23: of both openings, in the roster's order."""
    case = Play()
    case.all_answer(asking("A?", "B?"), scan(needs_clarification=True, clarification_questions=["B?", "C?", "D?"]))
    assert questions(case.state) == ("A?", "B?", "C?")
    assert case.outcome.decision is Decision.NEEDS_INPUT


def test_a_round_opens_for_the_reason_there_is() -> None:
    """What is not settled, the rounds that are held at least, or a critic that does not accept."""
    case = Play()
    case.all_answer(proposal(), scan())
    first = case.all_answer(review(1))
    assert isinstance(first, RoundOpened)
    assert first.reason == "2 rounds are held at least"
    case.all_answer(proposal())
    second = case.all_answer(review(2, assessment="revise"))
    assert isinstance(second, RoundOpened)
    assert second.reason == "not every critic accepts it"
    assert [s.approved for s in case.outcome.seats] == [False, False]


def test_open_issues_are_findings_of_the_outcome() -> None:
    """`counterpoint cases` counts them: severities one for one, what would settle it as the suggestion."""
    levels = ("critical", "high", "medium", "low")
    case = Play().reviewed(*(issue(f"I{n}", level) for n, level in enumerate(levels)))
    found = case.outcome.open_findings
    assert [f.severity for f in found] == list(Severity)
    assert found[0].issue == "The link can be guessed: The address of an export is a counter."
    assert found[0].suggestion == "the address is random"
    assert found[0].candidate == case.state.offered[0].candidate


def test_places_that_issues_name_are_looked_up_where_files_are_shown() -> None:
    """A-55: code says whether they are there; it moves nothing."""
    places = (
        "src/a.py:3",
        "src/a.py:9",
        "./src/a.py",
        "implementation_steps",
        "/etc/passwd:1",
        "../x/y",
        "src/gone.py",
    )
    docket = replace(DOCKET, tree=TREE)
    found = []
    for place in places:
        case = Play(docket=docket, files={"src/a.py": 5}).reviewed(issue(target=place))
        (finding,) = case.outcome.open_findings
        found.append(finding.evidence.value)
    checked, not_checked = ["verified", "refuted", "verified"], ["not_checked"] * 3
    assert found == [*checked, *not_checked, "refuted"]
    case = Play(docket=docket, files={"src/a.py": 5}).reviewed(issue(target="src/a.py:3"))
    assert (scope_of(case.state), case.outcome.evidence) == (EvidenceScope.CHECKED_IN_SCOPE, EvidenceStatus.VERIFIED)
    both = (issue(target="src/a.py:9"), issue("I2", target="goal"))
    case = Play(docket=docket, files={"src/a.py": 5}).reviewed(*both)
    assert (scope_of(case.state), case.outcome.evidence) == (EvidenceScope.PARTIALLY_CHECKED, EvidenceStatus.REFUTED)
    assert scope_of(Play().reviewed(issue(target="src/a.py:3")).state) is EvidenceScope.NOT_CHECKED


def test_answers_read_as_sentences_in_the_record() -> None:
    """What an answer says, in one line or in a quotation; what is no answer stands as it is."""
    turn = Turn(phase="reviewing", round=1, seat="critic", ask=1)

    def said(reply: str) -> str:
        return PROPOSE.describe(SubmissionRevealed(turn=turn, salt="0" * 32, reply=reply))

    asks = review(1, assessment="needs_clarification", clarification_questions=["Which\nlaw?"])
    assert said(json.dumps(asks)) == (
        "critic reviewed version 1: **needs_clarification**.\n\n> I read it.\n\nA person is asked:\n\n- Which\\nlaw?"
    )
    assert "- I1 is **resolved**: I read the answer." in said(json.dumps(review(1, ruling())))
    assert said(json.dumps(asking("Why?"))).startswith("critic proposes nothing yet:")
    assert said("{").startswith("critic had answered:")
    assert said('{"a": 1}').startswith("critic had answered:")


def test_the_record_says_a_proposals_answers() -> None:
    """Each issue with the action and its reason."""
    turn = Turn(phase="revising", round=2, seat="proposer", ask=1)
    reply = json.dumps(proposal(answer()))
    said = PROPOSE.describe(SubmissionRevealed(turn=turn, salt="0" * 32, reply=reply))
    assert said.endswith("- I1: **fix**, It is answered.")
    quiet = json.dumps(scan(risk_areas=[]))
    assert PROPOSE.describe(SubmissionRevealed(turn=turn, salt="0" * 32, reply=quiet)).endswith(
        "> Mind who may fetch it."
    )


def test_input_is_counted_together() -> None:
    """A-02: requirement and context may have 64,000 characters, and not one more."""
    whole = Docket(question="x" * 1000, context="y" * 63_000)
    assert Play(docket=whole, limits=LIMITS).settle() == ()
    (last,) = Play(docket=replace(whole, context="y" * 63_001)).settle()
    assert isinstance(last, CaseClosed)


def test_a_model_that_nobody_named_is_not_another_one() -> None:
    """A-26: where an agent reports no model, there is none to compare."""
    case = Play()
    case.answer("proposer", proposal(), model="m")
    case.answer("critic", scan(), model=NOT_REPORTED)
    assert not isinstance(case.settle()[-1], CaseClosed)


def test_the_last_reviewed_proposal_is_the_one_that_every_critic_has_read() -> None:
    """A-42."""
    case = Play(PROPOSER, CRITIC, SECOND)
    case.all_answer(proposal(), scan(), scan())
    assert case.state.last_reviewed is None
    case.all_answer(review(1), review(1))
    case.all_answer(proposal(goal="Another goal."))
    assert case.state.last_reviewed == case.state.written[0]
