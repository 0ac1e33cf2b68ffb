"""`capture`: what an agent's terminal shows, or the recording of all it showed."""

from mngr.actions.manager import Manager, default_manager
from mngr.actions.targets import Target, resolve_one
from mngr.tmux import pane, recording
from mngr.tmux.pane import AgentPane


def capture(agent: Target, *, full: bool = False, ansi: bool = False, manager: Manager | None = None) -> str:
    """The screen, or with `full` the whole history; the last screen of an agent that was stopped."""
    row = resolve_one(default_manager(manager), agent)
    return pane.capture(AgentPane(row.host, row.agent.id, row.agent.session), full=full, ansi=ansi)


def cast(agent: Target, *, manager: Manager | None = None) -> bytes:
    """The recording as an asciicast; NotFoundError when the agent was created without --record."""
    row = resolve_one(default_manager(manager), agent)
    started = row.evidence.folded.started_at or row.spec.created_at
    return recording.read_recording(row.host, row.spec, started)
