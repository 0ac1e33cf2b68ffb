"""The launch of a new agent: the shell lines that start it in one visit to its host, and what became of it."""

import msgspec

from mngr.actions import claim
from mngr.actions.manager import Manager
from mngr.errors import MngrError
from mngr.hosts.protocol import Host
from mngr.model import event as kinds
from mngr.model.agent import AgentSpec
from mngr.process import Completed
from mngr.sh.codes import Exit
from mngr.sh.lines import append_at, put, ring
from mngr.store.paths import HostPaths
from mngr.store.runfile import RunFile, run_file_text
from mngr.tmux.session import Launched, launch_script, read_launch

# What sh answers when it could not exec the program: nothing ran, so nothing is worth keeping.
_CANNOT_START = (Exit.NO_DIRECTORY, Exit.NOT_WRITTEN, 126, 127)


def launch_lines(host: Host, spec: AgentSpec, run: RunFile, started_at: float | None) -> str:
    """Shell lines that write the agent's files and start it; without a time they claim first, by the host's time."""
    paths = HostPaths(host.dir)
    agent = paths.agent(spec.id)
    at = '"$now"' if started_at is None else repr(started_at)
    before = "\n".join(
        (
            claim.claim_lines(paths, spec) if started_at is None else "",
            put(agent.run, run_file_text(run, agent)) + " || exit 1",
            # With its creator, the only sign of life until there is a process; after `created` it is not read.
            put(agent.spec, msgspec.json.encode(spec).decode()) + " || exit 1",
            append_at(agent.events, at, kinds.STARTED) + " || exit 1",
        )
    )
    after = append_at(agent.events, at, kinds.CREATED) + "\n" + ring(paths.bell)
    return launch_script(paths, spec, before=before, after=after)


def check_launch(done: Completed, host: Host, spec: AgentSpec, run: RunFile, manager: Manager) -> Launched:
    """What a launch started; an error where its program could not be executed."""
    launched = read_launch(done, host, spec)
    code = claim.exit_code(launched) if launched.pid else claim.exit_without_trace(host, spec, manager)
    if code == Exit.NOT_WRITTEN:
        raise claim.not_written(host, f'"{spec.name}" could not be started', "not even its process id")
    if code in _CANNOT_START:
        # What sh complains of, without the name of our own script in front.
        why = last_lines(launched).rpartition("run.sh: ")[2].rpartition("exec: ")[2]
        # tmux forgets what it has not read of a process that died: then there is only what we know ourselves.
        known = run.argv[0] if spec.type == "command" else spec.type
        program = why.removesuffix(": not found") if why.endswith(": not found") else known
        raise MngrError(
            f'"{spec.name}" could not be started: {why or program}',
            hint=f"is {program} installed, and on the PATH of its host?",
        )
    return launched


def last_lines(launched: Launched) -> str:
    """The end of what the program printed before it ended."""
    return launched.screen.strip()[-2000:]
