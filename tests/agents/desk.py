"""A world with a scripted model in it, and real agents that every verb can be tried on."""

from pathlib import Path

from tests.agents.offline import claude_env
from tests.support.model import Model
from tests.support.world import World

import mngr
from mngr.actions.manager import Manager
from mngr.model.agent import Agent, AgentState, WaitingReason
from mngr.model.event import Event
from mngr.process import wait_until

# Real programs start slowly on a busy machine.
PATIENCE_S = 60.0


class Desk:
    """One test's world; agents are made with what they need by name."""

    type = "claude"
    patience_s = PATIENCE_S

    def __init__(self, folder: Path, model: Model) -> None:
        self.world, self.model = World(folder), model
        self.env = self.offline_env()
        self.world.env |= {"PATH": self.env["PATH"]}
        self.manager: Manager = self.world.manager()
        self.keys = {name: value for name, value in self.env.items() if name not in ("PATH", "HOME")}

    def offline_env(self) -> dict[str, str]:
        """What makes an agent talk to the model."""
        return claude_env(self.model, self.world.home)

    def offline_args(self) -> tuple[str, ...]:
        """The same for what a program wants as arguments."""
        return ()

    def create(
        self, name: str = "foo", *, type: str = "", args: tuple[str, ...] = (), message: str = ""
    ) -> Agent:
        """An agent that talks to the model."""
        made = mngr.create(
            name,
            type=type or self.type,
            args=(*self.offline_args(), *args),
            message=message,
            env=self.keys,
            transfer="none",
            manager=self.manager,
        )
        return made.agent

    def send(self, text: str, name: str = "foo") -> mngr.Receipt:
        return mngr.message(name, text, manager=self.manager).receipt

    def agent(self, name: str = "foo") -> Agent:
        return next(one for one in mngr.list_agents(manager=self.manager).agents if one.name == name)

    def wait(self, state: AgentState, reason: WaitingReason | None = None, name: str = "foo") -> Agent:
        """The agent once it is in that state."""

        def there() -> Agent | None:
            agent = self.agent(name)
            return agent if (agent.state, agent.waiting_reason) == (state, reason) else None

        found = wait_until(there, self.patience_s)
        assert found, f"{self.agent(name)}\n{self.screen(name)}\n{self.events(name)}"
        return found

    def wait_turn(self, name: str = "foo") -> Agent:
        """The agent when the turn after the last message is over."""
        waited = list(mngr.wait(name, until="idle", timeout_s=self.patience_s, manager=self.manager))
        return waited[0].agent

    def screen(self, name: str = "foo") -> str:
        return mngr.capture(name, manager=self.manager)

    def events(self, name: str = "foo") -> list[Event]:
        return list(mngr.events(name, manager=self.manager))

    def kinds(self, name: str = "foo") -> list[str]:
        return [event.kind for event in self.events(name)]

    def said(self, role: str, name: str = "foo") -> list[str]:
        return [turn.text for turn in mngr.transcript(name, roles=(role,), manager=self.manager)]
