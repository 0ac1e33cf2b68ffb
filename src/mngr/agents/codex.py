"""Codex, as people use it: its own screen in the pane, and messages through its app server.

`list` asks for a phase only, so what the other methods need is imported in them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mngr.agents.protocol import Command
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec, AgentState, WaitingReason
from mngr.model.message import Receipt, Spending, Turn, Usage
from mngr.store.probe import Evidence
from mngr.store.state import Phase
from mngr.tmux.pane import AgentPane

if TYPE_CHECKING:
    from mngr.model.finding import Finding, LaunchPlan

_COMES_UP_S = 60
# Its hooks and its title do not change at the same moment.
_AGREE_S = 3
_WAITING = {
    "end_of_turn": WaitingReason.END_OF_TURN,
    "permission": WaitingReason.PERMISSION,
    "input": WaitingReason.INPUT,
}


class CodexType:
    """The type `codex`. Its arguments are those of the program."""

    name = "codex"

    def prepare(self, agent: AgentSpec, host: Host) -> None:
        from mngr.agents.codex_home import make_home

        make_home(agent, host)

    def command(self, agent: AgentSpec, host: Host) -> Command:
        from mngr.agents.codex_home import launch_argv, launch_env

        return Command(launch_argv(agent, host), launch_env(agent, host))

    def phase(self, evidence: Evidence, now: float) -> Phase:
        return codex_phase(evidence, now)

    def send(self, pane: AgentPane, message: bytes) -> Receipt:
        from mngr.agents.codex_send import send

        return send(pane, message)

    def usage(self, agent: AgentSpec, host: Host) -> Usage:
        from mngr.agents.codex_session import used

        return used(agent, host)

    def transcript(self, agent: AgentSpec, host: Host) -> Sequence[Turn]:
        from mngr.agents.codex_session import turns

        return turns(agent, host)

    def resume_command(self, agent: AgentSpec, host: Host) -> Command:
        """Goes on with the last conversation; without one it begins."""
        from mngr.agents.codex_home import launch_argv, launch_env
        from mngr.agents.codex_session import thread_id

        return Command(launch_argv(agent, host, thread_id(agent, host)), launch_env(agent, host))

    def copy_conversation(self, agent: AgentSpec, clone: AgentSpec, host: Host) -> None:
        from mngr.agents.codex_session import copy_session

        copy_session(agent, clone, host)

    def usage_script(self, agent: AgentSpec, host_dir: str) -> str:
        from mngr.agents.codex_session import spendings_script

        return spendings_script(agent, host_dir)

    def read_usage(self, output: bytes) -> Sequence[Spending]:
        from mngr.agents.codex_session import read_spendings

        return read_spendings(output)

    def program(self) -> str:
        return "codex"

    def login_findings(self, plan: "LaunchPlan") -> "Sequence[Finding]":
        from mngr.agents.codex_home import login_findings

        return login_findings(plan)


def codex_phase(evidence: Evidence, now: float) -> Phase:
    """What its hooks said last, unless its title has said otherwise for a while."""
    folded = evidence.folded
    activity, age = folded.activity, now - (folded.activity_at or folded.started_at or now)
    title = evidence.pane.title if evidence.pane else ""
    shown = _activity_by_title(title) if age > _AGREE_S or not activity else ""
    ago = f"{max(0.0, age):.0f} s ago"
    if activity == "unknown" and not shown:
        return Phase(
            AgentState.UNKNOWN, f"something unknown is on its screen, seen {ago}: mngr capture shows it"
        )
    if shown and shown != activity:
        said = f"its hook said {activity} {ago}" if activity else "no hook has said a word yet"
        return _phase(shown, f'its title says "{title}"; {said}')
    if activity:
        told = f"it took a message {ago}" if activity == "busy" else f"its hook said so {ago}: {activity}"
        return _phase(activity, told)
    if age < _COMES_UP_S:
        return Phase(AgentState.RUNNING, "it is coming up")
    return Phase(
        AgentState.UNKNOWN, f"it was started {ago} and shows no prompt: mngr capture shows its screen"
    )


def _phase(activity: str, why: str) -> Phase:
    reason = _WAITING.get(activity)
    return Phase(AgentState.WAITING if reason else AgentState.RUNNING, why, waiting_reason=reason)


def _activity_by_title(title: str) -> str:
    """What the title means that `codex_home` asks for; empty when it is another one."""
    if "Action Required" in title:
        return "permission"
    state = title.rpartition("codex | ")[2] if "codex | " in title else ""
    return "end_of_turn" if state == "Ready" else "busy" if state else ""
