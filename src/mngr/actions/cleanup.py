"""`cleanup`: chooses agents to stop or destroy, by filters, age and idleness."""

from mngr.actions.filter import Filter
from mngr.actions.manager import Manager, default_manager
from mngr.actions.rows import Row
from mngr.actions.targets import resolve
from mngr.errors import UsageError
from mngr.model.agent import Agent, AgentState


def choose_agents(
    filter: Filter,
    older_than_s: float | None = None,
    idle_for_s: float | None = None,
    *,
    manager: Manager | None = None,
) -> tuple[Agent, ...]:
    """Agents on hosts that answer which pass the filter, were made that long ago and have been idle that long."""
    if filter.is_empty and not older_than_s and not idle_for_s:
        raise UsageError(
            "which agents?", hint="give a filter, an age or an idle time; all: mngr destroy --all"
        )
    found = resolve(default_manager(manager), [], filter=filter, all=True)
    return tuple(
        row.agent
        for row in found.rows
        if (not older_than_s or age_s(row) >= older_than_s)
        and (not idle_for_s or (idle_s(row) or 0) >= idle_for_s)
    )


def age_s(row: Row) -> float:
    """How long ago the agent was made, by its host's clock; an unreadable record counts from its last event."""
    spec = row.evidence.spec
    made_at = spec.created_at if spec else row.evidence.folded.last_at or row.now
    return max(0.0, row.now - made_at)


def idle_s(row: Row) -> float | None:
    """For how long it has had nothing to do: since it waits, since it ended. None while it works or is unknown.

    A plain command that lives is at work, however silent.
    """
    folded = row.evidence.folded
    if row.agent.state == AgentState.WAITING:
        since = folded.activity_at
    elif row.agent.state in (AgentState.DONE, AgentState.STOPPED):
        since = folded.ended_at or (row.evidence.exit.at if row.evidence.exit else None) or folded.last_at
    else:
        since = None
    return None if since is None else max(0.0, row.now - since)
