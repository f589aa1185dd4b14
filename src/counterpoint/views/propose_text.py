"""What the report of a case of `propose` says, once, as parts that Markdown and HTML are drawn from.

It opens with what its reader came for: verdict, next step, recommendation. Where all of it is from stands at its
foot. Labels and sentences are ours. Every other text is a seat's, a user's or a provider's, and is only ever a
value: both renderers escape it whole. When the newest version is not reviewed, the last reviewed one is shown, and
that is said first (SPEC A-42).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from counterpoint.drive.cases import LoadedCase
from counterpoint.views.propose_foot import foot_of
from counterpoint.views.propose_parts import (
    Badge,
    Facts,
    Heading,
    Listed,
    Notice,
    Part,
    Quoted,
    Sentence,
    Tone,
    Verdict,
)
from counterpoint.views.propose_result import result_of

__all__ = ["parts_of", "title_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    """What a word of the report is called, and how it looks."""

    text: str
    tone: Tone = Tone.PLAIN

    @property
    def badge(self) -> Badge:
        return Badge(text=self.text, tone=self.tone)


_OPEN: Final = _Word(text="Open: nothing is decided yet")
_DECIDED: Final = {
    "ready_to_validate": _Word(text="Ready to validate", tone=Tone.GOOD),
    "conditional": _Word(text="On conditions", tone=Tone.FAIR),
    "blocked": _Word(text="Blocked", tone=Tone.BAD),
    "needs_clarification": _Word(text="Clarification is needed", tone=Tone.FAIR),
    "undetermined": _Word(text="Undetermined"),
}
_SEVERITIES: Final = {
    "critical": _Word(text="critical", tone=Tone.BAD),
    "high": _Word(text="high", tone=Tone.BAD),
    "medium": _Word(text="medium", tone=Tone.FAIR),
    "low": _Word(text="low"),
}
_STANDINGS: Final = {
    "open": _Word(text="open", tone=Tone.BAD),
    "disputed": _Word(text="disputed", tone=Tone.BAD),
    "accepted_risk": _Word(text="accepted as a risk", tone=Tone.FAIR),
    "resolved": _Word(text="resolved", tone=Tone.GOOD),
}
_ASSESSMENTS: Final = {
    "accept": "accepts it",
    "revise": "asks for a revision",
    "blocked": "says that it is blocked",
    "needs_clarification": "asks a person first",
}
_ANSWERS: Final = {
    "fix": "fixes it",
    "rebut": "disputes it",
    "accept_risk": "asks to accept the risk",
    "request_clarification": "asks a person first",
}
_LOOKED: Final = {
    "not_checked": "Code has looked at nothing that the seats claim.",
    "partially_checked": "Code has looked at some of the places that issues name.",
    "checked_in_scope": "Code has looked at the place that each issue names.",
}


def title_of(case: LoadedCase) -> str:
    """Return the decision in words of ours; open cases have none."""
    return _decided(result_of(case), is_open=case.state.closed is None).text


def _decided(found: Mapping[str, Any], *, is_open: bool) -> _Word:
    return _OPEN if is_open else _DECIDED[found["decision"]]


def parts_of(case: LoadedCase) -> Iterator[Part]:
    """Yield the report, the verdict first."""
    found = result_of(case)
    yield from _top(found, _decided(found, is_open=case.state.closed is None))
    yield from _requirement(found)
    yield from _proposal(found)
    yield from _lists(found)
    yield from _issues(found)
    yield from _scans(found)
    yield from _rounds(found)
    yield from foot_of(case, found)


def _shown(found: Mapping[str, Any]) -> Any:
    return found["last_reviewed_proposal"] or found["proposal"]


def _top(found: Mapping[str, Any], decided: _Word) -> Iterator[Part]:
    status = "" if found["status"] == "needs_clarification" else found["status"]
    why = f"It ended: {found['stop_detail']}." if found["stop_detail"] else "It has not ended."
    yield Verdict(text=decided.text, tone=decided.tone, status=status, why=why)
    yield Notice(label="Next", text=found["next_action"])
    if found["clarification_questions"]:
        yield Listed(label="Questions for a person", texts=tuple(found["clarification_questions"]), is_ordered=True)
    shown, newest = _shown(found), found["proposal"]
    if shown is None:
        return
    if newest["version"] != shown["version"]:
        said = f"Version {newest['version']} is newer and has not been reviewed; this is about version"
        yield Notice(
            label="",
            text=f"{said} {shown['version']}, the last one that was. `result.json` has both.",
            tone=Tone.FAIR,
        )
    elif not newest["reviewed"]:
        text = "It has not been reviewed by every critic; nothing here says that it is sound."
        yield Notice(label="", text=text, tone=Tone.FAIR)
    if shown["recommendation"].strip():
        yield Quoted(label="The recommendation", text=shown["recommendation"], is_lead=True)


def _requirement(found: Mapping[str, Any]) -> Iterator[Part]:
    yield Heading(text="The requirement")
    yield Quoted(label="", text=found["question"])
    if found["context"].strip():
        yield Quoted(label="Its context", text=found["context"])


_TEXTS: Final = (("problem_statement", "The problem"), ("goal", "The goal"))
_LISTS: Final = (
    ("implementation_steps", "The steps"),
    ("success_criteria", "It succeeds when"),
    ("assumptions", "It assumes"),
    ("validation_steps", "How it is validated"),
)
_IN_ORDER: Final = frozenset({"implementation_steps", "validation_steps"})


def _proposal(found: Mapping[str, Any]) -> Iterator[Part]:
    shown = _shown(found)
    if shown is None:
        return
    yield Heading(text=f"The proposal, version {shown['version']}")
    yield from (Quoted(label=label, text=shown[key]) for key, label in _TEXTS if shown[key].strip())
    for key, label in _LISTS:
        if shown[key]:
            yield Listed(label=label, texts=tuple(shown[key]), is_ordered=key in _IN_ORDER)
    for option in shown["options"]:
        is_chosen = option["id"] == shown["recommended_option_id"]
        chosen = (Badge(text="recommended", tone=Tone.GOOD),) if is_chosen else ()
        yield Heading(text="Option", badges=chosen, ref=option["id"], name=option["title"], level=3)
        yield Quoted(label="", text=option["approach"])
        if option["tradeoffs"]:
            yield Listed(label="What it costs", texts=tuple(option["tradeoffs"]))


def _lists(found: Mapping[str, Any]) -> Iterator[Part]:
    for key, title in (("conditions", "Conditions"), ("next_steps", "Next steps")):
        if found[key]:
            yield Heading(text=title)
            yield Listed(label="", texts=tuple(found[key]), is_ordered=key == "next_steps")


def _issues(found: Mapping[str, Any]) -> Iterator[Part]:
    yield Heading(text="Issues")
    yield Sentence(text=_LOOKED[found["evidence_status"]] if found["issues"] else "No issue was raised.")
    for issue in found["issues"]:
        badges = (_SEVERITIES[issue["severity"]].badge, _STANDINGS[issue["status"]].badge)
        yield Heading(badges=badges, ref=issue["id"], name=issue["title"], level=3)
        yield Quoted(label="", text=issue["description"])
        looked = [("the place that it names", issue["evidence"])] if issue["evidence"] != "not_checked" else []
        yield Facts(
            rows=(
                ("raised by", f"{issue['raised_by']} in round {issue['raised_round']}"),
                ("about", issue["target"]),
                ("settled by", issue["resolution_criterion"]),
                *looked,
            )
        )
        yield from _course(issue)


def _course(issue: Mapping[str, Any]) -> Iterator[Part]:
    said = [(given["round"], _answered(given)) for given in issue["responses"]]
    moved = [(move["round"], _moved(move)) for move in issue["history"] if move["from"]]
    if lines := [line for _, line in sorted([*said, *moved], key=lambda pair: pair[0])]:
        yield Listed(label="What became of it", texts=tuple(lines))


def _answered(given: Mapping[str, Any]) -> str:
    said = f"Round {given['round']}, the proposer {_ANSWERS[given['action']]}: {given['summary']}"
    return f"{said} Change: {given['change']}" if given["change"].strip() else said


def _moved(move: Mapping[str, Any]) -> str:
    before, after = _STANDINGS[move["from"]].text, _STANDINGS[move["to"]].text
    way = f"leaves it {after}" if before == after else f"moves it from {before} to {after}"
    return f"Round {move['round']}, its critic {way}: {move['rationale']}"


def _scans(found: Mapping[str, Any]) -> Iterator[Part]:
    scans: Sequence[Mapping[str, Any]] = found["independent_risk_scans"]
    if scans:
        yield Heading(text="Risks, named before any proposal was seen")
    for scan in scans:
        yield Quoted(label="A critic", name=scan["critic"], text=scan["public_summary"])
        areas = [f"{a['id']} [{a['severity']}]: {a['concern']} To look at: {a['check']}" for a in scan["risk_areas"]]
        if areas:
            yield Listed(label="", texts=tuple(areas))


def _rounds(found: Mapping[str, Any]) -> Iterator[Part]:
    if found["core_exchanges"]:
        yield Heading(text=f"Rounds: {found['rounds_completed']} reviewed")
    for exchange in found["core_exchanges"]:
        yield Heading(text=f"Round {exchange['round']}, version {exchange['version']}", level=3)
        yield Quoted(label="The proposer", text=exchange["proposer"])
        for said in exchange["critics"]:
            label = f"A critic {_ASSESSMENTS[said['assessment']]}"
            yield Quoted(label=label, name=said["critic"], text=said["public_summary"])
