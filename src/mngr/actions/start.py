"""`start`: the same argv, environment and directory again and, where the type can, the same conversation."""

from mngr.actions.claim import exit_code, exit_without_trace, isolated, not_written
from mngr.actions.creation_record import verified_spec
from mngr.actions.filter import Filter
from mngr.actions.manager import Manager, default_manager
from mngr.actions.rows import Row, look_at
from mngr.actions.start_hosts import start_stopped_hosts
from mngr.actions.stop import stop_rows
from mngr.actions.targets import resolve_one
from mngr.agents.protocol import Resumable
from mngr.errors import MngrError, RefusedError
from mngr.model import event as kinds
from mngr.model.agent import Agent, AgentSpec, AgentState, Change
from mngr.model.event import Event
from mngr.sh.codes import Exit
from mngr.sh.lines import append, put, ring
from mngr.sh.program import quote
from mngr.store.paths import HostPaths
from mngr.store.rules import UnfitError
from mngr.store.runfile import RunFile, parse_run_file, run_file_text
from mngr.tmux.server import tmux_sh
from mngr.tmux.session import launch

_ALIVE = (AgentState.RUNNING, AgentState.WAITING, AgentState.CREATING)


def start(agent: Agent | str, *, manager: Manager | None = None) -> Change:
    """Starts a stopped or ended agent again, and its host before it; one that runs is left alone."""
    manager = default_manager(manager)
    name = agent if isinstance(agent, str) else agent.id
    for lost in start_stopped_hosts([name], Filter(), manager):
        raise lost.why
    return start_row(resolve_one(manager, agent), manager)


def start_row(row: Row, manager: Manager) -> Change:
    if row.agent.state in _ALIVE:
        return Change(row.agent, changed=False)
    if row.agent.state == AgentState.UNKNOWN:
        if row.evidence.folded.started_at is None:
            raise RefusedError(
                f'"{row.agent.name}" was never finished: {row.agent.why}', hint="mngr gc removes it"
            )
        stop_rows([row], manager=manager)
    # Of an agent that was not created from here its host's word is enough: it runs there and nowhere else.
    spec = verified_spec(row, manager) or row.spec
    run = _run_file(row, spec, manager)
    now = manager.time_on(row.host)
    paths = HostPaths(row.host.dir)
    agent = paths.agent(row.agent.id)
    before = "\n".join(
        (
            f"{tmux_sh(paths)} kill-session -t {quote('=' + row.agent.session)} 2>/dev/null"
            if row.evidence.pane
            else "",
            put(agent.run, run_file_text(run, agent)) + " || exit 1",
            append(agent.events, Event(now, kinds.STARTED)) + " || exit 1",
        )
    )
    launched = launch(
        row.host,
        spec,
        before=before,
        after=ring(HostPaths(row.host.dir).bell),
    )
    if not launched.pid and exit_without_trace(row.host, spec, manager) == Exit.NOT_WRITTEN:
        raise not_written(row.host, f'"{row.agent.name}" could not be started', "not even its process id")
    after = look_at(row.host, manager, agent_glob=row.agent.id)[0].agent
    if exit_code(launched) or (launched.exit_json and after.signal):
        raise MngrError(
            f'"{after.name}" ended right after its start with {after.signal or f"exit code {after.exit_code}"}:\n'
            + launched.screen.strip()[-2000:],
            hint=f"mngr capture {after.name} shows all of it",
        )
    return Change(after, changed=True)


def read_run_file(row: Row) -> RunFile:
    """What an agent ran last: its directory, command and environment."""
    paths = HostPaths(row.host.dir).agent(row.agent.id)
    try:
        return parse_run_file(row.host.read(paths.run))
    except (OSError, UnfitError):
        raise MngrError(
            f'the run file of "{row.agent.name}" is missing or unreadable',
            hint=f"make it anew: mngr destroy {row.agent.name}, then mngr create",
        ) from None


def _run_file(row: Row, spec: AgentSpec, manager: Manager) -> RunFile:
    """What it ran before; a type with a conversation says how to go on with it."""
    before = read_run_file(row)
    agent_type = manager.agent_type(spec.type)
    if not isinstance(agent_type, Resumable):
        return before
    agent_type.prepare(spec, row.host)
    command = agent_type.resume_command(spec, row.host)
    return RunFile(before.cwd, isolated(command.argv, spec.isolate), {**before.env, **command.env})
