"""Agents that belong to a process: when it is gone, whatever ended it, they are garbage."""

import os

from mngr.actions.rows import is_alive, is_ours, this_process
from mngr.model.agent import Agent, Creator

OWNER = "mngr.owner"


def owner_labels() -> dict[str, str]:
    """Labels for an agent that nobody needs once this process is gone: `mngr gc` on this machine finds it then."""
    ours = this_process()
    return {OWNER: f"{ours.machine}/{ours.boot}/{ours.pid}/{ours.start}"}


def is_left_alone(agent: Agent) -> bool:
    """Whether the agent belonged to a process of this machine that is gone; of other machines nobody can tell."""
    words = agent.labels.get(OWNER, "").split("/")
    if len(words) != 4 or not words[2].isdigit() or words[0] != os.uname().nodename:
        return False
    owner = Creator(words[0], words[1], int(words[2]), words[3])
    return not (is_ours(owner) and is_alive(owner))
