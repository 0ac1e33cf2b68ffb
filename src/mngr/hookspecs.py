"""The moments a plugin may act on. All of them are on this screen.

A plugin registers an object or module with any of these functions, marked with `hookimpl`, under the entry point
group `mngr.hooks`. Raising from `before_create` refuses the creation; anywhere else an error is named and passed over.
"""

from typing import Any

import pluggy

from mngr.model.agent import Agent, AgentSpec

spec = pluggy.HookspecMarker("mngr")
hookimpl = pluggy.HookimplMarker("mngr")


class Moments:
    @spec
    def before_create(self, agent: AgentSpec) -> None:
        """An agent is about to be made; nothing exists yet. Raise MngrError to refuse."""

    @spec
    def after_create(self, agent: Agent) -> None:
        """An agent runs."""

    @spec
    def after_message(self, agent: Agent, receipt: Any) -> None:
        """A message was handed over, or not: the receipt says which."""

    @spec
    def after_pull(self, agent: Agent, brought: Any) -> None:
        """An agent's work came home."""

    @spec
    def after_stop(self, agent: Agent) -> None:
        """An agent's processes are gone; its work is kept."""

    @spec
    def after_destroy(self, agent: Agent) -> None:
        """An agent is no more."""
