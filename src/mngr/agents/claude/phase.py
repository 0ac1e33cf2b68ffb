"""What a living Claude Code is doing, from what its hooks and its title said."""

from mngr.agents.shared.question_end import WAITING_REASONS
from mngr.model.agent import AgentState, WaitingReason
from mngr.store.probe import Evidence
from mngr.store.state import Phase

_COMES_UP_S = 60
# Its hooks and its title do not change at the same moment.
_AGREE_S = 3


def phase(evidence: Evidence, now: float) -> Phase:
    """What its hooks said last, unless its title has said otherwise for a while."""
    folded = evidence.folded
    activity, age = folded.activity, now - (folded.activity_at or folded.started_at or now)
    # Its title begins with a moving dot of braille while it works, with a star while it waits.
    sign = evidence.pane.title[:1] if evidence.pane and age > _AGREE_S else ""
    works = True if "\u2800" < sign <= "\u28ff" else False if sign == "\u2733" else None
    ago = f"{max(0.0, age):.0f} s ago"
    if activity == "unknown":
        return Phase(
            AgentState.UNKNOWN, f"something unknown is on its screen, seen {ago}: mngr capture shows it"
        )
    if activity in WAITING_REASONS and works is not True:
        reason = WAITING_REASONS[activity]
        return Phase(AgentState.WAITING, f"its hook said so {ago}: {reason}", waiting_reason=reason)
    if activity in WAITING_REASONS:
        return Phase(AgentState.RUNNING, f"its title says that it works; its hook said {activity} {ago}")
    if activity and works is False:
        return Phase(
            AgentState.WAITING,
            f"its title says that it waits; it took a message {ago} and no hook said that the turn ended",
            waiting_reason=WaitingReason.END_OF_TURN,
        )
    if activity:
        return Phase(AgentState.RUNNING, f"it took a message {ago}")
    if age < _COMES_UP_S:
        return Phase(AgentState.RUNNING, "it is coming up")
    return Phase(
        AgentState.UNKNOWN, f"it was started {ago} and has not said a word: mngr capture shows its screen"
    )
