"""The one place that knows concrete agents and stores: settings in, agents out.

Agents are imported when a seat needs them, so that no command pays for an agent it does not use.
"""

import importlib
import os
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from counterpoint.agents.base import Agent
from counterpoint.core.docket import Effort
from counterpoint.drive import settings as set_up
from counterpoint.drive.seat_homes import homes_of
from counterpoint.drive.settings import AgentKind, AgentSettings, Home, PromptBy, ResultBy, Settings
from counterpoint.errors import ConfigError, Unreachable
from counterpoint.isolation.process import find_program

if TYPE_CHECKING:
    from counterpoint.agents.capabilities import Capability
    from counterpoint.agents.command import CommandProfile
    from counterpoint.agents.models import ModelAgent
    from counterpoint.agents.terminal import Terminal
    from counterpoint.drive.cassettes import Tape

__all__ = ["Registry", "key_variable"]


class Registry:
    """Builds the agents of one case.

    Args:
        settings: of the run.
        read_at_base: returns a file's bytes as the merge base has them. The scripts that the repository's own
            settings name are read there, so that no change brings the answers of its own reviewer.
        environment: the process's variables, for agents that are given some.
        resume: the command that goes on with the case, for a person who is not there.
        drafts: the folder where a person's half answers are kept; made by whoever drives.
        effort: of the case; by default what a review would have.
        max_output_tokens: the case's limit for one answer; zero: none.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        read_at_base: Callable[[str], bytes | None],
        environment: Mapping[str, str],
        resume: str,
        drafts: Path,
        effort: Effort | None = None,
        max_output_tokens: int = 0,
    ) -> None:
        self._settings = settings
        self._read_at_base = read_at_base
        self._environment = environment
        self._resume = resume
        self._drafts = drafts
        self._effort = effort or settings.review.effort
        self._max_output_tokens = max_output_tokens
        self._terminal: Terminal | None = None
        self.tape: Tape | None = None
        """Sits around every agent while a cassette is recorded or played."""
        self._served: dict[str, Agent] = {}

    def agent(self, name: str) -> Agent:
        """Return the agent of that name.

        Raises:
            ConfigError: there is none, or its settings cannot be used.
        """
        found = self._settings.agents.get(name)
        if found is None:
            known = ", ".join(sorted(self._settings.agents))
            raise ConfigError(f"agents.{name}", f"one of {known}", hint=set_up.how_to_add(name))
        if self.tape is not None:
            return self.tape.agent(found, lambda: self._build(name, found))
        return self._build(name, found)

    def _build(self, name: str, found: AgentSettings) -> Agent:
        match found:
            case set_up.ChecksAgent():
                from counterpoint.agents.checks import ChecksAgent  # noqa: PLC0415 - as the module says

                return ChecksAgent()
            case set_up.ScriptedAgent(file=file):
                return self._scripted(name, file)
            case set_up.HumanAgent():
                return self._human()
            case set_up.CommandAgent():
                from counterpoint.agents.command import CommandAgent  # noqa: PLC0415 - as the module says

                self._demand_program(f"agents.{name}.command", found.command[0], own_path="PATH" in found.set)
                return CommandAgent(self._profile(name, found), environ=self._environment)
            case set_up.ModelAgent():
                return self._model(name, found)
            case set_up.LocalAgent():
                return self._local(name, found)
            case set_up.CodingAgent():
                return self._coding(name, found)

    def _human(self) -> Agent:
        from counterpoint.agents import filling, human, terminal  # noqa: PLC0415 - as the module says

        if self._terminal is None:
            self._terminal = terminal.Terminal(sys.stdin, sys.stderr)
        named = self._environment.get("VISUAL") or self._environment.get("EDITOR") or "vi"
        editor = filling.Editor(argv=shlex.split(named), env=self._environment)
        return human.HumanAgent(self._terminal, resume=self._resume, drafts=self._drafts, editor=editor)

    def _model(self, name: str, found: set_up.ModelAgent) -> Agent:
        from counterpoint.agents.models import ModelProfile  # noqa: PLC0415 - as the module says

        profile = ModelProfile(
            name=name,
            model=found.model,
            destination=found.destination,
            timeout_s=found.timeout_s or self._settings.limits.call_timeout_s,
            effort=found.effort,
            base_url=found.base_url,
            key_variable=found.key_variable,
            max_output_tokens=found.max_output_tokens,
            most_output_tokens=self._max_output_tokens,
            temperature=found.temperature,
            declared=self._declared(name, found),
        )
        agent = _class_of(found.kind)(profile, environ=self._environment)
        agent.check_effort(self._effort)
        return agent

    def _local(self, name: str, found: set_up.LocalAgent) -> Agent:
        from counterpoint.agents import local  # noqa: PLC0415 - as the module says

        if name not in self._served:  # its seats share one server
            model = local.find_model(f"agents.{name}", found.model_file)
            profile = local.LocalProfile(
                name=name,
                model=model.stem,
                server=local.serving(model, name=model.stem, threads=found.threads, context=found.context),
                timeout_s=found.timeout_s or self._settings.limits.call_timeout_s,
                max_output_tokens=min(found.max_output_tokens, self._max_output_tokens or found.max_output_tokens),
                bounds=local.OWN if found.model_file else local.TINY,
            )
            self._served[name] = local.LocalAgent(profile, environ=self._environment)
        return self._served[name]

    def _coding(self, name: str, found: set_up.CodingAgent) -> Agent:
        from counterpoint.agents import headless, profiles  # noqa: PLC0415 - as the module says

        client = profiles.CLIENTS[found.kind]
        self._demand_program(f"agents.{name}.program", found.program or client.program)
        profile = headless.HeadlessProfile(
            name=name,
            destination=found.destination,
            timeout_s=found.timeout_s or self._settings.limits.call_timeout_s,
            homes=homes_of(self._environment, self._drafts.parent.name),
            program=found.program,
            model=found.model,
            effort=found.effort,
            base_url=found.base_url,
            user_home=found.home is Home.USER,
            environment=found.environment,
        )
        agent = headless.HeadlessAgent(client, profile, environ=self._environment)
        agent.check_effort(self._effort)
        return agent

    def _declared(self, name: str, found: set_up.ModelAgent) -> "Capability | None":
        from counterpoint.agents.capabilities import Capability, Control  # noqa: PLC0415 - as the module says

        if found.controls is None:
            return None
        source = self._settings.source(f"agents.{name}").name
        controls = frozenset(map(Control, found.controls))
        return Capability(efforts=found.efforts, controls=controls, source=source)

    def _scripted(self, name: str, file: str) -> Agent:
        from counterpoint.agents.scripted import ScriptedAgent, parse_script_file  # noqa: PLC0415 - as the module says

        key = f"agents.{name}.file"
        if not self._settings.is_from_repository(f"agents.{name}"):
            if not Path(file).is_file():
                raise ConfigError(key, "the path of a script", got=file)
            return ScriptedAgent.from_file(Path(file))
        content = self._read_at_base(file)
        if content is None:
            raise ConfigError(key, "a file of the merge base", got=file)
        source = f"the merge base's {file}"
        return ScriptedAgent(parse_script_file(content, source=source), source=source)

    def _demand_program(self, key: str, program: str, *, own_path: bool = False) -> None:
        """Refuse a program that is not there, before it fails for the seats that the case has."""
        is_relative = "/" in program and not Path(program).is_absolute()
        if is_relative or "{" in program or own_path:
            return  # where it is looked for is known only when it is started
        try:
            find_program(program, env={"PATH": self._environment.get("PATH", os.defpath)}, cwd=Path("/"))
        except Unreachable as error:
            raise ConfigError(key, "a program that can be started", got=program, hint=error.hint) from None

    def _profile(self, name: str, found: set_up.CommandAgent) -> "CommandProfile":
        from counterpoint.agents.command import CommandProfile  # noqa: PLC0415 - as the module says

        return CommandProfile(
            name=name,
            command=found.command,
            destination=found.destination,
            timeout_s=found.timeout_s or self._settings.limits.call_timeout_s,
            prompt_by_file=found.prompt is PromptBy.FILE,
            result_by_file=found.result is ResultBy.FILE,
            environment=found.environment,
            set=found.set,
            user_home=found.home is Home.USER,
            in_tree=found.cwd is set_up.Cwd.TREE,
            model=found.model,
            reply_pointer=found.reply_pointer,
            model_pointer=found.model_pointer,
            input_tokens_pointer=found.input_tokens_pointer,
            output_tokens_pointer=found.output_tokens_pointer,
            session_pointer=found.session_pointer,
        )


def key_variable(found: set_up.ModelAgent) -> str:
    """Return the name of the variable that holds a model's key; "" where it is asked without one."""
    return found.key_variable or ("" if found.base_url else _class_of(found.kind).home_key)


def _class_of(kind: AgentKind) -> "type[ModelAgent]":
    """Return the class that asks the models of one API, importing that API's module alone."""
    module = importlib.import_module(f"counterpoint.agents.{kind}")
    found: type[ModelAgent] = getattr(module, _MODEL_CLASSES[kind])
    return found


_MODEL_CLASSES: Final = {
    AgentKind.OPENAI: "OpenAIAgent",
    AgentKind.ANTHROPIC: "AnthropicAgent",
    AgentKind.CHAT: "ChatAgent",
    AgentKind.GEMINI: "GeminiAgent",
}
