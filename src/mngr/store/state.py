"""From evidence to a state: the one place that decides whether an agent lives."""

from msgspec import Struct

from mngr.model.agent import AgentState, WaitingReason
from mngr.store.probe import Evidence, HostEvidence

# A creation writes its first event before tmux knows the agent; a look in between must not call it lost.
_YOUNG_S = 15


class Phase(Struct, frozen=True):
    """A state and the evidence for it."""

    state: AgentState
    why: str = ""
    waiting_reason: WaitingReason | None = None
    exit_code: int | None = None
    signal: str | None = None
    ended_at: float | None = None


def life(evidence: Evidence, host: HostEvidence, *, creator_alive: bool) -> Phase:
    """Whether the agent's process lives, ended or was stopped. RUNNING here may be refined by its agent type."""
    folded = evidence.folded
    if evidence.spec is None:
        return _unknown(evidence, "agent.json is missing")
    if folded.stopped:
        return _stopped(evidence, "stopped")
    ended = _ended(evidence)
    if ended:
        return _stopped(evidence, "stopped") if folded.stopping else ended
    if evidence.pane and not evidence.pane.dead:
        return Phase(AgentState.RUNNING, f"process {evidence.pane.pid} in its pane")
    if evidence.mark is None:
        # Its creator says so, whatever is written by now: between a launch's first event and the process is a pause.
        if creator_alive and not folded.created:
            return Phase(AgentState.CREATING, "being created")
        if folded.started_at is not None:
            return _unknown(evidence, "started, but left no process id")
        return _unknown(evidence, "its creation was interrupted: mngr gc removes what is left")
    if evidence.mark.boot not in ("-", host.boot):
        return _stopped(evidence, "reboot")
    if evidence.alive:
        why = f"process {evidence.mark.pid} lives, its tmux session is gone"
        return Phase(AgentState.RUNNING, "starting" if _is_young(evidence, host) else why)
    if _is_young(evidence, host) and host.tmux == "running":
        return Phase(AgentState.RUNNING, "starting")
    return _unknown(evidence, "process gone, no exit record: the tmux server ended first")


def _ended(evidence: Evidence) -> Phase | None:
    record, pane, folded = evidence.exit, evidence.pane, evidence.folded
    if record and (evidence.mark is None or record.pid == evidence.mark.pid):
        return Phase(
            AgentState.DONE,
            "exit record",
            exit_code=record.exit_code,
            signal=record.signal,
            ended_at=record.at,
        )
    if pane and pane.dead:
        return Phase(
            AgentState.DONE, "dead pane", exit_code=pane.exit_code, signal=pane.signal, ended_at=pane.dead_at
        )
    if folded.exit_seen:
        return Phase(
            AgentState.DONE,
            "exit event",
            exit_code=folded.exit_code,
            signal=folded.signal,
            ended_at=folded.ended_at,
        )
    return None


def _stopped(evidence: Evidence, why: str) -> Phase:
    return Phase(AgentState.STOPPED, why, ended_at=evidence.folded.ended_at)


def _unknown(evidence: Evidence, why: str) -> Phase:
    """A file that cannot be read is the reason before any other."""
    faults = evidence.faults
    return Phase(AgentState.UNKNOWN, f"its record cannot be read: {faults[0]}" if faults else why)


def _is_young(evidence: Evidence, host: HostEvidence) -> bool:
    """Whether it started just now; a start that lies ahead is one from before the clock was set back."""
    return abs(host.now - (evidence.folded.started_at or 0)) < _YOUNG_S
