"""`transcript`: the conversation, in one form for all agent types."""

from collections.abc import Sequence

from mngr.actions.manager import Manager, default_manager
from mngr.actions.targets import Target, resolve_one
from mngr.agents.protocol import Transcribed
from mngr.errors import UsageError
from mngr.model.message import Turn


def transcript(
    agent: Target, *, roles: Sequence[str] = (), tail: int = 0, manager: Manager | None = None
) -> list[Turn]:
    """The turns of these roles (all by default), the last `tail` of them when that is not 0."""
    manager = default_manager(manager)
    row = resolve_one(manager, agent)
    agent_type = manager.agent_type(row.spec.type)
    if not isinstance(agent_type, Transcribed):
        raise UsageError(
            f'"{row.agent.name}" is a {row.agent.type} agent and has no conversation',
            hint=f"see its terminal: mngr capture {row.agent.name} --full",
        )
    turns = [turn for turn in agent_type.transcript(row.spec, row.host) if not roles or turn.role in roles]
    return turns[-tail:] if tail else turns
