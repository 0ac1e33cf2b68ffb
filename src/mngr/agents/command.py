"""Any program as an agent: it runs, it ends, and what is sent to it is typed into its terminal."""

import time

from mngr.agents.protocol import Command
from mngr.errors import UsageError
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec, AgentState
from mngr.model.message import Delivery, Receipt, Usage
from mngr.store.probe import Evidence
from mngr.store.state import Phase
from mngr.tmux.pane import AgentPane, Pasted, paste


class CommandType:
    """The type `command`. Nothing is known of the program, so alive means RUNNING."""

    name = "command"

    def prepare(self, agent: AgentSpec, host: Host) -> None:
        """Nothing: the program is there or it is not."""

    def command(self, agent: AgentSpec, host: Host) -> Command:  # noqa: ARG002
        if not agent.argv:
            raise UsageError(
                f'"{agent.name}" has no command to run',
                hint=f"write it after --: mngr create {agent.name} -- sleep 60",
            )
        return Command(agent.argv)

    def phase(self, evidence: Evidence, now: float) -> Phase:  # noqa: ARG002
        pid = evidence.pane.pid if evidence.pane else evidence.mark.pid if evidence.mark else 0
        return Phase(AgentState.RUNNING, f"process {pid} lives")

    def send(self, pane: AgentPane, message: bytes) -> Receipt:
        return receipt_of(paste(pane, message, enter=True))

    def usage(self, agent: AgentSpec, host: Host) -> Usage:  # noqa: ARG002
        return Usage()


def receipt_of(pasted: Pasted) -> Receipt:
    """What a paste proves by itself: the terminal took every byte, and the process lived on."""
    now = time.time()
    if pasted.taken is None:
        return Receipt(Delivery.UNKNOWN, pasted.why, now)
    if not pasted.taken:
        return Receipt(Delivery.BLOCKED, f"nothing was sent: {pasted.why}", now)
    if not pasted.alive:
        return Receipt(
            Delivery.UNKNOWN, "its process ended as the message arrived; whether it read it is not known", now
        )
    return Receipt(Delivery.DELIVERED, "its terminal took every byte and its process lives", now)
