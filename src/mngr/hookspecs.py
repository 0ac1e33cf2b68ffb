"""The hooks that a plugin may implement, all of them in this file.

A plugin registers an object or module with any of these functions, marked with `hookimpl`, under the entry point
group `mngr.hooks`. Raising from `before_create` refuses the creation; anywhere else an error is reported as a warning.
"""

from typing import Any

import pluggy

from mngr.model.agent import Agent, AgentSpec

spec = pluggy.HookspecMarker("mngr")
hookimpl = pluggy.HookimplMarker("mngr")


class Moments:
    @spec
    def before_create(self, agent: AgentSpec) -> None:
        """An agent is about to be created; nothing exists yet. Raise MngrError to refuse."""

    @spec
    def after_create(self, agent: Agent) -> None:
        """An agent was created and runs."""

    @spec
    def after_message(self, agent: Agent, receipt: Any) -> None:
        """A message was sent, or not: the receipt says which."""

    @spec
    def after_pull(self, agent: Agent, brought: Any) -> None:
        """Commits of an agent were fetched into the source repository."""

    @spec
    def after_stop(self, agent: Agent) -> None:
        """An agent's processes have ended; its work is kept."""

    @spec
    def after_destroy(self, agent: Agent) -> None:
        """An agent was removed."""
