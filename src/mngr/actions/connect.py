"""`connect`: what to run so that this terminal becomes the agent's."""

import msgspec
from msgspec import Struct

from mngr.actions.environment import RECURSION_GUARD
from mngr.actions.manager import Manager, default_manager
from mngr.actions.start import start_row
from mngr.actions.targets import resolve_one
from mngr.errors import RefusedError
from mngr.hosts.protocol import shares_files
from mngr.model.agent import Agent
from mngr.store.paths import HostPaths
from mngr.tmux.server import attach_argv


class ConnectPlan(Struct, frozen=True):
    """`argv` attaches; when `command` is set it is run by sh instead, told everything through `env`."""

    agent: Agent
    argv: tuple[str, ...]
    command: str
    env: dict[str, str]


def plan_connect(
    agent: Agent | str,
    *,
    read_only: bool = False,
    start: bool = False,
    command: str = "",
    manager: Manager | None = None,
) -> ConnectPlan:
    """Finds the agent's terminal; a stopped agent is started when asked, otherwise refused."""
    manager = default_manager(manager)
    row = resolve_one(manager, agent)
    if not row.evidence.pane and start:
        start_row(row, manager)
        row = resolve_one(manager, row.agent.id)
    if not row.evidence.pane:
        raise RefusedError(
            f'"{row.agent.name}" is {row.agent.state} and has no terminal',
            hint=f"mngr start {row.agent.name}, or mngr connect --start {row.agent.name}",
        )
    paths = HostPaths(row.host.dir)
    argv = row.host.attach_argv(attach_argv(paths, row.agent.session, read_only=read_only))
    env = {
        "MNGR_AGENT_NAME": row.agent.name,
        "MNGR_AGENT_ID": row.agent.id,
        "MNGR_SESSION_NAME": row.agent.session,
        "MNGR_TMUX_SOCKET": paths.socket,
        "MNGR_ATTACH_ARGV": msgspec.json.encode(argv).decode(),
        "MNGR_HOST_IS_LOCAL": "1" if shares_files(row.host) else "0",
        RECURSION_GUARD: "1",
    }
    is_inner = bool(manager.env.get(RECURSION_GUARD))
    return ConnectPlan(row.agent, argv, "" if is_inner else command, env)
