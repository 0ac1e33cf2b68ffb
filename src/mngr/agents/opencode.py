"""OpenCode, as people use it: its own screen in the pane, and messages through a plugin inside it.

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

TITLES = ("OpenCode", "OC |")
"""How its title begins once its screen is there."""

_COMES_UP_S = 90
_WAITING = {
    "end_of_turn": WaitingReason.END_OF_TURN,
    "permission": WaitingReason.PERMISSION,
    "input": WaitingReason.INPUT,
}


class OpenCodeType:
    """The type `opencode`. Its arguments are those of the program."""

    name = "opencode"

    def prepare(self, agent: AgentSpec, host: Host) -> None:
        from mngr.agents.opencode_home import make_home

        make_home(agent, host)

    def command(self, agent: AgentSpec, host: Host) -> Command:
        from mngr.agents.opencode_home import launch_argv, launch_env

        return Command(launch_argv(agent, host), launch_env())

    def phase(self, evidence: Evidence, now: float) -> Phase:
        return opencode_phase(evidence, now)

    def send(self, pane: AgentPane, message: bytes) -> Receipt:
        from mngr.agents.opencode_send import send

        return send(pane, message)

    def usage(self, agent: AgentSpec, host: Host) -> Usage:
        from mngr.agents.opencode_record import used

        return used(agent, host)

    def transcript(self, agent: AgentSpec, host: Host) -> Sequence[Turn]:
        from mngr.agents.opencode_record import turns

        return turns(agent, host)

    def resume_command(self, agent: AgentSpec, host: Host) -> Command:
        """Goes on with the last conversation; without one it begins."""
        from mngr.agents.opencode_home import launch_argv, launch_env
        from mngr.agents.opencode_record import session_id

        return Command(launch_argv(agent, host, session_id(agent, host)), launch_env())

    def copy_conversation(self, agent: AgentSpec, clone: AgentSpec, host: Host) -> None:
        from mngr.agents.opencode_copy import copy_conversation

        copy_conversation(agent, clone, host)

    def usage_script(self, agent: AgentSpec, host_dir: str) -> str:
        from mngr.agents.opencode_record import spendings_script

        return spendings_script(agent, host_dir)

    def read_usage(self, output: bytes) -> Sequence[Spending]:
        from mngr.agents.opencode_record import read_spendings

        return read_spendings(output)

    def program(self) -> str:
        return "opencode"

    def login_findings(self, plan: "LaunchPlan") -> "Sequence[Finding]":
        """Of a key nothing can be told: its providers are many, and some need none."""
        from mngr.agents.login_file import login_file

        found = login_file("login of opencode", "MNGR_OPENCODE_CREDENTIALS", plan)
        return (found,) if found else ()


def opencode_phase(evidence: Evidence, now: float) -> Phase:
    """What its plugin said last; until it says something, whether its screen is there."""
    folded = evidence.folded
    activity, age = folded.activity, now - (folded.activity_at or folded.started_at or now)
    ago = f"{max(0.0, age):.0f} s ago"
    reason = _WAITING.get(activity)
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
