"""What a living OpenCode is doing, from what its plugin said."""

from mngr.agents.shared.question_end import WAITING_REASONS
from mngr.model.agent import AgentState, WaitingReason
from mngr.store.probe import Evidence
from mngr.store.state import Phase

TITLES = ("OpenCode", "OC |")
"""How its title begins once its screen is there."""

_COMES_UP_S = 90


def phase(evidence: Evidence, now: float) -> Phase:
    """What its plugin said last; until it says something, whether its screen is there."""
    folded = evidence.folded
    activity, age = folded.activity, now - (folded.activity_at or folded.started_at or now)
    ago = f"{max(0.0, age):.0f} s ago"
    reason = WAITING_REASONS.get(activity)
    if activity == "unknown":
        return Phase(
            AgentState.UNKNOWN, f"something unknown is on its screen, seen {ago}: mngr capture shows it"
        )
    if reason:
        return Phase(AgentState.WAITING, f"its plugin said so {ago}: {activity}", waiting_reason=reason)
    if activity:
        return Phase(AgentState.RUNNING, f"it took a message {ago}")
    title = evidence.pane.title if evidence.pane else ""
    if title.startswith(TITLES):
        return Phase(
            AgentState.WAITING,
            f'its title says "{title}"; it has taken no message yet',
            waiting_reason=WaitingReason.END_OF_TURN,
        )
    if age < _COMES_UP_S:
        return Phase(AgentState.RUNNING, "it is coming up")
    return Phase(
        AgentState.UNKNOWN, f"it was started {ago} and shows no prompt: mngr capture shows its screen"
    )
