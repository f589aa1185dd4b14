"""What the agents behind a model's API share: the checks before the call, the call, and the reading of its answer.

- Every control is held against the capabilities of the model before a byte is sent. Nothing is dropped, mapped or
  changed on the way: what a model does not take is refused, and the error says what it takes.
- The key is read out of the environment at the moment of the call and kept nowhere.
- Every question stands by itself: the brief holds all that a seat may know. No state of a conversation is kept, here
  or at the provider, so none can come back.
- An answer counts when it ended by itself, names its model and its usage, and calls no tool. Whether its text is the
  one object that was asked for is for `base.read_reply` to say.

Sources: SPEC A-03, A-26, A-27, A-47 to A-51; ECOSYSTEM 1.2.
"""

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar, Final

from counterpoint.agents.answers import Answer, Told
from counterpoint.agents.base import Agent, Progress, Reply, Workspace, render_prompt
from counterpoint.agents.capabilities import (
    PROVIDER_DEFAULT,
    Capability,
    Control,
    effort_fault,
    find,
    known_models,
)
from counterpoint.agents.questions import Question, loosened
from counterpoint.agents.wire import Call, Key, exchange, shown
from counterpoint.core.briefs import Brief
from counterpoint.core.canonical import visible
from counterpoint.errors import AgentError, BadReply, ConfigError, Unreachable
from counterpoint.isolation.addresses import address_fault

__all__ = ["ModelAgent", "ModelProfile"]

_APART: Final = "Your instructions stand apart from this message. You have no working folder, and no file to read."


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProfile:
    """How one model is asked."""

    name: str
    """The agent's name in the settings."""
    model: str
    destination: str
    timeout_s: float
    """For one call."""
    effort: str = ""
    """Empty: the one that the brief names."""
    base_url: str = ""
    """Empty: the provider's own."""
    key_variable: str = ""
    """Names the variable that holds the key; empty: the provider's own, or none where `base_url` is set."""
    max_output_tokens: int = 0
    """Zero: as many as the model gives."""
    most_output_tokens: int = 0
    """What the case allows; it holds where the model takes a limit. Zero: whatever it is."""
    temperature: float | None = None
    """None: it is not sent."""
    declared: Capability | None = None
    """What a person says that the model takes, instead of the table."""


