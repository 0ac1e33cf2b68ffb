"""`message`: gives a text to an agent once, and says whether it arrived."""

from msgspec import Struct

from mngr.actions.manager import Manager, default_manager
from mngr.actions.targets import resolve_one
from mngr.errors import RefusedError, UsageError
from mngr.hosts.protocol import Host
from mngr.model import event as kinds
from mngr.model.agent import Agent, AgentSpec, AgentState
from mngr.model.event import Event
from mngr.model.message import MESSAGE_LIMIT, Receipt
from mngr.sh.lines import append, ring
from mngr.sh.program import READ_AND_RUN, encode
from mngr.store.paths import HostPaths
from mngr.tmux.pane import AgentPane

_ALIVE = (AgentState.RUNNING, AgentState.WAITING)


class Messaged(Struct, frozen=True):
    """The agent and the receipt for what it was sent."""

    agent: Agent
    receipt: Receipt


def message(agent: Agent | str, text: str | bytes, *, manager: Manager | None = None) -> Messaged:
    """Sends one message. Refused beforehand, with nothing sent, when it cannot arrive as it is."""
    manager = default_manager(manager)
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    check_message(data)
    row = resolve_one(manager, agent)
    # Where it lives and only what it does is unknown, its type may find out, or say what is in the way.
    pane = row.evidence.pane
    lives_unknown = row.agent.state == AgentState.UNKNOWN and pane is not None and not pane.dead
    if row.agent.state not in _ALIVE and not lives_unknown:
        raise RefusedError(
            f'"{row.agent.name}" is {row.agent.state}: no program would read it',
            hint=f"mngr start {row.agent.name}",
        )
    receipt = deliver(row.host, row.spec, data, manager, session=row.agent.session)
    manager.hook("after_message", agent=row.agent, receipt=receipt)
    return Messaged(row.agent, receipt)


def check_message(data: bytes) -> None:
    if not data:
        raise UsageError("the message is empty", hint="give it with -m, --message-file or on standard input")
    if len(data) > MESSAGE_LIMIT:
        raise UsageError(
            f"the message has {len(data)} bytes, {MESSAGE_LIMIT} is the most",
            hint="put it into a file of its work dir and send the file's name",
        )


def deliver(host: Host, spec: AgentSpec, data: bytes, manager: Manager, *, session: str = "") -> Receipt:
    """Hands over the message by the agent's own type and writes the outcome into its log."""
    check_message(data)
    manager.check_policy("message", spec, host.provider, host.name)
    pane = AgentPane(host, spec.id, session or spec.session)
    sent_at = manager.time_on(host)  # before sending: a turn that ends meanwhile ended after the message
    receipt = manager.agent_type(spec.type).send(pane, data)
    paths = HostPaths(host.dir)
    entry = Event(sent_at, kinds.MESSAGE, {"status": receipt.status, "bytes": len(data), "why": receipt.why})
    script = append(paths.agent(spec.id).events, entry) + "\n" + ring(paths.bell)
    host.run(READ_AND_RUN, stdin=encode(script))
    return receipt
