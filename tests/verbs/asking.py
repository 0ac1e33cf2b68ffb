"""What tests ask about agents that are somewhere else."""

import mngr


def row(manager: mngr.Manager, name: str = "foo") -> mngr.Agent:
    return next(agent for agent in mngr.list_agents(manager=manager).agents if agent.name == name)


def said(manager: mngr.Manager, *argv: str, name: str = "foo") -> str:
    """What a command prints in the agent's place."""
    heard: list[bytes] = []
    assert mngr.exec_in(name, argv, on_output=lambda _, data: heard.append(data), manager=manager) == 0
    return b"".join(heard).decode()
