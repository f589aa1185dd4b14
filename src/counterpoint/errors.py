"""The error tree: whose fault it is decides the class.

- a party broke a rule: `Refused` (recorded and told to the party);
- the world failed an agent: `AgentError` and its kinds;
- the disk or another writer: `RecordError` and its kinds;
- the user's settings: `ConfigError`; the user's repository: `SourceError`;
- a person has to decide something first: `NeedsPerson`;
- another driver is at work: `LeaseHeld`;
- us: `assert`, never a class from here.

Every error carries `code`, a stable string, and `hint`, an imperative sentence or "". `str(error)` is one
sentence with the two values that disagree. Callers read fields and never parse the text.
"""

from collections.abc import Mapping
from typing import ClassVar

__all__ = [
    "AgentError",
    "BadReply",
    "ConfigError",
    "Conflict",
    "Corrupt",
    "CounterpointError",
    "LeaseHeld",
    "LockBusy",
    "NeedsPerson",
    "NoKey",
    "RecordError",
    "Refused",
    "SourceError",
    "TurnTimeout",
    "UnknownEntry",
    "Unreachable",
    "UnsafeFile",
    "WrongIdentity",
]


class CounterpointError(Exception):
    """Base of every error that this package raises on purpose."""

    code: ClassVar[str] = "error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message

    def fields(self) -> Mapping[str, object]:
        """What `--json` prints of this error: `code`, `message`, `hint` and the class's own fields."""
        own = {k: v for k, v in vars(self).items() if k not in {"message", "hint"} and not k.startswith("_")}
        return {"code": self.code, "message": str(self), "hint": self.hint, **own}


class Refused(CounterpointError):
    """A party's submission broke a numbered rule; nothing but attempts and budget changed."""

    code = "refused"

    def __init__(self, rule: str, reason: str, *, seat: str = "", hint: str = "") -> None:
        super().__init__(f"{reason} [{rule}]", hint=hint)
        self.rule = rule
        self.seat = seat
        self.reason = reason


class RecordError(CounterpointError):
    """The record could not be read or written."""

    code = "record"


class NoKey(RecordError):
    """The key that should sign an entry cannot be had; nothing was written."""

    code = "record.no_key"


class Conflict(RecordError):
    """The channel moved on between reading and appending; read again and decide anew."""

    code = "record.conflict"

    def __init__(self, channel: str, *, expected: int, found: int) -> None:
        super().__init__(
            f"{channel} stands at MSG-{found}; the append expected MSG-{expected}",
            hint="read the channel again and repeat the step",
        )
        self.channel = channel
        self.expected = expected
        self.found = found


class Corrupt(RecordError):
    """The stored bytes are not what their own chain says; `entry` is the number where it shows."""

    code = "record.corrupt"

    def __init__(self, channel: str, entry: int, reason: str, *, hint: str = "") -> None:
        super().__init__(
            f"{channel} MSG-{entry}: {reason}",
            hint=hint or f"run `counterpoint verify {channel}` and compare with a copy you trust",
        )
        self.channel = channel
        self.entry = entry
        self.reason = reason


class UnknownEntry(RecordError):
    """An entry's type, version or field is not one that this version knows."""

    code = "record.unknown_entry"

    def __init__(self, entry_type: str, reason: str) -> None:
        super().__init__(f"entry of type {entry_type!r}: {reason}", hint="read this record with a newer Counterpoint")
        self.entry_type = entry_type
        self.reason = reason


class LockBusy(RecordError):
    """Another writer held the channel's lock for as long as we were willing to wait."""

    code = "record.lock_busy"

    def __init__(self, path: str, waited_s: float) -> None:
        super().__init__(f"{path} was still held after {waited_s:g} s", hint="try again")
        self.path = path
        self.waited_s = waited_s


class UnsafeFile(RecordError):
    """A file of the record is not a plain file of our own: a link, a second name, another owner."""

    code = "record.unsafe_file"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} {reason}", hint="put a plain file of your own there; links are not followed")
        self.path = path
        self.reason = reason


class AgentError(CounterpointError):
    """An agent could not answer."""

    code = "agent"


class Unreachable(AgentError):
    """The agent could not be started or reached, or ended with a failure of its own."""

    code = "agent.unreachable"


class TurnTimeout(AgentError):
    """The agent did not answer in time."""

    code = "agent.timeout"


class BadReply(AgentError):
    """The agent's answer is not the one object that the turn asked for."""

    code = "agent.bad_reply"


class WrongIdentity(AgentError):
    """The model that answered is not the one that was asked for."""

    code = "agent.wrong_identity"

    def __init__(self, *, asked: str, got: str) -> None:
        super().__init__(f"asked for model {asked!r}; {got!r} answered", hint="pin the model in the profile")
        self.asked = asked
        self.got = got


class ConfigError(CounterpointError):
    """A setting is not what it should be; `path` is the dotted key, `expected` says what belongs there."""

    code = "config"

    def __init__(
        self, path: str, expected: str, *, got: object = None, source: str = "", hint: str = "", sentence: str = ""
    ) -> None:
        where = f" (in {source})" if source else ""
        found = "" if got is None else f"; got {got!r}"
        composed = sentence or f"{path}: expected {expected}{found}{where}"
        super().__init__(composed, hint=hint or f"correct {path!r}")
        self.path = path
        self.expected = expected
        self.source = source


class SourceError(CounterpointError):
    """The repository or the commit under judgement cannot be used as asked."""

    code = "source"


class NeedsPerson(CounterpointError):
    """Nothing can go on before a person decides: consent, trust, or a turn that is a person's."""

    code = "needs_person"


class LeaseHeld(CounterpointError):
    """Another live driver holds this case, or the work tree that it would edit."""

    code = "lease_held"

    def __init__(self, case: str, *, holder: str, since: str, is_worktree: bool = False) -> None:
        held, what = f"case {case} is driven by {holder}", "case"
        if is_worktree:
            held, what = f"the work tree {case} is edited in a case that {holder} drives", "work tree"
        super().__init__(
            f"{held} since {since}", hint=f"wait for it, or end that process; the {what} is free at once then"
        )
        self.case = case
        self.holder = holder
        self.since = since
