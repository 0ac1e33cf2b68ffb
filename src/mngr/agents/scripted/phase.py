"""What a living scripted agent is doing, from what it reported."""

from mngr.agents.shared.question_end import WAITING_REASONS
from mngr.model.agent import AgentState
from mngr.store.probe import Evidence
from mngr.store.state import Phase


def phase(evidence: Evidence, now: float) -> Phase:
    folded = evidence.folded
    age = f"{max(0.0, now - (folded.activity_at or now)):.0f} s ago"
    reason = WAITING_REASONS.get(folded.activity)
    if reason:
        return Phase(AgentState.WAITING, f"it said so {age}: {reason}", waiting_reason=reason)
    if folded.activity:
        return Phase(AgentState.RUNNING, f"it took a message {age}")
    return Phase(AgentState.RUNNING, "it follows its playbook")
