"""One look at all agents of a run: `list`, with the result file as the second signal."""

import hashlib
import time

import mngr
from mngr_tmr.engine.sight import Look, Mood, Seen

RUN, TASK, ATTEMPT = "tmr.run", "tmr.task", "tmr.attempt"

_MOODS: dict[str, Mood] = {"RUNNING": "working", "WAITING": "waiting", "DONE": "ended", "STOPPED": "ended"}
_ASKS = {
    "permission": "it asks for permission, and nobody answers",
    "input": "it asks a question, and nobody answers",
}


class LookAround:
    """Lists the run's agents; a busy one's screen is read now and then, to tell work from a standstill."""

    def __init__(self, run: str, manager: mngr.Manager, *, screen_every_s: float) -> None:
        self._filter = mngr.Filter(labels=(f"{RUN}={run}",))
        self._manager, self._screen_every_s = manager, screen_every_s
        self._screens: dict[str, tuple[float, str]] = {}

    def __call__(self, at: float) -> Look:
        listing = mngr.list_agents(self._filter, manager=self._manager)
        is_whole = all(host.state != "UNREACHABLE" for host in listing.hosts)
        return Look(at, {agent.name: self._seen(agent) for agent in listing.agents}, is_whole)

    def _seen(self, agent: mngr.Agent) -> Seen:
        mood = _MOODS.get(agent.state, "unknown")
        activity = self._activity(agent) if mood == "working" else ""
        return Seen(agent.name, mood, agent.result, how(agent), activity)

    def _activity(self, agent: mngr.Agent) -> str:
        looked_at, known = self._screens.get(agent.id, (0.0, ""))
        if time.monotonic() - looked_at < self._screen_every_s:
            return known
        try:
            screen = mngr.capture(agent, manager=self._manager)
        except mngr.MngrError:
            return known
        digest = hashlib.sha256(screen.encode(errors="replace")).hexdigest()[:16]
        self._screens[agent.id] = (time.monotonic(), digest)
        return digest


def agents_of(run: str, manager: mngr.Manager) -> tuple[mngr.Agent, ...]:
    """Every agent of a run that is still there, running or not."""
    return mngr.list_agents(mngr.Filter(labels=(f"{RUN}={run}",)), manager=manager).agents


def how(agent: mngr.Agent) -> str:
    """An agent's state in words for a row."""
    if agent.signal:
        return f"killed by {agent.signal}"
    if agent.exit_code is not None:
        return f"exit code {agent.exit_code}"
    if agent.state == mngr.AgentState.UNKNOWN:
        return agent.why
    if agent.waiting_reason in _ASKS:
        return _ASKS[agent.waiting_reason]
    reason = f", {agent.waiting_reason}" if agent.waiting_reason else ""
    return f"{agent.state}{reason}"
