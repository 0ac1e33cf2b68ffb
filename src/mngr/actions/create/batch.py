"""`create -`: many agents from many lines, so many at a time, no more than so many running."""

import threading
from collections.abc import Iterable, Iterator
from typing import TypeVar

from mngr.actions.create.create import create
from mngr.actions.create.request import CreateSpec
from mngr.actions.create.steps import AgentDiedError
from mngr.actions.list import list_agents
from mngr.actions.manager import Manager
from mngr.actions.many import run_many
from mngr.actions.watch import watch
from mngr.errors import MngrError
from mngr.model.agent import AgentState, Change

_ACTIVE = (AgentState.CREATING, AgentState.RUNNING, AgentState.WAITING)

T = TypeVar("T")


def create_many(
    requests: Iterable[tuple[T, CreateSpec]], *, jobs: int, max_running: int = 0, manager: Manager
) -> Iterator[tuple[T, Change | MngrError]]:
    """Creates each and yields its key with the outcome as it finishes; one failing line does not stop the others."""
    slots = _Slots(max_running, manager) if max_running else None

    def work(item: tuple[T, CreateSpec]) -> Change:
        if slots:
            slots.take()
        try:
            change = create(item[1], manager=manager)
        except BaseException as error:
            if slots:
                slots.settle(error.change.agent.id if isinstance(error, AgentDiedError) else "")
            raise
        if slots:
            slots.settle(change.agent.id)
        return change

    for item, outcome in run_many(requests, work, jobs):
        yield item[0], outcome


class _Slots:
    """Holds back creations while as many agents as allowed are still active."""

    def __init__(self, limit: int, manager: Manager) -> None:
        self._limit, self._manager = limit, manager
        self._made: set[str] = set()
        self._starting = 0
        self._lock = threading.Lock()
        self._turn = threading.Lock()

    def take(self) -> None:
        with self._turn:
            if self._try():
                return
            for _ in watch(self._manager.local, self._manager):
                listed = list_agents(manager=self._manager).agents
                active = {agent.id for agent in listed if agent.state in _ACTIVE}
                with self._lock:
                    self._made &= active
                if self._try():
                    return

    def settle(self, agent_id: str) -> None:
        """A creation ended: its agent takes the slot over; without one the slot is free again."""
        with self._lock:
            self._starting -= 1
            if agent_id:
                self._made.add(agent_id)

    def _try(self) -> bool:
        with self._lock:
            if len(self._made) + self._starting >= self._limit:
                return False
            self._starting += 1
            return True