class ModelAgent(Agent):
    """Asks one model over its provider's API.

    Raises:
        ConfigError: the address, the model or a control cannot be used; nothing was sent.
    """

    home: ClassVar[str] = ""
    """The provider's own address; empty: there is none."""
    home_key: ClassVar[str] = ""
    """The variable in which people keep this provider's key."""
    finished: ClassVar[frozenset[str]]
    """The words for an answer that ended by itself."""
    truncated: ClassVar[frozenset[str]]
    """The words for one that was cut at its limit."""
    last: ClassVar[str] = ""
    """The data of the event after the last, where the format has one that is not JSON."""

    def __init__(self, profile: ModelProfile, *, environ: Mapping[str, str]) -> None:
        self._profile = profile
        self._environ = environ
        self.destination = profile.destination
        self._address = self._checked_address()
        self._capability = self._checked_capability()

    @abstractmethod
    def path(self, model: str) -> str:
        """Return the path behind the base address."""

    @abstractmethod
    def headers(self, key: str) -> Mapping[str, str]:
        """Return what shows the key, and what the provider wants besides."""

    @abstractmethod
    def body(self, question: Question) -> Mapping[str, Any]:
        """Return the request."""

    @abstractmethod
    def take(self, event: Mapping[str, Any], answer: Answer) -> bool:
        """Add one event to the answer, and say whether it was the last.

        Raises:
            AgentError: it says that the answer failed.
        """

    def is_output_limit_taken(self) -> bool:
        return True

    def shape(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the schema of a brief as it goes to the model."""
        return loosened(schema)

    async def ask(self, brief: Brief, *, workspace: Workspace, deadline: datetime, on_progress: Progress) -> Reply:
        # A model sees the brief alone; the profile's timeout and the driver's cancellation hold.
        del workspace, deadline
        profile, call = self._profile, self.request(brief)
        answer = Answer(agent=profile.name)
        told = Told(on_progress, profile.model)

        def take(data: str) -> bool:
            is_last = data == self.last if self.last else False
            if not is_last:
                is_last = self.take(self._event(data, call.key), answer)
            told.about(answer)
            return is_last

        on_progress(f"{profile.model} is asked")
        await exchange(call, take)
        self._demand_whole(answer, self._effort(brief), call.key)
        return Reply(
            content="".join(answer.parts).encode("utf-8", "surrogatepass"),
            model_requested=profile.model,
            model_reported=answer.model,
            usage=answer.usage,
        )

    def check_effort(self, effort: str) -> None:
        """Refuse the effort of the cases to come before one is opened; the agent's own wins over it.

        Raises:
            ConfigError: the model does not take it.
        """
        if not self._profile.effort and (fault := self._effort_fault(self._capability, effort)):
            raise self._effort_error(fault, self._capability)

    def request(self, brief: Brief) -> Call:
        """Return the one request that a brief becomes.

        Raises:
            Unreachable: the model does not take the effort of the case, or there is no key.
        """
        profile, key = self._profile, self._key()
        return Call(
            agent=profile.name,
            url=self._address + self.path(profile.model),
            headers=self.headers(key.value),
            body=json.dumps(self.body(self._question(brief)), ensure_ascii=False).encode(),
            key=key,
            timeout_s=profile.timeout_s,
        )

    def failed(self, said: object) -> AgentError:
        """Return the error for a failure that the provider reports within its stream."""
        return Unreachable(
            f"{self._profile.name!r} was told of a failure: {shown(str(said), self._key())}",
            hint="try again; nothing was repeated by itself",
        )

    def _checked_address(self) -> str:
        profile = self._profile
        address = (profile.base_url or self.home).rstrip("/")
        if fault := address_fault(address):
            expected = "an https address, or an http address of this machine, with neither login, query nor fragment"
            raise ConfigError(f"agents.{profile.name}.base_url", expected, got=fault)
        return address

    def _checked_capability(self) -> Capability:
        profile, path = self._profile, f"agents.{self._profile.name}"
        found = profile.declared or find(self.kind, profile.model)
        if found is None:
            known = ", ".join(known_models(self.kind)) or "none"
            raise ConfigError(
                f"{path}.model",
                f"a model whose controls are known ({known})",
                got=profile.model,
                hint=f"declare what it takes: set `controls` and `efforts` in [{path}]",
            )
        if profile.effort and (fault := self._effort_fault(found, profile.effort)):
            raise self._effort_error(fault, found)
        if profile.temperature is not None and Control.TEMPERATURE not in found.controls:
            raise self._not_taken("temperature", found)
        limit = profile.max_output_tokens
        if limit and not (self.is_output_limit_taken() or found.controls & _LIMITS):
            raise self._not_taken("max_output_tokens", found)
        if found.max_output_tokens and limit > found.max_output_tokens:
            expected = f"at most {found.max_output_tokens} for model {profile.model!r} ({found.says})"
            raise ConfigError(f"{path}.max_output_tokens", expected, got=limit)
        return found

    def _not_taken(self, key: str, found: Capability) -> ConfigError:
        path, model = f"agents.{self._profile.name}", self._profile.model
        takes = ", ".join(sorted(found.controls)) or "none"
        sentence = f"{path}.{key} is set; model {model!r} takes of such controls: {takes} ({found.says})"
        return ConfigError(f"{path}.{key}", "", sentence=sentence, hint=f"remove `{key}` from [{path}]")

    def _effort_error(self, fault: str, found: Capability) -> ConfigError:
        path = f"agents.{self._profile.name}"
        return ConfigError(f"{path}.effort", "", sentence=f"{path}.effort: {fault}", hint=_effort_hint(path, found))

    def _effort_fault(self, found: Capability, effort: str) -> str:
        if effort != PROVIDER_DEFAULT:
            return effort_fault(self._profile.model, found, effort)
        if not found.efforts or not self.home:
            return ""
        takes = ", ".join(found.efforts)
        return f"{effort!r} leaves the effort open; model {self._profile.model!r} takes {takes} ({found.says})"

    def _effort(self, brief: Brief) -> str:
        """Return the effort to send; "" for none.

        Raises:
            Unreachable: the model does not take the one that the case asks for.
        """
        own = self._profile.effort
        if own == PROVIDER_DEFAULT:
            return ""
        asked = own or str(brief.payload.get("effort", ""))
        if asked and (fault := self._effort_fault(self._capability, asked)):
            path = f"agents.{self._profile.name}"
            raise Unreachable(f"{path}: {visible(fault)}", hint=_effort_hint(path, self._capability))
        return asked

    def _question(self, brief: Brief) -> Question:
        profile, found = self._profile, self._capability
        return Question(
            model=profile.model,
            instructions=visible(brief.instructions),
            text=render_prompt(replace(brief, instructions=_APART)),
            schema=self.shape(brief.schema) if Control.SCHEMA in found.controls else None,
            effort=self._effort(brief),
            max_output_tokens=self._output_limit(),
            temperature=profile.temperature,
            controls=found.controls,
        )

    def _output_limit(self) -> int:
        """Return the lowest limit for one answer that anybody sets; zero for none, or where the model takes none."""
        profile, found = self._profile, self._capability
        limit = profile.max_output_tokens or found.max_output_tokens
        is_taken = self.is_output_limit_taken() or bool(found.controls & _LIMITS)
        if not profile.most_output_tokens or not is_taken:
            return limit
        return min(limit or profile.most_output_tokens, profile.most_output_tokens)

    def _key(self) -> Key:
        """Return the key as the environment has it now.

        Raises:
            Unreachable: it is not there, or cannot be sent.
        """
        profile = self._profile
        variable = profile.key_variable or ("" if profile.base_url else self.home_key)
        if not variable:
            return Key()
        value = self._environ.get(variable, "").strip()
        if not value:
            raise Unreachable(
                f"{profile.name!r} has no key: {variable} is not set",
                hint=f"set {variable} in the environment, or name another variable in `key_variable`",
            )
        if not value.isascii() or not value.isprintable() or " " in value:
            raise Unreachable(f"what {variable} holds is no key: it has other characters than a header may have")
        return Key(variable=variable, value=value)

    def _event(self, data: str, key: Key) -> Mapping[str, Any]:
        try:
            event = json.loads(data, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict):
            raise BadReply(f"an event of {self._profile.name!r} is not a JSON object: {shown(data, key)}")
        return event

    def _demand_whole(self, answer: Answer, effort: str, key: Key) -> None:
        name = self._profile.name
        if answer.tool:
            raise BadReply(f"{name!r} called the tool {shown(answer.tool, key)!r}; no tool was offered")
        if answer.refusal:
            raise BadReply(f"the model of {name!r} refused: {shown(answer.refusal, key)}")
        if not answer.ending:
            raise Unreachable(
                f"the stream of {name!r} ended before the answer did, after {answer.size} characters",
                hint="try again; nothing was repeated by itself",
            )
        if answer.ending in self.truncated:
            raise BadReply(
                f"the answer of {name!r} was cut at its limit: {shown(answer.ending, key)}",
                hint="raise its max_output_tokens, or lower its effort",
            )
        if answer.ending not in self.finished:
            raise BadReply(f"the answer of {name!r} ended with {shown(answer.ending, key)!r}")
        for fault in self._faults(answer, effort):
            raise BadReply(fault)
        if key.stands_in(answer.model) or key.stands_in("".join(answer.parts)):
            raise BadReply(
                f"the answer of {name!r} holds the value of {key.variable}",
                hint="replace that key, and find out how the model came to see it",
            )

    def _faults(self, answer: Answer, effort: str) -> Iterator[str]:
        name = self._profile.name
        if answer.choices > 1:
            yield f"{name!r} gave {answer.choices} answers; one is asked for"
        if answer.effort and effort and answer.effort != effort:
            yield f"{name!r} was asked with effort {effort!r} and says {visible(answer.effort[:40])!r}"
        if not answer.model:
            yield f"{name!r} does not say which model answered"
        if len(answer.model) > _LONGEST_NAME or not answer.model.isprintable():
            yield f"{name!r} says that {visible(answer.model[:40])!r}… answered, which is no model's name"
        if not answer.usage.known:
            yield f"{name!r} does not say how many tokens it used"


_LONGEST_NAME: Final = 200
_LIMITS: Final = frozenset({Control.MAX_TOKENS, Control.MAX_COMPLETION_TOKENS})


def _effort_hint(path: str, found: Capability) -> str:
    if found.efforts:
        return f"set `effort` in [{path}] to one of {', '.join(found.efforts)}"
    return f'set `effort = "{PROVIDER_DEFAULT}"` in [{path}], which sends none'


def _no_constant(name: str) -> Any:
    raise ValueError(name)
