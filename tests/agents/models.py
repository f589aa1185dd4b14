"""The four agents behind an API, pointed at the fake one."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from counterpoint.agents.anthropic import AnthropicAgent
from counterpoint.agents.base import Workspace
from counterpoint.agents.capabilities import Capability, Control
from counterpoint.agents.chat import ChatAgent
from counterpoint.agents.gemini import GeminiAgent
from counterpoint.agents.models import ModelAgent, ModelProfile
from counterpoint.agents.openai import OpenAIAgent
from counterpoint.core.briefs import Brief
from counterpoint.core.values import Turn
from tests.agents.fake_api import FakeApi

__all__ = ["DEADLINE", "GOOD", "KEY", "KINDS", "VERDICT", "WORKSPACE", "Kind", "agent", "brief"]

KEY: Final = "planted-0123456789abcdef-key"
GOOD: Final = {"summary": "fine", "approved": True}
DEADLINE: Final = datetime(2026, 7, 6, tzinfo=UTC)
WORKSPACE: Final = Workspace(
    tree=Path("/nowhere"), scratch=Path("/nowhere"), turn=Turn(phase="reviewing", round=1, seat="critic", ask=1)
)
VERDICT: Final[Mapping[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["summary", "approved"],
    "properties": {"summary": {"type": "string", "maxLength": 100}, "approved": {"type": "boolean"}},
}
EVERYTHING: Final = Capability(efforts=("low", "high"), controls=frozenset(Control), source="a person")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One wire format, and a model of it that takes the effort `high`."""

    agent: type[ModelAgent]
    model: str
    path: str
    """Behind the fake's address."""
    declared: Capability | None = None


KINDS: Final = {
    "openai": Kind(agent=OpenAIAgent, model="gpt-5.5", path="/v1"),
    "anthropic": Kind(agent=AnthropicAgent, model="claude-opus-4-8", path=""),
    "chat": Kind(agent=ChatAgent, model="some-model", path="/v1", declared=EVERYTHING),
    "gemini": Kind(agent=GeminiAgent, model="gemini-3.5-flash", path=""),
}


def agent(kind: str, api: FakeApi | str, **changes: Any) -> ModelAgent:
    """Return an agent that asks the fake, or another address."""
    about = KINDS[kind]
    address = api.url + about.path if isinstance(api, FakeApi) else api
    profile = {
        "name": "critic",
        "model": about.model,
        "destination": "local",
        "timeout_s": 30.0,
        "base_url": address,
        "key_variable": "CRITIC_API_KEY",
        "declared": about.declared,
        **changes,
    }
    return about.agent(ModelProfile(**profile), environ={"CRITIC_API_KEY": KEY})


def brief(script: str = "", **payload: Any) -> Brief:
    """Return a brief whose change holds a script for the fake."""
    change = f"+one line\n{script}\n"
    return Brief(
        instructions="Judge the change.", payload={"change": change, **payload}, schema=VERDICT, shown_paths=()
    )
