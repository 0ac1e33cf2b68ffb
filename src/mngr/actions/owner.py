"""Agents that belong to a process: when it is gone, whatever ended it, they are garbage."""

import os

from mngr.actions.rows import is_alive, is_ours, this_process
from mngr.model.agent import Agent, Creator
from mngr.store.rules import LAST_PID
from mngr.store.untrusted import read_number

OWNER = "mngr.owner"


def owner_labels() -> dict[str, str]:
    """Labels for an agent that is of no use once this process is gone: `mngr gc` on this machine removes it then."""
    ours = this_process()
    return {OWNER: f"{ours.machine}/{ours.boot}/{ours.pid}/{ours.start}"}


def is_left_alone(agent: Agent) -> bool:
    """Whether the agent belonged to a process of this machine that is gone; False for one of another machine."""
    words = agent.labels.get(OWNER, "").split("/")
    pid = read_number(words[2], LAST_PID) if len(words) == 4 else None
    if pid is None or words[0] != os.uname().nodename:
        return False
    owner = Creator(words[0], words[1], pid, words[3])
    return not (is_ours(owner) and is_alive(owner))
