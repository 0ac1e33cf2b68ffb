"""`rename`: another name for the same agent; its id, branch and work dir stay."""

import time

from mngr.actions.claim import drop_call, not_written, take_name
from mngr.actions.manager import Manager, default_manager
from mngr.actions.rows import look_at
from mngr.actions.targets import resolve_one
from mngr.errors import RefusedError
from mngr.model import event as kinds
from mngr.model.agent import Agent, Change
from mngr.model.event import Event
from mngr.model.ids import check_name
from mngr.sh.codes import Exit
from mngr.sh.lines import append, ring
from mngr.sh.program import READ_AND_RUN, encode, quote
from mngr.store.paths import HostPaths
from mngr.tmux.server import tmux_sh


def rename(agent: Agent | str, name: str, *, manager: Manager | None = None) -> Change:
    """Takes the new name first, so that two agents never share one."""
    manager = default_manager(manager)
    row = resolve_one(manager, agent)
    check_name(name)
    if name == row.agent.name:
        return Change(row.agent, changed=False)
    paths, agent_id = HostPaths(row.host.dir), row.agent.id
    event = Event(time.time(), kinds.RENAMED, {"name": name})
    tmux = tmux_sh(paths)
    session = f"{tmux} rename-session -t {quote('=' + row.agent.session)} {quote(row.spec.prefix + name)}"
    script = "\n".join(
        (
            take_name(paths, name, agent_id),
            f"{append(paths.agent(agent_id).events, event)} || {{\n{drop_call({agent_id: name})}\nexit 1; }}",
            session + " 2>/dev/null" if row.evidence.pane else ":",
            drop_call({agent_id: row.agent.name}),
            ring(paths.bell),
        )
    )
    done = row.host.run(READ_AND_RUN, stdin=encode(script))
    if done.code == Exit.TAKEN:
        raise RefusedError(f'an agent "{name}" is there already', hint="choose another name; see: mngr list")
    if done.code:
        raise not_written(row.host, f'"{row.agent.name}" keeps its name', done.complaint)
    return Change(look_at(row.host, manager, agent_glob=agent_id)[0].agent, changed=True)
