"""Claude Code, as people use it: on its terminal, watched through its own hooks.

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


class ClaudeType:
    """The type `claude`. Its arguments are those of the program."""

    name = "claude"

    def prepare(self, agent: AgentSpec, host: Host) -> None:
        from mngr.agents.claude_home import make_home

        make_home(agent, host)

    def command(self, agent: AgentSpec, host: Host) -> Command:
        from mngr.agents.claude_home import launch_argv, launch_env

        return Command(launch_argv(agent, host), launch_env(agent, host))

    def phase(self, evidence: Evidence, now: float) -> Phase:
        return claude_phase(evidence, now)

    def send(self, pane: AgentPane, message: bytes) -> Receipt:
        from mngr.agents.claude_send import send

        return send(pane, message)

    def usage(self, agent: AgentSpec, host: Host) -> Usage:
        from mngr.agents.claude_session import used

        return used(agent, host)

    def transcript(self, agent: AgentSpec, host: Host) -> Sequence[Turn]:
        from mngr.agents.claude_session import turns

        return turns(agent, host)

    def resume_command(self, agent: AgentSpec, host: Host) -> Command:
        """Goes on with the last conversation; without one it begins."""
        from mngr.agents.claude_home import launch_argv, launch_env
        from mngr.agents.claude_session import resume_words

        return Command(launch_argv(agent, host, *resume_words(agent, host)), launch_env(agent, host))

    def copy_conversation(self, agent: AgentSpec, clone: AgentSpec, host: Host) -> None:
        from mngr.agents.claude_session import copy_session

        copy_session(agent, clone, host)

    def usage_script(self, agent: AgentSpec, host_dir: str) -> str:
        from mngr.agents.claude_session import spendings_script

        return spendings_script(agent, host_dir)

    def read_usage(self, output: bytes) -> Sequence[Spending]:
        from mngr.agents.claude_session import read_spendings

        return read_spendings(output)

    def program(self) -> str:
        return "claude"

    def login_findings(self, plan: "LaunchPlan") -> "Sequence[Finding]":
        from mngr.agents.claude_login import login_findings

        return login_findings(plan)


def claude_phase(evidence: Evidence, now: float) -> Phase:
    """What its hooks said last, unless its title has said otherwise for a while."""
    folded = evidence.folded
    activity, age = folded.activity, now - (folded.activity_at or folded.started_at or now)
    works = _works_by_title(evidence.pane.title if evidence.pane else "") if age > _AGREE_S else None
    ago = f"{max(0.0, age):.0f} s ago"
    if activity == "unknown":
        return Phase(
            AgentState.UNKNOWN, f"something unknown is on its screen, seen {ago}: mngr capture shows it"
        )
    if activity in _WAITING and works is not True:
        reason = _WAITING[activity]
        return Phase(AgentState.WAITING, f"its hook said so {ago}: {reason}", waiting_reason=reason)
    if activity in _WAITING:
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


def _works_by_title(title: str) -> bool | None:
    """Its title begins with a moving dot of braille while it works, with a star while it waits; None: neither."""
    first = title[:1]
    if "\u2800" < first <= "\u28ff":
        return True
    return False if first == "\u2733" else None
