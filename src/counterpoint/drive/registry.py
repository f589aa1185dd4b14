"""The one place that knows concrete agents and stores: settings in, agents out.

Agents are imported when a seat needs them, so that no command pays for an agent it does not use.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from counterpoint.agents.base import Agent
from counterpoint.drive import settings as set_up
from counterpoint.drive.settings import AgentSettings, Home, PromptBy, ResultBy, Settings
from counterpoint.errors import ConfigError

if TYPE_CHECKING:
    from counterpoint.agents.command import CommandProfile
    from counterpoint.agents.human import Terminal

__all__ = ["Registry"]


class Registry:
    """Builds the agents of one case.

    Args:
        settings: of the run.
        read_at_base: returns a file's bytes as the merge base has them. The scripts that the repository's own
            settings name are read there, so that no change brings the answers of its own reviewer.
        environment: the process's variables, for agents that are given some.
        resume: the command that goes on with the case, for a person who is not there.
        drafts: the folder where a person's half answers are kept.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        read_at_base: Callable[[str], bytes | None],
        environment: Mapping[str, str],
        resume: str,
        drafts: Path,
    ) -> None:
        self._settings = settings
        self._read_at_base = read_at_base
        self._environment = environment
        self._resume = resume
        self._drafts = drafts
        self._terminal: Terminal | None = None

    def agent(self, name: str) -> Agent:
        """Return the agent of that name.

        Raises:
            ConfigError: there is none, or its settings cannot be used.
        """
        found = self._settings.agents.get(name)
        if found is None:
            known = ", ".join(sorted(self._settings.agents))
            raise ConfigError(f"agents.{name}", f"one of {known}", hint=f"add [agents.{name}] to your settings")
        return self._build(name, found)

    def _build(self, name: str, found: AgentSettings) -> Agent:
        match found:
            case set_up.ChecksAgent():
                from counterpoint.agents.checks import ChecksAgent  # noqa: PLC0415 - as the module says

                return ChecksAgent()
            case set_up.ScriptedAgent(file=file):
                from counterpoint.agents.scripted import ScriptedAgent, parse_script_file  # noqa: PLC0415 - as above

                if not self._settings.is_from_repository(f"agents.{name}"):
                    return ScriptedAgent.from_file(Path(file))
                content = self._read_at_base(file)
                if content is None:
                    raise ConfigError(f"agents.{name}.file", "a file of the merge base", got=file)
                source = f"{file} at the merge base"
                return ScriptedAgent(parse_script_file(content, source=file), source=source)
            case set_up.HumanAgent():
                from counterpoint.agents.human import HumanAgent, Terminal  # noqa: PLC0415 - as the module says

                if self._terminal is None:
                    self._terminal = Terminal(sys.stdin, sys.stderr)
                self._drafts.mkdir(mode=0o700, exist_ok=True)
                return HumanAgent(self._terminal, resume=self._resume, drafts=self._drafts)
            case set_up.CommandAgent():
                from counterpoint.agents.command import CommandAgent  # noqa: PLC0415 - as the module says

                return CommandAgent(self._profile(name, found), environ=self._environment)

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
