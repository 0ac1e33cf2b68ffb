"""Polls all agents of a run: one `list`, with the result file as the second signal."""

import hashlib
from collections.abc import Container, Iterable, Mapping

import mngr
from mngr_lib.proc import is_memory_short
from mngr_lib.safe_text import one_line
from mngr_tmr.engine.observation import Activity, AgentStatus, Poll
from mngr_tmr.model.facts import AgentLaunched
from mngr_tmr.model.rate_limit import read_rate_limit
from mngr_tmr.run.screens import Screens
from mngr_tmr.run_folder.log import error_text

RUN, TASK, ATTEMPT = "tmr.run", "tmr.task", "tmr.attempt"

_ACTIVITIES: dict[str, Activity] = {
    "RUNNING": "working",
    "WAITING": "waiting",
    "DONE": "ended",
    "STOPPED": "ended",
}
_ASKS = {
    "permission": "it asks for permission and got no answer",
    "input": "it asks a question and got no answer",
}

_QUESTION_EVERY_S = 5.0
_QUESTION_LINES, _QUESTION_MAX = 4, 300
_RULE = "───"
_BULLETS = ("●", "•", "⏺")
_FRAMES = " \t>\u276f─━│┃╭╮╰╯┌┐└┘├┤╌╎" + "".join(_BULLETS)


_GONE = ("STOPPED", "DESTROYED")
_REFUSALS = {
    "authentication": "authentication failed",
    "billing": "billing",
    "permission": "permission denied",
    "model": "model not found",
}


class AgentPoller:
    """Lists the run's agents; a busy one's screen is read now and then, to tell work from a standstill.

    No poll waits for a screen: it shows what was read since the one before.
    `addresses` are those of the agents that were launched, by the names we gave them: names and labels in a row are
    the host's word, and a row whose record cannot be read has none.
    """

    def __init__(self, addresses: Mapping[str, str], manager: mngr.Manager, *, screen_every_s: float) -> None:
        self._addresses = addresses
        self._manager, self._screen_every_s = manager, screen_every_s
        self._screens, self._questions = Screens(manager), Screens(manager)

    def __call__(self, at: float) -> Poll:
        names = {address: name for name, address in list(self._addresses.items())}
        listings, problem = list_safely(self._manager)
        found = find_known(listings, names)
        statuses = {names[address]: self._status(agent, at) for address, agent in found.items()}
        is_whole = not problem and all(map(is_complete, listings))
        is_here = any(agent.host.provider == "local" for agent in found.values())
        return Poll(at, statuses, is_whole, problem, is_here and is_memory_short())

    def _status(self, agent: mngr.Agent, at: float) -> AgentStatus:
        activity = _ACTIVITIES.get(agent.state, "unknown")
        asks = agent.waiting_reason if activity == "waiting" and agent.waiting_reason in _ASKS else None
        question = self._question(agent) if asks else None
        if not asks:
            self._questions.forget(agent)
        error, kind = final_error(agent)
        limit = None
        if agent.model_error is not None and agent.model_error.kind == "rate_limit":
            error, limit = agent.model_error.message, read_rate_limit(agent.model_error.message, at)
        return AgentStatus(
            agent.name,
            activity,
            agent.result,
            how(agent),
            self._progress_mark(agent) if activity == "working" else "",
            asks="" if question is None else str(asks),
            question=question or "",
            error=error,
            error_kind=kind,
            limit=limit,
            has_lost_host=agent.host.state in _GONE or agent.why == "reboot",
        )

    def _question(self, agent: mngr.Agent) -> str | None:
        """What the screen of an agent that waits for a person says; None until it was read."""
        screen = self._questions.last(agent, _QUESTION_EVERY_S)
        return None if screen is None else question_on(screen)

    def _progress_mark(self, agent: mngr.Agent) -> str:
        screen = self._screens.last(agent, self._screen_every_s)
        return hashlib.sha256(screen.encode(errors="replace")).hexdigest()[:16] if screen else ""


def question_on(screen: str) -> str:
    """The question at the end of a screen, in one line: up to four lines that end with the last question mark.

    Without a question mark it is the last lines. A ruled line, or one with a bullet, is where a question begins.
    """
    lines = [one_line(line).strip() for line in screen.splitlines()]
    ends = [number for number, line in enumerate(lines, 1) if line.rstrip(_FRAMES).endswith("?")]
    found: list[str] = []
    for line in reversed(lines[: ends[-1] if ends else len(lines)]):
        words = line.strip(_FRAMES)
        if len(found) == _QUESTION_LINES or (found and line.startswith(_RULE)):
            break
        found += [words] if words else []
        if words and line.startswith(_BULLETS):
            break
    return " ".join(reversed(found))[-_QUESTION_MAX:]


def launched_as(agent: mngr.Agent, *, adopted: bool = False, notes: tuple[str, ...] = ()) -> AgentLaunched:
    """What the journal keeps of an agent's launch, so that it is found again: its id and its host."""
    return AgentLaunched(agent.id, f"{agent.host.name}.{agent.host.provider}", adopted, notes)


def find_known(listings: Iterable[mngr.Listing], addresses: Container[str | None]) -> dict[str, mngr.Agent]:
    """The listed agents that these addresses name, by address; one of an older run is an id alone."""
    found = {}
    for agent in (agent for listing in listings for agent in listing.agents):
        address = f"{agent.id}@{agent.host.name}.{agent.host.provider}"
        for known in (address, agent.id):
            if known in addresses:
                found[known] = agent
    return found


def list_safely(manager: mngr.Manager) -> tuple[list[mngr.Listing], str]:
    """All agents. Where that fails, those of each provider that can be listed, and why not all of them."""
    try:
        return [mngr.list_agents(manager=manager)], ""
    except Exception as error:
        listings, problem = [], error_text(error)
    for provider in manager.used_providers():
        try:
            listings.append(mngr.list_agents(mngr.Filter(provider=provider), manager=manager))
        except Exception as error:
            problem = error_text(error)
    return listings, problem


def is_complete(listing: mngr.Listing, providers: Container[str] | None = None) -> bool:
    """Whether every host answered, or every host of these providers."""
    asked = [host for host in listing.hosts if providers is None or host.provider in providers]
    return all(host.state != "UNREACHABLE" for host in asked)


def agents_of(run: str, manager: mngr.Manager) -> tuple[mngr.Agent, ...]:
    """Every agent of a run that is still there, running or not."""
    return mngr.list_agents(mngr.Filter(labels=(f"{RUN}={run}",)), manager=manager).agents


def final_error(agent: mngr.Agent) -> tuple[str, str]:
    """The error of the model that ended its last turn, and the error's kind; empty when trying again may help."""
    error = agent.model_error
    if error is None or not error.is_final:
        return "", ""
    return f"{_REFUSALS[error.kind]}: {error.message}", error.kind


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
