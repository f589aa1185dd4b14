"""What may be said in a review, by whom, in answer to what: the rules by their ids.

A guard returns the reason, or None where it has none. What a case may be opened with is in `opening`, what may stand
in its record in `standing`. Ids are headings in `docs/protocols/review.md`, the `rule` of the refusal, and the names
of two examples each.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from counterpoint.core.case import CaseState
from counterpoint.core.conduct import (
    Said,
    case_is_open,
    speaker_owes_the_turn,
    unasked_speech_is_the_supervisors,
)
from counterpoint.core.docket import SeatKind
from counterpoint.core.findings import OWN_ID, Disposition, Finding, FindingStatus
from counterpoint.core.values import Severity
from counterpoint.core.wording import say_command
from counterpoint.protocols.review.answering import edit_in
from counterpoint.protocols.review.codec import AnswerFindings, GiveVerdict, NameChecks, NamedFinding
from counterpoint.protocols.review.positions import changed_at, first_reading, left_open, own_findings
from counterpoint.protocols.review.table import Phase, owed, seat_of
from counterpoint.protocols.review.weighing import to_answer

__all__ = ["GUARDS", "Spoken"]


Spoken = Said[CaseState]


_SUBMISSIONS: Final = MappingProxyType(
    {SeatKind.OPINION: GiveVerdict, SeatKind.CHECKS: NameChecks, SeatKind.AUTHOR: AnswerFindings}
)


def _answer_fits_the_seat(said: Spoken) -> str | None:
    seat = seat_of(said.state, said.speaker)
    if said.turn is None or seat is None:
        return None
    wanted = _SUBMISSIONS[seat.kind]
    if isinstance(said.submission, wanted):
        return None
    return f"{said.speaker!r} owes a {wanted.__name__}, not a {type(said.submission).__name__}"


def _candidate_is_current(said: Spoken) -> str | None:
    current = said.state.docket.candidate
    if not isinstance(said.submission, GiveVerdict) or said.submission.candidate in {None, current}:
        return None
    return f"the verdict is on {said.submission.candidate!r}; {current!r} is on the table"


def _approval_has_nothing_open(said: Spoken) -> str | None:
    if not isinstance(said.submission, GiveVerdict) or not said.submission.approved:
        return None
    ids = left_open(said.state, said.speaker, said.submission)
    return f"approved is true, but {', '.join(ids)} is open" if ids else None


def _disapproval_names_a_finding(said: Spoken) -> str | None:
    verdict = said.submission
    if not isinstance(verdict, GiveVerdict) or verdict.approved:
        return None
    names_one = any(f.status is FindingStatus.OPEN for f in verdict.findings)
    if names_one or left_open(said.state, said.speaker, verdict):
        return None
    return "approved is false, but no finding is open; name one or approve"


def _no_rebuttal_in_round_one(said: Spoken) -> str | None:
    if not isinstance(said.submission, GiveVerdict) or not first_reading(said.state, said.speaker):
        return None
    words = said.submission.response_to_rebuttal.strip()
    return f"responseToRebuttal has {len(words)} characters; in a first reading it is empty" if words else None


def _finding_ids_differ(said: Spoken) -> str | None:
    if not isinstance(said.submission, GiveVerdict):
        return None
    ids = [f.own_id for f in said.submission.findings]
    twice = next((i for i in ids if ids.count(i) > 1), None)
    return f"finding id {twice!r} stands twice in one verdict" if twice else None


def _finding_ids_are_of_their_seat(said: Spoken) -> str | None:
    if not isinstance(said.submission, GiveVerdict):
        return None
    bad = next((f.own_id for f in said.submission.findings if not OWN_ID.fullmatch(f.own_id)), None)
    return f"finding id {bad!r} is not like {OWN_ID.pattern}" if bad is not None else None


def _known_findings_keep_their_severity(said: Spoken) -> str | None:
    if not isinstance(said.submission, GiveVerdict):
        return None
    known = own_findings(said.state, said.speaker)
    moved = next((f for f in said.submission.findings if _has_moved(f, known.get(f.own_id))), None)
    if moved is None:
        return None
    return f"{moved.own_id} is {known[moved.own_id].severity}, and the verdict makes it {moved.severity}"


def _has_moved(named: NamedFinding, known: Finding | None) -> bool:
    return known is not None and known.severity is not named.severity


def _later_findings_are_regressions(said: Spoken) -> str | None:
    if not isinstance(said.submission, GiveVerdict) or first_reading(said.state, said.speaker):
        return None
    known = own_findings(said.state, said.speaker)
    new = [f for f in said.submission.findings if f.own_id not in known]
    if (nit := next((f for f in new if f.severity is Severity.NIT), None)) is not None:
        return f"{nit.own_id} is a new nit in round {said.state.round}; nits are taken in the first reading"
    stray = next((f for f in new if not changed_at(said.state, said.speaker, f.location)), None)
    if stray is None:
        return None
    return f"{stray.own_id} is new, and {stray.location[:_SHOWN]!r} was not edited since {said.speaker!r} judged last"


def _settled_findings_stay_settled(said: Spoken) -> str | None:
    if not isinstance(said.submission, GiveVerdict):
        return None
    known = own_findings(said.state, said.speaker)
    again = [f.own_id for f in said.submission.findings if f.status is FindingStatus.OPEN and f.own_id in known]
    reopened = next(
        (i for i in again if not known[i].is_open and not changed_at(said.state, said.speaker, known[i].location)),
        None,
    )
    if reopened is None:
        return None
    return f"{reopened} was {known[reopened].status}, and nothing at its place was edited since"


def _deferral_names_its_gate(said: Spoken) -> str | None:
    if not isinstance(said.submission, GiveVerdict):
        return None
    bare = next((f for f in said.submission.findings if f.status is FindingStatus.DEFERRED and not f.reason), None)
    return f"{bare.own_id} is deferred without a reason; name what it waits for" if bare is not None else None


_SHOWN: Final = 200


def _commands_are_the_dockets(said: Spoken) -> str | None:
    if not isinstance(said.submission, NameChecks):
        return None
    listed = tuple(c.argv for c in said.state.case.docket.commands)
    if said.submission.commands == listed:
        return None
    strange = next((c for c in said.submission.commands if c not in listed), None)
    if strange is not None:
        return f"{say_command(strange)[:_SHOWN]!r} is not a command of the docket"
    return f"{len(said.submission.commands)} commands named; the docket's {len(listed)} decide, each once, in order"


def _every_finding_is_answered(said: Spoken) -> str | None:
    if not isinstance(said.submission, AnswerFindings):
        return None
    ids = [answer.id for answer in said.submission.answers]
    is_open = {finding.id for finding in said.state.ledger.unsettled()}
    if (twice := next((i for i in ids if ids.count(i) > 1), None)) is not None:
        return f"{twice[:_SHOWN]!r} is answered twice"
    if (strange := next((i for i in ids if i not in is_open), None)) is not None:
        return f"{strange[:_SHOWN]!r} is answered, and is no open finding"
    missing = [finding.id for finding in to_answer(said.state) if finding.id not in ids]
    return f"no answer to {', '.join(missing)}" if missing else None


_EDITS: Final = frozenset({Disposition.FIX, Disposition.PARTIAL})


def _are(ids: list[str]) -> str:
    return "is" if len(ids) == 1 else "are"


def _a_fix_changes_something(said: Spoken) -> str | None:
    if not isinstance(said.submission, AnswerFindings):
        return None
    answer = said.submission
    fixed = [a.id for a in answer.answers if a.disposition in _EDITS]
    if fixed and not answer.changed:
        return f"{', '.join(fixed)} {_are(fixed)} answered with a fix, and no changed path is listed"
    may_edit = {*_EDITS, Disposition.CLARIFY}
    if answer.changed and not any(a.disposition in may_edit for a in answer.answers):
        return f"{len(answer.changed)} changed paths are listed, and no answer is a fix or a clarification"
    return None


def _listed_paths_are_inside(said: Spoken) -> str | None:
    if not isinstance(said.submission, AnswerFindings):
        return None
    paths = said.submission.changed
    if (twice := next((p for p in paths if paths.count(p) > 1), None)) is not None:
        return f"changed path {twice[:_SHOWN]!r} is listed twice"
    outside = next((p for p in paths if not _is_inside(p)), None)
    return f"changed path {outside[:_SHOWN]!r} is none of this repository" if outside is not None else None


def _is_inside(path: str) -> bool:
    parts = path.split("/")
    return not {"", ".", ".."} & set(parts) and ".git" not in {p.lower() for p in parts} and parts[0] != _OURS


_OURS: Final = ".counterpoint"


def _edit_is_what_was_listed(said: Spoken) -> str | None:
    if not isinstance(said.submission, AnswerFindings):
        return None
    faults = edit_in(said.evidence).faults
    return "; ".join(faults) if faults else None


GUARDS: Final[Mapping[str, Callable[[Spoken], str | None]]] = MappingProxyType(
    {
        "TURN-3": case_is_open(frozenset({Phase.REVIEWING, Phase.ANSWERING})),
        "NOTE-1": unasked_speech_is_the_supervisors,
        "TURN-1": speaker_owes_the_turn(owed),
        "TURN-2": _answer_fits_the_seat,
        "BINDING-1": _candidate_is_current,
        "FINDING-1": _finding_ids_differ,
        "FINDING-2": _finding_ids_are_of_their_seat,
        "FINDING-3": _known_findings_keep_their_severity,
        "VERDICT-1": _approval_has_nothing_open,
        "VERDICT-2": _disapproval_names_a_finding,
        "VERDICT-3": _no_rebuttal_in_round_one,
        "FINDING-4": _later_findings_are_regressions,
        "FINDING-5": _settled_findings_stay_settled,
        "DEFER-1": _deferral_names_its_gate,
        "CHECKS-1": _commands_are_the_dockets,
        "ANSWER-1": _every_finding_is_answered,
        "ANSWER-2": _a_fix_changes_something,
        "EDIT-1": _listed_paths_are_inside,
        "EDIT-2": _edit_is_what_was_listed,
    }
)
