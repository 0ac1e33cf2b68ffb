"""A world with a scripted model in it, and real agents that every verb can be tried on."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self, TypeVar

from tests.agents.offline import claude_env
from tests.support.model import Model
from tests.support.world import World

import mngr
from mngr.actions.manager import Manager
from mngr.model.agent import Agent, AgentState, WaitingReason
from mngr.model.event import Event
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S


class Desk:
    """One module's world, whose tests share the agent `foo`: each begins with `at_rest` and hears only what is said
    from then on."""

    type = "claude"

    def __init__(self, folder: Path, model: Model) -> None:
        self.world, self.model = World(folder), model
        self.env = self.offline_env()
        self.world.env |= {"PATH": self.env["PATH"]}
        self.manager: Manager = self.world.manager()
        self.keys = {name: value for name, value in self.env.items() if name not in ("PATH", "HOME")}
        self._turns = self._events = 0

    def offline_env(self) -> dict[str, str]:
        """What makes an agent talk to the model."""
        return claude_env(self.model, self.world.home)

    def offline_args(self) -> tuple[str, ...]:
        """The same for what a program wants as arguments."""
        return ()

    def end(self) -> None:
        self.world.end()

    def cleared(self) -> Self:
        """The desk without scripts and without agents but `foo`."""
        self.model.forget()
        self._turns = self._events = 0
        for agent in mngr.list_agents(manager=self.manager).agents:
            if agent.name != "foo":
                mngr.destroy(agent.name, manager=self.manager)
        return self

    def at_rest(self) -> Self:
        """The desk with `foo` waiting for a message; one that a failed test left in another state is made anew."""
        self.cleared()
        found = [agent.state for agent in mngr.list_agents(manager=self.manager).agents]
        if found and (found[0] is not AgentState.WAITING or not self._is_idle()):
            mngr.destroy("foo", manager=self.manager)
            found = []
        if not found:
            self.create()
            self.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
        self.model.forget()
        self._turns = len(mngr.transcript("foo", manager=self.manager))
        self._events = len(list(mngr.events("foo", manager=self.manager)))
        return self

    def from_the_start(self) -> Self:
        """Hears all that `foo` ever said: for tests that take its conversation away."""
        self._turns = 0
        return self

    def _is_idle(self) -> bool:
        return self.agent().waiting_reason is WaitingReason.END_OF_TURN

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

        found = wait_until(there, PATIENCE_S)
        assert found, f"{self.agent(name)}\n{self.screen(name)}\n{self.events(name)}"
        return found

    def wait_turn(self, name: str = "foo") -> Agent:
        """The agent when the turn after the last message is over."""
        waited = list(mngr.wait(name, until="idle", timeout_s=PATIENCE_S, manager=self.manager))
        return waited[0].agent

    def keys_typed(self, *keys: str, name: str = "foo") -> None:
        """What a person at its terminal types, by tmux's names of keys."""
        self.world.tmux("send-keys", "-t", f"=mngr-{name}:", *keys).check("typing")

    def pid(self, name: str = "foo") -> int:
        """The process in its pane."""
        return int(self.world.tmux("display-message", "-p", "-t", f"=mngr-{name}:", "#{pane_pid}").text)

    def state_dir(self, name: str = "foo") -> Path:
        return Path(self.world.paths.agent(self.agent(name).id).dir)

    def screen(self, name: str = "foo") -> str:
        return mngr.capture(name, manager=self.manager)

    def shows(self, text: str, name: str = "foo") -> bool | None:
        """Whether a text is on its screen sooner or later."""
        return wait_until(lambda: text in self.screen(name), PATIENCE_S)

    def events(self, name: str = "foo") -> list[Event]:
        return list(mngr.events(name, manager=self.manager))[self._events if name == "foo" else 0 :]

    def kinds(self, name: str = "foo") -> list[str]:
        return [event.kind for event in self.events(name)]

    def said(self, role: str, name: str = "foo") -> list[str]:
        turns = mngr.transcript(name, manager=self.manager)[self._turns if name == "foo" else 0 :]
        return [turn.text for turn in turns if turn.role == role]


D = TypeVar("D", bound=Desk)


@contextmanager
def opened(kind: type[D], folder: Path) -> Iterator[D]:
    """A desk with a model that answers; nothing of either is left."""
    model = Model()
    model.start()
    try:
        desk = kind(folder, model)
        try:
            yield desk
        finally:
            desk.end()
    finally:
        model.stop()
