"""What the report of a case of `propose` says, once, as parts that Markdown and HTML are drawn from.

Labels and sentences are ours. Every other text is a seat's, a user's or a provider's, and is only ever a value: both
renderers escape it whole. When the newest version is not reviewed, the last reviewed one is shown, and that is said
first (SPEC A-42).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from counterpoint.drive.cases import LoadedCase
from counterpoint.views.propose_result import result_of

__all__ = ["Facts", "Heading", "Listed", "Part", "Quoted", "Sentence", "parts_of", "title_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    text: str
    """Ours."""
    name: str = ""
    """A text of others that it is about."""
    level: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A paragraph of ours."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Labels of ours, each with a text of others."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    label: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    label: str
    text: str


Part = Heading | Sentence | Facts | Listed | Quoted

_DECIDED: Final = {
    "ready_to_validate": "Ready to validate",
    "conditional": "On conditions",
    "blocked": "Blocked",
    "needs_clarification": "Clarification is needed",
    "undetermined": "Undetermined",
}
_EVIDENCE: Final = {
    "not_checked": "code has looked at nothing that the seats claim",
    "partially_checked": "code has looked at some of the places that issues name",
    "checked_in_scope": "code has looked at the place that each issue names",
}


def title_of(case: LoadedCase) -> str:
    """Return the decision in words of ours; open cases have none."""
    found = result_of(case)
    return _title(found, is_open=case.state.closed is None)


def _title(found: Mapping[str, Any], *, is_open: bool) -> str:
    if is_open:
        return "Open: nothing is decided yet"
    return f"{_DECIDED[found['decision']]}: {found['status']}, {found['stop_reason']}"


def parts_of(case: LoadedCase) -> Iterator[Part]:
    """Yield the report, the title first."""
    found = result_of(case)
    yield Heading(text=_title(found, is_open=case.state.closed is None), level=1)
    yield from _head(found)
    yield from _proposal(found)
    yield from _lists(found)
    yield from _issues(found)
    yield from _scans(found)
    yield from _rounds(found)
    yield from _use(found)
    yield Heading(text="How to check this")
    yield Sentence(
        text="This report is drawn from the record alone: the same record gives the same bytes. In the folder where "
        "the case was begun:"
    )
    yield Facts(
        rows=(
            ("every byte of the record", f"counterpoint verify {case.name}"),
            ("the record, for reading", f"counterpoint show {case.name}"),
            ("it stands on", f"entry {found['record']['entries']}, SHA-256 {found['record']['head']}"),
        )
    )


def _head(found: Mapping[str, Any]) -> Iterator[Part]:
    identity, config = found["model_identity"], found["config"]
    yield Facts(
        rows=(
            ("case", found["run_id"]),
            ("why it ended", found["stop_detail"] or "it has not ended"),
            ("next", found["next_action"]),
            ("exit code", str(found["exit_code"])),
            ("verification", "not_checked: what a model says that it tried has shown nothing"),
            ("evidence", f"{found['evidence_status']}: {_EVIDENCE[found['evidence_status']]}"),
            ("configuration", _configured(config)),
            ("models that answered", ", ".join(identity["models_seen"]) or "none was named"),
            ("started", found["started_at"]),
            ("finished", found["finished_at"] or "not yet"),
        )
    )
    yield Quoted(label="The requirement", text=found["question"])
    if found["context"].strip():
        yield Quoted(label="Its context", text=found["context"])
    if found["remarks"]:
        yield Listed(label="What code noticed", texts=tuple(found["remarks"]))
    if found["clarification_questions"]:
        yield Heading(text="Questions for a person")
        yield Listed(label="", texts=tuple(found["clarification_questions"]))


def _configured(config: Mapping[str, Any]) -> str:
    by = config["configured_by"]
    return f"from {by}; nobody has authenticated it" if by else "none, since nobody was asked"


_SAID: Final = (
    ("problem_statement", "The problem"),
    ("goal", "The goal"),
    ("recommendation", "The recommendation"),
    ("success_criteria", "It succeeds when"),
    ("assumptions", "It assumes"),
    ("implementation_steps", "The steps"),
    ("validation_steps", "How it is validated"),
)


def _proposal(found: Mapping[str, Any]) -> Iterator[Part]:
    newest, reviewed = found["proposal"], found["last_reviewed_proposal"]
    shown = reviewed or newest
    if shown is None:
        return
    yield Heading(text=f"The proposal, version {shown['version']}")
    if newest["version"] != shown["version"]:
        yield Sentence(
            text=f"Version {newest['version']} is newer and has not been reviewed; this is the last one that was. "
            "`result.json` has both."
        )
    elif not newest["reviewed"]:
        yield Sentence(text="It has not been reviewed by every critic; nothing here says that it is sound.")
    yield from _said(shown)
    for option in shown["options"]:
        chosen = ", recommended" if option["id"] == shown["recommended_option_id"] else ""
        yield Heading(text=f"Option{chosen}:", name=f"{option['id']}, {option['title']}", level=3)
        yield Quoted(label="", text=option["approach"])
        if option["tradeoffs"]:
            yield Listed(label="What it costs", texts=tuple(option["tradeoffs"]))


def _said(shown: Mapping[str, Any]) -> Iterator[Part]:
    for key, label in _SAID:
        value = shown[key]
        if isinstance(value, str) and value.strip():
            yield Quoted(label=label, text=value)
        elif isinstance(value, list) and value:
            yield Listed(label=label, texts=tuple(value))


def _lists(found: Mapping[str, Any]) -> Iterator[Part]:
    for key, title in (("conditions", "Conditions"), ("next_steps", "Next steps")):
        if found[key]:
            yield Heading(text=title)
            yield Listed(label="", texts=tuple(found[key]))


def _issues(found: Mapping[str, Any]) -> Iterator[Part]:
    yield Heading(text="Issues")
    if not found["issues"]:
        yield Sentence(text="No issue was raised.")
    for issue in found["issues"]:
        yield Heading(
            text=f"{issue['severity']}, {issue['status']}:", name=f"{issue['id']}, {issue['title']}", level=3
        )
        yield Facts(
            rows=(
                ("raised by", f"{issue['raised_by']} in round {issue['raised_round']}"),
                ("about", issue["target"]),
                ("settled by", issue["resolution_criterion"]),
                ("the place that it names", issue["evidence"]),
            )
        )
        yield Quoted(label="", text=issue["description"])
        yield from _course(issue)


def _course(issue: Mapping[str, Any]) -> Iterator[Part]:
    said = [
        (
            given["round"],
            f"round {given['round']}, the proposer: {given['action']}, {given['summary']} {given['change']}",
        )
        for given in issue["responses"]
    ]
    moved = [
        (
            move["round"],
            f"round {move['round']}, its critic: from {move['from']} to {move['to']}, {move['rationale']}",
        )
        for move in issue["history"]
        if move["from"]
    ]
    if lines := [line for _, line in sorted([*said, *moved], key=lambda pair: pair[0])]:
        yield Listed(label="What became of it", texts=tuple(lines))


def _scans(found: Mapping[str, Any]) -> Iterator[Part]:
    for scan in found["independent_risk_scans"]:
        yield Heading(text="Risks named before any proposal was seen, by", name=scan["critic"])
        yield Quoted(label="", text=scan["public_summary"])
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
            yield Quoted(
                label=f"A critic says {said['assessment']}", text=f"{said['critic']}: {said['public_summary']}"
            )


def _use(found: Mapping[str, Any]) -> Iterator[Part]:
    usage = found["usage"]
    yield Heading(text="Limits and use")
    unknown = f"; {usage['unknown_usage_calls']} calls reported none" if usage["unknown_usage_calls"] else ""
    most = usage["max_total_tokens"]
    longest = usage["max_duration_seconds"]
    yield Facts(
        rows=(
            ("calls", f"{usage['calls']} of {usage['max_calls']}, {usage['failed_calls']} of them without an answer"),
            (
                "tokens",
                f"{usage['total_tokens']} reported, {f'threshold {most}' if most else 'no threshold'}{unknown}",
            ),
            ("seconds", f"{usage['elapsed_seconds']}, {f'at most {longest}' if longest is not None else 'no limit'}"),
            ("seats", _seats(found["roles"])),
        )
    )
    yield Sentence(text="Tokens and time are thresholds on what was reported; a call in flight may pass them.")
    if found["errors"]:
        yield Listed(
            label="Questions that brought no accepted answer",
            texts=tuple(f"{e['seat']}, round {e['round']}, {e['type']}: {e['message']}" for e in found["errors"]),
        )
    if found["notes"]:
        yield Listed(label="Notes", texts=tuple(f"{note['by']}: {note['text']}" for note in found["notes"]))


def _seats(roles: Sequence[Mapping[str, str]]) -> str:
    if not roles:
        return "nobody was asked"
    said = [f"{r['seat']} is the {r['role']}, a {r['agent']} agent, {_where(r['destination'])}" for r in roles]
    return "; ".join(said)


def _where(destination: str) -> str:
    return "on this machine" if destination == "local" else f"sent to {destination}"
