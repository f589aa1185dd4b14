"""The foot of a report of `propose`: what was used, where it is from, and how to check it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from counterpoint.drive.cases import LoadedCase
from counterpoint.views.propose_parts import Facts, Heading, Listed, Part, Sentence

__all__ = ["foot_of"]


def foot_of(case: LoadedCase, found: Mapping[str, Any]) -> Iterator[Part]:
    """Yield what a report says about itself."""
    yield from _about(found)
    yield from _use(found)
    yield Heading(text="How to check this", is_foot=True)
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


def _use(found: Mapping[str, Any]) -> Iterator[Part]:
    usage = found["usage"]
    yield Heading(text="Limits and use", is_foot=True)
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


def _about(found: Mapping[str, Any]) -> Iterator[Part]:
    identity = found["model_identity"]
    ended = f"{found['status']}, {found['stop_reason']}" if found["stop_reason"] else "it has not ended"
    code = found["exit_code"] if found["finished_at"] else "none yet"
    yield Heading(text="About this report", is_foot=True)
    yield Facts(
        rows=(
            ("case", found["run_id"]),
            ("started", found["started_at"]),
            ("finished", found["finished_at"] or "not yet"),
            ("how it ended", ended),
            ("decision", found["decision"]),
            ("exit code", str(code)),
            ("verification", "not_checked: what a model says that it tried has shown nothing"),
            ("evidence", found["evidence_status"]),
            ("configuration", _configured(found["config"])),
            ("models that answered", ", ".join(identity["models_seen"]) or "none was named"),
        )
    )
    if found["remarks"]:
        yield Listed(label="What code noticed", texts=tuple(found["remarks"]))


def _configured(config: Mapping[str, Any]) -> str:
    by = config["configured_by"]
    return f"from {by}; nobody has authenticated it" if by else "none, since nobody was asked"
