"""An agent type of one's own, from a few lines of config.

[agent_types.reviewer]
command = "aider --yes"
env = { AIDER_DARK_MODE = "1" }
"""

import shlex
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from mngr import registry
from mngr.agents.protocol import AgentType, Command, Metered, Preflighted, Resumable, Transcribed
from mngr.errors import UsageError, did_you_mean
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.model.message import Receipt, Usage
from mngr.store.probe import Evidence
from mngr.store.state import Phase
from mngr.tmux.pane import AgentPane


def custom_type(name: str, table: Mapping[str, Any], lookup: Callable[[str], AgentType]) -> AgentType:
    """The type that `[agent_types.NAME]` describes: its parent, with its words before the agent's own."""
    parent = str(table.get("parent", "command"))
    known = registry.entries(registry.AGENT_TYPES)
    if name in known:
        raise UsageError(
            f'agent type "{name}" is there already', hint="choose another name for [agent_types.NAME]"
        )
    if parent not in known:
        raise UsageError(
            f'agent type "{name}" has the parent "{parent}", which is neither built in nor of a plugin',
            hint=did_you_mean(parent, known),
        )
    command = table.get("command", ())
    try:
        program = shlex.split(command) if isinstance(command, str) else command
    except ValueError as error:
        raise UsageError(
            f'the command of agent type "{name}" cannot be read: {error}',
            hint='close its quotes, or write a list: command = ["prog", "arg"]',
        ) from None
    words = (*program, *table.get("args", ()))
    return CustomType(name, lookup(parent), words, dict(table.get("env", {})))


class CustomType:
    """Another type under a name of its own. It has the optional powers of its parent and no others."""

    def __init__(self, name: str, parent: AgentType, words: tuple[str, ...], env: dict[str, str]) -> None:
        self.name = name
        self._parent, self._words, self._env = parent, words, env
        if isinstance(parent, Transcribed):
            transcribed = parent
            self.transcript = lambda agent, host: transcribed.transcript(self._as_parent(agent), host)
        if isinstance(parent, Resumable):
            resumable = parent
            self.resume_command = lambda agent, host: self._with_env(
                resumable.resume_command(self._as_parent(agent), host)
            )
            self.copy_conversation = lambda agent, clone, host: resumable.copy_conversation(
                self._as_parent(agent), self._as_parent(clone), host
            )

        if isinstance(parent, Metered):
            metered = parent
            self.usage_script = lambda agent, host_dir: metered.usage_script(self._as_parent(agent), host_dir)
            self.read_usage = metered.read_usage
        if isinstance(parent, Preflighted):
            preflighted = parent
            self.program = preflighted.program
            self.login_findings = lambda plan: preflighted.login_findings(
                msgspec.structs.replace(plan, argv=(*words, *plan.argv), env={**plan.env, **env})
            )

    def prepare(self, agent: AgentSpec, host: Host) -> None:
        self._parent.prepare(self._as_parent(agent), host)

    def command(self, agent: AgentSpec, host: Host) -> Command:
        return self._with_env(self._parent.command(self._as_parent(agent), host))

    def phase(self, evidence: Evidence, now: float) -> Phase:
        return self._parent.phase(evidence, now)

    def send(self, pane: AgentPane, message: bytes) -> Receipt:
        return self._parent.send(pane, message)

    def usage(self, agent: AgentSpec, host: Host) -> Usage:
        return self._parent.usage(self._as_parent(agent), host)

    def _as_parent(self, agent: AgentSpec) -> AgentSpec:
        return msgspec.structs.replace(agent, type=self._parent.name, argv=(*self._words, *agent.argv))

    def _with_env(self, command: Command) -> Command:
        return Command(command.argv, {**command.env, **self._env})
