"""What a living Codex is doing, from what its hooks and its title said."""

from mngr.agents.shared.question_end import WAITING_REASONS
from mngr.model.agent import AgentState
from mngr.store.probe import Evidence
from mngr.store.state import Phase

_COMES_UP_S = 60
# Its hooks and its title do not change at the same moment.
_AGREE_S = 3


def phase(evidence: Evidence, now: float) -> Phase:
    """What its hooks said last, unless its title has said otherwise for a while."""
    folded = evidence.folded
    activity, age = folded.activity, now - (folded.activity_at or folded.started_at or now)
    title = evidence.pane.title if evidence.pane else ""
    shown = ""
    if age > _AGREE_S or not activity:
        # The title that `codex_home` asks for.
        state = title.rpartition("codex | ")[2] if "codex | " in title else ""
        shown = "end_of_turn" if state == "Ready" else "busy" if state else ""
        shown = "permission" if "Action Required" in title else shown
    ago = f"{max(0.0, age):.0f} s ago"
    if activity == "unknown" and not shown:
        return Phase(
            AgentState.UNKNOWN, f"something unknown is on its screen, seen {ago}: mngr capture shows it"
        )
    if shown and shown != activity:
        last_hook = f"its hook said {activity} {ago}" if activity else "no hook has said a word yet"
        return _phase_of(shown, f'its title says "{title}"; {last_hook}')
    if activity:
        last_change = (
            f"it took a message {ago}" if activity == "busy" else f"its hook said so {ago}: {activity}"
        )
        return _phase_of(activity, last_change)
    if age < _COMES_UP_S:
        return Phase(AgentState.RUNNING, "it is coming up")
    return Phase(
        AgentState.UNKNOWN, f"it was started {ago} and shows no prompt: mngr capture shows its screen"
    )


def _phase_of(activity: str, why: str) -> Phase:
    reason = WAITING_REASONS.get(activity)
    return Phase(AgentState.WAITING if reason else AgentState.RUNNING, why, waiting_reason=reason)
